"""The embedded routing engine: sessions, routes and reachability of an eBGP Clos from its text.

Underlay (what is up and wired) -> sessions -> BGP tables -> forwarding. Each step is a value of
its own, so that a failure can later be answered by redoing only what hangs on it. The engine
models what a Device can say: connected routes and eBGP over routed ports; the rest it refuses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from itertools import chain
from typing import TypeVar, overload

from rocefort.models.network import Network, Sources
from rocefort.models.reachability import Reachability
from rocefort.models.routing import Answer, BgpSession, Route, RoutingState
from rocefort.models.traffic import Flow
from rocefort.validators.bgp_engine import PrefixClass, Routing, same_input, solve_bgp
from rocefort.validators.bgp_sessions import Peerings, Session, peerings
from rocefort.validators.filters import questions
from rocefort.validators.forwarding import Forwarder, Stop, Trips, trips
from rocefort.validators.learned import Learned, Moves, Selection, Widths
from rocefort.validators.outside import with_outside
from rocefort.validators.server_classes import alike, reachability_of
from rocefort.validators.underlay import Underlay, build

ENGINE = "embedded"
_NOBODY: frozenset[str] = frozenset()
T = TypeVar("T")


@dataclass(frozen=True)
class Solution:
    """All that the engine knows; `state` is what other engines can answer too."""

    underlay: Underlay
    peerings: Peerings
    routing: Routing
    near: Solution | None = field(default=None, repr=False, compare=False)  # of another version

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Every configured peer, sorted by device and address."""
        return self.peerings.all

    @property
    def classes(self) -> tuple[PrefixClass, ...]:
        """BGP tables by class of prefixes."""
        return self.routing.classes

    @cached_property
    def bgp(self) -> dict[str, dict[IPv4Network, Selection]]:
        """Learned BGP prefixes in each main table, sorted; what is connected or static wins."""
        tables: dict[str, dict[IPv4Network, Selection]] = {}
        for prefix, group in self.by_prefix:
            for device, selection in self._learned(prefix, group):
                tables.setdefault(device, {})[prefix] = selection
        return tables

    @cached_property
    def by_prefix(self) -> list[tuple[IPv4Network, PrefixClass]]:
        """Prefixes with their classes, in order."""
        found = [(prefix, group) for group in self.classes for prefix in group.prefixes]
        return sorted(found, key=lambda item: _prefix_order(item[0]))

    def _learned(self, prefix: IPv4Network, group: PrefixClass) -> Iterator[tuple[str, Selection]]:
        own = self.underlay.local.get(prefix, ())
        for device, selection in group.selections.items():
            if selection.next_hops and device not in own:
                yield device, selection

    @cached_property
    def trips(self) -> Trips:
        """Journeys of packets between servers."""
        near = self._by_now("trips", Trips)
        forwarder = Forwarder(self.underlay, self.learned, self._neighbours)
        if near and near.forwarder.same_tables(forwarder):
            forwarder = near.forwarder.within(self.underlay)
        return trips(self.underlay, forwarder, near)

    @cached_property
    def _neighbours(self) -> Mapping[tuple[str, IPv4Address], str]:
        if self.near and self.near.sessions is self.sessions:
            return self.near._neighbours  # noqa: SLF001 - of its own kind
        return {(s.device, s.peer): s.far[0] for s in self.sessions if s.far}

    @cached_property
    def learned(self) -> Mapping[IPv4Network, Learned]:
        """Next hops by prefix and device, of those too that use a route of their own."""
        if self.near and self.near.routing is self.routing:
            return self.near.learned
        return {prefix: group.learned for group in self.classes for prefix in group.prefixes}

    @cached_property
    def flows(self) -> dict[tuple[str, str, Flow], Stop | None]:
        """Other flows that the policy names, by source and destination, and what stops them."""
        asked = (
            (question.source.name, question.destination.name, question.flow)
            for question in questions(self.underlay.network)
        )
        return {flow: self.trips.stop(*flow) for flow in asked}

    @cached_property
    def state(self) -> RoutingState:
        """The answers, each collection sorted."""
        return RoutingState.model_construct(
            engine=ENGINE,
            sessions=self._told_sessions(),
            routes=Routes(self),
            reachability=self.reachability,
            answers=tuple(
                Answer(source=source, destination=destination, flow=flow, delivered=stop is None)
                for (source, destination, flow), stop in self.flows.items()
            ),
        )

    @cached_property
    def reachability(self) -> Reachability:
        """Which servers reach which with RDMA by every path."""
        was, reached = self._by_now("trips", Trips), self._by_now("reachability", Reachability)
        if was and reached and alike(was, self.trips):
            return reached
        return reachability_of(self.trips)

    def _told_sessions(self) -> tuple[BgpSession, ...]:
        """The sessions as answers; those that are the same in the other version are made once."""
        known: dict[int, BgpSession] = {}
        if self.near and (state := self._by_now("state", RoutingState)):
            if self.near.sessions is self.sessions:
                return state.sessions
            known = dict(zip(map(id, self.near.sessions), state.sessions, strict=True))
        return tuple(
            known.get(id(s))
            or BgpSession.model_construct(device=s.device, peer=s.peer, status=s.status)
            for s in self.sessions
        )

    @cached_property
    def lender(self) -> Solution | None:
        """The other version where all routes here are routes there, between the same switches."""
        if self.near is None or self._same_routes:
            return self.near
        for group in self.classes:
            if group.lender is None or not {*group.prefixes} <= {*group.lender.prefixes}:
                return None
        own = self.near.underlay.network.by_name.keys() - self.underlay.network.by_name.keys()
        here, there = self.underlay.local, self.near.underlay.local
        same = all(
            here.get(prefix, _NOBODY) == there.get(prefix, _NOBODY) - own
            for group in self.classes
            for prefix in group.prefixes
        )
        return self.near if same else None

    @cached_property
    def rows(self) -> Mapping[str, list[Route]]:
        """Routes of each device, by prefix; those of the other version as far as they are here."""
        if self.lender is None:
            return self._own_rows()
        here = {prefix for group in self.classes for prefix in group.prefixes}
        there = self.lender.by_prefix
        gone = {id(prefix) for prefix, _ in there if prefix not in here}
        nodes = self.underlay.network.by_name
        rows = {name: own for name, own in self.lender.rows.items() if name in nodes}
        if gone:
            rows = {name: [r for r in own if id(r[1]) not in gone] for name, own in rows.items()}
        return {name: own for name, own in rows.items() if own}

    def _by_now(self, name: str, _: type[T]) -> T | None:
        """What the other version has worked out by now; it is not made to work for this one."""
        found: T | None = vars(self.near).get(name) if self.near else None
        return found

    @property
    def _same_routes(self) -> bool:
        """Whether all routes are those of the other version, and who has its own in their place."""
        near = self.near
        same = near is not None and near.routing is self.routing
        return same and near is not None and near.underlay.local is self.underlay.local

    @cached_property
    def widths(self) -> Mapping[IPv4Network, Widths]:
        """ECMP width of each route, by prefix and device."""
        if self._same_routes and self.near:
            return self.near.widths
        local = self.underlay.local
        return {
            prefix: Widths(learned, local.get(prefix, _NOBODY))
            for prefix, learned in self.learned.items()
        }

    @cached_property
    def width_counts(self) -> Mapping[int, int]:
        """How many routes have each ECMP width, by width."""
        if self.near and self.near.widths is self.widths:
            return self.near.width_counts
        found = Counter[int]()
        for widths in self.widths.values():
            found.update(widths.counts)
        return dict(sorted(found.items()))

    def _own_rows(self) -> Mapping[str, list[Route]]:
        rows: defaultdict[str, list[Route]] = defaultdict(list)
        made = tuple.__new__  # half the time of Route(...), which would only call it
        for prefix, group in self.by_prefix:
            own = self.underlay.local.get(prefix, ())
            for device, (_, next_hops, _) in group.selections.items():
                if next_hops and device not in own:  # as `_learned`, half a million times
                    rows[device].append(made(Route, (device, prefix, next_hops)))
        return rows

    def ties(self, device: str, prefix: IPv4Network) -> frozenset[IPv4Address]:
        """Next hops of all routes that only an arbitrary tie-breaker tells apart."""
        selection = self.bgp.get(device, {}).get(prefix)
        return frozenset(selection.ties) if selection else frozenset()


