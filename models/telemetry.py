"""Telemetry of a switch, as its text says it: what is sampled, how often, and who gets it."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Literal

from rocefort.models.base import Frozen
from rocefort.models.keyed import Keyed


class SensorGroup(Frozen):
    """`sensor-group` of the telemetry view: sampling paths of the switch's YANG models."""

    name: str
    paths: Keyed[str] = ()

    @property
    def key(self) -> str:
        """Sensor groups are told apart by name."""
        return self.name


class Collector(Frozen):
    """`ipv4-address A port N protocol ..`; without a protocol the subscription decides."""

    address: IPv4Address
    port: int
    vrf: str | None = None
    protocol: Literal["grpc", "udp"] | None = None
    tls: bool = True  # `no-tls` says that nothing is encrypted

    @property
    def key(self) -> str:
        """Collectors are told apart by address and port."""
        return f"{self.address}:{self.port}"


class DestinationGroup(Frozen):
    """`destination-group` of the telemetry view."""

    name: str
    collectors: Keyed[Collector] = ()

    @property
    def key(self) -> str:
        """Destination groups are told apart by name."""
        return self.name


class Sampling(Frozen):
    """`sensor-group NAME sample-interval MS` of a subscription; milliseconds."""

    group: str
    interval_ms: int | None = None

    @property
    def key(self) -> str:
        """A subscription samples a sensor group once."""
        return self.group


class Subscription(Frozen):
    """`subscription`: which sensor groups go to which destination groups."""

    name: str
    source_interface: str | None = None
    samplings: Keyed[Sampling] = ()
    destinations: Keyed[str] = ()

    @property
    def key(self) -> str:
        """Subscriptions are told apart by name."""
        return self.name


class Telemetry(Frozen):
    """The `telemetry` view."""

    sensor_groups: Keyed[SensorGroup] = ()
    destination_groups: Keyed[DestinationGroup] = ()
    subscriptions: Keyed[Subscription] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to say."""
        return self != Telemetry()
