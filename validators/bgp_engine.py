"""Path-vector BGP over established eBGP sessions: for every device and prefix, the next hops.

Prefixes that have the same originators and pass the same policies share one computation. The AS
path is the only preference that the model has, and it grows by one AS at every session, so the
stable state is reached in rounds: the routes of round k are those of k AS hops, and a device takes
its best in the first round that offers it one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.bgp import Bgp
from rocefort.models.device import Device
from rocefort.models.network import Sources
from rocefort.models.routing import SessionStatus
from rocefort.validators.bgp_sessions import Session
from rocefort.validators.underlay import Place, Underlay, refuse

Rank = tuple[int, int]  # router id and address of the neighbour: the last two tie-breakers
Entries = tuple[tuple[int, int, int, int, bool], ...]  # bits, length, ge, le, permit
Policy = tuple[tuple[bool, Entries | None], ...]  # nodes: permit, entries of their prefix list


@dataclass(frozen=True, slots=True)
class Selection:
    """What one device makes of one prefix."""

    as_path: tuple[int, ...]  # of the best route; empty for its own
    next_hops: tuple[IPv4Address, ...]  # sorted; empty for its own
    ties: frozenset[IPv4Address]  # next hops of all routes of that length


@dataclass(frozen=True, slots=True)
class _Edge:
    """Routes flow from sender to receiver, whose peer address is the next hop."""

    sender: str
    receiver: str
    next_hop: IPv4Address
    rank: Rank
    policies: int  # bit set of policies that a route must pass


@dataclass(frozen=True)
class Speaker:
    """A device's part in the selection."""

    asn: int
    maximum_paths: int
    as_path_relax: bool


@dataclass(frozen=True)
class PrefixClass:
    """Prefixes with one fate, and the selection of every device that has a route to them."""

    prefixes: tuple[IPv4Network, ...]
    selections: Mapping[str, Selection]


def solve_bgp(
    underlay: Underlay, sessions: Sequence[Session], sources: Sources
) -> tuple[PrefixClass, ...]:
    """All BGP tables, by class of prefixes.

    Raises Refused for a policy or prefix list that is not defined, and where the outcome would
    hang on whether a switch passes on a route that it does not use itself.
    """
    speakers = {
        node.name: Speaker(bgp.asn, bgp.maximum_paths, bgp.as_path_relax)
        for node in underlay.network.nodes
        if (bgp := node.device.bgp) is not None
    }
    policies: dict[Policy, int] = {}
    graph: defaultdict[str, list[_Edge]] = defaultdict(list)
    for edge in _edges(underlay, sessions, policies, sources):
        graph[edge.sender].append(edge)
    answer = tuple(
        PrefixClass(prefixes, _spread(origins, passed, speakers, graph))
        for (origins, passed), prefixes in _classes(underlay, list(policies)).items()
    )
    _check_hidden(answer, underlay, sessions, sources)
    return answer


def _edges(
    underlay: Underlay,
    sessions: Iterable[Session],
    policies: dict[Policy, int],
    sources: Sources,
) -> Iterator[_Edge]:
    compiled: dict[tuple[str, str], int] = {}

    def bit(session: tuple[str, IPv4Address], direction: str) -> int:
        device = underlay.network.by_name[session[0]].device
        name = _policy_name(device, session[1], direction)
        if name is None:
            return 0
        key = (device.name, name)
        if key not in compiled:
            place = Place(device.name, f"bgp.peers[{session[1]}].{direction}_policy")
            policy = _compile(device, name, place, sources)
            compiled[key] = 1 << policies.setdefault(policy, len(policies))
        return compiled[key]

    for session in sessions:  # of a peer that is down too: its policy may be asked for a cause
        own = session.device, session.peer
        needed, _ = bit(own, "import"), bit(own, "export")
        if session.status is not SessionStatus.ESTABLISHED or session.far is None:
            continue
        sender = underlay.network.by_name[session.far[0]].device
        needed |= bit(session.far, "export")
        rank = (_router_id(sender), int(session.peer))
        yield _Edge(sender.name, session.device, session.peer, rank, needed)


def _policy_name(device: Device, address: IPv4Address, direction: str) -> str | None:
    bgp = device.bgp
    peer = next((p for p in bgp.peers if p.address == address), None) if bgp else None
    if bgp is None or peer is None:
        return None
    settings = bgp.settings(peer)
    return settings.import_policy if direction == "import" else settings.export_policy


def _router_id(device: Device) -> int:
    """Configured, else the highest loopback or other address; it only breaks ties."""
    if device.bgp and device.bgp.router_id:
        return int(device.bgp.router_id)
    ranked = [
        (interface.kind == "loopback", int(address.ip))
        for interface in device.interfaces
        for address in interface.addresses
    ]
    return max(ranked, default=(False, 0))[1]


