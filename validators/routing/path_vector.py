"""Path-vector algorithm on integers: the selected edges of each device for a class of prefixes.

The routes of round k have k AS hops. A device selects its best route in the first round that offers
one, and advertises it in the next round, so that a finished round is final. `repair` recomputes
only the parts that depend on lost edges; `spread` computes everything, and tests compare the two.
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
    """Directed session: routes flow from sender to receiver, packets in the other direction."""

    number: int
    sender: int
    receiver: int
    needed: int  # bit set of policies that a route must pass


@dataclass(frozen=True, slots=True)
class ClassRoutes:
    """Routes of every device, by number, to one class of prefixes. Read-only."""

    sent: list[AsPath | None]  # advertised AS path, its own AS first; None: it has no route
    used: list[Edges]  # edges of its next hops; empty for its own
    tied: list[Edges]  # of all routes that differ only by a tie-breaker; the same object if all
    best: list[int]  # the edge whose AS path is advertised; -1: none


@dataclass(frozen=True, slots=True)
class RepairedRoutes:
    """Table after a loss: all advertised routes, and used edges only where they changed."""

    sent: list[AsPath | None]
    used: Mapping[int, Edges]


@dataclass(frozen=True)
class _RoundOffers:
    """Offers of one round to all devices with the same senders and policies, the best first.

    places: indexes in a device's incoming edges. asns: all AS numbers of the paths.
    """

    places: Sequence[int]
    paths: Sequence[AsPath]
    asns: frozenset[int]

    @cached_property
    def alike(self) -> bool:
        """Whether all AS paths are equal."""
        return all(path == self.paths[0] for path in self.paths)


@dataclass(frozen=True)
class PeerGraph:
    """Graph of BGP devices by number, with edges by receiver in the order of tie-breaking."""

    asns: Sequence[int]
    limits: Sequence[int]  # maximum number of paths
    relaxed: Sequence[bool]  # whether ECMP includes routes with other AS paths
    incoming: Sequence[Sequence[tuple[int, int, int]]]  # edge, sender, needed
    outgoing: Sequence[Sequence[tuple[int, int]]]  # receiver, needed
    ways: Sequence[SessionEdge]

    def spread(
        self, origins: Iterable[int], denied: int, lost: Collection[int] = _NONE
    ) -> ClassRoutes:
        """Routes of all devices to prefixes of some originators; denied: policies against them."""
        size = len(self.asns)
        sent: list[AsPath | None] = [None] * size
        table = ClassRoutes(sent, [()] * size, [()] * size, [-1] * size)
        frontier = list(origins)
        for origin in frontier:
            sent[origin] = (self.asns[origin],)
        round_ = 1
        while frontier:
            receivers = set().union(*(self._receivers(sender, denied) for sender in frontier))
            receivers = {device for device in receivers if sent[device] is None}
            frontier = []
            heard: dict[int, _RoundOffers] = {}
            for device in receivers:
                ear = self._sender_classes[device]
                if ear not in heard:
                    heard[ear] = self._offers(device, round_, sent, denied)
                if lost or self.asns[device] in heard[ear].asns:  # some offers are not usable here
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
        """Devices that receive a class from a device with a route."""
        everybody, needed = self._receivers_of[sender]
        if not needed & denied:
            return everybody
        return frozenset(device for device, own in self.outgoing[sender] if not own & denied)

    @cached_property
    def _receivers_of(self) -> Sequence[tuple[frozenset[int], int]]:
        """Receivers of each device, and all policies on the sessions to them."""
        return [
            (frozenset(device for device, _ in own), reduce(or_, (needed for _, needed in own), 0))
            for own in self.outgoing
        ]

    @cached_property
    def _sender_classes(self) -> Sequence[int]:
        """Class number of each device; devices with the same senders and policies share one."""
        kinds: dict[tuple[tuple[int, int], ...], int] = {}
        heard = (tuple((sender, needed) for _, sender, needed in own) for own in self.incoming)
        return [kinds.setdefault(kind, len(kinds)) for kind in heard]

    @cached_property
    def _edges(self) -> Sequence[Edges]:
        """Edges of each device in the order of tie-breaking."""
        return [tuple(edge for edge, _, _ in own) for own in self.incoming]

    @cached_property
    def _ascending(self) -> Sequence[Edges]:
        return [tuple(sorted(edges)) for edges in self._edges]

    def _offers(
        self, device: int, round_: int, sent: Sequence[AsPath | None], denied: int
    ) -> _RoundOffers:
        """Offers with this number of AS hops to a device, and to all devices of its class."""
        offers = [
            (place, path)
            for place, (_, sender, needed) in enumerate(self.incoming[device])
            if (path := sent[sender]) is not None and len(path) == round_ and not needed & denied
        ]
        paths = [path for _, path in offers]
        return _RoundOffers([place for place, _ in offers], paths, frozenset().union(*paths))

    def _chosen(self, device: int, heard: _RoundOffers) -> tuple[Edges, Edges]:
        """Selection as in `choice`, for a device that can use all offers."""
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
        """Edges with a route of this number of AS hops, the best first, with its AS path."""
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
        """Edges of all tied offers, and of those in use: routes equal to the best, up to the limit.

        The vendor's last tie-breaker chooses among equal routes: lowest router id, then lowest
        neighbour address. Without as-path-relax only routes with the AS path of the best are used.
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
        """Repair a table after the loss of edges, including all edges of failed devices."""
        return _RouteRepair(self, table, denied, lost, dead, table.sent.copy()).run()