class Routes(Sequence[Route]):
    """All routes of a solution, sorted by device and prefix: counted without making them."""

    def __init__(self, solution: Solution) -> None:
        self._solution = solution

    @cached_property
    def _all(self) -> tuple[Route, ...]:
        rows, lender = self._solution.rows, self._solution.lender
        if (
            lender
            and rows.keys() == lender.rows.keys()
            and all(own is lender.rows[name] for name, own in rows.items())
        ):
            return tuple(lender.state.routes)
        return tuple(chain.from_iterable(rows[device] for device in sorted(rows)))

    def __len__(self) -> int:
        return sum(self._solution.width_counts.values())

    def __iter__(self) -> Iterator[Route]:
        return iter(self._all)

    @overload
    def __getitem__(self, index: int) -> Route: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Route, ...]: ...

    def __getitem__(self, index: int | slice) -> Route | tuple[Route, ...]:
        return self._all[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Routes):
            return self is other or self._all == other._all
        return self._all == other if isinstance(other, tuple) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def _prefix_order(prefix: IPv4Network) -> tuple[int, int]:
    return int(prefix.network_address), prefix.prefixlen


def moved_routes(
    before: Solution, after: Solution, standing: Set[str]
) -> Iterator[tuple[Route, Route]]:
    """Routes with other next hops, of devices of both versions; none in place of one that is not.

    Only devices whose group of BGP speakers goes another way, or that do not go as their group,
    are looked at one by one.
    """
    moves = Moves(before.routing.speakers, after.routing.speakers, standing)
    here, there = before.underlay.local, after.underlay.local
    for prefix in dict.fromkeys((*before.learned, *after.learned)):
        learned = before.learned.get(prefix), after.learned.get(prefix)
        own = here.get(prefix, _NOBODY), there.get(prefix, _NOBODY)
        for name in standing & {*moves.between(*learned), *own[0], *own[1]}:
            old, new = (
                () if one is None or name in has else one.of(name)
                for one, has in zip(learned, own, strict=True)
            )
            if old != new:
                yield Route(name, prefix, old), Route(name, prefix, new)


def analyse(
    network: Network, sources: Sources | None = None, near: Solution | None = None
) -> Solution:
    """Solve a network and keep the reasons; near: of another version, to solve only what differs.

    Raises Refused, naming device and line, for what the engine does not model; for a server on
    an unknown switch when `state` or `trips` is asked for.
    """
    known = sources or Sources()
    underlay = build(with_outside(network), known, near.underlay if near else None)
    if near is None:
        found = peerings(underlay, known)
        return Solution(underlay, found, solve_bgp(underlay, found, known))
    found = peerings(underlay, known, (near.underlay.network, near.peerings))
    if found.all is near.sessions and same_input(near.underlay, underlay):
        return Solution(underlay, found, near.routing, near)
    return Solution(underlay, found, solve_bgp(underlay, found, known, near.routing), near)


def solve(network: Network, sources: Sources | None = None) -> RoutingState:
    """Answers of the embedded engine. Raises as `analyse` does."""
    return analyse(network, sources).state
