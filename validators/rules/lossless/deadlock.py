"""Rule on deadlock: the paths of routing have no cyclic buffer dependency."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from rocefort.errors import Refused
from rocefort.models.device.bgp import PolicyNode
from rocefort.models.device.device import Device
from rocefort.models.finding import Finding, NotJudged, Report, Severity
from rocefort.models.network.network import Network
from rocefort.validators.facts.roce_ports import QUEUE_UNKNOWN, lossless_queues
from rocefort.validators.routing.buffer_dependencies import (
    Buffer,
    Graph,
    Hop,
    carried_classes,
    components,
    cycle,
    forwarding_graph,
)
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.forwarding import Forwarder
from rocefort.validators.routing.longest_match import PrefixTable
from rocefort.validators.routing.readings import readings
from rocefort.validators.routing.running_lines import as_it_runs
from rocefort.validators.routing.underlay import Underlay, unmodelled_forwarding
from rocefort.validators.rules.certainty import certain
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
    queues = lossless_queues(subject.network)
    if not queues:
        yield subject.not_judged(None, QUEUE_UNKNOWN, QUEUE)
        return
    read = readings(subject.network, subject.sources)
    reports = []
    for reading in read.all:
        network = as_it_runs(reading.network, subject.sources).network
        lines = (x for node in network.nodes for x in unmodelled_forwarding(node))
        if unmodelled := next(lines, None):
            yield subject.not_judged(None, f"the paths are not known: {unmodelled[1]}", PATHS)
            return
        verdicts = () if excluded(network) else tuple(_judge(subject, reading.network, queues))
        reports.append(_report(subject, verdicts))
    merged = certain(reports, read, subject.network)
    yield from merged.findings
    yield from merged.not_judged


def _report(subject: Subject, verdicts: Iterable[Verdict]) -> Report:
    rows = tuple(verdicts)
    return Report(
        network=subject.network.name,
        rules=(subject.rule.id,),
        findings=tuple(row for row in rows if isinstance(row, Finding)),
        not_judged=tuple(row for row in rows if isinstance(row, NotJudged)),
    )


def excluded(network: Network) -> str:
    """Reason why no cycle can exist, whatever fails; empty: the paths must be searched."""
    if not network.links or not all_routed(network) or not bgp_alone(network):
        return ""
    if one_as_cuts_every_link(network):
        return "no path passes the AS of the spines twice"
    if an_end_of_every_link_passes_nothing_on(network):
        return "one end of every link passes nothing on"
    return ""


def bgp_alone(network: Network) -> bool:
    """Whether BGP alone decides the paths between gateways, by one prefix for each subnet.

    Where a static route, or a wider or longer prefix, leads to a gateway, the path of a packet is
    not one path of BGP. The far end of an exit may announce such prefixes.
    """
    if network.exits:
        return False
    devices = [node.device for node in network.nodes]
    addressed = [i for device in devices for i in device.interfaces if i.addresses and not i.vrf]
    vlanifs, ports = (
        {a.network for i in addressed if (i.kind == "vlanif") is vlanif for a in i.addresses}
        for vlanif in (True, False)
    )
    announced = {prefix for device in devices if device.bgp for prefix in device.bgp.networks}
    static = {r.prefix for device in devices for r in device.static_routes if r.vrf is None}
    others = static | ports | (announced - vlanifs)
    subnets, prefixes = PrefixTable(vlanifs), PrefixTable(others)
    return not (
        any(prefixes.holding(subnet.network_address) for subnet in vlanifs)
        or any(subnets.holding(prefix.network_address) for prefix in others)
    )


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


def _judge(subject: Subject, network: Network, queues: Iterable[int]) -> Iterator[Verdict]:
    try:
        solution = analyse(network, subject.sources)
    except Refused as refused:
        yield subject.not_judged(None, f"the paths are not known: {refused.problem.what}", PATHS)
        return
    forwards = traffic(solution.trips.forwarder, served := gateways(solution.underlay))
    if not forwards.by_hop:
        yield subject.not_judged(None, "no route leads from one gateway to another", PATHS)
    for queue in queues:
        graph = forwards.graph(served, queue)
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


@dataclass(frozen=True)
class Traffic:
    """Destinations by class of equal forwarding, and the classes that each link carries."""

    classes: tuple[tuple[IPv4Network, ...], ...]  # prefixes that contain the address, longest first
    by_hop: Mapping[Hop, int]  # classes as bits

    def carried(self, senders: Iterable[str]) -> dict[Hop, int]:
        """Classes that pass each link where these switches' servers send to all."""
        return carried_classes(self._sources(senders), self.by_hop)

    def graph(self, senders: Iterable[str], queue: int) -> Graph:
        """Buffer dependencies of packets from these switches."""
        return forwarding_graph(self._sources(senders), self.by_hop, queue)

    def _sources(self, senders: Iterable[str]) -> dict[str, int]:
        return dict.fromkeys(senders, (1 << len(self.classes)) - 1)


def traffic(forwarder: Forwarder, served: Mapping[str, Iterable[IPv4Network]]) -> Traffic:
    """Packets to the subnets of servers, as the tables of all switches forward them."""
    classes: dict[Hashable, tuple[IPv4Network, ...]] = {}
    for subnet in dict.fromkeys(subnet for own in served.values() for subnet in own):
        for address in forwarder.prefixes.parts(subnet):
            matching = forwarder.matching(address)
            classes.setdefault(tuple(forwarder.alike(prefix) for prefix in matching), matching)
    by_hop: defaultdict[Hop, int] = defaultdict(int)
    for bit, matching in enumerate(classes.values()):
        for device, following in forwarder.onward(matching).items():
            for switch in following:
                by_hop[device, switch] |= 1 << bit
    return Traffic(tuple(classes.values()), dict(by_hop))


def gateways(underlay: Underlay) -> dict[str, list[IPv4Network]]:
    """Subnets of servers by device: those of its Vlanifs that are up."""
    subnets: defaultdict[str, list[IPv4Network]] = defaultdict(list)
    for device, connected in underlay.connected.items():
        for subnet, interface in connected.items():
            if interface.startswith("Vlanif"):
                subnets[device].append(subnet)
    return dict(subnets)
