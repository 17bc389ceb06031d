"""BGP tables over established eBGP sessions: the next hops of every device and prefix.

Prefixes with the same originators and the same permitting policies share one computation. The AS
path is the only preference of the model, and each session adds one AS to it. So the computation
runs in rounds: the routes of round k have k AS hops, and a device selects its best route in the
first round that offers one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.device.device import Device
from rocefort.models.device.routing import Bgp, BgpPeer
from rocefort.models.network.network import Sources, SwitchRole
from rocefort.models.wording import listing
from rocefort.validators.routing.forwarding_table import (
    BgpDevices,
    NextHops,
    PrefixTable,
    Selection,
)
from rocefort.validators.routing.path_vector import ClassRoutes, PeerGraph, SessionEdge
from rocefort.validators.routing.peer_groups import ClassSolution, PeerGroups
from rocefort.validators.routing.sessions import Peerings
from rocefort.validators.routing.underlay import DevicePlace, Underlay, refuse
from rocefort.validators.routing_results import SessionStatus

Rank = tuple[int, int]  # router id and address of the neighbour: the last two tie-breakers
Entries = tuple[tuple[int, int, int, int, bool], ...]  # bits, length, ge, le, permit
Policy = tuple[tuple[bool, Entries | None], ...]  # nodes: permit, entries of their prefix list


@dataclass(frozen=True, slots=True)
class _Edge:
    """Directed session: routes flow from sender to receiver, whose peer address is the next hop."""

    sender: str
    receiver: str
    next_hop: IPv4Address
    rank: Rank
    policies: int  # bit set of policies that a route must pass


@dataclass(frozen=True)
class PrefixClass:
    """Prefixes with equal routing, and the route of every device to them."""

    prefixes: tuple[IPv4Network, ...]
    origins: frozenset[str]
    denied: int  # bit set of policies that they do not pass
    speakers: BgpDevices = field(repr=False)
    settled: ClassSolution = field(repr=False)

    @property
    def table(self) -> ClassRoutes:
        """Routes of every device, by number."""
        return self.settled.table

    @cached_property
    def learned(self) -> NextHops:
        """Next hops by device."""
        return NextHops(self.speakers, self.settled)

    @cached_property
    def selections(self) -> Mapping[str, Selection]:
        """The selection of every device that has a route to them."""
        return self.speakers.selections(self.settled)


@dataclass(frozen=True)
class BgpTables:
    """All BGP tables, and the graph and policies from which they were computed, by number."""

    classes: tuple[PrefixClass, ...]
    speakers: BgpDevices
    graph: PeerGraph
    policies: tuple[Policy, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of devices that run BGP."""
        return self.speakers.names

    @property
    def next_hops(self) -> tuple[IPv4Address, ...]:
        """By edge; ascending among the edges of one receiver."""
        return self.speakers.next_hops

    def denied(self, prefix: IPv4Network) -> int:
        """Policies that a prefix does not pass, as a bit set."""
        return ~self.passed(prefix)

    def passed(self, prefix: IPv4Network) -> int:
        """Policies that a prefix passes, as a bit set."""
        bits, length = int(prefix.network_address), prefix.prefixlen
        policies = set(self._of_all)
        for holding in self._named.holding(prefix.network_address):
            policies.update(self._naming[holding])
        return sum(
            1 << number for number in policies if _passes(self.policies[number], bits, length)
        )

    @cached_property
    def _of_all(self) -> tuple[int, ...]:
        """Policies with a node for every route; others deny prefixes outside their lists."""
        return tuple(
            number
            for number, policy in enumerate(self.policies)
            if any(entries is None for _, entries in policy)
        )

    @cached_property
    def _naming(self) -> Mapping[IPv4Network, set[int]]:
        """Policies by the prefixes that their lists name."""
        policies: defaultdict[IPv4Network, set[int]] = defaultdict(set)
        for number, policy in enumerate(self.policies):
            for _, entries in policy:
                for bits, length, *_ in entries or ():
                    policies[IPv4Network((bits, length))].add(number)
        return policies

    @cached_property
    def _named(self) -> PrefixTable:
        return PrefixTable(self._naming)

    @property
    def numbers(self) -> dict[str, int]:
        """Number of each device that runs BGP."""
        return self.speakers.numbers


