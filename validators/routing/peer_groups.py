"""Path-vector algorithm by groups: one selection for all devices with the same senders.

In a Clos all leaves have the same spines as senders, and all spines the same leaves. A class of
prefixes then costs a few steps instead of one for every switch. Exceptions are separate, such as
the originators of the prefixes and devices whose own AS is in an offer. `PeerGraph.spread` computes
single devices, and tests compare the two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rocefort.validators.routing.path_vector import AsPath, ClassRoutes, Edges, PeerGraph

_NOWHERE: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class PeerGroup:
    """Devices with the same senders and the same policies, ascending."""

    number: int
    members: Edges
    senders: tuple[tuple[int, int], ...]  # sender, needed; in the order of tie-breaking
    places: Mapping[int, Sequence[tuple[int, int]]] = field(repr=False, compare=False)  # by sender
    of_asn: Mapping[int, Sequence[int]] = field(repr=False, compare=False)  # members by their AS


@dataclass(frozen=True, eq=False)
class GroupSelection:
    """Selection of a group's members, in their order, from the same offers."""

    group: PeerGroup
    used: Sequence[Edges]
    tied: Sequence[Edges]
    best: Sequence[int]


@dataclass(frozen=True, slots=True)
class DeviceRoute:
    """Route of one device to a class; see ClassRoutes."""

    sent: AsPath
    used: Edges = ()
    tied: Edges = ()
    best: int = -1


@dataclass(frozen=True)
class ClassSolution:
    """Routes of every device to one class of prefixes, by group."""

    groups: PeerGroups = field(repr=False, compare=False)
    parts: Mapping[
        int, tuple[GroupSelection, AsPath]
    ]  # by group; the AS path that its members receive
    odd: Mapping[int, DeviceRoute | None]  # devices that differ from their group; None: no route

    def sent(self, device: int) -> AsPath | None:
        """Advertised AS path of a device; None: it has no route."""
        if device in self.odd:
            one = self.odd[device]
            return one.sent if one else None
        part = self.parts.get(self.groups.of[device])
        return (self.groups.graph.asns[device], *part[1]) if part else None

    @cached_property
    def table(self) -> ClassRoutes:
        """Routes by device."""
        asns = self.groups.graph.asns
        size = len(asns)
        table = ClassRoutes([None] * size, [()] * size, [()] * size, [-1] * size)
        for choice, path in self.parts.values():
            rows = zip(choice.group.members, choice.used, choice.tied, choice.best, strict=True)
            for device, used, tied, best in rows:
                table.sent[device] = (asns[device], *path)
                table.used[device], table.tied[device], table.best[device] = used, tied, best
        for device, route in self.odd.items():
            one = route or _NO_ROUTE
            table.sent[device] = one.sent if route else None
            table.used[device], table.tied[device] = one.used, one.tied
            table.best[device] = one.best
        return table


_NO_ROUTE = DeviceRoute(())


