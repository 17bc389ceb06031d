"""The ports that RoCE passes, and the queue that it should use there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rocefort.models.device import Interface
from rocefort.models.hardware import port_speed_gbps
from rocefort.models.network import End, Link, Network, Node, Role


@dataclass(frozen=True, slots=True)
class Port:
    """One switch port on a RoCE path. cable_m in metres, speed in Gb/s; None: not known."""

    end: End
    node: Node
    interface: Interface
    cable_m: float | None
    speed_gbps: int | None


def ends_of(link: Link) -> tuple[tuple[End, End], tuple[End, End]]:
    """Both ends, each with the other."""
    return (link.a, link.b), (link.b, link.a)


def roce_ports(network: Network) -> Iterator[Port]:
    """Both ends of every link, then the ports of RoCE servers.

    A port that its device does not have is left out: TOP003 reports it.
    """
    for link in network.links or ():
        for end in (link.a, link.b):
            yield from _port(network, end, link.cable_m, None)
    for server in network.servers or ():
        if server.roce:
            yield from _port(network, server.port, server.cable_m, server.speed_gbps)


def _port(
    network: Network, end: End, cable_m: float | None, speed_gbps: int | None
) -> Iterator[Port]:
    interface = network.interface(end)
    if interface is not None:
        speed = speed_gbps or port_speed_gbps(end.interface)
        yield Port(end, network.by_name[end.device], interface, cable_m, speed)


def ports_by_device(network: Network) -> dict[str, list[Port]]:
    """RoCE ports of each device that has any, in the network's order of devices."""
    found: dict[str, list[Port]] = {node.name: [] for node in network.nodes}
    for port in roce_ports(network):
        found[port.end.device].append(port)
    return {name: ports for name, ports in found.items() if ports}


def paused_queues(node: Node) -> frozenset[int]:
    """Queues that the PFC profiles applied to any port of a switch pause."""
    profiles = (node.device.profile_of(i) for i in node.device.interfaces if i.pfc)
    return frozenset(queue for profile in profiles if profile for queue in profile.queues)


def lossless_queue(network: Network) -> int | None:
    """The intended lossless queue; without intent the one queue that every PFC switch pauses."""
    if network.lossless is not None:
        return network.lossless.queue
    paused = [queues for queues in map(paused_queues, network.nodes) if queues]
    common = frozenset.intersection(*paused) if paused else frozenset()
    return next(iter(common)) if len(common) == 1 else None


def is_fabric_link(network: Network, link: Link) -> bool:
    """Whether a link joins a leaf and a spine."""
    nodes = (network.by_name.get(end.device) for end in (link.a, link.b))
    return {node.role for node in nodes if node} == {Role.LEAF, Role.SPINE}