def solve_bgp(underlay: Underlay, peers: Peerings, sources: Sources) -> BgpTables:
    """All BGP tables, by class of prefixes.

    A switch advertises the route that BGP selected even if it uses a connected or static route
    instead (V300R023C00, `active-route-advertise`: the default is to advertise all of BGP's).
    Raises Refused for a policy or prefix list that is not defined.
    """
    policies: dict[Policy, int] = {}
    edges = list(_edges(underlay, peers, policies, sources))
    names = tuple(node.name for node in underlay.network.nodes if node.device.bgp is not None)
    hops = tuple(edge.next_hop for edge in edges)
    graph = _graph(underlay, names, edges)
    speakers = BgpDevices(names, hops, PeerGroups(graph))
    routing = BgpTables((), speakers, graph, tuple(policies))
    classes = []
    for (origins, passed), prefixes in _classes(underlay, routing).items():
        numbers = sorted(routing.numbers[name] for name in origins)
        settled = speakers.groups.settle(numbers, ~passed)
        classes.append(PrefixClass(prefixes, origins, ~passed, speakers, settled))
    return replace(routing, classes=tuple(classes))


def _graph(underlay: Underlay, names: Sequence[str], edges: Sequence[_Edge]) -> PeerGraph:
    """The sessions by number; `edges` in the order of their numbers."""
    numbers = {name: number for number, name in enumerate(names)}
    speakers = [bgp for name in names if (bgp := underlay.network.by_name[name].device.bgp)]
    ways = [
        SessionEdge(number, numbers[edge.sender], numbers[edge.receiver], edge.policies)
        for number, edge in enumerate(edges)
    ]
    incoming: list[list[tuple[int, int, int]]] = [[] for _ in names]
    outgoing: list[list[tuple[int, int]]] = [[] for _ in names]
    for session in sorted(ways, key=lambda session: edges[session.number].rank):
        incoming[session.receiver].append((session.number, session.sender, session.needed))
        outgoing[session.sender].append((session.receiver, session.needed))
    return PeerGraph(
        asns=[bgp.asn for bgp in speakers],
        limits=[bgp.maximum_paths for bgp in speakers],
        relaxed=[bgp.as_path_relax for bgp in speakers],
        incoming=incoming,
        outgoing=outgoing,
        ways=ways,
    )


def _edges(
    underlay: Underlay, peers: Peerings, policies: dict[Policy, int], sources: Sources
) -> Iterator[_Edge]:
    """Edges in the order of the sessions, which are sorted by receiver and next hop."""
    compiled: dict[tuple[str, str], int] = {}
    nodes = underlay.network.by_name
    router_ids = {name: _router_id(node.device) for name, node in nodes.items()}

    def bit(name: str, address: IPv4Address, direction: str, policy: str | None) -> int:
        if policy is None:
            return 0
        key = (name, policy)
        if key not in compiled:
            place = DevicePlace(name, f"bgp.peers[{address}].{direction}_policy")
            policy_code = _compile(nodes[name].device, policy, place, sources)
            compiled[key] = 1 << policies.setdefault(policy_code, len(policies))
        return compiled[key]

    for session in peers.all:  # also of peers that are down: a cause may need their policy
        receiver, address = session.device, session.peer
        own = peers.settings(receiver, address)
        needed = bit(receiver, address, "import", own.import_policy)
        bit(receiver, address, "export", own.export_policy)
        if session.status is not SessionStatus.ESTABLISHED or session.far is None:
            continue
        sender, address = session.far
        needed |= bit(sender, address, "export", peers.settings(sender, address).export_policy)
        rank = (router_ids[sender], int(session.peer))
        yield _Edge(sender, receiver, session.peer, rank, needed)


