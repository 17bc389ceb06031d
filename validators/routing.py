"""The embedded routing engine: sessions, routes and reachability of an eBGP Clos from its text.

Underlay (what is up and wired) -> sessions -> BGP tables -> forwarding. Each step is a value of
its own, so that a failure can later be answered by redoing only what hangs on it. The engine
models what a Device can say: connected routes and eBGP over routed ports; the rest it refuses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from itertools import chain

from rocefort.models.network import Network, Sources
from rocefort.models.routing import Answer, BgpSession, Route, RoutingState
from rocefort.models.traffic import Flow
from rocefort.validators.bgp_engine import PrefixClass, Routing, Selection, solve_bgp
from rocefort.validators.bgp_sessions import Session, sessions
from rocefort.validators.filters import questions
from rocefort.validators.forwarding import Forwarder, Hops, Stop, Trips, trips
from rocefort.validators.outside import with_outside
from rocefort.validators.server_classes import reachability_of
from rocefort.validators.underlay import Underlay, build

ENGINE = "embedded"
_NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Solution:
    """All that the engine knows; `state` is what other engines can answer too."""

    underlay: Underlay
    sessions: tuple[Session, ...]
    routing: Routing
    near: Solution | None = field(default=None, repr=False, compare=False)  # of another version

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
        fib: dict[IPv4Network, Mapping[str, Hops]] = {}
        for group in self.classes:
            hops = {name: found.next_hops for name, found in group.selections.items()}
            fib.update(dict.fromkeys(group.prefixes, hops))
        neighbours = {(s.device, s.peer): s.far[0] for s in self.sessions if s.far}
        forwarder = Forwarder(self.underlay, fib, neighbours)
        if self.lender:
            forwarder.take_over(self.lender.trips.forwarder, self._alike)
        return trips(self.underlay, forwarder)

    @cached_property
    def _alike(self) -> Set[IPv4Network]:
        """Prefixes to which all switches here go as they do in the lender's version."""
        if self.lender is None:
            return set()
        here, there = self.underlay, self.lender.underlay
        routed = {prefix for prefix, _ in self.by_prefix}
        more = there.network.by_name.keys() - here.network.by_name.keys()
        other = {prefix for prefix, _ in self.lender.by_prefix} - routed
        return {
            prefix
            for prefix in (routed | here.local.keys()) - other
            if here.local.get(prefix, _NOBODY) == there.local.get(prefix, _NOBODY) - more
            and all(
                here.own_way(device, prefix) == there.own_way(device, prefix)
                for device in here.local.get(prefix, ())
            )
        }

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
            sessions=tuple(
                BgpSession(device=s.device, peer=s.peer, status=s.status) for s in self.sessions
            ),
            routes=self._all_routes(),
            reachability=reachability_of(self.trips),
            answers=tuple(
                Answer(source=source, destination=destination, flow=flow, delivered=stop is None)
                for (source, destination, flow), stop in self.flows.items()
            ),
        )

    @cached_property
    def lender(self) -> Solution | None:
        """The other version where all routes here are routes there, between the same switches."""
        if self.near is None or any(group.lender is None for group in self.classes):
            return None
        own = self.near.underlay.network.by_name.keys() - self.underlay.network.by_name.keys()
        here, there = self.underlay.local, self.near.underlay.local
        same = all(
            here.get(prefix, _NOBODY) == there.get(prefix, _NOBODY) - own
            for group in self.classes
            for prefix in group.prefixes
        )
        return self.near if same else None

    def _all_routes(self) -> tuple[Route, ...]:
        lender = self.lender
        if (
            lender
            and self.rows.keys() == lender.rows.keys()
            and all(rows is lender.rows[name] for name, rows in self.rows.items())
        ):
            return lender.state.routes
        return tuple(chain.from_iterable(self.rows[device] for device in sorted(self.rows)))

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

    @cached_property
    def widths(self) -> Mapping[IPv4Network, Mapping[str, int]]:
        """ECMP width of each route, by prefix and device."""
        found: dict[IPv4Network, Mapping[str, int]] = {}
        for group in self.classes:
            of_class = {name: len(s.next_hops) for name, s in group.selections.items() if s[1]}
            for prefix in group.prefixes:
                own = self.underlay.local.get(prefix, _NOBODY)
                found[prefix] = {
                    name: width for name, width in of_class.items() if name not in own
                } if own & of_class.keys() else of_class  # fmt: skip
        return found

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


def _prefix_order(prefix: IPv4Network) -> tuple[int, int]:
    return int(prefix.network_address), prefix.prefixlen


def analyse(
    network: Network, sources: Sources | None = None, near: Solution | None = None
) -> Solution:
    """Solve a network and keep the reasons; near: of another version, to solve only what differs.

    Raises Refused, naming device and line, for what the engine does not model; for a server on
    an unknown switch when `state` or `trips` is asked for.
    """
    known = sources or Sources()
    underlay = build(with_outside(network), known)
    found = sessions(underlay, known)
    solved = solve_bgp(underlay, found, known, near.routing if near else None)
    return Solution(underlay, found, solved, near)


def solve(network: Network, sources: Sources | None = None) -> RoutingState:
    """Answers of the embedded engine. Raises as `analyse` does."""
    return analyse(network, sources).state
