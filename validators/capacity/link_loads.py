"""Load of a demand on every cable, Gb/s: by next hops, or by tables with static routes.

It follows every target hop by hop, so that it takes longer than loads by routes of BGP alone.

A switch sends traffic for a prefix in equal parts over the edges in use, as ECMP does. Loads are
linear: after a failure only traffic with other paths is subtracted and added again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from rocefort.validators.capacity.traffic_matrix import (
    DemandMatrix,
    Inflow,
    Target,
    carrying_statics,
)
from rocefort.validators.failures.lost_pairs import TablesAfterFailure
from rocefort.validators.failures.routing_delta import FailureBaseline, weaken
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.forwarding import Forwarder, Step
from rocefort.validators.routing.path_vector import AsPath, Edges
from rocefort.validators.routing.underlay import Port, Underlay
from rocefort.validators.routing_results import Failure

Onward = tuple[int, ...]  # device of each next hop


@dataclass(frozen=True)
class TargetRoutes:
    """Routes of one target's traffic: AS paths, and edges in use, by device."""

    sent: Sequence[AsPath | None]
    used: Sequence[Edges]
    changed: Mapping[int, Edges]

    def edges(self, device: int) -> Edges:
        """Edges that a device uses."""
        return self.changed.get(device, self.used[device])


@dataclass
class PortLoads:
    """Load in Gb/s by sending port, and undelivered demand.

    lost: demand of servers of failed switches. cut: other demand without a path.
    """

    by_port: dict[Port, float]
    lost: float = 0.0
    cut: float = 0.0


@dataclass
class _Tally:
    """Load in Gb/s by groups of edges that share it, before the split by port."""

    shared: defaultdict[Edges, float] = field(default_factory=lambda: defaultdict(float))
    cut: float = 0.0