def _router_id(device: Device) -> int:
    """Router id: configured, else the highest loopback or other address; it only breaks ties."""
    if device.bgp and device.bgp.router_id:
        return int(device.bgp.router_id)
    ranked = [
        (interface.kind == "loopback", int(address.ip))
        for interface in device.interfaces
        for address in interface.addresses
    ]
    return max(ranked, default=(False, 0))[1]


def _compile(device: Device, name: str, place: DevicePlace, sources: Sources) -> Policy:
    """Compile a route-policy with its prefix lists to integers.

    The reference does not confirm VRP's behaviour for an undefined name: raises Refused.
    """
    policy = next((p for p in device.route_policies if p.name == name), None)
    if policy is None:
        raise refuse(f"route-policy {name} is not defined", place, sources)
    lists = {row.name: row for row in device.prefix_lists}
    nodes: list[tuple[bool, Entries | None]] = []
    for node in policy.nodes:
        entries: Entries | None = None
        if node.match_prefix_list is not None:
            if node.match_prefix_list not in lists:
                at = DevicePlace(device.name, f"route_policies[{name}].nodes[{node.node}]")
                what = f"prefix list {node.match_prefix_list} is not defined"
                raise refuse(what, at, sources)
            entries = tuple(
                (
                    int(e.prefix.network_address),
                    e.prefix.prefixlen,
                    *e.lengths,
                    e.action == "permit",
                )
                for e in lists[node.match_prefix_list].entries
            )
        nodes.append((node.action == "permit", entries))
    return tuple(nodes)


def denying(
    device: Device, peers: Iterable[BgpPeer], prefix: IPv4Network, sources: Sources
) -> str | None:
    """Name of the first export policy towards these peers that denies a prefix; None: all pass it.

    `solve_bgp` has accepted the device, so all its policies and lists are defined.
    """
    for peer in peers if device.bgp else ():
        if device.bgp and (name := device.bgp.settings(peer).export_policy):
            place = DevicePlace(device.name, f"bgp.peers[{peer.address}].export_policy")
            policy = _compile(device, name, place, sources)
            if not _passes(policy, int(prefix.network_address), prefix.prefixlen):
                return name
    return None


def _peers_towards(underlay: Underlay, name: str, others: Set[str]) -> list[BgpPeer]:
    """Peers of a switch that lead from it to other switches, or one of them.

    Paths between leaves lead over spines; without roles, over any other switch that leads there.
    """
    nodes, owners = underlay.network.by_name, underlay.peer_devices
    between = {node.name for node in underlay.network.role(SwitchRole.SPINE)} or nodes.keys()
    towards, waiting = set(others - {name}), list(others - {name})
    while waiting:
        for other in owners[waiting.pop()].values():
            if other in between and other not in towards and other != name:
                towards.add(other)
                waiting.append(other)
    bgp = nodes[name].device.bgp
    return [peer for peer in bgp.peers if owners[name].get(peer.address) in towards] if bgp else []


def _passes(policy: Policy, bits: int, length: int) -> bool:
    """Whether a policy permits a route: the first node with a match decides; none denies."""
    for permit, entries in policy:
        if entries is None or _permits(entries, bits, length):
            return permit
    return False


def _permits(entries: Entries, bits: int, length: int) -> bool:
    for prefix, prefix_length, low, high, permit in entries:
        shift = 32 - prefix_length
        if low <= length <= high and length >= prefix_length and bits >> shift == prefix >> shift:
            return permit
    return False


