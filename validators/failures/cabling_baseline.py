"""Effect of a failure on cabling alone: remaining ECMP width, and share of the bisection."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property

from rocefort.models.network.network import Link, Network, SwitchRole
from rocefort.validators.facts.roce_ports import ends_of
from rocefort.validators.routing_results import Failure

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
