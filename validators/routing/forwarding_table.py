"""Forwarding table: longest-prefix match, and next hops by device for a class of prefixes.

Hundreds of classes share the selection of a group, so results are cached with the selection.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple

from rocefort.validators.routing.path_vector import Edges
from rocefort.validators.routing.peer_groups import ClassSolution, GroupSelection, PeerGroups


class PrefixTable:
    """Prefixes by their bits: a lookup costs one step a prefix length, not one a prefix."""

    def __init__(self, prefixes: Iterable[IPv4Network]) -> None:
        by_length: defaultdict[int, dict[int, IPv4Network]] = defaultdict(dict)
        for prefix in prefixes:
            length = prefix.prefixlen
            by_length[length].setdefault(int(prefix.network_address) >> (32 - length), prefix)
        self._tables = [(32 - n, by_length[n]) for n in sorted(by_length, reverse=True)]

    @cached_property
    def prefixes(self) -> Set[IPv4Network]:
        """All prefixes of the table."""
        return frozenset(prefix for _, table in self._tables for prefix in table.values())

    def holding(self, address: IPv4Address) -> tuple[IPv4Network, ...]:
        """Prefixes that contain an address, longest first."""
        value = int(address)
        matches = [table.get(value >> shift) for shift, table in self._tables]
        return tuple([prefix for prefix in matches if prefix is not None])

    def parts(self, subnet: IPv4Network) -> Iterator[IPv4Address]:
        """An address of each part of a subnet that the same prefixes contain.

        A part begins where its subnet or a longer prefix begins, or after the end of one.
        """
        first, last = int(subnet.network_address), int(subnet.broadcast_address)
        starts = {first}
        inside = slice(bisect_left(self._bounds, (first,)), bisect_left(self._bounds, (last + 1,)))
        for start, end in self._bounds[inside]:
            starts.update(bound for bound in (start, end + 1) if bound <= last)
        yield from map(IPv4Address, sorted(starts))

    @cached_property
    def _bounds(self) -> list[tuple[int, int]]:
        """First and last address of every prefix as numbers, sorted."""
        return sorted((int(p.network_address), int(p.broadcast_address)) for p in self.prefixes)


Hops = tuple[IPv4Address, ...]
_NONE: Hops = ()


class Selection(NamedTuple):
    """Route selection of one device for one prefix."""

    as_path: tuple[int, ...]  # of the best route; empty for its own
    next_hops: Hops  # sorted; empty for its own
    ties: Hops  # next hops of all routes of that length


@dataclass(frozen=True, eq=False)
class GroupNextHops:
    """Next hops by device, for the members of a group with equal results."""

    hops: Mapping[str, Hops]

    @cached_property
    def widths(self) -> Counter[int]:
        """Number of devices by ECMP width."""
        return Counter(map(len, self.hops.values()))

    @cached_property
    def by_width(self) -> Mapping[int, frozenset[str]]:
        """Devices by their number of next hops."""
        return {
            width: frozenset(name for name, hops in self.hops.items() if len(hops) == width)
            for width in self.widths
        }


@dataclass(eq=False)
class BgpDevices:
    """Devices that run BGP and their edges, by number; caches selections of groups by name."""

    names: tuple[str, ...]
    next_hops: Hops  # by edge; ascending among the edges of one receiver
    groups: PeerGroups = field(repr=False)
    _hops: dict[Edges, Hops] = field(default_factory=dict, repr=False)
    _common: dict[GroupSelection, GroupNextHops] = field(default_factory=dict, repr=False)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Number of a device."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def group_of(self) -> Mapping[str, int]:
        """Number of the group of a device."""
        return dict(zip(self.names, self.groups.of, strict=True))

    @cached_property
    def members(self) -> Sequence[frozenset[str]]:
        """Names of the members of each group."""
        return [frozenset(self.names[n] for n in group.members) for group in self.groups.all]

    def hops(self, edges: Edges) -> Hops:
        """Next hops of edges; equal ones share one object, as there are few."""
        if edges not in self._hops:
            self._hops[edges] = tuple(self.next_hops[edge] for edge in edges)
        return self._hops[edges]

    def common(self, choice: GroupSelection) -> GroupNextHops:
        """Next hops by name, for the selection of a group."""
        if choice not in self._common:
            rows = zip(choice.group.members, choice.used, strict=True)
            common = GroupNextHops({self.names[device]: self.hops(used) for device, used in rows})
            self._common[choice] = common
        return self._common[choice]

    def selections(self, settled: ClassSolution) -> dict[str, Selection]:
        """Selection of every device that has a route to a class."""
        table, by_device = settled.table, {}
        make = tuple.__new__  # half the time of Selection(...), which would only call it
        rows = zip(self.names, table.sent, table.used, table.tied, strict=True)
        for name, path, used, tied in rows:
            if path is not None:
                hops = self.hops(used)
                ties = hops if used is tied else self.hops(tied)
                by_device[name] = make(Selection, (path[1:], hops, ties))
        return by_device


@dataclass(frozen=True, eq=False)
class NextHops(Mapping[str, Hops]):
    """Next hops of every device that learns a class of prefixes."""

    speakers: BgpDevices
    settled: ClassSolution

    @cached_property
    def common(self) -> Mapping[int, GroupNextHops]:
        """Next hops of devices that agree with their group, by group."""
        parts = self.settled.parts.items()
        return {number: self.speakers.common(choice) for number, (choice, _) in parts}

    @cached_property
    def exceptions(self) -> Mapping[str, Hops]:
        """Next hops of devices that differ from their group; empty for originators and no route."""
        names, hops = self.speakers.names, self.speakers.hops
        odd = self.settled.odd.items()
        return {names[device]: hops(one.used) if one else _NONE for device, one in odd}

    def of(self, device: str) -> Hops:
        """Next hops of a device; none where it learns no route."""
        hops = self.exceptions.get(device)
        return (self._by_group(device) or _NONE) if hops is None else hops

    def get(self, device: str, default: Hops = _NONE) -> Hops:  # type: ignore[override]
        """Next hops of a device."""
        return self.of(device) or default

    def __getitem__(self, device: str) -> Hops:
        if hops := self.of(device):
            return hops
        raise KeyError(device)

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)

    @cached_property
    def whole(self) -> dict[str, Hops]:
        """Next hops of all devices in one table."""
        table = {name: hops for one in self.common.values() for name, hops in one.hops.items()}
        table |= self.exceptions
        return {name: hops for name, hops in table.items() if hops}

    def widths(self, own: Collection[str]) -> Counter[int]:
        """Number of devices by ECMP width; own: devices that use none of these next hops."""
        counts = Counter[int]()
        for common in self.common.values():
            counts.update(common.widths)
        for device in {*self.exceptions, *own}:
            if device not in self.exceptions:
                counts[len(self.of(device))] -= 1
                continue
            common_hops = self._by_group(device)
            if common_hops is not None:
                counts[len(common_hops)] -= 1
            if device not in own:
                counts[len(self.exceptions[device])] += 1
        return Counter({width: count for width, count in counts.items() if width and count})

    def _by_group(self, device: str) -> Hops | None:
        """Next hops that a device has as a member of its group; None: the group has no route."""
        common = self.common.get(self.speakers.group_of.get(device, -1))
        return common.hops[device] if common else None

    def fewer(self, least: int) -> Iterator[str]:
        """Devices with fewer next hops; devices without any only if they run BGP."""
        for number, members in enumerate(self.speakers.members):
            common = self.common.get(number)
            if common is None:
                yield from members - self.exceptions.keys()
                continue
            for width, names in common.by_width.items():
                if width < least:
                    yield from names - self.exceptions.keys()
        yield from (name for name, hops in self.exceptions.items() if len(hops) < least)


@dataclass(frozen=True, eq=False)
class Widths(Mapping[str, int]):
    """ECMP width of every device with a route to a prefix; own: devices with a local route."""

    learned: NextHops
    own: Set[str]

    def get(self, device: str, default: int = 0) -> int:  # type: ignore[override]
        """Width of a device; 0 where it has no route."""
        return default if device in self.own else len(self.learned.of(device)) or default

    def __getitem__(self, device: str) -> int:
        if width := self.get(device):
            return width
        raise KeyError(device)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.learned if name not in self.own)

    def __len__(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def counts(self) -> Counter[int]:
        """Number of devices by ECMP width."""
        return self.learned.widths(self.own)

    def at_least(self, width: int) -> int:
        """Number of devices with at least this width."""
        return sum(count for own, count in self.counts.items() if own >= width)

    def fewer(self, width: int, among: Set[str]) -> set[str]:
        """Devices among the given ones with fewer paths."""
        silent = among - self.learned.speakers.group_of.keys()
        return {*silent, *(among & {*self.learned.fewer(width), *self.own})}


class NextHopChanges:
    """Comparison of two versions by class of prefixes; standing: devices of both versions."""

    def __init__(self, before: BgpDevices, after: BgpDevices, standing: Iterable[str]) -> None:
        pairs: dict[tuple[int, int], set[str]] = {}
        for name in standing:
            key = before.group_of.get(name, -1), after.group_of.get(name, -1)
            pairs.setdefault(key, set()).add(name)
        self._pairs = pairs
        self._differing: dict[tuple[object, ...], frozenset[str]] = {}

    def between(self, before: NextHops | None, after: NextHops | None) -> set[str]:
        """Devices whose next hops may differ; those of all other devices are equal."""
        was = before.common if before is not None else {}
        now = after.common if after is not None else {}
        devices = {name for one in (before, after) if one is not None for name in one.exceptions}
        for key in self._pairs:
            old, new = was.get(key[0]), now.get(key[1])
            if old is not new:
                devices |= self._differ(key, old, new)
        return devices

    def _differ(
        self, key: tuple[int, int], old: GroupNextHops | None, new: GroupNextHops | None
    ) -> frozenset[str]:
        """Devices of two groups whose next hops differ."""
        memo = *key, old, new
        if memo not in self._differing:
            was, now = (one.hops if one else {} for one in (old, new))
            names = (n for n in self._pairs[key] if was.get(n, _NONE) != now.get(n, _NONE))
            self._differing[memo] = frozenset(names)
        return self._differing[memo]
