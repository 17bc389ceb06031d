"""`display ip routing-table`: prefixes and the next hops that are in the FIB.

Form: V300R023C00 command reference, `display ip routing-table`. Whether a further next hop of a
prefix repeats the protocol is not confirmed: both are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network

from rocefort.dialects.vrp.observing.shown import Row, Shown
from rocefort.models.observed import RouteSeen

ROUTES = "display ip routing-table"

TOTAL = re.compile(r"\s*Destinations\s*:\s*(\d+)\s+Routes\s*:\s*(\d+)\s*", re.ASCII)
HEADING = r"\s*Destination/Mask\s+Proto\s+Pre\s+Cost\s+Flags\s+NextHop\s+Interface\s*$"
PREFIX = re.compile(r"\d+\.\d+\.\d+\.\d+/\d+", re.ASCII)
IN_FIB = "D"  # route flag: download to FIB


@dataclass
class _Entry:
    prefix: IPv4Network
    protocol: str
    hops: list[IPv4Address] = field(default_factory=list)


def routes(shown: Shown) -> tuple[RouteSeen, ...]:
    """Every prefix; raises DeviceFailed where the rows are not as many as announced."""
    head = shown.head(TOTAL.pattern + "$")
    announced = TOTAL.fullmatch(head.text)
    entries: list[_Entry] = []
    rows = shown.below(HEADING)
    for row in rows:
        _read(shown, row, entries)
    counted = (len(entries), len(rows))
    if announced is None or (int(announced[1]), int(announced[2])) != counted:
        what = f"{counted[0]} destinations and {counted[1]} routes read"
        raise shown.wrong(head.number, f"{head.text.strip()!r} announced, {what}")
    return tuple(
        RouteSeen(prefix=e.prefix, protocol=e.protocol, next_hops=tuple(sorted(e.hops)))
        for e in entries
    )


def _read(shown: Shown, row: Row, entries: list[_Entry]) -> None:
    words = row.words
    if PREFIX.fullmatch(words[0]):
        if len(words) not in (6, 7):
            raise shown.wrong(row.number, f"{row.text.strip()!r} is no route")
        entries.append(_Entry(_prefix(shown, row, words[0]), words[1]))
    elif not entries or not 4 <= len(words) <= 6:
        raise shown.wrong(row.number, f"{row.text.strip()!r} is no route")
    hop = _address(shown, row, words[-2])
    flags = words[-3]
    if flags.isalpha() and IN_FIB in flags:
        entries[-1].hops.append(hop)


# Switches of a fabric show the same ones, each at every reading.
_network, _hop = lru_cache(1 << 14)(IPv4Network), lru_cache(1 << 14)(IPv4Address)


def _prefix(shown: Shown, row: Row, text: str) -> IPv4Network:
    try:
        return _network(text)
    except ValueError:
        raise shown.wrong(row.number, f"{text!r} is no prefix") from None


def _address(shown: Shown, row: Row, text: str) -> IPv4Address:
    try:
        return _hop(text)
    except AddressValueError:
        raise shown.wrong(row.number, f"{text!r} is no next hop") from None
