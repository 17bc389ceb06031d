"""Longest-prefix match: the prefixes that contain an address, longest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Set
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
