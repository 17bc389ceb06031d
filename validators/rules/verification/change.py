"""Rules on the effect of a change on routing: two versions, compared by one engine.

The loss of a pair that the policy of the new version denies is intended. Routes of a switch that
only one version has are not compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import date
from ipaddress import IPv4Network
from typing import ClassVar

from rocefort.models.device.packet_filters import Flow
from rocefort.models.finding import Finding, Report, Severity
from rocefort.models.network.network import End, Network, Server, Sources
from rocefort.models.results.reachability import Pair
from rocefort.models.results.routing import Route, RoutingState
from rocefort.models.results.routing_change import RouteChange, RoutingChange
from rocefort.models.wording import count_of
from rocefort.validators.facts.overview import Overview
from rocefort.validators.routing.engine import Solution, moved_routes
from rocefort.validators.routing.underlay import DevicePlace
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import Verdict, registered, rule
from rocefort.validators.rules.verification.engine_comparison import EngineDifference, engines_agree
from rocefort.validators.rules.verification.subject import (
    TWO_VERSIONS,
    AnswerSubject,
    answer_report,
)


@dataclass(frozen=True)
class ChangeSubject(AnswerSubject):
    """Effect of a change on routing; network, solution: of the new version."""

    change: RoutingChange
    solution: Solution | None

    given: ClassVar[str] = f"the answers of a routing engine, {TWO_VERSIONS}"


def change_of(before: RoutingState, after: RoutingState, common: Set[str]) -> RoutingChange:
    """Difference between one engine's answers about two versions; common: switches of both.

    The caller gives them, because a switch that lost its whole BGP process is in no answer.
    """
    return _change(before, after, _moved_routes(before, after, common))


def change_since(
    before: Solution, state: RoutingState, solution: Solution | None, common: Set[str]
) -> RoutingChange:
    """Difference as in `change_of`; solution: source of the state, if it is the embedded engine."""
    if solution is None or solution.state is not state:
        return change_of(before.state, state, common)
    return _change(before.state, state, moved_routes(before, solution, common))


def _change(
    before: RoutingState, after: RoutingState, moved: Iterable[tuple[Route, Route]]
) -> RoutingChange:
    was, now = before.reachability, after.reachability
    servers = was.servers & now.servers if was.lost or now.lost else frozenset()
    lost = (p for p in now.lost_pairs() if servers.issuperset(p) and was.delivers(*p))
    gained = (p for p in was.lost_pairs() if servers.issuperset(p) and now.delivers(*p))
    return RoutingChange(
        engine=after.engine,
        lost=tuple(sorted(lost)),
        gained=tuple(sorted(gained)),
        routes=tuple(
            RouteChange(device=new.device, prefix=new.prefix, was=old.width, now=new.width)
            for old, new in sorted(moved, key=_by_place)
        ),
    )


def common_switches(before: Network, after: Network) -> Set[str]:
    """Switches that both versions have."""
    return before.by_name.keys() & after.by_name.keys()


def _moved_routes(
    before: RoutingState, after: RoutingState, common: Set[str]
) -> Iterator[tuple[Route, Route]]:
    """Routes whose next hops differ; a route that one version lacks has none there."""
    was, now = (
        {(route.device, route.prefix): route.next_hops for route in side.routes}
        for side in (before, after)
    )
    for device, prefix in was.keys() | now.keys():
        old, new = (side.get((device, prefix), ()) for side in (was, now))
        if old != new and device in common:
            yield Route(device, prefix, old), Route(device, prefix, new)


def _by_place(routes: tuple[Route, Route]) -> tuple[str, int, int]:
    route = routes[0]
    return route.device, int(route.prefix.network_address), route.prefix.prefixlen


def with_servers_of(network: Network, other: Network) -> Network:
    """The other version, with the servers and cables of this one if its text has no servers.

    A directory of configurations is then verified for the same pairs as its fabric.
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
    overview = Overview(network, sources or Sources())
    chosen = registered(ChangeSubject)
    return answer_report([ChangeSubject(overview, one, change, solution) for one in chosen], today)


