"""The embedded routing engine: sessions, routes, reachability, and their change by a version.

Data flow: underlay (interfaces and cables) -> sessions -> BGP tables -> forwarding. Each step is a
separate value, so that the study of a failure recomputes only the affected parts. The engine
models connected routes and eBGP over routed ports, and refuses everything else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from itertools import chain
from typing import overload

from rocefort.base.progress import Step
from rocefort.models.device.packet_filters import Flow
from rocefort.models.network.network import End, Network, Server, Sources
from rocefort.validators.routing.bgp import BgpTables, PrefixClass, solve_bgp
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.routing.forwarding import Forwarder, PathEnd, ServerJourneys, trips
from rocefort.validators.routing.forwarding_table import NextHopChanges, NextHops, Selection, Widths
from rocefort.validators.routing.packet_filters import questions
from rocefort.validators.routing.reachability_matrix import GatewayJourneys, reachability_of
from rocefort.validators.routing.running_lines import as_it_runs
from rocefort.validators.routing.sessions import ConfiguredSession, Peerings, peerings
from rocefort.validators.routing.underlay import Underlay, build
from rocefort.validators.routing_results import (
    BgpSession,
    FlowVerdict,
    Reachability,
    Route,
    RouteChange,
    RoutingChange,
    RoutingState,
)

ENGINE = "embedded"
_NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Solution:
    """All results of the engine for one network; `state`: those that other engines have, too."""

    underlay: Underlay
    peerings: Peerings
    routing: BgpTables

    @property
    def sessions(self) -> tuple[ConfiguredSession, ...]:
        """Every configured peer, sorted by device and address."""
        return self.peerings.all

    @property
    def classes(self) -> tuple[PrefixClass, ...]:
        """BGP tables by class of prefixes."""
        return self.routing.classes

    @cached_property
    def bgp(self) -> dict[str, dict[IPv4Network, Selection]]:
        """Learned BGP routes in each main table, sorted; connected and static routes win."""
        tables: dict[str, dict[IPv4Network, Selection]] = {}
        for prefix, group in self.by_prefix:
            for device, selection in self._learned(prefix, group):
                tables.setdefault(device, {})[prefix] = selection
        return tables

    @cached_property
    def by_prefix(self) -> list[tuple[IPv4Network, PrefixClass]]:
        """Prefixes with their classes, in order."""
        pairs = [(prefix, group) for group in self.classes for prefix in group.prefixes]
        return sorted(pairs, key=lambda item: _prefix_order(item[0]))

    def _learned(self, prefix: IPv4Network, group: PrefixClass) -> Iterator[tuple[str, Selection]]:
        own = self.underlay.local.get(prefix, ())
        for device, selection in group.selections.items():
            if selection.next_hops and device not in own:
                yield device, selection

    @cached_property
    def trips(self) -> ServerJourneys:
        """Paths of packets between servers."""
        neighbours = {(s.device, s.peer): s.far[0] for s in self.sessions if s.far}
        return trips(self.underlay, Forwarder(self.underlay, self.learned, neighbours))

    @cached_property
    def gateways(self) -> GatewayJourneys:
        """Packets between gateways, for networks whose servers are not known."""
        return GatewayJourneys(self.underlay, self.trips.forwarder)

    @cached_property
    def learned(self) -> Mapping[IPv4Network, NextHops]:
        """Learned next hops by prefix and device, even where a device uses its own route."""
        return {prefix: group.learned for group in self.classes for prefix in group.prefixes}

    @cached_property
    def flows(self) -> dict[tuple[str, str, Flow], PathEnd | None]:
        """Other flows of the policy, by source and destination, with the cause of a drop."""
        keys = (
            (question.source.name, question.destination.name, question.flow)
            for question in questions(self.underlay.network)
        )
        return {flow: self.trips.stop(*flow) for flow in keys}

    @cached_property
    def state(self) -> RoutingState:
        """Answers in the form of all engines, each collection sorted."""
        return RoutingState.model_construct(
            engine=ENGINE,
            sessions=tuple(
                BgpSession.model_construct(device=s.device, peer=s.peer, status=s.status)
                for s in self.sessions
            ),
            routes=Routes(self),
            reachability=self.reachability,
            answers=tuple(
                FlowVerdict(
                    source=source, destination=destination, flow=flow, delivered=stop is None
                )
                for (source, destination, flow), stop in self.flows.items()
            ),
        )

    @cached_property
    def reachability(self) -> Reachability:
        """Reachability matrix of servers: RDMA by every path."""
        return reachability_of(self.trips)

    @cached_property
    def rows(self) -> Mapping[str, list[Route]]:
        """Routes of each device, by prefix."""
        rows: defaultdict[str, list[Route]] = defaultdict(list)
        make = tuple.__new__  # half the time of Route(...), which would only call it
        for prefix, group in self.by_prefix:
            own = self.underlay.local.get(prefix, ())
            for device, (_, next_hops, _) in group.selections.items():
                if next_hops and device not in own:  # as `_learned`, half a million times
                    rows[device].append(make(Route, (device, prefix, next_hops)))
        return rows

    @cached_property
    def widths(self) -> Mapping[IPv4Network, Widths]:
        """ECMP width of each route, by prefix and device."""
        local = self.underlay.local
        return {
            prefix: Widths(learned, local.get(prefix, _NOBODY))
            for prefix, learned in self.learned.items()
        }

    @cached_property
    def width_counts(self) -> Mapping[int, int]:
        """Number of routes by ECMP width."""
        counts = Counter[int]()
        for widths in self.widths.values():
            counts.update(widths.counts)
        return dict(sorted(counts.items()))

    def ties(self, device: str, prefix: IPv4Network) -> frozenset[IPv4Address]:
        """Next hops of all routes that differ only by an arbitrary tie-breaker."""
        selection = self.bgp.get(device, {}).get(prefix)
        return frozenset(selection.ties) if selection else frozenset()


class Routes(Sequence[Route]):
    """All routes of a solution, sorted by device and prefix; its length needs no Route objects."""

    def __init__(self, solution: Solution) -> None:
        self._solution = solution

    @cached_property
    def _all(self) -> tuple[Route, ...]:
        rows = self._solution.rows
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
    """Routes whose next hops differ, for devices of both versions; a missing route has none.

    The function compares single devices only where the group of BGP devices has other next hops,
    or a device differs from its group.
    """
    moves = NextHopChanges(before.routing.speakers, after.routing.speakers, standing)
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


def analyse(network: Network, sources: Sources | None = None) -> Solution:
    """Solve a network, with the reasons of the results.

    Raises Refused, with device and line, for parts that the engine does not model. `state` and
    `trips` raise it for a server on an unknown switch.
    """
    origins = sources or Sources()
    with Step("routing"):
        running = as_it_runs(network, origins)
        underlay = build(with_outside(running.network), origins)
        peers = peerings(underlay, origins, running.closed)
        return Solution(underlay, peers, solve_bgp(underlay, peers, origins))


def solve(network: Network, sources: Sources | None = None) -> RoutingState:
    """Routing state by the embedded engine. Raises as `analyse` does."""
    return analyse(network, sources).state


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