@dataclass(frozen=True)
class Loads:
    """Demand on a solution, with indexes for failures."""

    solution: Solution
    spread: DemandMatrix

    @cached_property
    def base(self) -> FailureBaseline:
        """BGP tables without failures."""
        return FailureBaseline(self.solution)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return self.solution.routing.numbers

    @cached_property
    def _port_of(self) -> Mapping[int, Port]:
        """Sending port of packets by edge: the port of the device that receives the routes."""
        routing = self.solution.routing
        ports: dict[int, Port] = {}
        for port, edges in self.base.edges_at.items():
            for edge in edges:
                if routing.names[routing.graph.ways[edge].receiver] == port[0]:
                    ports[edge] = port
        return ports

    @cached_property
    def _onward(self) -> dict[Edges, Onward]:
        return {}

    @cached_property
    def _by_class(self) -> Mapping[int, Mapping[str, tuple[IPv4Network, ...]]]:
        """Target prefixes by class and leaf."""
        targets: dict[int, dict[str, tuple[IPv4Network, ...]]] = {}
        for leaf, prefix in self.spread.inflow:
            own = targets.setdefault(self.base.class_of.get(prefix, -1), {})
            own[leaf] = (*own.get(leaf, ()), prefix)
        return targets

    @cached_property
    def _inflows(self) -> dict[tuple[int, str], Inflow]:
        """Demand of each class to one leaf."""
        return {
            (number, leaf): self._sum(leaf, prefixes)
            for number, leaves in self._by_class.items()
            for leaf, prefixes in leaves.items()
        }

    def _sum(self, leaf: str, prefixes: Sequence[IPv4Network]) -> Inflow:
        total: Inflow = {}
        for prefix in prefixes:
            for source, rate in self.spread.inflow[leaf, prefix].items():
                total[source] = total.get(source, 0.0) + rate
        return total

    @cached_property
    def _whole(self) -> tuple[_Tally, Mapping[tuple[int, str], frozenset[int]]]:
        """Loads without a failure, and transit devices by class and leaf."""
        tally, transit = _Tally(), {}
        for (number, leaf), inflow in self._inflows.items():
            if number < 0:
                tally.cut += sum(inflow.values())
                continue
            table = self.solution.classes[number].table
            routes = TargetRoutes(table.sent, table.used, {})
            transit[number, leaf] = self._walk(routes, leaf, inflow, 1, tally)
        return tally, transit

    def whole(self) -> PortLoads:
        """Loads without failures."""
        return self._carried(self._whole[0])

    def after(self, failure: Failure) -> PortLoads:
        """Loads after one failure; failed parts have none."""
        weak = weaken(self.solution.underlay, failure)
        before, transit = self._whole
        tally, lost = _Tally(before.shared.copy(), before.cut), 0.0
        for fate in self.base.fates(weak):
            for leaf, inflow in self._leaf_inflows(fate.number, fate.prefixes):
                old = TargetRoutes(fate.before.sent, fate.before.used, {})
                new = TargetRoutes(fate.sent, fate.before.used, fate.used)
                gone = {s: inflow[s] for s in weak.dead if s in inflow}
                gone = inflow if leaf in weak.dead else gone
                lost += sum(gone.values())
                moved = self._moved(fate.used, inflow, transit.get((fate.number, leaf)), gone)
                self._walk(old, leaf, moved, -1, tally)
                stays = {s: t for s, t in moved.items() if s not in gone}
                self._walk(new, leaf, stays, 1, tally)
        lost += sum(rate for (leaf, _), rate in self.spread.own.items() if leaf in weak.dead)
        carried = self._carried(tally)
        for port in weak.down:
            carried.by_port.pop(port, None)
        carried.lost = lost
        return carried

    def _leaf_inflows(
        self, number: int, prefixes: tuple[IPv4Network, ...]
    ) -> Iterator[tuple[str, Inflow]]:
        """Leaves of some prefixes with equal routes, with the demand to them."""
        leaves = self._by_class.get(number, {}) if number >= 0 else {}
        whole = not leaves or prefixes == self.solution.classes[number].prefixes
        for leaf, own in leaves.items():
            if whole:
                yield leaf, self._inflows[number, leaf]
            elif some := [prefix for prefix in own if prefix in prefixes]:
                yield leaf, self._sum(leaf, some)

    def _moved(
        self, used: Mapping[int, Edges], inflow: Inflow, transit: Set[int] | None, gone: Inflow
    ) -> Inflow:
        """Demand with possibly other paths: all of it if a transit device has other next hops."""
        if transit is None or not transit.isdisjoint(used):
            return inflow
        names = self.solution.routing.names
        if len(used) < len(inflow):
            rerouted = {n: inflow[n] for n in (names[device] for device in used) if n in inflow}
            return rerouted | gone
        numbers = self._numbers
        return {s: t for s, t in inflow.items() if s in gone or numbers[s] in used}

    def _walk(
        self, routes: TargetRoutes, leaf: str, inflow: Inflow, sign: int, tally: _Tally
    ) -> frozenset[int]:
        """Follow traffic to a leaf by rounds; return the transit devices."""
        rounds: defaultdict[int, dict[int, float]] = defaultdict(dict)
        passing: set[int] = set()
        for source, rate in inflow.items():
            number = self._numbers.get(source)
            path = routes.sent[number] if number is not None else None
            if number is None or path is None:
                tally.cut += sign * rate
            else:
                rounds[len(path)][number] = rate
        goal = self._numbers.get(leaf, -1)
        while rounds:
            nearest = max(rounds)
            onward: defaultdict[Onward, float] = defaultdict(float)
            for device, rate in rounds.pop(nearest).items():
                edges = routes.edges(device)
                if edges:
                    tally.shared[edges] += sign * rate
                    onward[self._senders(edges)] += rate
                elif device != goal:
                    tally.cut += sign * rate
            for senders, rate in onward.items():
                passing.update(senders)
                below = rounds[nearest - 1]
                for sender in senders:
                    below[sender] = below.get(sender, 0.0) + rate / len(senders)
        return frozenset(passing - {goal})

    def _senders(self, edges: Edges) -> Onward:
        senders = self._onward.get(edges)
        if senders is None:
            ways = self.solution.routing.graph.ways
            senders = self._onward[edges] = tuple(ways[edge].sender for edge in edges)
        return senders

    def _carried(self, tally: _Tally) -> PortLoads:
        by_port: defaultdict[Port, float] = defaultdict(float)
        port_of = self._port_of
        for edges, rate in tally.shared.items():
            for edge in edges:
                by_port[port_of[edge]] += rate / len(edges)
        return PortLoads(by_port, cut=tally.cut)


NOTHING_GBPS = 1e-9  # below it, a rate is what rounding left

