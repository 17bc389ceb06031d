"""Path vector in bare numbers: who settles on which edges for one class of prefixes, and anew.

The routes of round k have k AS hops. A device takes its best in the first round that offers it one
and passes it on in the next, so a round is final once it is done. `repair` redoes only what hangs
on lost edges; `spread` does everything and is what `repair` is held against.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_

AsPath = tuple[int, ...]
Edges = tuple[int, ...]  # numbers of edges, ascending
_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class SessionEdge:
    """A directed session: routes flow from sender to receiver, packets the other way."""

    number: int
    sender: int
    receiver: int
    needed: int  # bit set of policies that a route must pass


@dataclass(frozen=True, slots=True)
class ClassRoutes:
    """What every device, by number, makes of one class of prefixes. Not to be changed."""

    sent: list[AsPath | None]  # what it passes on: its own AS first; None: it has no route
    used: list[Edges]  # edges of its next hops; empty for its own
    tied: list[Edges]  # of all routes that only a tie-breaker tells apart; the very one, if all
    best: list[int]  # the edge whose AS path is passed on; -1: none


@dataclass(frozen=True, slots=True)
class RepairedRoutes:
    """A table after a loss: all that is passed on, and edges in use only where they changed."""

    sent: list[AsPath | None]
    used: Mapping[int, Edges]


@dataclass(frozen=True)
class _RoundOffers:
    """Offers of one round to all devices that hear the same senders alike, the best first.

    places: among a device's incoming edges. asns: all those in the paths.
    """

    places: Sequence[int]
    paths: Sequence[AsPath]
    asns: frozenset[int]

    @cached_property
    def alike(self) -> bool:
        """Whether all paths are the best one's."""
        return all(path == self.paths[0] for path in self.paths)


