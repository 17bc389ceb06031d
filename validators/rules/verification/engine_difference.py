"""Comparison of two routing engines: each kind of difference is one error with an example."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import ClassVar

from rocefort.models.finding import Finding, Where
from rocefort.models.network.network import Network, Sources
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing_results import Pair, Route, RoutingChange, RoutingState
from rocefort.validators.rules.registry import registered

HINT = "one of the two is wrong about this fabric: trust neither, and report it with both answers"
Ties = Callable[[str, IPv4Network], frozenset[IPv4Address]]
Witness = tuple[str, str, str]  # device, path of the field, sentence
WORDS = {True: "delivered", False: "not delivered", None: "nothing"}


@dataclass(frozen=True)
class EngineDifference:
    """Difference between the answers of two engines."""

    where: Where
    message: str

    given: ClassVar[str] = "the answers of a routing engine, a Batfish service"
    waivable: ClassVar[bool] = True

    @property
    def finding(self) -> Finding:
        """Finding of the rule that the engines agree."""
        (rule,) = registered(EngineDifference)
        return Finding(
            rule=rule.id,
            severity=rule.severity,
            where=self.where,
            message=self.message,
            hint=HINT,
        )


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
    return (EngineDifference(sources.where(device, "bgp"), message).finding,)


def _facts(change: RoutingChange) -> Iterator[tuple[str, str]]:
    for verb, pairs in (("lost", change.lost), ("gained", change.gained)):
        yield from (("", f"{a} to {b} is {verb}") for a, b in pairs)
    for route in change.routes:
        if route.was != route.now:
            yield route.device, f"{route.device} to {route.prefix} goes {route.was} -> {route.now}"


def disagreements(
    solution: Solution, other: RoutingState, sources: Sources | None = None
) -> tuple[Finding, ...]:
    """Compare the embedded engine's solution with another engine's answers.

    One finding for each kind of answer (sessions, routes, reachability) that differs: the first
    difference in order of device and prefix, and the number of differences. Empty: they agree.
    """
    return compare(solution.state, other, solution.underlay.network, solution.ties, sources)


def compare(
    ours: RoutingState,
    theirs: RoutingState,
    network: Network,
    ties: Ties = lambda _device, _prefix: frozenset(),
    sources: Sources | None = None,
) -> tuple[Finding, ...]:
    """Compare two states; `ties` gives the next hops among which a choice is arbitrary."""
    names = ours.engine, theirs.engine
    kinds = (
        ("session", list(_session_differences(ours, theirs, names))),
        ("route", list(_route_differences(ours, theirs, network, ties))),
        ("server pair", list(_pair_differences(ours, theirs, names, network))),
        ("flow", list(_flow_differences(ours, theirs, names, network))),
    )
    return tuple(
        _first(kind, differences, sources or Sources()).finding
        for kind, differences in kinds
        if differences
    )


def _first(kind: str, differences: Sequence[Witness], sources: Sources) -> EngineDifference:
    device, path, sentence = differences[0]
    more = len(differences) - 1
    others = f" (and {more} more {kind}{'s' if more > 1 else ''})" if more else ""
    where = sources.where(device, path)
    return EngineDifference(where, f"the engines disagree: {sentence}{others}")


def _session_differences(
    ours: RoutingState, theirs: RoutingState, names: tuple[str, str]
) -> Iterator[Witness]:
    tables = [
        {(s.device, s.peer): s.status.value for s in state.sessions} for state in (ours, theirs)
    ]
    for device, peer in sorted({*tables[0], *tables[1]}):
        answers = [table.get((device, peer), "no session") for table in tables]
        if answers[0] != answers[1]:
            sentence = f"session of {device} with {peer}: {_both_answers(names, answers)}"
            yield device, f"bgp.peers[{peer}]", sentence


def _both_answers(names: Sequence[str], answers: Sequence[str]) -> str:
    pairs = zip(names, answers, strict=True)
    return ", ".join(f"{name} reports {answer}" for name, answer in pairs)


def _route_differences(
    ours: RoutingState, theirs: RoutingState, network: Network, ties: Ties
) -> Iterator[Witness]:
    tables = [_routes(state) for state in (ours, theirs)]
    for key in sorted({*tables[0], *tables[1]}):
        mine, yours = (table[key].next_hops if key in table else () for table in tables)
        device, prefix = key
        if mine == yours or _same_choice(mine, yours, network, device, ties(device, prefix)):
            continue
        answers = [" and ".join(map(str, hops)) if hops else "no route" for hops in (mine, yours)]
        names = ours.engine, theirs.engine
        yield device, "bgp", f"{device} to {prefix}: {_both_answers(names, answers)}"


def _routes(state: RoutingState) -> Mapping[tuple[str, IPv4Network], Route]:
    return {(route.device, route.prefix): route for route in state.routes}


def _same_choice(
    mine: tuple[IPv4Address, ...],
    yours: tuple[IPv4Address, ...],
    network: Network,
    device: str,
    ties: frozenset[IPv4Address],
) -> bool:
    """Whether both pick the same number of equal routes, with Batfish's cut to the limit."""
    bgp = network.by_name[device].device.bgp
    limit = bgp.maximum_paths if bgp else 1
    widths = {min(len(hops), limit) if limit > 1 else len(hops) for hops in (mine, yours)}
    return bool(mine) and len(widths) == 1 and ties.issuperset((*mine, *yours))


def _pair_differences(
    ours: RoutingState, theirs: RoutingState, names: tuple[str, str], network: Network
) -> Iterator[Witness]:
    reached = ours.reachability, theirs.reachability
    lost = [set(one.lost_pairs()) for one in reached]
    servers = reached[0].servers | reached[1].servers
    missing = servers - (reached[0].servers & reached[1].servers)
    differ = (lost[0] ^ lost[1]) | {
        pair for a in missing for b in servers - {a} for pair in ((a, b), (b, a))
    }
    for pair in sorted(differ):
        answers = [
            pair not in gone if one.servers.issuperset(pair) else None
            for one, gone in zip(reached, lost, strict=True)
        ]
        sentence = _both_answers(names, [WORDS[answer] for answer in answers])
        yield *_port_of(network, pair[0]), f"{pair[0]} to {pair[1]}: {sentence}"


def _flow_differences(
    ours: RoutingState, theirs: RoutingState, names: tuple[str, str], network: Network
) -> Iterator[Witness]:
    tables = [
        {(r.source, r.destination, str(r.flow)): r.delivered for r in s.answers}
        for s in (ours, theirs)
    ]
    for source, target, flow in sorted({*tables[0], *tables[1]}):
        answers = [table.get((source, target, flow)) for table in tables]
        if answers[0] is not answers[1]:
            sentence = _both_answers(names, [WORDS[answer] for answer in answers])
            yield *_port_of(network, source), f"{flow} of {source} to {target}: {sentence}"


def _port_of(network: Network, server: str) -> tuple[str, str]:
    """Leaf of a server, and the path of its port."""
    port = next((s.port for s in network.servers or () if s.name == server), None)
    return (port.device, f"interfaces[{port.interface}]") if port else ("", "")
