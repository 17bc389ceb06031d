"""BGP tables after a failure, as differences: only affected routes are computed again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network

from rocefort.validators.failures.underlay_delta import DegradedUnderlay
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.path_vector import AsPath, ClassRoutes, Edges


@dataclass(frozen=True)
class PrefixRoutes:
    """Prefixes of one class with equal routes after a failure."""

    prefixes: tuple[IPv4Network, ...]
    number: int  # of the class; -1 where no device originated them before
    before: ClassRoutes
    sent: list[AsPath | None]
    used: Mapping[int, Edges]  # by device, where they changed

    def uses(self, device: int) -> Edges:
        """Edges to the next hops of a device."""
        return self.used.get(device, self.before.used[device])


@dataclass(frozen=True)
class FailureBaseline:
    """Solution without failures, with indexes for the study of failures."""

    solution: Solution

    @cached_property
    def edges_at(self) -> Mapping[tuple[str, str], tuple[int, ...]]:
        """Edges by the port at either end."""
        routing, far = self.solution.routing, self.solution.underlay.far
        edges: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        owners = self.solution.underlay.owners
        for edge in routing.graph.ways:
            sender = routing.names[edge.sender]
            hop = routing.next_hops[edge.number]
            port = next(p for p in owners[hop] if p[0] == sender)
            edges[port].append(edge.number)
            edges[far[port]].append(edge.number)
        return {port: tuple(numbers) for port, numbers in edges.items()}

    @cached_property
    def class_of(self) -> Mapping[IPv4Network, int]:
        """Number of the class of a prefix."""
        classes = self.solution.classes
        return {p: number for number, group in enumerate(classes) for p in group.prefixes}

    @cached_property
    def foreign(self) -> Mapping[IPv4Network, frozenset[str]]:
        """Prefixes in BGP that a device also has locally, without originating them."""
        underlay = self.solution.underlay
        devices: defaultdict[IPv4Network, set[str]] = defaultdict(set)
        for name in self.solution.routing.numbers:
            for prefix in (*underlay.connected[name], *underlay.static[name]):
                if prefix in self.class_of and prefix not in self.originators[name]:
                    devices[prefix].add(name)
        return {prefix: frozenset(names) for prefix, names in devices.items()}

    @cached_property
    def originators(self) -> Mapping[str, frozenset[IPv4Network]]:
        """Prefixes that a device's text originates, if its table has them."""
        nodes = self.solution.underlay.network.nodes
        return {n.name: frozenset(n.device.bgp.networks if n.device.bgp else ()) for n in nodes}

    def lost_edges(self, weak: DegradedUnderlay) -> frozenset[int]:
        """Edges that are lost with the ports that are down."""
        return frozenset(edge for port in weak.down for edge in self.edges_at.get(port, ()))

    def fates(self, weak: DegradedUnderlay) -> Iterator[PrefixRoutes]:
        """Every class of prefixes after a failure; undivided if its routes are equal."""
        lost, routing = self.lost_edges(weak), self.solution.routing
        dead = {routing.numbers[name] for name in weak.dead if name in routing.numbers}
        moved = self._moved(weak)
        for number, group in enumerate(self.solution.classes):
            unmoved = group.prefixes
            if moved:
                unmoved = tuple(prefix for prefix in unmoved if prefix not in moved)
            if unmoved:
                done = routing.graph.repair(group.table, group.denied, lost, dead)
                yield PrefixRoutes(unmoved, number, group.table, done.sent, done.used)
        for prefix in sorted(moved):
            yield self._anew(prefix, weak, lost)

    def _moved(self, weak: DegradedUnderlay) -> set[IPv4Network]:
        """Prefixes that a remaining switch originates only before or only after the failure."""
        return {
            prefix
            for name, local in weak.local.items()
            for prefix in local.changed & self.originators[name]
            if weak.has_own(name, prefix)
            != (
                prefix in self.solution.underlay.connected[name]
                or prefix in self.solution.underlay.static[name]
            )
        }

    def _anew(
        self, prefix: IPv4Network, weak: DegradedUnderlay, lost: frozenset[int]
    ) -> PrefixRoutes:
        """Routes of a prefix whose originators have changed."""
        routing = self.solution.routing
        origins = [
            routing.numbers[name]
            for name, prefixes in self.originators.items()
            if prefix in prefixes and weak.has_own(name, prefix)
        ]
        number = self.class_of.get(prefix, -1)
        size = len(routing.names)
        before = ClassRoutes([None] * size, [()] * size, [()] * size, [-1] * size)
        if number >= 0:
            before = self.solution.classes[number].table
        after = routing.graph.spread(origins, routing.denied(prefix), lost)
        used = {d: e for d, e in enumerate(after.used) if e != before.used[d]}
        return PrefixRoutes((prefix,), number, before, after.sent, used)
