"""The public routing table: prefixes and their next hops.

The row of a further next hop omits the prefix and repeats the protocol: outputs of switches show
that form, the reference does not. The reader accepts both forms, and a route without flags.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network

from napalm_cloudengine.displays.shown import DisplayAnswer, DisplayLine
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
_PREFIX = re.compile(r"\d+\.\d+\.\d+\.\d+/\d+", re.ASCII)
# Switches of a fabric show the same rows: 2,000 routes are read in 9 ms; without the cache, in 15
# ms.
_network, _address = lru_cache(1 << 14)(IPv4Network), lru_cache(1 << 14)(IPv4Address)


def read_routes(shown: DisplayAnswer) -> list[Row]:
    """Read prefixes with `protocol` and `hops`, each with `next_hop`, `interface` and `flags`.

    Raises UnreadableError where the number of rows differs from the announced number.
    """
    routes: list[Row] = []
    lines = ROUTES.below(shown)
    most = len(_CELLS)
    for line in lines:
        if _PREFIX.fullmatch(line.words[0]):
            if not most - 1 <= len(line.words) <= most:
                raise _no_route(shown, line)
            routes.append({"prefix": line.words[0], "protocol": line.words[1], "hops": []})
            _check(shown, line, line.words[0], _network, "prefix")
        elif not routes or not most - 3 <= len(line.words) < most:
            raise _no_route(shown, line)
        hop = dict(zip(_HOP, line.words[-len(_HOP) :], strict=True))
        hop["flags"] = hop["flags"] if hop["flags"].isalpha() else ""
        _check(shown, line, hop["next_hop"], _address, "next hop")
        routes[-1]["hops"].append(hop)
    totals, last = ROUTES.totals(shown)
    if (totals["destinations"], totals["routes"]) != (len(routes), len(lines)):
        announced = f"{totals['destinations']} destinations and {totals['routes']} routes announced"
        raise shown.wrong(last, f"{announced}, {len(routes)} and {len(lines)} read")
    return routes


def _no_route(shown: DisplayAnswer, line: DisplayLine) -> Exception:
    return shown.wrong(line.number, f"{line.text.strip()!r} is no route")


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
