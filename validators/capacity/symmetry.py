"""Groups of symmetric switches, and the choice of single failures for a study.

Two leaves are symmetric if they have cables of the same speeds to the same spines, sessions with
the same policies, and servers with the same demand; the same holds for two spines. A swap of the
two maps the fabric onto itself, so that their failures have the same impact. Where anything
distinguishes switches (a tie-breaker, a shared AS, static routes, an exit, demand that is cut off),
each is a group of its own.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from rocefort.base.errors import BadInput
from rocefort.models.network.network import End, SwitchRole
from rocefort.validators.capacity.traffic_matrix import DemandMatrix, carrying_statics
from rocefort.validators.facts.roce_ports import ends_of
from rocefort.validators.failures.routing_delta import FailureBaseline
from rocefort.validators.failures.study import PAIRS, SEED, SINGLE, SOME
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing_results import Failure

NONE = "none"
QUICK = 250_000  # cables over all failures without a scope: about six seconds
ASK = f"use `rocefort capacity --failures {SINGLE}`, or {SOME}100 for a sample"


@dataclass(frozen=True)
class FailureSample:
    """Groups of equivalent failures to study; note: the selection, if it is not all."""

    groups: tuple[tuple[Failure, ...], ...]
    note: str = ""
    seed: int | None = None


def chosen_groups(
    groups: Sequence[tuple[Failure, ...]], scope: str | None, cables: int
) -> FailureSample:
    """Groups of a scope; None: all, if that is fast. cables: number in the fabric.

    2: groups are of pairs.
    single:N draws N failures, and includes all failures equivalent to them. Raises BadInput for an
    unknown scope.
    """
    total = sum(map(len, groups))
    if scope is None and len(groups) * cables > QUICK:
        return FailureSample(
            (), f"{total:,} single failures of {len(groups):,} kinds not studied: {ASK}"
        )
    if scope in (None, SINGLE, PAIRS):
        return FailureSample(tuple(groups))
    if scope == NONE:
        return FailureSample((), f"{total:,} single failures not studied")
    kind, _, number = scope.partition(":")
    if f"{kind}:" != SOME or not number.isdecimal() or not int(number):
        raise BadInput(
            f"--failures {scope!r} is not one of: none, single, single:N, 2",
            how=f"for example --failures {SOME}100",
        )
    singles = [failure for group in groups for failure in group]
    drawn = random.Random(SEED).sample(singles, min(int(number), total))  # noqa: S311
    picked = set(drawn)
    some = tuple(group for group in groups if not picked.isdisjoint(group))
    if len(some) == len(groups):
        return FailureSample(some)
    studied = sum(map(len, some))
    note = f"{studied:,} of {total:,} single failures studied: {len(drawn):,} drawn with seed "
    return FailureSample(some, f"{note}{SEED}, and equivalent ones", SEED)


Alike = tuple[Failure, ...]


@dataclass(frozen=True)
class SymmetryClasses:
    """Switches of a solution, grouped by the properties that distinguish them."""

    base: FailureBaseline
    spread: DemandMatrix

    @property
    def solution(self) -> Solution:
        """Solution of the network."""
        return self.base.solution

    @cached_property
    def kinds(self) -> Mapping[str, Hashable]:
        """Key of each switch: equal for symmetric switches."""
        network = self.solution.underlay.network
        if self._ties_broken or any(carrying_statics(self.solution, self.spread)):
            return {node.name: node.name for node in network.nodes}
        demands = self._demands
        return {
            node.name: (
                (node.role, self._cables[node.name], self._sessions[node.name], demands[node.name])
                if node.role and node.name not in self._odd
                else node.name
            )
            for node in network.nodes
        }

    @cached_property
    def classes(self) -> Mapping[str, int]:
        """Number of each switch's group."""
        numbers: dict[Hashable, int] = {}
        return {name: numbers.setdefault(kind, len(numbers)) for name, kind in self.kinds.items()}

    @property
    def _ties_broken(self) -> bool:
        """Whether any switch uses only a part of the routes that differ by a tie-breaker alone."""
        return any(
            used is not tied and used != tied
            for group in self.solution.classes
            for used, tied in zip(group.table.used, group.table.tied, strict=True)
        )

    @cached_property
    def _odd(self) -> frozenset[str]:
        """Switches with a property that no other can have."""
        network = self.solution.underlay.network
        switches = {exit_.leaf for exit_ in network.exits or ()}
        switches |= {node.name for node in network.nodes if node.device.static_routes}
        switches |= {leaf for pair in self.spread.cut for leaf in pair}
        for leaf, prefix in self.spread.inflow:
            number = self.base.class_of.get(prefix)
            if number is not None and self.solution.classes[number].origins != {leaf}:
                switches |= {leaf, *self.solution.classes[number].origins}
        return frozenset(switches | self._sharing | set(self._withheld))

    @property
    def _sharing(self) -> set[str]:
        """Switches that share an AS, except the AS of all spines: a swap could change AS paths."""
        routing, network = self.solution.routing, self.solution.underlay.network
        owners: defaultdict[int, set[str]] = defaultdict(set)
        for name, asn in zip(routing.names, routing.graph.asns, strict=True):
            owners[asn].add(name)
        spines = {node.name for node in network.role(SwitchRole.SPINE)}
        shared = (names for names in owners.values() if len(names) > 1 and names != spines)
        return {name for names in shared for name in names}

    @cached_property
    def _cables(self) -> Mapping[str, Hashable]:
        network = self.solution.underlay.network
        cables: defaultdict[str, Counter[object]] = defaultdict(Counter)
        for link in network.links or ():
            speeds = tuple(sorted(map(str, (network.speed_gbps(e) for e in (link.a, link.b)))))
            for near, far in ends_of(link):
                cables[near.device][far.device, speeds] += 1
        return {node.name: frozenset(cables[node.name].items()) for node in network.nodes}

    @cached_property
    def _sessions(self) -> Mapping[str, Hashable]:
        routing, nodes = self.solution.routing, self.solution.underlay.network.nodes
        graph, names = routing.graph, routing.names
        sessions: dict[str, Hashable] = {node.name: node.name for node in nodes}
        for number, name in enumerate(names):
            own = self._own_classes.get(name, 0)
            heard = Counter((names[s], self._others(n, own)) for _, s, n in graph.incoming[number])
            sent = Counter((names[r], self._others(n, own)) for r, n in graph.outgoing[number])
            both = frozenset(heard.items()), frozenset(sent.items())
            sessions[name] = both, graph.limits[number], graph.relaxed[number]
        return sessions

    @cached_property
    def _asked_classes(self) -> Mapping[int, int]:
        """Classes of prefixes with demand, each with its bit."""
        classes = {self.base.class_of.get(prefix, -1) for _, prefix in self.spread.inflow}
        return {number: 1 << bit for bit, number in enumerate(sorted(classes - {-1}))}

    @cached_property
    def _own_classes(self) -> Mapping[str, int]:
        """Bits of each leaf's own classes."""
        bits: defaultdict[str, int] = defaultdict(int)
        for leaf, prefix in self.spread.inflow:
            bits[leaf] |= self._asked_classes.get(self.base.class_of.get(prefix, -1), 0)
        return bits

    @cached_property
    def _passing(self) -> dict[int, int]:
        return {}

    def _passes(self, needed: int) -> int:
        """Bits of the classes that pass all policies of a session."""
        if needed not in self._passing:
            classes = self.solution.classes
            passed = (b for n, b in self._asked_classes.items() if not classes[n].denied & needed)
            self._passing[needed] = sum(passed)
        return self._passing[needed]

    def _others(self, needed: int, own: int) -> Hashable:
        """Classes of other leaves that pass a session: all, none, or these."""
        others, every = self._passes(needed) & ~own, (1 << len(self._asked_classes)) - 1
        return "all" if others == every & ~own else others

    @property
    def _withheld(self) -> Iterator[str]:
        """Leaves whose own classes do not pass all of their sessions."""
        graph = self.solution.routing.graph
        for number, name in enumerate(self.solution.routing.names):
            own = self._own_classes.get(name, 0)
            if any(own & ~self._passes(needed) for _, needed in graph.outgoing[number]):
                yield name

    @cached_property
    def _demands(self) -> Mapping[str, Hashable]:
        """Demand of flows on a leaf's servers: their number by speed."""
        demands: defaultdict[str, Counter[object]] = defaultdict(Counter)
        for name, server in self.spread.servers.items():
            roles = tuple((name in term.rates, name in term.weights) for term in self.spread.terms)
            demands[server.port.device][server.speed_gbps, roles] += 1
        nodes = self.solution.underlay.network.nodes
        return {node.name: frozenset(demands[node.name].items()) for node in nodes}

    def alike(self, failures: tuple[Failure, ...]) -> Iterator[Alike]:
        """Groups of failures with the same impact, each in their order."""
        groups: defaultdict[Hashable, list[Failure]] = defaultdict(list)
        for failure in failures:
            groups[self._key(failure)].append(failure)
        for group in groups.values():
            yield tuple(group)

    def alike_pairs(self, singles: Sequence[Failure]) -> Iterator[Alike]:
        """Groups of pairs of failures with the same impact, each in their order.

        Symmetric switches can be exchanged in any way. So the classes of both failures, and the
        switches that both name, decide the impact. A cable of a failed switch is no second failure.
        """
        groups: defaultdict[Hashable, list[Failure]] = defaultdict(list)
        for one, other in combinations(singles, 2):
            dead = {*one.nodes, *other.nodes}
            ends = {end.device for a, b in (*one.links, *other.links) for end in (a, b)}
            if dead.isdisjoint(ends):
                pair = Failure(links=one.links + other.links, nodes=one.nodes + other.nodes)
                groups[self._pair_key(one, other)].append(pair)
        for group in groups.values():
            yield tuple(group)

    def _pair_key(self, one: Failure, other: Failure) -> Hashable:
        """Key of a pair: both keys, and which switches of the two are the same."""
        sides = ((one, self._key(one)), (other, self._key(other)))
        first, second = sorted(sides, key=lambda side: repr(side[1]))
        orders = [(first[0], second[0])]
        if first[1] == second[1]:
            orders.append((second[0], first[0]))
        shared = min(_shared(a, b) for a, b in orders)
        return first[1], second[1], shared

    def _key(self, failure: Failure) -> Hashable:
        nodes = tuple(self._class(name) for name in failure.nodes)
        return nodes, tuple((self._end(a), self._end(b)) for a, b in failure.links)

    def _end(self, end: End) -> Hashable:
        port = end.device, end.interface
        edges = len(self.base.edges_at.get(port, ()))
        return self._class(end.device), self.solution.underlay.network.speed_gbps(end), edges

    def _class(self, name: str) -> Hashable:
        return self.classes.get(name, name)


def _shared(one: Failure, other: Failure) -> tuple[tuple[int, int], ...]:
    """Positions of the same switch among the switches of two failures."""
    names = [
        [*each.nodes, *(end.device for ends in each.links for end in ends)] for each in (one, other)
    ]
    return tuple((i, j) for i, a in enumerate(names[0]) for j, b in enumerate(names[1]) if a == b)
