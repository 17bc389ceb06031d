"""The public routing table: prefixes and their next hops.

The row of a further next hop omits the prefix and repeats the protocol: outputs of switches show
that form, the reference does not. The reader accepts both forms, and a route without flags.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network

from napalm_cloudengine.displays.shown import (
    DisplayAnswer,
    DisplayLine,
    Rows,
    UnreadableError,
    UnreadLine,
)
from napalm_cloudengine.displays.table import DisplayTable, Form, Row

IN_FIB = "D"  # route flag: download to FIB
_COLUMNS = """\

Destination/Mask    Proto   Pre  Cost        Flags NextHop         Interface
"""
_FLAGS = """\
Route Flags: R - relay, D - download to fib, T - to vpn-instance, B - black hole route
------------------------------------------------------------------------------
Routing Table : _public_
"""
_ROW = (
    "{destination:<19} {protocol:<7} {preference:<4} {cost:<11}   {flags:<3} {next_hop:<15} "
    "{interface}"
)
_SOURCE = 'configuration guide V300R023C00, "display ip routing-table"; widths: outputs of switches'
ROUTES = DisplayTable(
    "display ip routing-table",
    {
        "": Form(
            source=_SOURCE,
            head="Proto: Protocol        Pre: Preference\n"
            + _FLAGS
            + "         Destinations : {destinations:<8d} Routes : {routes:d}\n"
            + _COLUMNS,
            row=_ROW,
        )
    },
)
OF_ADDRESS = DisplayTable(  # written only
    "display ip routing-table {}",
    {
        "": Form(
            source=_SOURCE,
            confirmed=False,  # of one address
            head=_FLAGS + "Summary Count : {routes:d}\n" + _COLUMNS,
            row=_ROW,
        )
    },
)
_CELLS = [cell.name for cell in ROUTES.forms[""].lines[0].cells]
_HOP = _CELLS[-3:]  # flags, next_hop and interface
_LEAST_WORDS = len(_CELLS) - 3  # of the row of a further next hop
_PROTOCOL = re.compile(r"[A-Za-z]\w*(?:-\w+)*", re.ASCII)  # `O_ASE`, `ISIS-L1`
_PREFIX = re.compile(r"\d+\.\d+\.\d+\.\d+/\d+", re.ASCII)
# Switches of a fabric show the same rows: 2,000 routes are read in 9 ms; without the cache, in 15
# ms.
_network, _address = lru_cache(1 << 14)(IPv4Network), lru_cache(1 << 14)(IPv4Address)


def read_routes(shown: DisplayAnswer) -> Rows[Row]:
    """Read prefixes with `protocol` and `hops`, each with `next_hop`, `interface` and `flags`.

    Where rows are missing, each line that was not read may be one of them: the prefix above it is
    left out, and so are further next hops below it. Raises UnreadableError where more rows are
    missing than lines were not read, for more rows than announced, and for an answer that is cut.
    """
    lines = ROUTES.below(shown)
    totals, last = ROUTES.totals(shown)
    announced = totals["destinations"], totals["routes"]
    for rows_missing in (False, True):
        routes, unread, read = _routes(shown, lines, rows_missing=rows_missing)
        if not rows_missing and (len(routes), read) == announced:
            return Rows(routes.values(), unread)
    if unread and (not routes or unread[-1].line == lines[-1].number):
        raise shown.wrong(unread[-1].line, unread[-1].why)
    counts = zip((len(routes), read), announced, strict=True)
    if not all(count <= total <= count + len(unread) for count, total in counts):
        what = f"{announced[0]} destinations and {announced[1]} routes announced"
        raise shown.wrong(last, f"{what}, {len(routes)} and {read} read")
    odd = {each.key for each in unread}
    return Rows((row for prefix, row in routes.items() if prefix not in odd), unread)


def _routes(
    shown: DisplayAnswer, lines: Sequence[DisplayLine], *, rows_missing: bool
) -> tuple[dict[str, Row], list[UnreadLine], int]:
    """Return prefixes, lines that were not read, and the number of those that were.

    rows_missing: whether a line that was not read may be a row.
    """
    routes: dict[str, Row] = {}
    unread: list[UnreadLine] = []
    prefix = ""  # of lines that omit it; "" where it is not known
    read = 0
    for line in lines:
        begins = _PREFIX.fullmatch(line.words[0]) is not None
        own = line.words[0] if begins else prefix
        try:
            hop = _hop_of(shown, line, begins=begins, prefix=own)
        except UnreadableError as error:
            may_be_row = begins or len(line.words) >= _LEAST_WORDS
            unread.append(shown.unread(line, error.what, own if may_be_row else ""))
            prefix = "" if rows_missing and may_be_row else prefix
            continue
        prefix = own
        route = {"prefix": prefix, "protocol": line.words[1], "hops": []} if begins else {}
        routes.setdefault(prefix, route)["hops"].append(hop)
        read += 1
    return routes, unread, read


def _hop_of(shown: DisplayAnswer, line: DisplayLine, *, begins: bool, prefix: str) -> Row:
    """Read the next hop in a line; raises UnreadableError."""
    most = len(_CELLS)
    least = most - 1 if begins else _LEAST_WORDS
    if not prefix or not least <= len(line.words) < most + begins:
        raise shown.wrong(line.number, f"{line.text.strip()!r} is no route")
    if begins and not _PROTOCOL.fullmatch(line.words[1]):
        raise shown.wrong(line.number, f"{line.words[1]!r} is no protocol")
    hop = dict(zip(_HOP, line.words[-len(_HOP) :], strict=True))
    hop["flags"] = hop["flags"] if hop["flags"].isalpha() else ""
    _check(shown, line, prefix, _network, "prefix")
    _check(shown, line, hop["next_hop"], _address, "next hop")
    return hop


def _check(
    shown: DisplayAnswer, line: DisplayLine, text: str, kind: Callable[[str], object], what: str
) -> None:
    try:
        kind(text)
    except ValueError:
        raise shown.wrong(line.number, f"{text!r} is no {what}") from None


def route_rows(row: Row, preference: int, cost: int = 0) -> list[Row]:
    """Return the lines of a prefix as rows of the table; a further next hop has no prefix."""
    network, _, length = row["prefix"].partition("/")
    first = f"{network:>15}/{length:<3}"
    common = {"protocol": row["protocol"], "preference": preference, "cost": cost}
    return [
        {"destination": first if not number else "", **common, **hop}
        for number, hop in enumerate(row["hops"])
    ]
