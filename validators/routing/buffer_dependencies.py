"""Cyclic buffer dependencies: a search for them, and proofs that none can exist.

A node is an ingress buffer: a directed link and the priority of its traffic there. An edge leads
from the buffer in which packets wait to the buffer that they wait for. A cycle is necessary for a
PFC deadlock, but not sufficient (Hu et al., HotNets 2016; Tagger, CoNEXT 2017).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network

from rocefort.models.device.device import Device
from rocefort.models.device.routing import PolicyNode
from rocefort.models.network.network import Network
from rocefort.validators.routing.forwarding import Forwarder
from rocefort.validators.routing.forwarding_table import PrefixTable
from rocefort.validators.routing.underlay import Underlay

Hop = tuple[str, str]  # a directed link
Buffer = tuple[str, str, int]  # from, to, priority
Graph = Mapping[Buffer, frozenset[Buffer]]  # every buffer is a key


def forwarding_graph(
    sources: Mapping[str, int], forwards: Mapping[Hop, int], priority: int
) -> Graph:
    """Dependencies of hop-by-hop forwarding, without links that cannot be part of a cycle.

    Destinations with equal forwarding are a class, a bit of an integer. sources: by device, the
    classes to which its hosts send. forwards: by directed link, the classes that its tail sends
    over it. A dependency leads from a link to the next link where packets of a class pass both. A
    link to or from a device that forwards nothing is in no cycle, so the graph leaves it out.
    """
    passed = carried_classes(sources, forwards)
    arriving: defaultdict[str, int] = defaultdict(int)
    leaving: defaultdict[str, int] = defaultdict(int)
    for (tail, head), classes in passed.items():
        leaving[tail] |= classes
        arriving[head] |= classes
    passing = {device for device in leaving if arriving[device] & leaving[device]}
    inner = {hop: c for hop, c in passed.items() if passing.issuperset(hop)}
    onward: defaultdict[str, list[Hop]] = defaultdict(list)
    for hop in inner:
        onward[hop[0]].append(hop)
    return {
        (*hop, priority): frozenset(
            (*after, priority) for after in onward[hop[1]] if classes & inner[after]
        )
        for hop, classes in inner.items()
    }


def carried_classes(sources: Mapping[str, int], forwards: Mapping[Hop, int]) -> dict[Hop, int]:
    """Classes that pass each link: a host upstream sends to them."""
    onward: defaultdict[str, list[Hop]] = defaultdict(list)
    for hop in forwards:
        onward[hop[0]].append(hop)
    at: dict[str, int] = dict(sources)
    waiting = list(sources)
    while waiting:
        device = waiting.pop()
        for hop in onward[device]:
            more = at[device] & forwards[hop] & ~at.get(hop[1], 0)
            if more:
                at[hop[1]] = at.get(hop[1], 0) | more
                waiting.append(hop[1])
    passed = {hop: at.get(hop[0], 0) & classes for hop, classes in forwards.items()}
    return {hop: classes for hop, classes in passed.items() if classes}


def components(graph: Graph) -> list[frozenset[Buffer]]:
    """Strongly connected components with a cycle, in a fixed order."""
    search = _Tarjan(graph)
    for root in sorted(graph):
        if root not in search.index:
            search.walk(root)
    return search.found


@dataclass
class _Tarjan:
    """Tarjan's algorithm without recursion: paths may have more than a thousand buffers."""

    graph: Graph
    found: list[frozenset[Buffer]] = field(default_factory=list)
    index: dict[Buffer, int] = field(default_factory=dict)
    low: dict[Buffer, int] = field(default_factory=dict)
    stack: dict[Buffer, None] = field(default_factory=dict)  # in order of arrival

    def walk(self, root: Buffer) -> None:
        """Visit all buffers that are reachable from the root."""
        work = [self._enter(root)]
        while work:
            node, awaited = work[-1]
            following = next(awaited, None)
            if following is None:
                work.pop()
                self._leave(node)
                if work:
                    self._lower(work[-1][0], self.low[node])
            elif following not in self.index:
                work.append(self._enter(following))
            elif following in self.stack:
                self._lower(node, self.index[following])

    def _enter(self, node: Buffer) -> tuple[Buffer, Iterator[Buffer]]:
        self.index[node] = self.low[node] = len(self.index)
        self.stack[node] = None
        return node, iter(sorted(self.graph[node]))

    def _lower(self, node: Buffer, value: int) -> None:
        self.low[node] = min(self.low[node], value)

    def _leave(self, node: Buffer) -> None:
        """Take a finished component off the stack; keep it only if it has a cycle."""
        if self.low[node] != self.index[node]:
            return
        members = set()
        while node not in members:
            members.add(self.stack.popitem()[0])
        if len(members) > 1 or node in self.graph[node]:
            self.found.append(frozenset(members))


def cycle(graph: Graph, component: frozenset[Buffer]) -> tuple[Buffer, ...]:
    """One shortest cycle through the first buffer of a component, that buffer first."""
    start = min(component)
    before: dict[Buffer, Buffer] = {}
    rows = [start]
    while rows:
        row, rows = rows, []
        for node in row:
            for following in sorted(graph[node] & component):
                if following == start:
                    return tuple(_path_back(node, start, before))[::-1]
                if following not in before:
                    before[following] = node
                    rows.append(following)
    raise ValueError("the component holds no cycle")


def _path_back(node: Buffer, start: Buffer, before: Mapping[Buffer, Buffer]) -> Iterator[Buffer]:
    while node != start:
        yield node
        node = before[node]
    yield start


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
