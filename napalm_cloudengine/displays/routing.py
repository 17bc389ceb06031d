"""Routing: BGP peers of the public instance, and the public routing table.

The row of a further next hop omits the prefix and repeats the protocol: outputs of switches show
that form, the reference does not. The reader accepts both forms, and a route without flags.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network

from napalm_cloudengine.displays.lines import (
    DisplayAnswer,
    DisplayLine,
    Rows,
    UnreadableError,
    UnreadLine,
)
from napalm_cloudengine.displays.table import DisplayTable, Form, Row

_AGE = re.compile(r"(?<!\d)\d+:\d\d:\d\d|(?:(?<!\d)\d+|(?<!\*)\*+)h\d\dm", re.ASCII)
_ADDRESS = re.compile(r"(?:\*|(?<!\d))\d+(?:\.\d+){3}", re.ASCII)
_AS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_STAR = re.compile(r"^([ \t]*\*)[ \t]+(?=\S)", re.MULTILINE)  # before a dynamic peer
_TOTALS = """\
 Status codes: * - Dynamic
 BGP local router ID        : {router_id}
 Local AS number            : {local_as}
 Total number of peers      : {total:d}
 Peers in established state : {established:d}
 Total number of dynamic peers : {dynamic:d}

"""
_TITLES = "V          AS  MsgRcvd  MsgSent  OutQ  Up/Down       State  PrefRcv"
_NUMBERS = (
    "{version:>1} {asn:>11} {received:>8d} {sent:>8d} {queued:>5d} {age:>8} {state:>11} "
    "{prefixes:>8d}"
)
PEERS = DisplayTable(
    "display bgp peer",
    {
        "": Form(
            source='configuration guide V300R023C00, "Example for Configuring Dynamic BGP Peers"',
            head=f"{_TOTALS}  Peer            {_TITLES}",
            row="  {address:<15} " + _NUMBERS,
        ),
        "wide": Form(
            source="configuration guide V300R023C00, examples of BGP",
            head=f"{_TOTALS}  Peer                             {_TITLES}",
            row="  {address:<32} " + _NUMBERS,
        ),
    },
    cells={
        "address": _ADDRESS,
        "version": re.compile("4"),
        "age": _AGE,
        "asn": _AS,
        "local_as": _AS,
    },
    # older VRP8 does not print dynamic peers
    optional=("established", "dynamic"),
)


@dataclass(frozen=True)
class BgpPeerRow:
    """One row of `display bgp peer`; uptime_s -1: beyond the range of the column."""

    address: str
    remote_as: int
    uptime_s: int
    state: str
    prefixes_received: int


@dataclass(frozen=True)
class BgpTable:
    """`display bgp peer`: the local side and its peers, in the order shown."""

    router_id: str
    local_as: int
    peers: tuple[BgpPeerRow, ...]
    unread: tuple[UnreadLine, ...] = ()


def read_peers(shown: DisplayAnswer) -> BgpTable:
    """Read the table of peers; raises UnreadableError where announced rows are missing.

    An empty answer, as of a switch without BGP, is a table without peers and with AS 0.
    """
    if not shown.lines:
        return BgpTable("", 0, ())
    totals, line = PEERS.totals(shown)
    joined = DisplayAnswer(shown.command, _STAR.sub(r"\1", shown.text))
    rows = PEERS.read(joined) if totals["total"] else Rows[Row]()
    shown.require_all(line, "BGP peers", totals["total"], len(rows), len(rows.unread))
    peers = (
        BgpPeerRow(
            row["address"].removeprefix("*"),
            as_number(row["asn"]),
            _seconds(row["age"]),
            row["state"],
            row["prefixes"],
        )
        for row in rows
    )
    local_as = as_number(totals["local_as"])
    return BgpTable(totals["router_id"], local_as, tuple(peers), rows.unread)


def as_number(text: str) -> int:
    """Return an AS number given in either notation: `65001` or `0.65001` (RFC 5396)."""
    high, dot, low = text.partition(".")
    return (int(high) << 16) + int(low) if dot else int(text)


def _seconds(age: str) -> int:
    """Return the seconds of `00:17:49`, or `0024h05m` from a day on; `****h05m` is unknown (-1)."""
    if ":" in age:
        hours, minutes, seconds = map(int, age.split(":"))
        return (hours * 60 + minutes) * 60 + seconds
    hours_text, _, rest = age.partition("h")
    return -1 if "*" in hours_text else (int(hours_text) * 60 + int(rest[:2])) * 60


def age_text(seconds: int) -> str:
    """Format as `hh:mm:ss`, from a day on `NNNNhNNm`, beyond 9999 hours `****hNNm`."""
    hours, minutes = seconds // 3600, seconds // 60 % 60
    if hours < 24:
        return f"{hours:02}:{minutes:02}:{seconds % 60:02}"
    return f"{hours:04}h{minutes:02}m" if hours <= 9999 else f"****h{minutes:02}m"


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
