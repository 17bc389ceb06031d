"""Telemetry of a switch, as its text says it: what is sampled, how often, and who gets it."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated, Literal

from rocefort.models.base import Frozen
from rocefort.models.effect import KEY, SAME, KeyedRow
from rocefort.models.keyed import Keyed


class SensorGroup(KeyedRow):
    """Group of sensors: sampling paths of the switch's YANG models."""

    name: Annotated[str, KEY]
    paths: Annotated[Keyed[str], SAME] = ()


class Collector(Frozen):
    """One collector, by address and port; without a protocol the subscription decides."""

    address: Annotated[IPv4Address, KEY]
    port: Annotated[int, KEY]
    vrf: Annotated[str | None, SAME] = None
    protocol: Annotated[Literal["grpc", "udp"] | None, SAME] = None
    tls: Annotated[bool, SAME] = True  # `no-tls` says that nothing is encrypted

    @property
    def key(self) -> str:
        """Collectors are told apart by address and port."""
        return f"{self.address}:{self.port}"


class DestinationGroup(KeyedRow):
    """Group of collectors."""

    name: Annotated[str, KEY]
    collectors: Annotated[Keyed[Collector], SAME] = ()


class Sampling(KeyedRow):
    """Group of sensors of a subscription, and how often it is sampled; milliseconds."""

    group: Annotated[str, KEY]
    interval_ms: Annotated[int | None, SAME] = None


class Subscription(KeyedRow):
    """Subscription: which sensor groups go to which destination groups."""

    name: Annotated[str, KEY]
    source_interface: Annotated[str | None, SAME] = None
    samplings: Annotated[Keyed[Sampling], SAME] = ()
    destinations: Annotated[Keyed[str], SAME] = ()


class Telemetry(Frozen):
    """Telemetry: what a switch sends of itself, and to whom."""

    sensor_groups: Annotated[Keyed[SensorGroup], SAME] = ()
    destination_groups: Annotated[Keyed[DestinationGroup], SAME] = ()
    subscriptions: Annotated[Keyed[Subscription], SAME] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to say."""
        return self != Telemetry()
