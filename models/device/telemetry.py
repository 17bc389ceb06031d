"""Telemetry in the configuration of a switch: sampling paths, intervals, collectors."""

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
    """Collector, by address and port; without a protocol the subscription decides."""

    address: Annotated[IPv4Address, KEY]
    port: Annotated[int, KEY]
    vrf: Annotated[str | None, SAME] = None
    protocol: Annotated[Literal["grpc", "udp"] | None, SAME] = None
    tls: Annotated[bool, SAME] = True  # `no-tls` turns encryption off

    @property
    def key(self) -> str:
        """Key of a collector: address and port."""
        return f"{self.address}:{self.port}"


class DestinationGroup(KeyedRow):
    """Group of collectors."""

    name: Annotated[str, KEY]
    collectors: Annotated[Keyed[Collector], SAME] = ()


class Sampling(KeyedRow):
    """Sensor group of a subscription, and its sampling interval in milliseconds."""

    group: Annotated[str, KEY]
    interval_ms: Annotated[int | None, SAME] = None


class Subscription(KeyedRow):
    """Subscription: sensor groups that are sent to destination groups."""

    name: Annotated[str, KEY]
    source_interface: Annotated[str | None, SAME] = None
    samplings: Annotated[Keyed[Sampling], SAME] = ()
    destinations: Annotated[Keyed[str], SAME] = ()


class Telemetry(Frozen):
    """Telemetry of a switch: what it sends, and to which collectors."""

    sensor_groups: Annotated[Keyed[SensorGroup], SAME] = ()
    destination_groups: Annotated[Keyed[DestinationGroup], SAME] = ()
    subscriptions: Annotated[Keyed[Subscription], SAME] = ()

    def __bool__(self) -> bool:
        """Whether any telemetry is configured."""
        return self != Telemetry()