def _compile(device: Device, name: str, place: Place, sources: Sources) -> Policy:
    """A route-policy with its prefix lists as bare numbers.

    What VRP does with a name that is not defined is not confirmed by its reference: refused.
    """
    policy = next((p for p in device.route_policies if p.name == name), None)
    if policy is None:
        raise refuse(f"route-policy {name} is not defined", place, sources)
    lists = {found.name: found for found in device.prefix_lists}
    nodes: list[tuple[bool, Entries | None]] = []
    for node in policy.nodes:
        entries: Entries | None = None
        if node.match_prefix_list is not None:
            if node.match_prefix_list not in lists:
                at = Place(device.name, f"route_policies[{name}].nodes[{node.node}]")
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


def denying(device: Device, prefix: IPv4Network, sources: Sources) -> str | None:
    """Name of the first export policy of a device that denies a prefix; None: all pass it.

    The device is one that `solve_bgp` took, so all its policies and lists are defined.
    """
    for peer in device.bgp.peers if device.bgp else ():
        if name := _policy_name(device, peer.address, "export"):
            place = Place(device.name, f"bgp.peers[{peer.address}].export_policy")
            policy = _compile(device, name, place, sources)
            if not _passes(policy, int(prefix.network_address), prefix.prefixlen):
                return name
    return None


def _passes(policy: Policy, bits: int, length: int) -> bool:
    """Whether a route passes: the first node whose list permits it decides, else it is denied."""
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
    underlay: Underlay, policies: Sequence[Policy]
) -> dict[tuple[frozenset[str], int], tuple[IPv4Network, ...]]:
    """Prefixes by who originates them and which policies they pass.

    `network` takes effect when the local table has that very prefix.
    """
    origins: defaultdict[IPv4Network, set[str]] = defaultdict(set)
    for node in underlay.network.nodes:
        bgp: Bgp | None = node.device.bgp
        for prefix in bgp.networks if bgp else ():
            if prefix in underlay.connected[node.name]:
                origins[prefix].add(node.name)
    classes: defaultdict[tuple[frozenset[str], int], list[IPv4Network]] = defaultdict(list)
    for prefix, devices in origins.items():
        bits, length = int(prefix.network_address), prefix.prefixlen
        passed = sum(1 << i for i, policy in enumerate(policies) if _passes(policy, bits, length))
        classes[frozenset(devices), passed].append(prefix)
    return {key: tuple(prefixes) for key, prefixes in classes.items()}


def _spread(
    origins: Iterable[str],
    passed: int,
    speakers: Mapping[str, Speaker],
    graph: Mapping[str, Sequence[_Edge]],
) -> dict[str, Selection]:
    """Selections of all devices for one class of prefixes, round by round."""
    settled = {name: Selection((), (), frozenset()) for name in sorted(origins)}
    senders = list(settled)
    while senders:
        offers: defaultdict[str, list[tuple[_Edge, tuple[int, ...]]]] = defaultdict(list)
        for sender in senders:
            as_path = (speakers[sender].asn, *settled[sender].as_path)
            for edge in graph.get(sender, ()):
                if edge.receiver in settled or edge.policies & ~passed:
                    continue
                if speakers[edge.receiver].asn not in as_path:
                    offers[edge.receiver].append((edge, as_path))
        for receiver, routes in offers.items():
            settled[receiver] = _select(speakers[receiver], routes)
        senders = list(offers)
    return settled


def _select(speaker: Speaker, routes: list[tuple[_Edge, tuple[int, ...]]]) -> Selection:
    """Best path and its equals, all of one length.

    Which of several equals wins is the vendor's last tie-breaker: lowest router id, then lowest
    neighbour address. Without as-path-relax only routes with the best one's AS path join it.
    """
    routes.sort(key=lambda route: route[0].rank)
    best = routes[0][1]
    joined = [edge for edge, path in routes if speaker.as_path_relax or path == best]
    chosen = sorted(edge.next_hop for edge in joined[: speaker.maximum_paths])
    return Selection(best, tuple(chosen), frozenset(edge.next_hop for edge, _ in routes))


def _check_hidden(
    classes: Iterable[PrefixClass],
    underlay: Underlay,
    sessions: Iterable[Session],
    sources: Sources,
) -> None:
    """Refuse where a neighbour uses a BGP route that its sender hides behind a connected one.

    Whether such a route is passed on differs by vendor and by `active-route-advertise`.
    """
    senders = {(s.device, s.peer): s.far[0] for s in sessions if s.far}
    for group in classes:
        for prefix in group.prefixes:
            hiding = {
                name
                for name, selection in group.selections.items()
                if selection.next_hops and prefix in underlay.connected[name]
            }
            for name, selection in group.selections.items() if hiding else ():
                for next_hop in selection.next_hops:
                    if (sender := senders[name, next_hop]) in hiding:
                        port = underlay.connected[sender][prefix]
                        place = Place(sender, f"interfaces[{port}].addresses", port)
                        what = f"{prefix} is connected here, and {name} learns it from {sender}"
                        how = f"originate it with a network line on {sender}, or renumber"
                        raise refuse(what, place, sources, how)
