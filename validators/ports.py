"""The ports that RoCE passes, and the queue that it should use there."""

from __future__ import annotations

from rocefort.models.network import End, Link, Network, Node, Port, Role

BOTH_ROLES = {Role.LEAF, Role.SPINE}


def ends_of(link: Link) -> tuple[tuple[End, End], tuple[End, End]]:
    """Both ends, each with the other."""
    return (link.a, link.b), (link.b, link.a)


def ports_by_device(network: Network) -> dict[str, list[Port]]:
    """RoCE ports of each device that has any, in the network's order of devices."""
    found: dict[str, list[Port]] = {node.name: [] for node in network.nodes}
    for port in network.roce_ports:
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
    a, b = network.by_name.get(link.a.device), network.by_name.get(link.b.device)
    return a is not None and b is not None and {a.role, b.role} == BOTH_ROLES