@dataclass(frozen=True)
class PeerGraph:
    """Devices by number, and edges by receiver in the order in which ties are broken."""

    asns: Sequence[int]
    limits: Sequence[int]  # maximum number of paths
    relaxed: Sequence[bool]  # whether routes of other AS paths join the best one
    incoming: Sequence[Sequence[tuple[int, int, int]]]  # edge, sender, needed
    outgoing: Sequence[Sequence[tuple[int, int]]]  # receiver, needed
    ways: Sequence[SessionEdge]

    def spread(
        self, origins: Iterable[int], denied: int, lost: Collection[int] = _NONE
    ) -> ClassRoutes:
        """Everybody's routes to what some devices originate; denied: policies it does not pass."""
        size = len(self.asns)
        sent: list[AsPath | None] = [None] * size
        table = ClassRoutes(sent, [()] * size, [()] * size, [-1] * size)
        frontier = list(origins)
        for origin in frontier:
            sent[origin] = (self.asns[origin],)
        round_ = 1
        while frontier:
            asked = set().union(*(self._receivers(sender, denied) for sender in frontier))
            asked = {device for device in asked if sent[device] is None}
            frontier = []
            heard: dict[int, _RoundOffers] = {}
            for device in asked:
                ear = self._sender_classes[device]
                if ear not in heard:
                    heard[ear] = self._offers(device, round_, sent, denied)
                if lost or self.asns[device] in heard[ear].asns:  # not all of it is for this one
                    offers = self.offers(device, round_, sent, denied, lost)
                    if not offers:
                        continue
                    edge, path = offers[0]
                    table.tied[device], table.used[device] = self.choice(device, offers)
                elif heard[ear].paths:
                    path = heard[ear].paths[0]
                    edge = self._edges[device][heard[ear].places[0]]
                    table.tied[device], table.used[device] = self._chosen(device, heard[ear])
                else:
                    continue
                table.best[device] = edge
                sent[device] = (self.asns[device], *path)
                frontier.append(device)
            if None not in sent:
                break
            round_ += 1
        return table

    def _receivers(self, sender: int, denied: int) -> frozenset[int]:
        """Who hears of a class from a device that has a route."""
        everybody, needed = self._receivers_of[sender]
        if not needed & denied:
            return everybody
        return frozenset(device for device, own in self.outgoing[sender] if not own & denied)

    @cached_property
    def _receivers_of(self) -> Sequence[tuple[frozenset[int], int]]:
        """Whom each device tells, and all policies on the way to any of them."""
        return [
            (frozenset(device for device, _ in own), reduce(or_, (needed for _, needed in own), 0))
            for own in self.outgoing
        ]

    @cached_property
    def _sender_classes(self) -> Sequence[int]:
        """A number for each device; those that hear the same senders alike have the same one."""
        kinds: dict[tuple[tuple[int, int], ...], int] = {}
        heard = (tuple((sender, needed) for _, sender, needed in own) for own in self.incoming)
        return [kinds.setdefault(kind, len(kinds)) for kind in heard]

    @cached_property
    def _edges(self) -> Sequence[Edges]:
        """Edges of each device in the order in which ties are broken."""
        return [tuple(edge for edge, _, _ in own) for own in self.incoming]

    @cached_property
    def _ascending(self) -> Sequence[Edges]:
        return [tuple(sorted(edges)) for edges in self._edges]

    def _offers(
        self, device: int, round_: int, sent: Sequence[AsPath | None], denied: int
    ) -> _RoundOffers:
        """What a device, and every other with its ears, hears of so many AS hops."""
        offers = [
            (place, path)
            for place, (_, sender, needed) in enumerate(self.incoming[device])
            if (path := sent[sender]) is not None and len(path) == round_ and not needed & denied
        ]
        paths = [path for _, path in offers]
        return _RoundOffers([place for place, _ in offers], paths, frozenset().union(*paths))

    def _chosen(self, device: int, heard: _RoundOffers) -> tuple[Edges, Edges]:
        """As `choice`, of a device that may take all that it hears."""
        edges, limit = self._edges[device], self.limits[device]
        if len(heard.places) == len(edges):
            ranked: Sequence[int] = edges
            tied = self._ascending[device]
        else:
            ranked = [edges[place] for place in heard.places]
            tied = tuple(sorted(ranked))
        used = ranked
        if not self.relaxed[device] and not heard.alike:
            best = heard.paths[0]
            used = [e for e, path in zip(ranked, heard.paths, strict=True) if path == best]
        return tied, tied if len(used) == len(tied) <= limit else tuple(sorted(used[:limit]))

    def offers(
        self,
        device: int,
        round_: int,
        sent: Sequence[AsPath | None],
        denied: int,
        lost: Collection[int],
    ) -> list[tuple[int, AsPath]]:
        """Edges that bring a route of so many AS hops, the best first, with its AS path."""
        own = self.asns[device]
        return [
            (edge, path)
            for edge, sender, needed in self.incoming[device]
            if (path := sent[sender]) is not None
            and len(path) == round_
            and not needed & denied
            and own not in path
            and edge not in lost
        ]

    def choice(self, device: int, offers: list[tuple[int, AsPath]]) -> tuple[Edges, Edges]:
        """All offers, and those in use: the best path's equals, up to the limit.

        Which of several equals wins is the vendor's last tie-breaker: lowest router id, then
        lowest neighbour address. Without as-path-relax only routes with the best one's AS path
        join it.
        """
        best, limit = offers[0][1], self.limits[device]
        ranked = [edge for edge, _ in offers]
        used = ranked
        if not self.relaxed[device]:
            used = [edge for edge, path in offers if path == best]
        tied = tuple(sorted(ranked))
        return tied, tied if len(used) == len(tied) <= limit else tuple(sorted(used[:limit]))

    def repair(
        self, table: ClassRoutes, denied: int, lost: Collection[int], dead: Collection[int]
    ) -> RepairedRoutes:
        """What becomes of a table when edges are lost, all edges of dead devices among them."""
        return _RouteRepair(self, table, denied, lost, dead, table.sent.copy()).run()


