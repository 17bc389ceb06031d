"""Rules on BGP sessions, paths and server pairs, with the cause of each loss.

Consequences with one cause make one finding: paths by leaf and width, pairs by their cause. Causes
come from the embedded engine, for the answers of any engine. Where it does not share an answer, the
finding has no cause.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.device.packet_filters import Flow
from rocefort.models.finding import Finding, Severity
from rocefort.models.network.network import Network, Node, Sources, SwitchRole
from rocefort.validators.facts.roce_ports import ends_of
from rocefort.validators.routing.bgp import SilenceCause, why_silent
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.forwarding_table import Widths as OfPrefix
from rocefort.validators.routing.reachability_matrix import is_denied
from rocefort.validators.routing.sessions import ConfiguredSession
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.routing_results import BgpSession, Pair, Route, SessionStatus
from rocefort.validators.rules.missing import SESSION, Need
from rocefort.validators.rules.registry import Verdict, rule
from rocefort.validators.rules.verification.answers import BGP, MULTIPATH, EngineSubject
from rocefort.validators.rules.verification.causes import Cause, silence

HOP_BY_HOP = "follow the path hop by hop from the leaf"
OUTSIDE = "the configuration of a peer is not among the texts"


@rule("BGP101", judges=EngineSubject, severity=Severity.ERROR, source=BGP)
def sessions(subject: EngineSubject) -> Iterator[Verdict]:
    """Every configured BGP session is established.

    A session that stays down carries no route: its traffic uses other paths, or is lost. Where the
    engine finds the cause, the finding is at the line that causes it. If both ends match, an
    interface between them is down or in another subnet. A peer of texts that leads out of them, on
    a port without a cable to another text and in an AS that none has, is not judged.

    Example: BGP session of leaf1 with spine1 (172.16.0.0) is not compatible: leaf1 expects AS
    65009, spine1 is AS 65000
    Fix: Compare addresses, AS numbers, passwords and «use of peer» at both ends.
    """
    state, solution = subject.state, subject.solution
    broken = [s for s in state.sessions if s.status is not SessionStatus.ESTABLISHED]
    causes = {(s.device, s.peer): s for s in (solution.sessions if solution and broken else ())}
    owners = _owners(solution) if broken else {}
    reported: set[tuple[str, ...]] = set()
    for session in broken:
        if solution and session.peer not in owners and _leads_out(subject, solution, session):
            node = subject.network.by_name[session.device]
            yield subject.not_judged(node, OUTSIDE, SESSION, path=f"bgp.peers[{session.peer}]")
            continue
        cause = causes.get((session.device, session.peer))
        shared = cause if cause and cause.status is session.status else None
        place = DevicePlace(session.device, f"bgp.peers[{session.peer}]")
        message = f"BGP session of {session.device} with {_peer(session, owners)} is "
        message += session.status.value.replace("-", " ")
        if shared and shared.place:
            # Both ends of one session have the same cause: report it once, at its line.
            ends = sorted((session.device, owners.get(session.peer, str(session.peer))))
            key = (*ends, shared.reason)
            if key in reported:
                continue
            reported.add(key)
            place, message = shared.place, f"{message}: {shared.reason}"
        yield subject.at(place, message, _session_hint(session, shared))


def _leads_out(subject: EngineSubject, solution: Solution, session: BgpSession) -> bool:
    """Whether a peer that no switch has may be outside of the texts, such as that of an exit."""
    bgp = subject.network.by_name[session.device].device.bgp
    settings = bgp.settings_at(session.peer) if bgp else None
    if subject.network.origin != "text" or settings is None or not settings.active:
        return False
    processes = (node.device.bgp for node in subject.network.nodes)
    if settings.asn in (None, *(process.asn for process in processes if process)):
        return False
    connected = solution.underlay.connected[session.device]
    ports = [port for subnet, port in connected.items() if session.peer in subnet]
    return any((session.device, port) not in solution.underlay.far for port in ports)


def _owners(solution: Solution | None) -> Mapping[IPv4Address, str]:
    """Device by address, whether its interface is up or not."""
    return {
        address.ip: node.name
        for node in (solution.underlay.network.nodes if solution else ())
        for interface in node.device.interfaces
        for address in interface.addresses
    }


def _peer(session: BgpSession, owners: Mapping[IPv4Address, str]) -> str:
    owner = owners.get(session.peer)
    return f"{owner} ({session.peer})" if owner else str(session.peer)


def _session_hint(session: BgpSession, cause: ConfiguredSession | None) -> str:
    if cause is not None and cause.place is not None:
        return f"change this line of {cause.place.device} so that both ends match"
    if session.status is SessionStatus.NOT_ESTABLISHED:
        return "both ends match, so check the interfaces between them"
    return "compare addresses, AS numbers and «use of peer» at both ends"


@rule(
    "BGP102",
    judges=EngineSubject,
    severity=Severity.ERROR,
    source=MULTIPATH,
    needs=(Need.ROLE,),
)
def equal_paths(subject: EngineSubject) -> Iterator[Verdict]:
    """Every leaf has all equal-cost paths to every other leaf's prefixes.

    Beside a fabric, prefixes that the fabric announces count, too. A static route that is used in
    place of BGP is named at its line, by BGP103 or BGP201 if packets are lost there.
    A leaf with fewer paths than its cabling to the spines provides sends more traffic over the
    other paths, which congest sooner. Where the far leaf does not announce the prefix, the finding
    names its «network» line, its interface or its policy. Paths that closed sessions take are left
    out while others remain: BGP101 reports the sessions. A prefix whose gateway waits for servers
    is excluded (TOP008).

    Example: leaf1 has 1 of 2 paths to 10.2.10.0/24 of leaf2 and to 3 more prefixes of other leaves
    Fix: Check sessions that are down, «equal paths of BGP», AS numbers where spines have one each
    («equal paths over unlike ASNs»), and the policies on the path.
    """
    network, state, solution = subject.network, subject.state, subject.solution
    spines = network.spines or len(network.role(SwitchRole.SPINE))
    own = solution is not None and solution.state is state
    width: Widths = solution.widths if solution and own else _by_prefix(state.routes)
    leaves = network.role(SwitchRole.LEAF)
    served = _served(subject, leaves)
    silent = {} if solution is None else _silent(solution, served, width, spines, subject.sources)
    cables = _links_per_pair(network)
    expected = {leaf.name: spines * cables.get(leaf.name, 1) for leaf in leaves}
    hidden: defaultdict[tuple[IPv4Network, str], list[str]] = defaultdict(list)
    short: defaultdict[str, dict[int, list[tuple[IPv4Network, str]]]] = defaultdict(dict)
    closed = _closed_sessions(subject)
    for key, name, has in _missing(leaves, served, width, expected):
        if has and has == expected[name] - _lost_paths(closed, name, key[1], cables):
            continue  # BGP101 reports the sessions
        if key in silent:
            hidden[key].append(name)
        elif place := _overriding(subject, name, key[0]):
            if not _lost_at(subject, place, key[0]):  # else BGP103 or BGP201 has this line
                yield _overridden(subject, key, place)
        else:
            short[name].setdefault(has, []).append(key)
    for leaf in leaves:
        for has, missing in sorted(short.get(leaf.name, {}).items()):
            yield _short(subject, leaf, (has, expected[leaf.name]), missing)
    for key, names in hidden.items():
        yield _hidden(subject, key, names, silent[key])


ClosedSessions = Mapping[str, Counter[str]]  # number by leaf and spine


def _closed_sessions(subject: EngineSubject) -> ClosedSessions:
    """Number of sessions of each leaf with each spine that are not established at either end."""
    owners = _owners(subject.solution)
    ends = Counter(
        (session.device, owners[session.peer])
        for session in subject.state.sessions
        if session.status is not SessionStatus.ESTABLISHED and session.peer in owners
    )
    spines = [node.name for node in subject.network.role(SwitchRole.SPINE)]
    closed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair, number in ends.items():
        for leaf, spine in (pair, pair[::-1]):
            if spine in spines:
                closed[leaf][spine] = max(closed[leaf][spine], number)
    return closed


def _lost_paths(closed: ClosedSessions, leaf: str, other: str, cables: Mapping[str, int]) -> int:
    """Number of paths between two leaves that closed sessions take: all to a spine without any."""
    per_spine, far = cables.get(leaf, 1), closed.get(other, Counter())
    away = {spine for spine, number in far.items() if number == cables.get(other, 1)}
    own = closed.get(leaf, Counter())
    return len(away) * per_spine + sum(n for spine, n in own.items() if spine not in away)


def _overriding(subject: EngineSubject, name: str, prefix: IPv4Network) -> DevicePlace | None:
    """Line of a static route that a switch uses in place of the route of BGP; None: it has none."""
    solution = subject.solution
    if solution is None or prefix not in solution.underlay.static[name]:
        return None
    routes = subject.network.by_name[name].device.static_routes
    keys = (route.key for route in routes if route.vrf is None and route.prefix == prefix)
    return next((DevicePlace(name, f"static_routes[{key}]") for key in keys), None)


def _lost_at(subject: EngineSubject, place: DevicePlace, prefix: IPv4Network) -> bool:
    """Whether a rule on packets has a finding of a lost prefix at a line."""
    solution, reached = subject.solution, subject.state.reachability
    lost = solution.gateways.lost if solution else ()
    if not any(each.end.place == place for each in lost):
        return False
    subnets = {reached.classes[there].subnet for _, there in reached.lost_classes()}
    return subject.network.servers is None or prefix in subnets


def _overridden(
    subject: EngineSubject, key: tuple[IPv4Network, str], place: DevicePlace
) -> Finding:
    prefix, other = key
    message = f"{place.device} has no path of BGP to {prefix} of {other}: its static route is used"
    return subject.at(place, message, "remove the static route")


def _missing(
    leaves: Iterable[Node],
    served: Mapping[str, set[IPv4Network]],
    width: Widths,
    expected: Mapping[str, int],
) -> Iterator[tuple[tuple[IPv4Network, str], str, int]]:
    """Prefixes of each leaf with the leaves that have fewer paths to them than expected."""
    own: defaultdict[IPv4Network, set[str]] = defaultdict(set)
    for leaf in leaves:
        for prefix in served[leaf.name] | _subnets(leaf):
            own[prefix].add(leaf.name)
    most, everyone = max(expected.values(), default=0), frozenset(expected)
    for other, prefixes in served.items():
        for prefix in sorted(prefixes):
            widths = width.get(prefix, {})
            if not (_fewer(widths, most, everyone) - own[prefix]):
                continue  # the usual case
            for name, required in expected.items():
                has = widths.get(name, 0)
                if has < required and name not in own[prefix]:
                    yield (prefix, other), name, has


def _fewer(widths: Mapping[str, int], width: int, among: frozenset[str]) -> Set[str]:
    """Devices among the given ones that have fewer paths to a prefix."""
    if isinstance(widths, OfPrefix):
        return widths.fewer(width, among)
    return {name for name in among if widths.get(name, 0) < width}


def _reaching(widths: Mapping[str, int], width: int) -> int:
    """Number of devices with at least this number of paths to a prefix."""
    if isinstance(widths, OfPrefix):
        return widths.at_least(width)
    return sum(map(width.__le__, widths.values()))


Widths = Mapping[IPv4Network, Mapping[str, int]]  # ECMP width by device


def _by_prefix(routes: Iterable[Route]) -> Widths:
    """Widths of routes."""
    widths: defaultdict[IPv4Network, dict[str, int]] = defaultdict(dict)
    for device, prefix, hops in routes:
        widths[prefix][device] = len(hops)
    return widths


def _silent(
    solution: Solution,
    served: Mapping[str, set[IPv4Network]],
    width: Widths,
    spines: int,
    sources: Sources,
) -> dict[tuple[IPv4Network, str], SilenceCause]:
    """Prefixes that their own leaf does not announce, each with the line that causes it."""
    leaves = frozenset(served)
    return {
        (prefix, name): cause
        for name, prefixes in served.items()
        for prefix in prefixes
        if _reaching(width.get(prefix, {}), spines) < len(served) - 1
        and (cause := why_silent(solution.underlay, name, prefix, leaves - {name}, sources))
    }


def _hidden(
    subject: EngineSubject, key: tuple[IPv4Network, str], leaves: list[str], cause: SilenceCause
) -> Finding:
    prefix, other = key
    who = leaves[0] if len(leaves) == 1 else f"{len(leaves)} leaves"
    verb = "lacks" if len(leaves) == 1 else "lack"
    message = f"{who} {verb} paths to {prefix} of {other}: {cause.reason}"
    hint = f"remove this cause on {cause.place.device}: change the line that is named"
    return subject.at(cause.place, message, cause.hint or hint)


def _served(subject: EngineSubject, leaves: Iterable[Node]) -> dict[str, set[IPv4Network]]:
    """Prefixes of each leaf that other leaves should reach: announced ones, and its segments.

    Of connected subnets that a line announces, those of its gateways and loopbacks. Prefixes of
    static routes are announced outside only, or are the default route: see BGP105. Those of
    gateways that wait for servers are left out. Beside what runs, those that the fabric announces
    count, too.
    """
    overview, solution = subject.overview, subject.solution
    running = solution.underlay.network.by_name if solution else {}
    segments: defaultdict[str, set[IPv4Network]] = defaultdict(set)
    for segment in overview.network.segments or ():
        segments[segment.leaf].add(segment.prefix)
    intended: defaultdict[str, set[IPv4Network]] = defaultdict(set)
    for name, prefix in overview.network.announced:
        intended[name].add(prefix)
    prefixes = {}
    for leaf in leaves:
        announced = set(leaf.device.bgp.networks) if leaf.device.bgp else set()
        bgp = running[leaf.name].device.bgp if leaf.name in running else None
        announced |= _inner_subnets(leaf) & set(bgp.networks if bgp else ())
        announced -= {route.prefix for route in leaf.device.static_routes}
        announced |= intended[leaf.name]
        idle = overview.idle_gateways.get(leaf.name, ())
        waiting = {address.network for gateway in idle for address in gateway.addresses}
        prefixes[leaf.name] = (announced | segments[leaf.name]) - waiting
    return prefixes


def _inner_subnets(leaf: Node) -> set[IPv4Network]:
    """Subnets of a leaf that are on no link to another switch."""
    inner = (i for i in leaf.device.interfaces if i.kind in ("vlanif", "loopback") and not i.vrf)
    return {address.network for interface in inner for address in interface.addresses}


def _subnets(leaf: Node) -> set[IPv4Network]:
    return {address.network for i in leaf.device.interfaces for address in i.addresses}


def _links_per_pair(network: Network) -> Mapping[str, int]:
    """Most cables of each leaf to one spine; leaves without a known cable are left out."""
    spines = {node.name for node in network.role(SwitchRole.SPINE)}
    count = Counter(
        (near.device, far.device)
        for link in network.links or ()
        for near, far in ends_of(link)
        if far.device in spines
    )
    most: dict[str, int] = {}
    for (leaf, _), number in count.items():
        most[leaf] = max(most.get(leaf, 0), number)
    return most


def _short(
    subject: EngineSubject,
    leaf: Node,
    widths: tuple[int, int],
    missing: list[tuple[IPv4Network, str]],
) -> Finding:
    paths_left, expected = widths
    prefix, other = missing[0]
    paths = f"{paths_left} of {expected} paths" if paths_left else "no path"
    what = f"{paths} to {prefix} of {other}"
    if more := len(missing) - 1:
        what += f" and to {more} more prefix{'es' if more > 1 else ''} of other leaves"
    place, hint = DevicePlace(leaf.name, "bgp"), "check the sessions and policies on the path"
    bgp = leaf.device.bgp
    if bgp is not None and bgp.maximum_paths < expected and paths_left == bgp.maximum_paths:
        place = DevicePlace(leaf.name, "bgp.maximum_paths")
        what += f": «equal paths of BGP» is {paths_left}"
        hint = f"set «equal paths of BGP» to {expected} or more"
    return subject.at(place, f"{leaf.name} has {what}", hint)


@rule(
    "BGP103",
    judges=EngineSubject,
    severity=Severity.ERROR,
    source=MULTIPATH,
    needs=(Need.SERVERS,),
)
def server_pairs(subject: EngineSubject) -> Iterator[Verdict]:
    """Packets of every server pair are delivered by every path.

    RDMA of a server pair must arrive by every equal path. A hash puts each flow on one path, so
    that one bad path of several stops some connections permanently. Pairs that the policy denies
    are excluded. A cause that stops many pairs is one finding, with their number. Where a leaf does
    not announce a segment, the finding is at that leaf.

    Example: srv1-1 does not reach srv3-1 by every path, nor do 1 more pair: leaf3 has no network
    line for it
    Fix: Follow the path hop by hop: `rocefort trace FABRIC SOURCE DESTINATION`.
    """
    network, reached = subject.network, subject.state.reachability
    by_cause: defaultdict[Cause | None, list[tuple[Pair, int]]] = defaultdict(list)
    for a, b in reached.lost_classes():
        if not is_denied(network, reached.classes[a], reached.classes[b]):
            pair = reached.witness(a, b)
            cause = _cause(subject, pair, reached.classes[b].subnet)
            by_cause[cause].append((pair, reached.count(a, b)))
    for cause, pairs in sorted(by_cause.items(), key=lambda item: min(item[1])):
        (source, destination), _ = min(pairs)
        message = f"{source} does not reach {destination} by every path"
        if more := sum(count for _, count in pairs) - 1:
            message += f", nor do {more} more pair{'s' if more > 1 else ''}"
        place, fix = subject.port_of(source), HOP_BY_HOP
        if cause is not None:
            reason, place, fix = cause
            message = f"{message}: {reason}"
        yield subject.at(place, message, fix)


def _cause(subject: EngineSubject, pair: Pair, subnet: IPv4Network) -> Cause | None:
    """Cause of a lost pair: where its packets end, or why the other leaf does not announce it."""
    solution = subject.solution
    stop = solution.trips.stop(*pair, Flow()) if solution else None
    if stop is None:
        return None
    leaf, other = (subject.port_of(server).device for server in pair)
    silent = None if stop.place.device == other else silence(subject, leaf, other, subnet)
    if silent is not None:
        return silent.reason, silent.place, silent.hint or HOP_BY_HOP
    return stop.reason, stop.place, HOP_BY_HOP
