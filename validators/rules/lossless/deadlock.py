"""Rule on deadlock: the paths of routing have no cyclic buffer dependency."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network

from rocefort.errors import Refused
from rocefort.models.device.bgp import PolicyNode
from rocefort.models.device.device import Device
from rocefort.models.finding import Severity
from rocefort.models.network.network import Network
from rocefort.validators.roce_ports import QUEUE_UNKNOWN, lossless_queues
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing.underlay import unmodelled_forwarding
from rocefort.validators.rules.lossless.buffer_cycles import (
    Buffer,
    Hop,
    components,
    cycle,
    forwarding_graph,
)
from rocefort.validators.rules.missing import QUEUE, Missing, Need
from rocefort.validators.rules.registry import Subject, Verdict, rule

PATHS = Missing(
    "the paths of packets between gateways", "routing table", run="rocefort verify FABRIC"
)


@rule(
    "DLK001",
    severity=Severity.ERROR,
    source="Hu et al., HotNets 2016 (deadlocks need a cyclic buffer dependency); Tagger, CoNEXT "
    "2017 (up-down paths have none, bounces make them)",
    needs=(Need.LINKS,),
)
def no_cycle(subject: Subject) -> Iterator[Verdict]:
    """No cyclic buffer dependency exists.

    A full ingress buffer waits for the buffer of the next switch. If such dependencies form a
    cycle, PFC can stop all of its buffers permanently: a PFC deadlock. Paths up to a spine and down
    again form no cycle; a path that goes up a second time can. The rule judges the paths between
    gateways without failures, as the embedded engine routes them; DLK101 judges single failures.

    Example: cyclic buffer dependency in queue 4: leaf01 > spine01 > leaf02 > spine02 > leaf01
    Fix: Remove the link, or the route, that leads up again.
    """
    network = subject.network
    queues = lossless_queues(network)
    if not queues:
        yield subject.not_judged(None, QUEUE_UNKNOWN, QUEUE)
        return
    unmodelled = next((x for node in network.nodes for x in unmodelled_forwarding(node)), None)
    if unmodelled is not None:
        yield subject.not_judged(None, f"the paths are not known: {unmodelled[1]}", PATHS)
    elif not (
        all_routed(network)
        and (one_as_cuts_every_link(network) or an_end_of_every_link_passes_nothing_on(network))
    ):
        yield from _judge(subject, queues)


def all_routed(network: Network) -> bool:
    """Whether routing alone decides what crosses a link: no end is a switched port."""
    ends = (network.interface(end) for link in network.links or () for end in (link.a, link.b))
    return all(interface is not None and interface.layer3 for interface in ends)


def one_as_cuts_every_link(network: Network) -> bool:
    """Whether every link has exactly one end in one common AS, as with all spines in one.

    Then no path can pass that AS twice (RFC 4271, 9.1.2), so that no path goes up again after
    coming down. The rule then needs no routing solution.
    """
    asns = {node.name: node.device.bgp.asn for node in network.nodes if node.device.bgp}
    ends = [(asns.get(x.a.device), asns.get(x.b.device)) for x in network.links or ()]
    common = [asn for asn in (ends[0] if ends else ()) if asn is not None]
    return any(all((a == asn) != (b == asn) for a, b in ends) for asn in common)


def an_end_of_every_link_passes_nothing_on(network: Network) -> bool:
    """Whether every link has an end that announces only prefixes which it alone originates.

    Such a switch receives no transit traffic, so that its buffers wait for no other buffer of the
    fabric. The second of two consecutive buffers therefore waits for none. Leaves with export
    policies are such switches: the rule then needs no routing solution, even if each spine has its
    own AS.
    """
    origins = Counter(
        prefix for node in network.nodes if (bgp := node.device.bgp) for prefix in bgp.networks
    )
    ends = {name for link in network.links or () for name in (link.a.device, link.b.device)}
    silent = {name for name in ends if _announces_its_own(network.by_name[name].device, origins)}
    return all(not silent.isdisjoint((x.a.device, x.b.device)) for x in network.links or ())


def _announces_its_own(device: Device, origins: Counter[IPv4Network]) -> bool:
    """Whether every export policy permits nothing but networks that only this switch originates."""
    if (bgp := device.bgp) is None:
        return True
    lent = {group.name: group.export_policy for group in bgp.groups}
    used = {peer.export_policy or lent.get(peer.group or "") for peer in bgp.peers}
    policies = {policy.name: policy for policy in device.route_policies}
    lists = {row.name: row for row in device.prefix_lists}
    permitted = [
        lists.get(node.match_prefix_list or "")
        for name in used
        for node in (policies[name].nodes if name in policies else (PolicyNode(node=0),))
        if node.action == "permit"
    ]
    own = frozenset(bgp.networks)
    return all(
        row is not None
        and all(
            entry.lengths == (entry.prefix.prefixlen, entry.prefix.prefixlen)
            and (origins[entry.prefix] == (entry.prefix in own))
            for entry in row.entries
            if entry.action == "permit"
        )
        for row in permitted
    )


def _judge(subject: Subject, queues: Iterable[int]) -> Iterator[Verdict]:
    try:
        solution = analyse(subject.network, subject.sources)
    except Refused as refused:
        yield subject.not_judged(None, f"the paths are not known: {refused.problem.what}", PATHS)
        return
    sources, forwards = traffic(solution)
    if not forwards:
        yield subject.not_judged(None, "no route leads from one gateway to another", PATHS)
    for queue in queues:
        graph = forwarding_graph(sources, forwards, queue)
        for component in components(graph):
            circle = cycle(graph, component)
            yield subject.finding(
                subject.network.by_name[circle[0][0]],
                f"cyclic buffer dependency in queue {queue}: {words(circle)}",
                "remove the link or the route by which packets go up again after coming down",
            )


def words(circle: tuple[Buffer, ...]) -> str:
    """Cyclic buffer dependency in words: the switches that it passes."""
    return " > ".join((*(tail for tail, _, _ in circle), circle[0][0]))


def traffic(solution: Solution) -> tuple[dict[str, int], dict[Hop, int]]:
    """Classes to which each device's servers send, and classes that each link carries, as bits."""
    served = gateways(solution)
    subnets = {subnet for own in served.values() for subnet in own}
    neighbours = {(s.device, s.peer): s.far[0] for s in solution.sessions if s.far}
    classes = [c for c in solution.classes if not subnets.isdisjoint(c.prefixes)]
    forwards: defaultdict[Hop, int] = defaultdict(int)
    for bit, group in enumerate(classes):
        for device, selection in group.selections.items():
            for hop in selection.next_hops:
                forwards[device, neighbours[device, hop]] |= 1 << bit
    return dict.fromkeys(served, (1 << len(classes)) - 1), dict(forwards)


def gateways(solution: Solution) -> dict[str, list[IPv4Network]]:
    """Subnets of servers by device: those of its Vlanifs that are up."""
    subnets: defaultdict[str, list[IPv4Network]] = defaultdict(list)
    for device, connected in solution.underlay.connected.items():
        for subnet, interface in connected.items():
            if interface.startswith("Vlanif"):
                subnets[device].append(subnet)
    return dict(subnets)
