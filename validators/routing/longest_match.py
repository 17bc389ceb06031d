"""Longest-prefix match: the prefixes that contain an address, longest first."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network


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
