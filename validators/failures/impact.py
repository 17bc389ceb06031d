"""Impact of a failure: by an engine's answers before and after it, and by cabling alone.

The result has the form of the embedded engine's study, so that engines can be compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Network

from rocefort.models.base import natural
from rocefort.models.network.network import Link, Network, Server, SwitchRole
from rocefort.validators.facts.roce_ports import ends_of
from rocefort.validators.routing.external_peers import with_outside
from rocefort.validators.routing_results import (
    Failure,
    FailureEffect,
    PairLoss,
    RoutingState,
    WidthLoss,
)

Pair = tuple[str, str]  # leaf and spine


@dataclass(eq=False)
class Cabling:
    """Cables between leaves and spines, independent of routing."""

    network: Network
    _paths: dict[Pair, int] = field(default_factory=dict)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Leaves; all switches if the roles are not known."""
        leaves = self.network.role(SwitchRole.LEAF) or self.network.nodes
        return tuple(node.name for node in leaves)

    @cached_property
    def spines(self) -> frozenset[str]:
        """Spines; none if the roles are not known."""
        return frozenset(node.name for node in self.network.role(SwitchRole.SPINE))

    @cached_property
    def cables(self) -> Mapping[Pair, int]:
        """Number of cables between each leaf and spine."""
        return Counter(pair for link in self.network.links or () for pair in self._pairs(link))

    def _pairs(self, link: Link) -> Iterator[Pair]:
        for near, far in ends_of(link):
            if far.device in self.spines and near.device not in self.spines:
                yield near.device, far.device

    def paths(self, leaf: str, other: str) -> int:
        """Number of paths from a leaf to another over one spine."""
        key = leaf, other
        if key not in self._paths:
            cables = self.cables
            self._paths[key] = sum(
                cables.get((leaf, spine), 0) for spine in self.spines if (other, spine) in cables
            )
        return self._paths[key]

    def left(self, failure: Failure) -> RemainingCabling:
        """Remaining cabling after a failure."""
        failed = (Link(a=a, b=b) for a, b in failure.links)
        gone = Counter(pair for link in failed for pair in self._pairs(link))
        return RemainingCabling(self, gone, frozenset(failure.nodes))

    @cached_property
    def speeds(self) -> Mapping[tuple[str, str, str], int]:
        """Speed of each cable by leaf, spine and the leaf's port, Gb/s; 1 where one is unknown."""
        by_cable = {
            (near.device, far.device, near.interface): self.network.speed_gbps(near)
            for link in self.network.links or ()
            for near, far in ends_of(link)
            if far.device in self.spines and near.device not in self.spines
        }
        complete = all(by_cable.values())
        return {key: (speed or 1) if complete else 1 for key, speed in by_cable.items()}

    @cached_property
    def uplinks(self) -> Mapping[str, int]:
        """Speed of all uplinks of each leaf."""
        total: Counter[str] = Counter()
        for (leaf, _, _), speed in self.speeds.items():
            total[leaf] += speed
        return total

    @cached_property
    def to_spine(self) -> Mapping[str, Mapping[str, int]]:
        """Speed of a leaf's cables to a spine, by spine and leaf."""
        total: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for (leaf, spine, _), speed in self.speeds.items():
            total[spine][leaf] += speed
        return total


@dataclass(frozen=True)
class RemainingCabling:
    """Cables after a failure."""

    cabling: Cabling
    gone: Mapping[Pair, int]
    dead: Set[str]

    @cached_property
    def _touched(self) -> frozenset[str]:
        spines = {spine for _, spine in self.gone} | (self.dead & self.cabling.spines)
        return frozenset(spines)

    @cached_property
    def _counts(self) -> Mapping[str, Mapping[str, tuple[int, int]]]:
        """Cables before and after the failure, by affected spine and leaf."""
        cables = self.cabling.cables
        return {
            spine: {
                leaf: (
                    cables.get((leaf, spine), 0),
                    0
                    if spine in self.dead
                    else cables.get((leaf, spine), 0) - self.gone.get((leaf, spine), 0),
                )
                for leaf in self.cabling.leaves
            }
            for spine in self._touched
        }

    def taken(self, leaf: str, other: str) -> int:
        """Number of paths from a leaf to another that the failure removes."""
        lost = 0
        for counts in self._counts.values():
            (was, now), (far_was, far_now) = counts[leaf], counts[other]
            lost += (was if far_was else 0) - (now if far_now else 0)
        return lost

    def least(self, leaf: str, other: str, was: int, limit: int) -> int:
        """ECMP width that a leaf should keep: the remaining paths, up to the limit.

        A leaf with fewer paths before the failure should keep those that the failure does not
        remove.
        """
        paths, taken = self.cabling.paths(leaf, other), self.taken(leaf, other)
        if was == min(paths, limit):
            return min(was, paths - taken)
        return max(was - taken, 0)

    def joined(self, leaf: str, other: str) -> bool:
        """Whether a spine still connects two leaves."""
        return any(self._cables(leaf, s) and self._cables(other, s) for s in self.cabling.spines)

    def _cables(self, leaf: str, spine: str) -> int:
        if spine in self.dead:
            return 0
        return self.cabling.cables.get((leaf, spine), 0) - self.gone.get((leaf, spine), 0)

    def bisection(self, failure: Failure) -> float | None:
        """Uplinks of the remaining leaves' weakest half, as a share of those before."""
        uplinks = self.cabling.uplinks
        standing = [leaf for leaf in self.cabling.leaves if leaf not in self.dead]
        if not uplinks or len(standing) < 2:
            return None
        now = {leaf: uplinks.get(leaf, 0) for leaf in standing}
        for spine in self.dead & self.cabling.spines:
            for leaf, speed in self.cabling.to_spine.get(spine, {}).items():
                if leaf in now:
                    now[leaf] -= speed
        for a, b in failure.links:
            for near, far in ((a, b), (b, a)):
                if near.device in now and far.device not in self.dead:
                    key = near.device, far.device, near.interface
                    now[near.device] -= self.cabling.speeds.get(key, 0)
        half = len(standing) // 2
        before = sum(sorted(uplinks.get(leaf, 0) for leaf in standing)[:half])
        return sum(sorted(now.values())[:half]) / before if before else None


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
