"""Reachability matrix by class of servers: counts of pairs, and the classes with lost pairs.

A fabric of n servers has n * (n - 1) ordered pairs, and nearly all have the same result. So servers
with the same results for all pairs are one class. Only classes between which some path does not
deliver are stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from ipaddress import IPv4Network

from rocefort.models.base import Frozen
from rocefort.models.keyed import natural

Pair = tuple[str, str]  # names of servers: source, destination
Cells = dict[tuple[str, str], list[tuple[int, Pair]]]


class ServerClass(Frozen):
    """Servers on one leaf, in one segment and subnet, with the same results; by name."""

    leaf: str
    segment: str
    subnet: IPv4Network
    servers: tuple[str, ...]


class LostClasses(Frozen):
    """Numbers of classes: no source delivers to any destination by every path."""

    sources: tuple[int, ...]
    destinations: tuple[int, ...]


class SegmentPair(Frozen):
    """Reachability from the servers of one segment to those of another, or of the same."""

    source: str
    destination: str
    pairs: int  # ordered
    delivered: int  # by every path
    witness: Pair | None = None  # the first pair by name that is not

    @property
    def share(self) -> str:
        """`all`, `some` or `none` of the pairs; `-` where there is no pair."""
        if not self.pairs:
            return "-"
        return "all" if self.delivered == self.pairs else "some" if self.delivered else "none"


class Reachability(Frozen):
    """Reachability of servers by every path on UDP 4791; pairs outside of `lost` are delivered.

    classes: in order of their first server; every server is in one of them.
    """

    classes: tuple[ServerClass, ...] = ()
    lost: tuple[LostClasses, ...] = ()

    @property
    def pairs(self) -> int:
        """Ordered pairs of servers."""
        count = sum(len(one.servers) for one in self.classes)
        return count * (count - 1)

    @property
    def delivered(self) -> int:
        """Ordered pairs that are delivered by every path."""
        return self.pairs - sum(self._count(lost.sources, lost.destinations) for lost in self.lost)

    def delivers(self, source: str, destination: str) -> bool:
        """Whether one pair is delivered. Raises KeyError for a server that is not there."""
        number = self._class_of
        return number[source] not in self._lost_to.get(number[destination], ())

    @property
    def servers(self) -> frozenset[str]:
        """Names of all servers."""
        return frozenset(self._class_of)

    def lost_classes(self) -> Iterator[tuple[int, int]]:
        """Yield numbers of source and destination class of pairs that are not delivered."""
        for lost in self.lost:
            for target in lost.destinations:
                for source in lost.sources:
                    if self.count(source, target):
                        yield source, target

    def lost_pairs(self) -> Iterator[Pair]:
        """Yield every pair that is not delivered; there can be many."""
        for source, target in self.lost_classes():
            for a in self.classes[source].servers:
                yield from ((a, b) for b in self.classes[target].servers if a != b)

    def count(self, source: int, destination: int) -> int:
        """Ordered pairs between two classes, or within one."""
        return self._count((source,), (destination,))

    def witness(self, source: int, destination: int) -> Pair:
        """First pair by name between two classes that have one."""
        return self._witness((source,), (destination,))

    @property
    def segments(self) -> tuple[str, ...]:
        """Names of all segments that have servers."""
        return tuple(sorted({one.segment for one in self.classes}, key=natural))

    def by_segment(self) -> tuple[SegmentPair, ...]:
        """Every ordered pair of segments, and each with itself, in order of names."""
        whole = _by_segment(self.classes, range(len(self.classes)))
        lost: Cells = defaultdict(list)
        for one in self.lost:
            sources = _by_segment(self.classes, one.sources)
            targets = _by_segment(self.classes, one.destinations)
            for a, senders in sources.items():
                for b, receivers in targets.items():
                    if count := self._count(senders, receivers):
                        lost[a, b].append((count, self._witness(senders, receivers)))
        return tuple(
            self._segment_pair(whole, a, b, lost.get((a, b), []))
            for a in self.segments
            for b in self.segments
        )

    def _segment_pair(
        self, whole: Mapping[str, Sequence[int]], a: str, b: str, lost: list[tuple[int, Pair]]
    ) -> SegmentPair:
        pairs = self._count(whole[a], whole[b])
        return SegmentPair(
            source=a,
            destination=b,
            pairs=pairs,
            delivered=pairs - sum(count for count, _ in lost),
            witness=min((witness for _, witness in lost), default=None),
        )

    @cached_property
    def _class_of(self) -> dict[str, int]:
        return {name: n for n, one in enumerate(self.classes) for name in one.servers}

    @cached_property
    def _lost_to(self) -> dict[int, Set[int]]:
        return {
            target: frozenset(lost.sources) for lost in self.lost for target in lost.destinations
        }

    def sources_lost_to(self, destination: int) -> Set[int]:
        """Classes that do not deliver to a class."""
        return self._lost_to.get(destination, frozenset())

    def _count(self, sources: Sequence[int], destinations: Sequence[int]) -> int:
        """Number of pairs between two sets of classes; no server is paired with itself."""
        both = set(sources).intersection(destinations)
        return self._size(sources) * self._size(destinations) - self._size(both)

    def _size(self, classes: Iterable[int]) -> int:
        return sum(len(self.classes[number].servers) for number in classes)

    def _witness(self, sources: Sequence[int], destinations: Sequence[int]) -> Pair:
        firsts, seconds = (
            sorted(name for n in numbers for name in self.classes[n].servers[:2])[:2]
            for numbers in (sources, destinations)
        )
        return min((a, b) for a in firsts for b in seconds if a != b)


def _by_segment(classes: Sequence[ServerClass], numbers: Iterable[int]) -> dict[str, list[int]]:
    by_segment: defaultdict[str, list[int]] = defaultdict(list)
    for number in numbers:
        by_segment[classes[number].segment].append(number)
    return by_segment


def reachability(classes: Iterable[ServerClass], lost_to: Mapping[str, Set[str]]) -> Reachability:
    """Build it from classes; lost_to: classes that do not deliver to a class, by first servers.

    A class of one server has no pair within itself, so its own entry is ignored.
    """
    ordered = tuple(sorted(classes, key=lambda one: one.servers))
    number = {one.servers[0]: n for n, one in enumerate(ordered)}
    targets: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for one in ordered:
        alone = len(one.servers) == 1
        sources = lost_to.get(one.servers[0], frozenset())
        lost_sources = {number[s] for s in sources if not (alone and s == one.servers[0])}
        if lost_sources:
            targets[tuple(sorted(lost_sources))].append(number[one.servers[0]])
    lost = (LostClasses(sources=s, destinations=tuple(d)) for s, d in sorted(targets.items()))
    return Reachability(classes=ordered, lost=tuple(lost))
