"""Answers of a routing engine: sessions, routes, paths, reachability, failures and changes.

The embedded engine and Batfish both return a RoutingState. It does not contain details that may
differ between engines, so a disagreement is a difference of two values.

A fabric of n servers has n * (n - 1) ordered pairs, and nearly all have the same result. So servers
with the same results for all pairs are one class. Only classes between which some path does not
deliver are stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, PlainSerializer

from rocefort.models.base import Frozen, natural
from rocefort.models.device.packet_filters import Flow
from rocefort.models.finding import Where
from rocefort.models.network.network import End


class SessionStatus(StrEnum):
    """Status of a BGP session, in Batfish's terms."""

    ESTABLISHED = "established"
    NOT_ESTABLISHED = "not-established"
    NOT_COMPATIBLE = "not-compatible"


class BgpSession(Frozen):
    """Configured BGP peer from the view of one device."""

    device: str
    peer: IPv4Address
    status: SessionStatus


class Route(NamedTuple):
    """BGP prefix in the main table of one device with all its next hops, sorted.

    It is a tuple and not a model, because 500 switches have half a million of them.
    """

    device: str
    prefix: IPv4Network
    next_hops: tuple[IPv4Address, ...]

    @property
    def width(self) -> int:
        """ECMP width."""
        return len(self.next_hops)


class FlowVerdict(Frozen):
    """Verdict whether every path of a server pair delivers another flow of the policy."""

    source: str
    destination: str
    flow: Flow
    delivered: bool


class RoutingState(Frozen):
    """All answers of one engine, each collection sorted; routes can be lazy."""

    engine: str
    sessions: tuple[BgpSession, ...]
    routes: Annotated[Sequence[Route], BeforeValidator(tuple), PlainSerializer(tuple)]
    reachability: Reachability
    answers: tuple[FlowVerdict, ...] = ()


class NotCertain(Frozen):
    """Numbers of good answers that a line may change whose effect is not certain."""

    sessions: int = 0
    pairs: int = 0
    segment_pairs: int = 0


class Timing(Frozen):
    """Wall-clock time of a service for one question."""

    question: str
    seconds: float


class Failure(Frozen):
    """Cables and switches that fail at the same time."""

    links: tuple[tuple[End, End], ...] = ()
    nodes: tuple[str, ...] = ()

    def __str__(self) -> str:
        cables = (f"{a} - {b}" for a, b in self.links)
        return " and ".join((*cables, *self.nodes))


class WidthLoss(Frozen):
    """Leaves that have fewer equal-cost paths to each of some prefixes of other switches."""

    leaves: tuple[str, ...]
    prefixes: tuple[IPv4Network, ...]
    towards: tuple[str, ...] = ()  # switches that originate them
    was: int
    now: int  # 0: no route
    expected: int | None = None  # by cabling, if more than `now`; else None


class PairLoss(Frozen):
    """Servers of one leaf that no longer reach those of a segment on another by every path.

    pairs: ordered pairs of servers that were delivered before; 1 if servers are unknown.
    """

    source: str  # leaf
    destination: str  # leaf
    segment: str  # of the destination: its name, or its prefix without a name
    pairs: int
    reason: str
    expected: bool  # cabling alone leaves no path


class FailureEffect(Frozen):
    """Effect of one failure. Losses of a failed switch's own servers are counted, not listed."""

    failure: Failure
    widths: tuple[WidthLoss, ...] = ()
    lost: tuple[PairLoss, ...] = ()
    cut_off: tuple[str, ...] = ()  # leaves that did not fail, without a route to any other leaf
    own_servers: int = 0  # on failed switches
    bisection: float | None = None  # uplinks of the worse half of the leaves, share of all; 0..1
    circle: str = ""  # queues of a cyclic buffer dependency that is now possible

    @property
    def pairs(self) -> int:
        """Pairs of servers lost."""
        return sum(loss.pairs for loss in self.lost)


class FailureStudy(Frozen):
    """Effects of many failures, in order: links, switches, pairs of them."""

    scope: str  # as requested: single, 2, single:N, sample:N
    population: int  # number of failures; `effects` are all of them or a sample
    seed: int | None = None  # of the sample
    circles: str = ""  # why cyclic buffer dependency was not judged, or how it was excluded
    effects: tuple[FailureEffect, ...] = ()


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


class RouteChange(Frozen):
    """Change of one prefix in the main table of a device: ECMP width before and after."""

    device: str
    prefix: IPv4Network
    was: int  # 0: no route
    now: int  # 0: no route; as many as before: other next hops


class RoutingChange(Frozen):
    """Routing changes between two versions, by one engine; all in order of names.

    lost, gained: pairs of servers that both versions have.
    """

    engine: str
    lost: tuple[Pair, ...] = ()
    gained: tuple[Pair, ...] = ()
    routes: tuple[RouteChange, ...] = ()

    @property
    def gone(self) -> tuple[RouteChange, ...]:
        """Routes that are gone."""
        return tuple(route for route in self.routes if not route.now)

    @property
    def new(self) -> tuple[RouteChange, ...]:
        """Routes that are new."""
        return tuple(route for route in self.routes if not route.was)

    @property
    def narrower(self) -> tuple[RouteChange, ...]:
        """Routes with fewer paths, but some."""
        return tuple(route for route in self.routes if 0 < route.now < route.was)

    @property
    def wider(self) -> tuple[RouteChange, ...]:
        """Routes with more paths than they had."""
        return tuple(route for route in self.routes if 0 < route.was < route.now)

    @property
    def moved(self) -> tuple[RouteChange, ...]:
        """Routes with the same number of paths, over other next hops."""
        return tuple(route for route in self.routes if route.was == route.now)


class FilterDecision(Frozen):
    """Decision of a gateway's filter on a flow; rule None: no rule matches, so it passes."""

    interface: str
    direction: Literal["inbound", "outbound"]
    acl: str
    rule: int | None
    permitted: bool
    where: Where


class Hop(Frozen):
    """One switch on a path. None: not applicable, as the VLAN of a routed port."""

    device: str
    enters: str | None = None  # interface
    vlan: int | None = None
    gateway: str | None = None  # interface that routes for the VLAN
    judged: tuple[FilterDecision, ...] = ()
    by: Literal["switched", "connected", "static", "bgp"] | None = None
    prefix: IPv4Network | None = None  # of the route
    next_hops: tuple[IPv4Address, ...] = ()  # all equal ones
    next_hop: IPv4Address | None = None  # of this path
    leaves: str | None = None  # interface

    @property
    def width(self) -> int:
        """ECMP width."""
        return len(self.next_hops)


class TracePath(Frozen):
    """One path; reason: why it ends there, empty at the destination."""

    hops: tuple[Hop, ...]
    delivered: bool
    reason: str = ""
    where: Where = Where()  # place of the reason
    leaves_by: str | None = None  # exit


class Endpoint(Frozen):
    """End of a trace: a server, a switch's address, or outside; then `devices` is empty."""

    name: str
    address: IPv4Address
    server: bool = False
    devices: tuple[str, ...] = ()  # its switch, or the switch itself


class Trace(Frozen):
    """All equal paths between two ends."""

    source: Endpoint
    destination: Endpoint
    flow: Flow
    down: tuple[str, ...] = ()  # objects that were taken down before
    paths: tuple[TracePath, ...]
    whole: bool = True  # False: there are more paths than are listed

    @property
    def delivered(self) -> bool:
        """Whether all paths deliver."""
        return all(path.delivered for path in self.paths)
