"""Impact of a failure, from one engine's answers before and after it.

The result has the form of the embedded engine's study, so that engines can be compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network

from rocefort.models.base import natural
from rocefort.models.network.network import Network, Server
from rocefort.validators.failures.cabling_baseline import Cabling, RemainingCabling
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.routing_results import (
    Failure,
    FailureEffect,
    PairLoss,
    RoutingState,
    WidthLoss,
)

Widths = Mapping[tuple[str, IPv4Network], int]
Key = tuple[int, int, int | None]  # width before, after, and what cabling leaves


def widths_of(state: RoutingState) -> Widths:
    """ECMP width by device and prefix."""
    return {(route.device, route.prefix): route.width for route in state.routes}


@dataclass(frozen=True)
class FailureCosts:
    """Answers about a network without failures, for comparison with those after a failure."""

    network: Network
    before: RoutingState

    @cached_property
    def cabling(self) -> Cabling:
        """Cables of the network."""
        return Cabling(self.network)

    @cached_property
    def widths(self) -> Widths:
        """ECMP widths without failures."""
        return widths_of(self.before)

    @cached_property
    def announcers(self) -> Mapping[IPv4Network, frozenset[str]]:
        """Switches that announce each prefix, including those behind exits."""
        devices: defaultdict[IPv4Network, set[str]] = defaultdict(set)
        for node in with_outside(self.network).nodes:
            for prefix in node.device.bgp.networks if node.device.bgp else ():
                devices[prefix].add(node.name)
        return {prefix: frozenset(names) for prefix, names in devices.items()}

    @cached_property
    def _prefixes(self) -> tuple[IPv4Network, ...]:
        return tuple(sorted({prefix for _, prefix in self.widths}))

    def effect(self, failure: Failure, after: RoutingState) -> FailureEffect:
        """Impact of a failure, without cyclic buffer dependencies."""
        remaining, dead = self.cabling.left(failure), frozenset(failure.nodes)
        now = widths_of(after)
        widths = tuple(self._widths(now, remaining, dead))
        servers = self.network.servers or ()
        return FailureEffect(
            failure=failure,
            widths=widths,
            lost=tuple(self._lost(after, remaining, dead)),
            cut_off=tuple(self._cut_off(now, widths)),
            own_servers=sum(server.port.device in dead for server in servers),
            bisection=remaining.bisection(failure),
        )

    def _widths(
        self, now: Widths, remaining: RemainingCabling, dead: frozenset[str]
    ) -> Iterator[WidthLoss]:
        rows: defaultdict[tuple[Key, tuple[str, ...]], list[IPv4Network]] = defaultdict(list)
        for prefix in self._prefixes:
            origins = self.announcers.get(prefix, frozenset())
            if origins and (origins <= self.cabling.spines or origins <= dead):
                continue
            by_width: defaultdict[Key, list[str]] = defaultdict(list)
            for leaf in self.cabling.leaves:
                was, less = self.widths.get((leaf, prefix), 0), now.get((leaf, prefix), 0)
                if less < was and leaf not in dead:
                    required = self._expected(leaf, origins, was, less, remaining)
                    by_width[was, less, required].append(leaf)
            for key, leaves in by_width.items():
                rows[key, tuple(leaves)].append(prefix)
        for (key, leaf_names), prefixes in rows.items():
            towards = {name for p in prefixes for name in self.announcers.get(p, ())}
            yield WidthLoss(
                leaves=leaf_names,
                prefixes=tuple(prefixes),
                towards=tuple(sorted(towards)),
                was=key[0],
                now=key[1],
                expected=key[2],
            )

    def _expected(
        self, leaf: str, origins: frozenset[str], was: int, now: int, remaining: RemainingCabling
    ) -> int | None:
        """Width of the remaining cabling, if it is more than the actual width."""
        origin = next(iter(origins)) if len(origins) == 1 else None
        if not self.cabling.spines or origin not in self.cabling.leaves or origin == leaf:
            return None
        bgp = self.network.by_name[leaf].device.bgp
        least = remaining.least(leaf, origin, was, bgp.maximum_paths if bgp else 1)
        return least if now < least else None

    def _cut_off(self, now: Widths, widths: tuple[WidthLoss, ...]) -> Iterator[str]:
        """Remaining leaves that had a route to another leaf, and now have none to any."""
        leaves = frozenset(self.cabling.leaves)
        candidates = {leaf for loss in widths if not loss.now for leaf in loss.leaves}
        of_leaves = [p for p in self._prefixes if self.announcers.get(p, frozenset()) & leaves]
        for leaf in sorted(candidates, key=natural):
            if not any(now.get((leaf, prefix)) for prefix in of_leaves):
                yield leaf

    def _lost(
        self, after: RoutingState, remaining: RemainingCabling, dead: frozenset[str]
    ) -> Iterator[PairLoss]:
        """Lost pairs by leaf and segment, without those of a failed switch's servers."""
        servers = {server.name: server for server in self.network.servers or ()}
        count: Counter[tuple[str, str, str]] = Counter()
        for source, target in after.reachability.lost_pairs():
            ends = servers[source].port.device, servers[target].port.device
            if not dead.intersection(ends) and self.before.reachability.delivers(source, target):
                count[(*ends, self._segment(servers[target]))] += 1
        for (leaf, other, segment), pairs in sorted(count.items()):
            joined = not self.cabling.spines or leaf == other or remaining.joined(leaf, other)
            yield PairLoss(
                source=leaf,
                destination=other,
                segment=segment,
                pairs=pairs,
                reason=f"{after.engine} finds a path that does not deliver",
                expected=not joined,
            )

    def _segment(self, server: Server) -> str:
        subnet = server.address.network
        return self._segments.get((server.port.device, subnet), str(subnet))

    @cached_property
    def _segments(self) -> Mapping[tuple[str, IPv4Network], str]:
        return {(s.leaf, s.prefix): s.name for s in self.network.segments or ()}


def difference(
    ours: FailureEffect, theirs: FailureEffect, names: tuple[str, str]
) -> tuple[str, str] | None:
    """First difference between two engines' effects of a failure: device and sentence."""
    tables = [dict(_facts(effect)) for effect in (ours, theirs)]
    for fact in sorted({*tables[0], *tables[1]}, key=str):
        mine, yours = (table.get(fact, "unchanged") for table in tables)
        if mine != yours:
            device, what = fact
            answers = f"{names[0]} reports {mine}, {names[1]} reports {yours}"
            return device, f"after loss of {ours.failure}, {device} {what}: {answers}"
    return None


def _facts(effect: FailureEffect) -> Iterator[tuple[tuple[str, str], str]]:
    for loss in effect.widths:
        for leaf in loss.leaves:
            for prefix in loss.prefixes:
                yield (leaf, f"to {prefix}"), f"width {loss.was} -> {loss.now}"
    for pair in effect.lost:
        yield (pair.source, f"to {pair.segment} of {pair.destination}"), f"{pair.pairs} pairs lost"
    for leaf in effect.cut_off:
        yield (leaf, "to every other leaf"), "cut off"
