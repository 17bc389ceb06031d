"""BGP peers of the public instance."""

import re
from dataclasses import dataclass

from napalm_cloudengine.displays.shown import DisplayAnswer, Rows, UnreadLine
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
