"""Which of many prefixes hold an address, longest first."""

from __future__ import annotations

from collections.abc import Iterable, Set
from ipaddress import IPv4Address, IPv4Network


class PrefixTable:
    """Prefixes by their bits, so that a look-up costs one step a length and not one a prefix."""

    def __init__(self, prefixes: Iterable[IPv4Network]) -> None:
        self.prefixes: Set[IPv4Network] = frozenset(prefixes)
        self._by_bits = {(int(p.network_address), p.prefixlen): p for p in self.prefixes}
        self._lengths = sorted({length for _, length in self._by_bits}, reverse=True)

    def holding(self, address: IPv4Address) -> tuple[IPv4Network, ...]:
        """Prefixes that hold an address, longest first."""
        value = int(address)
        found = (
            self._by_bits.get((value >> (32 - length) << (32 - length), length))
            for length in self._lengths
        )
        return tuple(prefix for prefix in found if prefix is not None)