@dataclass(slots=True)
class _RouteRepair:
    """Repair by rounds, only of devices that lost an offer or may have a new one."""

    graph: PeerGraph
    table: ClassRoutes
    denied: int
    lost: Collection[int]
    dead: Collection[int]
    sent: list[AsPath | None]
    used: dict[int, Edges] = field(default_factory=dict)
    less: dict[int, set[int]] = field(default_factory=dict)  # by round: may have lost offers
    more: dict[int, set[int]] = field(default_factory=dict)  # by round: may have new offers
    without: set[int] = field(
        default_factory=set
    )  # have lost their route and wait for a longer one

    def run(self) -> RepairedRoutes:
        """Repair; see Graph.repair."""
        before, ways = self.table.sent, self.graph.ways
        for device in self.dead:
            self.sent[device] = None
        for edge in self.lost:
            edge_session = ways[edge]
            there, here = before[edge_session.sender], before[edge_session.receiver]
            if there is None or here is None or edge_session.needed & self.denied:
                continue
            if len(there) == len(here) - 1 and edge_session.receiver not in self.dead:
                self.less.setdefault(len(there), set()).add(edge_session.receiver)
        round_ = 0
        while self.less or self.more or (self.without and self._heard_after(round_)):
            round_ += 1
            devices = self.more.pop(round_, set()) | self.without
            for device in self.less.pop(round_, ()):
                if device not in devices and not self._shrunk(device, round_):
                    devices.add(device)
            for device in self._moved(round_, devices):
                self._ask_on(device, round_)
        return RepairedRoutes(self.sent, self.used)

    def _heard_after(self, round_: int) -> bool:
        return any(path is not None and len(path) > round_ for path in self.sent)

    def _shrunk(self, device: int, round_: int) -> bool:
        """Whether a device only loses edges and advertises the same route, as nearly all do.

        That holds if it used all its offers, one remains, and the advertised AS path is the same:
        that of the best route if it remains, or of any route if all are equal (without
        as-path-relax).
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

    def _moved(self, round_: int, devices: Iterable[int]) -> list[int]:
        """Recompute devices in one round; return those with a changed advertisement."""
        moved = []
        for device in devices:
            now = self.sent[device]
            if (now is not None and len(now) <= round_) or device in self.dead:
                continue  # an earlier round settled it
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
        """Select the best of the offers; return whether the device's advertisement has changed."""
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
        """Schedule the receivers of a device, in the rounds of its old and its new route."""
        receivers = [r for r, needed in self.graph.outgoing[device] if not needed & self.denied]
        old, new = self.table.sent[device], self.sent[device]
        if receivers and old is not None and len(old) > round_:
            self.less.setdefault(len(old), set()).update(receivers)
        if receivers and new is not None:
            self.more.setdefault(len(new), set()).update(receivers)
