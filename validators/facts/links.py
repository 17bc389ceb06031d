"""Links of a network: their speed and MTU, and the uplinks of each leaf."""

from __future__ import annotations

from rocefort.models.device.interface import ETHERNET_MTU, Interface
from rocefort.models.network.network import (
    Link,
    Network,
    Sources,
)
from rocefort.validators.facts.overview import Overview


def uplink_gbps(network: Network) -> dict[str, int | None]:
    """Gb/s from each leaf towards the spines; None where one link's speed is not known."""
    return towards_spines(Overview(network, Sources()))


def towards_spines(overview: Overview) -> dict[str, int | None]:
    """Gb/s from each leaf towards the spines, as `uplink_gbps`."""
    uplinks: dict[str, int | None] = {}
    nodes = overview.network.by_name
    for ends in overview.uplinks:
        speeds = [nodes[end.device].speed_gbps(end.interface) for end in ends]
        numbers = [speed for speed in speeds if speed is not None]
        for end in ends:
            before = uplinks.get(end.device, 0)
            whole = before is not None and len(numbers) == len(speeds)
            uplinks[end.device] = (before or 0) + min(numbers) if whole else None
    return uplinks


def link_gbps(network: Network, link: Link) -> int | None:
    """Speed of a link in Gb/s, that of its slower end; None where one is not known."""
    speeds = [network.speed_gbps(end) for end in (link.a, link.b)]
    numbers = [speed for speed in speeds if speed is not None]
    return min(numbers) if len(numbers) == len(speeds) else None


def effective_mtu(interface: Interface) -> int | None:
    """IP MTU in bytes of a layer-3 interface; None for a switched port, which has none."""
    return (interface.mtu or ETHERNET_MTU) if interface.layer3 else None