@dataclass(slots=True)
class _RouteRepair:
    """Round by round, only the devices that lost an offer or may have got a new one."""

    graph: PeerGraph
    table: ClassRoutes
    denied: int
    lost: Collection[int]
    dead: Collection[int]
    sent: list[AsPath | None]
    used: dict[int, Edges] = field(default_factory=dict)
    less: dict[int, set[int]] = field(default_factory=dict)  # by round: who may have lost offers
    more: dict[int, set[int]] = field(default_factory=dict)  # by round: who may have got others
    without: set[int] = field(
        default_factory=set
    )  # have lost their route and wait for a longer one

    def run(self) -> RepairedRoutes:
        """Repair; see Graph.repair."""
        before, ways = self.table.sent, self.graph.ways
        for device in self.dead:
            self.sent[device] = None
        for edge in self.lost:
            way = ways[edge]
            there, here = before[way.sender], before[way.receiver]
            if there is None or here is None or way.needed & self.denied:
                continue
            if len(there) == len(here) - 1 and way.receiver not in self.dead:
                self.less.setdefault(len(there), set()).add(way.receiver)
        round_ = 0
        while self.less or self.more or (self.without and self._heard_after(round_)):
            round_ += 1
            asked = self.more.pop(round_, set()) | self.without
            for device in self.less.pop(round_, ()):
                if device not in asked and not self._shrunk(device, round_):
                    asked.add(device)
            for device in self._moved(round_, asked):
                self._ask_on(device, round_)
        return RepairedRoutes(self.sent, self.used)

    def _heard_after(self, round_: int) -> bool:
        return any(path is not None and len(path) > round_ for path in self.sent)

    def _shrunk(self, device: int, round_: int) -> bool:
        """Whether a device goes on as before with the rest of its edges, as nearly all do.

        So it is where it used all its offers, has one left, and passes on the same: the best one's
        AS path if that stands, and any one's where they were all alike (without as-path-relax).
        """
        table, lost, sent, ways = self.table, self.lost, self.sent, self.graph.ways
        used, before = table.used[device], table.sent
        now = sent[device]
        if used is not table.tied[device] or now is not before[device] or device in self.dead:
            return False
        if now is None or len(now) != round_ + 1:
            return False
        rest = [e for e in used if e not in lost and sent[s := ways[e].sender] is before[s]]
        if not rest or (self.graph.relaxed[device] and table.best[device] not in rest):
            return False
        if len(rest) < len(used):
            self.used[device] = tuple(rest)
        return True

    def _moved(self, round_: int, asked: Iterable[int]) -> list[int]:
        """Look again at devices in one round: those that now pass on something else."""
        moved = []
        for device in asked:
            now = self.sent[device]
            if (now is not None and len(now) <= round_) or device in self.dead:
                continue  # it settled in an earlier round
            offers = self.graph.offers(device, round_, self.sent, self.denied, self.lost)
            if offers:
                if self._settled(device, offers):
                    moved.append(device)
            elif now is not None and len(now) == round_ + 1:
                self.sent[device], self.used[device] = None, ()
                self.without.add(device)
                moved.append(device)
        return moved

    def _settled(self, device: int, offers: list[tuple[int, AsPath]]) -> bool:
        """Take the best of the offers: whether what the device passes on has changed."""
        _, used = self.graph.choice(device, offers)
        path = (self.graph.asns[device], *offers[0][1])
        self.without.discard(device)
        if used != self.table.used[device]:
            self.used[device] = used
        else:
            self.used.pop(device, None)
        if path == self.sent[device]:
            return False
        self.sent[device] = path
        return True

    def _ask_on(self, device: int, round_: int) -> None:
        """Those who hear from a device look again, in the rounds of its old and its new route."""
        asked = [r for r, needed in self.graph.outgoing[device] if not needed & self.denied]
        old, new = self.table.sent[device], self.sent[device]
        if asked and old is not None and len(old) > round_:
            self.less.setdefault(len(old), set()).update(asked)
        if asked and new is not None:
            self.more.setdefault(len(new), set()).update(asked)