@rule(
    "CHG101",
    judges=ChangeSubject,
    severity=Severity.ERROR,
    source="a choice: a change loses no server pair by mistake",
    needs=(Need.SERVERS,),
)
def lost_pairs(subject: ChangeSubject) -> Iterator[Verdict]:
    """The change does not interrupt a server pair.

    Before the change, the packets of this pair were delivered; after the change they are not. The
    finding has the cause where the engine finds it.

    Example: by the change server2 no longer reaches server1 by every path: leaf2 has no route to
    10.1.1.0/24
    Fix: Undo the cause, or deny the pair by the policy: the loss is then intended, and only
    reported (info).
    """
    network, solution = subject.network, subject.solution
    by_cause: defaultdict[tuple[DevicePlace, str, bool], list[Pair]] = defaultdict(list)
    for pair in subject.change.lost:
        meant = _is_denied(network, pair)
        stop = solution.trips.stop(*pair, Flow()) if solution and not meant else None
        place = subject.port_of(pair[0])
        by_cause[(stop.place, stop.reason, meant) if stop else (place, "", meant)].append(pair)
    for (place, reason, meant), pairs in by_cause.items():
        message = _pairs(pairs)
        message += ", which the policy now denies" if meant else ""
        message += f": {reason}" if reason else ""
        hint = "undo the cause, or deny the pairs by the policy"
        yield subject.at(place, message, hint, Severity.INFO if meant else None)


def _is_denied(network: Network, pair: Pair) -> bool:
    if network.policy is None:
        return False
    at = {server.name: server for server in network.servers or () if server.name in pair}
    source, target = (at[name] for name in pair)
    routed = source.address.network != target.address.network
    return routed and not network.policy.allows(source.segment, target.segment, Flow())


def _pairs(pairs: Sequence[Pair]) -> str:
    source, target = pairs[0]
    more = f" (and {count_of(len(pairs) - 1, 'more pair')})" if pairs[1:] else ""
    return f"by the change {source} no longer reaches {target} by every path{more}"


@rule(
    "CHG102",
    judges=ChangeSubject,
    severity=Severity.WARNING,
    source="a choice: a change withdraws no route by mistake",
)
def lost_routes(subject: ChangeSubject) -> Iterator[Verdict]:
    """No switch loses a route or paths by the change.

    A switch of both versions loses a route, or has fewer equal paths to it than before. The loss
    may be intended, for example when a leaf is removed.

    Example: by the change 3 switches lose their routes to 10.1.1.0/24 (2 -> 0)
    Fix: Check whether the withdrawal is intended; if not, check the sessions, policies and
    «network» lines of the change.
    """
    change = subject.change
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
            hint = "check whether the withdrawal is intended"
            yield subject.at(DevicePlace(devices[0], "bgp"), message, hint)


@rule(
    "CHG103",
    judges=ChangeSubject,
    severity=Severity.INFO,
    source="a choice: a reviewer of a change sees the connections that it opens",
    needs=(Need.SERVERS,),
)
def gained_pairs(subject: ChangeSubject) -> Iterator[Verdict]:
    """Server pairs that the change newly connects.

    Before the change, the packets of this pair were not delivered; after the change they are. No
    other output shows a reviewer that an ACL was opened.

    Example: by the change server2 reaches server1
    Fix: Check whether it is intended.
    """
    gained = subject.change.gained
    if not gained:
        return
    source, target = gained[0]
    message = f"by the change {source} reaches {target}"
    if more := len(gained) - 1:
        message += f" (and {count_of(more, 'more pair')} are newly delivered)"
    yield subject.at(subject.port_of(source), message, "check whether it is intended")


def disagreement(
    ours: RoutingChange, theirs: RoutingChange, examples: Iterable[Pair], sources: Sources
) -> tuple[Finding, ...]:
    """One finding where two engines report different changes.

    examples: pairs of the other engine's own search. The new next hops of routes are not compared,
    because an arbitrary choice may differ.
    """
    seen = [set(_facts(change)) for change in (ours, theirs)]
    differ = sorted(seen[0] ^ seen[1])
    reported = {*ours.lost, *ours.gained}
    differ += [("", f"{a} to {b} changes by differential reachability") for a, b in examples
               if (a, b) not in reported]  # fmt: skip
    if not differ:
        return ()
    device, what = differ[0]
    by = ours.engine if (device, what) in seen[0] else theirs.engine
    more = f" (and {len(differ) - 1} more)" if differ[1:] else ""
    message = f"the engines disagree about the change: only {by} reports that {what}{more}"
    return tuple(engines_agree(EngineDifference(sources.where(device, "bgp"), message)))


def _facts(change: RoutingChange) -> Iterator[tuple[str, str]]:
    for verb, pairs in (("lost", change.lost), ("gained", change.gained)):
        yield from (("", f"{a} to {b} is {verb}") for a, b in pairs)
    for route in change.routes:
        if route.was != route.now:
            yield route.device, f"{route.device} to {route.prefix} goes {route.was} -> {route.now}"