def _classes(
    underlay: Underlay, routing: BgpTables
) -> dict[tuple[frozenset[str], int], tuple[IPv4Network, ...]]:
    """Prefixes by their originators and the policies that they pass.

    `network` takes effect if the local table has exactly this prefix, connected or static.
    """
    origins: defaultdict[IPv4Network, set[str]] = defaultdict(set)
    for node in underlay.network.nodes:
        bgp: Bgp | None = node.device.bgp
        for prefix in bgp.networks if bgp else ():
            if prefix in underlay.connected[node.name] or prefix in underlay.static[node.name]:
                origins[prefix].add(node.name)
    classes: defaultdict[tuple[frozenset[str], int], list[IPv4Network]] = defaultdict(list)
    for prefix, devices in origins.items():
        classes[frozenset(devices), routing.passed(prefix)].append(prefix)
    return {key: tuple(prefixes) for key, prefixes in classes.items()}


@dataclass(frozen=True)
class SilenceCause:
    """Reason why a switch does not announce a prefix to others, with its line and the fix."""

    reason: str
    place: DevicePlace
    hint: str = ""  # empty: the line that is named is to be changed


def why_silent(
    underlay: Underlay, name: str, prefix: IPv4Network, others: Set[str], sources: Sources
) -> SilenceCause | None:
    """Reason why a switch does not announce a prefix to other switches; None: it does."""
    device = underlay.network.by_name[name].device
    if device.bgp is None:
        return SilenceCause(f"{name} runs no BGP", DevicePlace(name))
    if prefix not in device.bgp.networks:
        used = underlay.connected[name].keys() | underlay.static[name].keys()
        unused = [p for p in device.bgp.networks if p.overlaps(prefix) and p not in used]
        for required in unused if prefix in underlay.connected[name] else [prefix]:
            if wrong_mask := _wrong_mask(device, required):
                return wrong_mask
        reason = f"{name} has no network line for it"
        return SilenceCause(reason, DevicePlace(name, "bgp.networks"))
    if prefix not in underlay.connected[name]:
        return _without_subnet(underlay, device, prefix)
    peers = _peers_towards(underlay, name, others)
    if policy := denying(device, peers, prefix, sources):
        place = DevicePlace(name, f"route_policies[{policy}]")
        return SilenceCause(
            f"route-policy {policy} of {name} denies it", place, _widening(device, peers, policy)
        )
    return None


def _without_subnet(underlay: Underlay, device: Device, prefix: IPv4Network) -> SilenceCause:
    """Reason why a switch does not have a prefix of its network lines as a subnet in use."""
    name = device.name
    for interface in device.interfaces:
        if prefix in {address.network for address in interface.addresses}:
            return SilenceCause(*underlay.why_down((name, interface.name)))
    if wrong_mask := _wrong_mask(device, prefix):
        return wrong_mask
    reason = f"no interface of {name} is in it"
    return SilenceCause(reason, DevicePlace(name, f"bgp.networks[{prefix}]"))


def _wrong_mask(device: Device, prefix: IPv4Network) -> SilenceCause | None:
    """Cause at an interface that has an address of a prefix with another mask."""
    for interface in device.interfaces:
        for address in interface.addresses:
            if address.ip in prefix and prefix.prefixlen < 32 and address.network != prefix:
                at = DevicePlace(
                    device.name, f"interfaces[{interface.name}].addresses", interface.name
                )
                length, required = address.network.prefixlen, prefix.prefixlen
                reason = f"{device.name} {interface.name} has {address}, a mask of {length} bits"
                hint = f"give {interface.name} the mask of {required} bits, or correct the network"
                return SilenceCause(f"{reason}, not {required}", at, f"{hint} line")
    return None


def _widening(device: Device, peers: Sequence[BgpPeer], policy: str) -> str:
    """Fix of a policy that peers elsewhere have, too: a change of it would announce more there."""
    bgp = device.bgp
    elsewhere = [
        str(peer.address)
        for peer in (bgp.peers if bgp else ())
        if bgp and peer not in peers and bgp.settings(peer).export_policy == policy
    ]
    if not elsewhere:
        return ""
    return (
        f"give the peers between them a policy of their own: {policy} is also that of "
        f"{listing(elsewhere)}, and to permit more in it would announce more there"
    )
