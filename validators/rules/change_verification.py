"""What a change of the text does to routing: two versions, answered by one engine.

CHG101  a server pair that was delivered no longer is
CHG102  a switch that stays has lost a route, or has fewer equal-cost paths
CHG103  a server pair is delivered that was not (told, for who reads the change)

A pair that the policy of the new version denies is meant to be lost. Routes of a switch that only
one version has are no change of that switch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from ipaddress import IPv4Address, IPv4Network
from itertools import permutations
from typing import Generic, TypeVar

from rocefort.models.finding import Finding, NotJudged, Report, Severity, Where
from rocefort.models.network import End, Network, Server, Sources
from rocefort.models.reachability import Pair
from rocefort.models.routing import Route, RoutingState
from rocefort.models.routing_change import RouteChange, RoutingChange
from rocefort.models.traffic import Flow
from rocefort.models.wording import counted
from rocefort.validators.routing import Solution, moved_routes
from rocefort.validators.rules.agreement import ENGINES_DISAGREE, HINT
from rocefort.validators.underlay import Place
from rocefort.validators.waivers import sort_out

V = TypeVar("V")
MOST = 2**32  # different next hops that one number has room for
LOST, ROUTES, GAINED = "CHG101", "CHG102", "CHG103"
CHANGE_TITLES = {
    LOST: "No server pair that was delivered is lost by the change",
    ROUTES: "No switch loses a route or paths by the change",
    GAINED: "Server pairs that the change lets through are told",
}


def change_of(before: RoutingState, after: RoutingState, standing: Set[str]) -> RoutingChange:
    """What one engine answers differently about two versions; standing: switches of both.

    Said by the caller, for a switch whose BGP has gone altogether is in no answer of an engine.
    """
    return _change(before, after, _moved(before, after, standing))


def change_since(
    before: Solution, state: RoutingState, solution: Solution | None, standing: Set[str]
) -> RoutingChange:
    """As `change_of`; solution: that the state is of, where the embedded engine gave it."""
    if solution is None or solution.state is not state:
        return change_of(before.state, state, standing)
    return _change(before.state, state, moved_routes(before, solution, standing))


def _change(
    before: RoutingState, after: RoutingState, moved: Iterable[tuple[Route, Route]]
) -> RoutingChange:
    was, now = before.reachability, after.reachability
    known = was.servers & now.servers if was.lost or now.lost else frozenset()
    lost = (p for p in now.lost_pairs() if known.issuperset(p) and was.delivers(*p))
    gained = (p for p in was.lost_pairs() if known.issuperset(p) and now.delivers(*p))
    return RoutingChange(
        engine=after.engine,
        lost=tuple(sorted(lost)),
        gained=tuple(sorted(gained)),
        routes=tuple(
            RouteChange(device=new.device, prefix=new.prefix, was=old.width, now=new.width)
            for old, new in sorted(moved, key=_by_place)
        ),
    )


def standing(before: Network, after: Network) -> Set[str]:
    """Switches that both versions have."""
    return before.by_name.keys() & after.by_name.keys()


def _moved(
    before: RoutingState, after: RoutingState, standing: Set[str]
) -> Iterator[tuple[Route, Route]]:
    """Routes with other next hops; one that only one version has goes to none in the other."""
    if before.routes is after.routes:
        return
    # Many may be the same objects.
    ids = [dict(zip(map(id, r), r, strict=True)) for r in (before.routes, after.routes)]
    prefixes, hops = _Numbers[IPv4Network](), _Numbers[tuple[IPv4Address, ...]]()
    was, now = (
        _by_device([own[key] for key in own.keys() - other.keys()], prefixes, hops)
        for own, other in permutations(ids)
    )
    for device in standing & (was.keys() | now.keys()):
        rows = set(was.get(device, ())), set(now.get(device, ()))
        old, new = (dict(divmod(row, MOST) for row in one - two) for one, two in permutations(rows))
        for number in old.keys() | new.keys():
            prefix = prefixes.values[number]
            paths = (hops.values[side[number]] if number in side else () for side in (old, new))
            yield Route(device, prefix, next(paths)), Route(device, prefix, next(paths))


@dataclass
class _Numbers(Generic[V]):
    """A number for each value. Each object is hashed once, for the addresses of Python's library
    are slow to hash and to compare, and half a million routes share a thousand of them.
    """

    values: list[V] = field(default_factory=list)
    known: dict[V, int] = field(default_factory=dict)

    def of(self, values: Sequence[V]) -> list[int]:
        """Numbers of values, the same for equal ones."""
        ids = list(map(id, values))
        objects = dict(zip(ids, values, strict=True))
        by_id = {key: self._number(value) for key, value in objects.items()}
        return [by_id[key] for key in ids]

    def _number(self, value: V) -> int:
        if value not in self.known:
            self.known[value] = len(self.values)
            self.values.append(value)
        return self.known[value]


def _by_device(
    routes: Sequence[Route],
    prefixes: _Numbers[IPv4Network],
    hops: _Numbers[tuple[IPv4Address, ...]],
) -> dict[str, list[int]]:
    """Routes of each device, each as one number of its prefix and its next hops."""
    first, second = prefixes.of([r.prefix for r in routes]), hops.of([r.next_hops for r in routes])
    found: defaultdict[str, list[int]] = defaultdict(list)
    for route, prefix, paths in zip(routes, first, second, strict=True):
        found[route.device].append(prefix * MOST + paths)
    return found


def _by_place(routes: tuple[Route, Route]) -> tuple[str, int, int]:
    route = routes[0]
    return route.device, int(route.prefix.network_address), route.prefix.prefixlen


def lend(network: Network, other: Network) -> Network:
    """The other version with the servers and cables of this one, where its text tells of none.

    So a directory of configurations is asked about the same pairs as the fabric that it was.
    """
    if other.servers is not None or network.servers is None:
        return other
    ports = {(node.name, i.name) for node in other.nodes for i in node.device.interfaces}
    servers = [s for s in network.servers or () if all(_has(ports, end) for end in _ends(s))]
    links = [x for x in network.links or () if _has(ports, x.a) and _has(ports, x.b)]
    leaves = {server.port.device for server in servers}
    segments = [segment for segment in network.segments or () if segment.leaf in leaves]
    update: dict[str, object] = {"servers": tuple(servers), "segments": tuple(segments)}
    if network.origin == "fabric":
        update |= {"links": tuple(links), "origin": "fabric"}
    return other.model_copy(update=update)


def _has(ports: set[tuple[str, str]], end: End) -> bool:
    return (end.device, end.interface) in ports


def _ends(server: Server) -> Iterable[End]:
    return (server.port, *server.members)


def verify_change(
    network: Network,
    change: RoutingChange,
    sources: Sources | None = None,
    solution: Solution | None = None,
    today: date | None = None,
) -> Report:
    """Judge a change; network, sources, solution: of the new version."""
    known = sources or Sources()
    report = Report(
        network=network.name,
        rules=tuple(CHANGE_TITLES),
        findings=(
            *_lost(network, change, known, solution),
            *_routes(change, known),
            *_gained(network, change, known),
        ),
        not_judged=tuple(_not_judged(network)),
    )
    return sort_out(report, network, known, today)


def _not_judged(network: Network) -> Iterator[NotJudged]:
    if network.servers is None:
        reason = "the servers are not known"
        yield from (NotJudged(rule=r, where=Where(), reason=reason) for r in (LOST, GAINED))


def _lost(
    network: Network, change: RoutingChange, sources: Sources, solution: Solution | None
) -> Iterator[Finding]:
    """By what stops them now, or by leaf and leaf where the embedded engine does not say."""
    ports = {server.name: server.port for server in network.servers or ()}
    found: defaultdict[tuple[Place, str, bool], list[Pair]] = defaultdict(list)
    for pair in change.lost:
        meant = _denied(network, pair)
        stop = solution.trips.stop(*pair, Flow()) if solution and not meant else None
        port = ports[pair[0]]
        place = Place(port.device, f"interfaces[{port.interface}]", port.interface)
        found[(stop.place, stop.reason, meant) if stop else (place, "", meant)].append(pair)
    for (place, reason, meant), pairs in found.items():
        message = _pairs(pairs)
        message += ", which the policy now denies" if meant else ""
        message += f": {reason}" if reason else ""
        severity = Severity.INFO if meant else Severity.ERROR
        hint = "undo what stops them, or deny them by the policy"
        yield _finding(LOST, severity, place, sources, message, hint)


def _denied(network: Network, pair: Pair) -> bool:
    if network.policy is None:
        return False
    at = {server.name: server for server in network.servers or () if server.name in pair}
    source, target = (at[name] for name in pair)
    routed = source.address.network != target.address.network
    return routed and not network.policy.allows(source.segment, target.segment, Flow())


def _pairs(pairs: Sequence[Pair]) -> str:
    source, target = pairs[0]
    more = f" (and {counted(len(pairs) - 1, 'more pair')})" if pairs[1:] else ""
    return f"by the change {source} no longer reaches {target} by every path{more}"


def _routes(change: RoutingChange, sources: Sources) -> Iterator[Finding]:
    """Routes gone, then routes with fewer paths; switches with the same loss together."""
    for routes, one, many in (
        (change.gone, "loses its route", "lose their routes"),
        (change.narrower, "has fewer paths", "have fewer paths"),
    ):
        by_device: defaultdict[str, list[RouteChange]] = defaultdict(list)
        for route in routes:
            by_device[route.device].append(route)
        alike: defaultdict[tuple[IPv4Network, ...], list[str]] = defaultdict(list)
        for device, own in by_device.items():
            alike[tuple(route.prefix for route in own)].append(device)
        for prefixes, devices in alike.items():
            first = by_device[devices[0]][0]
            who = devices[0] if len(devices) == 1 else f"{len(devices)} switches"
            message = f"by the change {who} {many if devices[1:] else one} to {first.prefix}"
            message += f" ({first.was} -> {first.now})"
            if more := len(prefixes) - 1:
                message += f" and to {more} more prefix{'es' if more > 1 else ''}"
            hint = "see whether the change means to withdraw it"
            place = Place(devices[0], "bgp")
            yield _finding(ROUTES, Severity.WARNING, place, sources, message, hint)


def _gained(network: Network, change: RoutingChange, sources: Sources) -> Iterator[Finding]:
    """One finding: how many, and the first."""
    if not change.gained:
        return
    source, target = change.gained[0]
    port = next(s.port for s in network.servers or () if s.name == source)
    place = Place(port.device, f"interfaces[{port.interface}]", port.interface)
    message = f"by the change {source} reaches {target}"
    if more := len(change.gained) - 1:
        message += f" (and {counted(more, 'more pair')} are delivered that were not)"
    yield _finding(GAINED, Severity.INFO, place, sources, message, "see whether it is meant")


def _finding(  # noqa: PLR0913, PLR0917 - the fields of a finding
    rule: str, severity: Severity, place: Place, sources: Sources, message: str, hint: str
) -> Finding:
    where = sources.where(place.device, place.path, place.interface)
    return Finding(rule=rule, severity=severity, where=where, message=message, hint=hint)


def disagreement(
    ours: RoutingChange, theirs: RoutingChange, examples: Iterable[Pair], sources: Sources
) -> tuple[Finding, ...]:
    """One finding where two engines see different changes; examples: of the other's own search.

    Which next hops routes move to is not compared: an arbitrary choice may fall differently.
    """
    seen = [set(_facts(change)) for change in (ours, theirs)]
    differ = sorted(seen[0] ^ seen[1])
    known = {*ours.lost, *ours.gained}
    differ += [("", f"{a} to {b} changes by differential reachability") for a, b in examples
               if (a, b) not in known]  # fmt: skip
    if not differ:
        return ()
    device, what = differ[0]
    by = ours.engine if (device, what) in seen[0] else theirs.engine
    more = f" (and {len(differ) - 1} more)" if differ[1:] else ""
    message = f"the engines disagree about the change: only {by} says that {what}{more}"
    where = sources.where(device, "bgp")
    finding = Finding(
        rule=ENGINES_DISAGREE, severity=Severity.ERROR, where=where, message=message, hint=HINT
    )
    return (finding,)


def _facts(change: RoutingChange) -> Iterator[tuple[str, str]]:
    for verb, pairs in (("lost", change.lost), ("gained", change.gained)):
        yield from (("", f"{a} to {b} is {verb}") for a, b in pairs)
    for route in change.routes:
        if route.was != route.now:
            yield route.device, f"{route.device} to {route.prefix} goes {route.was} -> {route.now}"