@dataclass(eq=False)
class PeerGroups:
    """Devices of a graph, grouped by their senders; caches every selection of a group."""

    graph: PeerGraph
    _choices: dict[tuple[int, Edges, Edges], GroupSelection] = field(default_factory=dict)

    @cached_property
    def all(self) -> Sequence[PeerGroup]:
        """Every group, by number."""
        members: defaultdict[tuple[tuple[int, int], ...], list[int]] = defaultdict(list)
        for device, incoming in enumerate(self.graph.incoming):
            members[tuple((sender, needed) for _, sender, needed in incoming)].append(device)
        return [self._group(n, own, ear) for n, (ear, own) in enumerate(members.items())]

    def _group(self, number: int, own: list[int], ear: tuple[tuple[int, int], ...]) -> PeerGroup:
        places: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for place, (sender, needed) in enumerate(ear):
            places[sender].append((place, needed))
        of_asn: defaultdict[int, list[int]] = defaultdict(list)
        for device in own:
            of_asn[self.graph.asns[device]].append(device)
        return PeerGroup(number, tuple(own), ear, dict(places), dict(of_asn))

    @cached_property
    def of(self) -> Sequence[int]:
        """Number of the group of each device."""
        number = {device: group.number for group in self.all for device in group.members}
        return [number[device] for device in range(len(number))]

    @cached_property
    def _listeners(self) -> Sequence[frozenset[int]]:
        """Groups that receive from each device."""
        return [frozenset(self.of[r] for r, _ in own) for own in self.graph.outgoing]

    @cached_property
    def _listeners_to(self) -> Sequence[frozenset[int]]:
        """Groups that receive from any member of each group."""
        heard = self._listeners
        return [frozenset().union(*(heard[d] for d in group.members)) for group in self.all]

    def settle(self, origins: Iterable[int], denied: int) -> ClassSolution:
        """Routes of all devices to prefixes of some originators, as in `PeerGraph.spread`."""
        return _ClassSolver(self, denied, origins).run()

    def received_offers(
        self,
        group: PeerGroup,
        settled: ClassSolution,
        round_: int,
        denied: int,
        few: Sequence[int] | None,
    ) -> list[tuple[int, AsPath]]:
        """Offers with this number of AS hops to a group: index of the sender, AS path; best first.

        few: devices that settled in the last round, if they are few.
        """
        places: Iterable[tuple[int, int, int]]
        if few is None:
            places = ((place, *heard) for place, heard in enumerate(group.senders))
        else:
            places = sorted(
                (place, sender, needed)
                for sender in few
                for place, needed in group.places.get(sender, _NOWHERE)
            )
        return [
            (place, path)
            for place, sender, needed in places
            if not needed & denied
            and (path := settled.sent(sender)) is not None
            and len(path) == round_
        ]

    def choice(self, group: PeerGroup, offers: Sequence[tuple[int, AsPath]]) -> GroupSelection:
        """Selection of members that can use every offer; see `PeerGraph.choice`."""
        first = offers[0][1]
        places = tuple(place for place, _ in offers)
        best = tuple(place for place, path in offers if path == first)
        key = group.number, places, best
        if key not in self._choices:
            self._choices[key] = self._choose(group, places, best)
        return self._choices[key]

    def _choose(self, group: PeerGroup, places: Edges, best: Edges) -> GroupSelection:
        graph = self.graph
        every_used, every_tied, every_best = [], [], []
        for device in group.members:
            incoming, limit = graph.incoming[device], graph.limits[device]
            tied = tuple(sorted(incoming[place][0] for place in places))
            ranked = [incoming[place][0] for place in (places if graph.relaxed[device] else best)]
            alike = len(ranked) == len(tied) <= limit
            every_used.append(tied if alike else tuple(sorted(ranked[:limit])))
            every_tied.append(tied)
            every_best.append(incoming[places[0]][0])
        return GroupSelection(group, every_used, every_tied, every_best)

    def listening(self, groups: Iterable[int], devices: Iterable[int]) -> set[int]:
        """Groups that receive from a member of some groups, or from one of some devices."""
        groups_of = set[int]().union(*(self._listeners_to[group] for group in groups))
        return groups_of.union(*(self._listeners[device] for device in devices))


class _ClassSolver:
    """Solution of one class by rounds; a finished round is final for its path length."""

    def __init__(self, groups: PeerGroups, denied: int, origins: Iterable[int]) -> None:
        self.groups, self.denied = groups, denied
        asns = groups.graph.asns
        self.parts: dict[int, tuple[GroupSelection, AsPath]] = {}
        self.odd: dict[int, DeviceRoute | None] = {
            device: DeviceRoute((asns[device],)) for device in origins
        }
        self.settled = ClassSolution(groups, self.parts, self.odd)
        self.waiting: dict[int, list[int]] = {}  # members without a route from the group's offers

    def run(self) -> ClassSolution:
        """Run all rounds."""
        round_, new_groups, new = 1, list[int](), list(self.odd)
        while new_groups or new:
            listeners = self.groups.listening(new_groups, new)
            few = None if new_groups else new
            new_groups, new = [], []
            for number in listeners:
                if number in self.parts and number not in self.waiting:
                    continue
                group = self.groups.all[number]
                offers = self.groups.received_offers(group, self.settled, round_, self.denied, few)
                if offers and number in self.parts:
                    new += self._ask(number, self.waiting.pop(number), round_)
                elif offers:
                    new += self._settle(group, offers, round_)
                    new_groups.append(number)
            round_ += 1
        return self.settled

    def _settle(
        self, group: PeerGroup, offers: list[tuple[int, AsPath]], round_: int
    ) -> Sequence[int]:
        """Settle a group on its offers; return the members that settle on another route."""
        asns = frozenset().union(*(path for _, path in offers))
        beside = [
            device
            for asn in (asns if len(asns) < len(group.of_asn) else group.of_asn)
            if asn in asns
            for device in group.of_asn.get(asn, ())
            if device not in self.odd
        ]
        self.parts[group.number] = self.groups.choice(group, offers), offers[0][1]
        self.odd.update(dict.fromkeys(beside))
        return self._ask(group.number, beside, round_) if beside else ()

    def _ask(self, number: int, devices: Iterable[int], round_: int) -> list[int]:
        """Compute members one by one; return those that settle, the others wait."""
        graph, settled = self.groups.graph, []
        for device in devices:
            own = graph.asns[device]
            offers = [
                (edge, path)
                for edge, sender, needed in graph.incoming[device]
                if not needed & self.denied
                and (path := self.settled.sent(sender)) is not None
                and len(path) == round_
                and own not in path
            ]
            if offers:
                tied, used = graph.choice(device, offers)
                path = own, *offers[0][1]
                self.odd[device] = DeviceRoute(path, used, tied, offers[0][0])
                settled.append(device)
            else:
                self.waiting.setdefault(number, []).append(device)
        return settled