Way = tuple[Port | None, str | None]  # sending port, and the switch behind it; None: dropped


@dataclass(frozen=True)
class ForwardedLoads(Loads):
    """Demand on a solution, as its forwarding tables carry it."""

    def whole(self) -> PortLoads:
        """Loads without failures."""
        solution = self.solution
        loads = PortLoads(defaultdict(float))
        for target, inflow in self.spread.inflow.items():
            self._carry(solution.trips.forwarder, solution.underlay, target, inflow, loads)
        return loads

    def after(self, failure: Failure) -> PortLoads:
        """Loads after one failure; failed parts have none."""
        weak = weaken(self.solution.underlay, failure)
        tables = TablesAfterFailure(self.base, weak, tuple(self.base.fates(weak)))
        forwarder = tables.forwarder(self._prefixes)
        loads = PortLoads(defaultdict(float))
        for target, inflow in self.spread.inflow.items():
            gone = {source: inflow[source] for source in weak.dead & inflow.keys()}
            gone = inflow if target[0] in weak.dead else gone
            loads.lost += sum(gone.values())
            stays = {source: rate for source, rate in inflow.items() if source not in gone}
            self._carry(forwarder, weak.underlay, target, stays, loads)
        own = self.spread.own.items()
        loads.lost += sum(rate for (leaf, _), rate in own if leaf in weak.dead)
        return loads

    @cached_property
    def _addresses(self) -> Mapping[Target, IPv4Address]:
        """Address of one server of each target; all of a target are routed alike."""
        servers, targets = self.spread.servers, self.spread.targets
        return {target: servers[name].address.ip for name, target in targets.items()}

    @cached_property
    def _prefixes(self) -> frozenset[IPv4Network]:
        """Prefixes of all tables that contain a target."""
        matching = self.solution.trips.forwarder.matching
        return frozenset(p for address in self._addresses.values() for p in matching(address))

    def _carry(
        self,
        forwarder: Forwarder,
        underlay: Underlay,
        target: Target,
        inflow: Inflow,
        loads: PortLoads,
    ) -> None:
        """Add the traffic to a target; what loops is cut after it has passed every switch once."""
        steps = forwarder.steps(forwarder.matching(self._addresses[target]))
        ways: dict[str, list[Way] | None] = {}
        rates = {source: rate for source, rate in inflow.items() if rate > NOTHING_GBPS}
        for _ in underlay.network.nodes:
            onward: defaultdict[str, float] = defaultdict(float)
            for device, rate in rates.items():
                if device not in ways:
                    ways[device] = _ways(forwarder, underlay, device, steps)
                following = ways[device]
                if following is None:
                    loads.cut += rate if device != target[0] else 0.0
                    continue
                for port, switch in following:
                    share = rate / len(following)
                    if port is not None:
                        loads.by_port[port] += share
                    if switch is None:
                        loads.cut += share
                    else:
                        onward[switch] += share
            rates = onward
        loads.cut += sum(rates.values())


def _ways(
    forwarder: Forwarder, underlay: Underlay, device: str, steps: list[Step]
) -> list[Way] | None:
    """Ways of packets on from a device, one a next hop; None: they end there."""
    for prefix, own, routes in steps:
        if device in own:
            if prefix in underlay.connected[device]:
                return None
            return [_static_way(underlay, device, hop) for hop in underlay.static[device][prefix]]
        if hops := routes.get(device):
            return [(_port(underlay, device, h), forwarder.neighbours[device, h]) for h in hops]
    return [(None, None)]


def _static_way(underlay: Underlay, device: str, hop: IPv4Address | None) -> Way:
    if hop is None:
        return None, None
    owners = underlay.owners.get(hop)
    return _port(underlay, device, hop), owners[0][0] if owners else None


def _port(underlay: Underlay, device: str, hop: IPv4Address) -> Port | None:
    """Port of a device whose subnet contains a next hop."""
    subnets = underlay.connected[device].items()
    return next(((device, port) for subnet, port in subnets if hop in subnet), None)


def loads_of(solution: Solution, spread: DemandMatrix) -> Loads:
    """Loads by the routes of BGP, or by all tables where a static route may carry the demand."""
    kind = ForwardedLoads if any(carrying_statics(solution, spread)) else Loads
    return kind(solution, spread)
