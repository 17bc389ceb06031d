"""Ports that RoCE passes, and the lossless queue that it uses there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from rocefort.models.network.network import End, Link, Network, Node, Port, SwitchRole
from rocefort.models.vote import Vote
from rocefort.models.wording import listing

QUEUE_UNKNOWN = (
    "which queue is lossless is not known: most switches pause none; "
    "«queues of PFC profiles» lists them"
)
BOTH_ROLES = {SwitchRole.LEAF, SwitchRole.SPINE}


def ends_of(link: Link) -> tuple[tuple[End, End], tuple[End, End]]:
    """Both ends, each with the other."""
    return (link.a, link.b), (link.b, link.a)


def ports_by_device(network: Network) -> dict[str, list[Port]]:
    """RoCE ports of each device that has any, in the network's order of devices."""
    by_device: dict[str, list[Port]] = {node.name: [] for node in network.nodes}
    for port in network.roce_ports:
        by_device[port.end.device].append(port)
    return {name: ports for name, ports in by_device.items() if ports}


def carriers(ports: Iterable[Port]) -> Iterator[Port]:
    """RoCE interfaces with trust and VLAN settings: ports, and Eth-Trunks instead of members."""
    seen: set[End] = set()
    for port in ports:
        carrier = port.node.device.carrier(port.interface)
        if carrier is port.interface:
            yield port
            continue
        end = End(device=port.end.device, interface=carrier.name)
        if end not in seen:
            seen.add(end)
            yield replace(port, end=end, interface=carrier)


def paused_queues(node: Node) -> frozenset[int]:
    """Queues that the PFC profiles applied to any port of a switch pause."""
    return node.device.paused_queues


def lossless_queues(network: Network, switch: str = "") -> tuple[int, ...]:
    """Intended lossless queue; without intent those that all, or most, PFC switches pause.

    switch: name of a switch, whose own profile counts; none: the queues of all switches.
    """
    if network.lossless is not None:
        own = network.lossless_of(switch)
        intents = (own,) if switch else (network.lossless, *network.own_lossless.values())
        return tuple(sorted({intent.queue for intent in intents if intent is not None}))
    vote = paused_vote(network.nodes)
    if vote is None:
        return ()
    common = frozenset.intersection(*vote.counts)
    return tuple(sorted(common if len(common) == 1 else vote.taken))


def paused_vote(nodes: Iterable[Node]) -> Vote[frozenset[int]] | None:
    """Vote of the switches that pause any queue; None: none does.

    Of a tie, the queues of the first switch are taken.
    """
    paused = {node.name: queues for node in nodes if (queues := paused_queues(node))}
    return Vote(paused) if paused else None


def queue_words(queues: Collection[int]) -> str:
    """Queues in words: `queue 4`, `queues 3 and 4`, `no queue`."""
    if not queues:
        return "no queue"
    return f"queue{'s' if len(queues) > 1 else ''} {listing(map(str, sorted(queues)))}"


def is_fabric_link(network: Network, link: Link) -> bool:
    """Whether a link joins a leaf and a spine."""
    a, b = network.by_name.get(link.a.device), network.by_name.get(link.b.device)
    return a is not None and b is not None and {a.role, b.role} == BOTH_ROLES
