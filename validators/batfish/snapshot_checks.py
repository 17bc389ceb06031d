"""Batfish's checks of a snapshot beside routing: text that it did not understand, and faults.

Rows have only the used part of an answer. The embedded engine has no such checks. The rules in
`rules/verification/batfish.py` turn rows into findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from ipaddress import IPv4Address
from typing import Any, TypeVar

from rocefort.models.base import Frozen

T = TypeVar("T", bound=Frozen)
Row = dict[str, Any]
Ask = Callable[..., list[Row]]
CHECK_QUESTIONS = 8  # of `collect_checks`
COMPATIBLE = ("UNIQUE_MATCH", "DYNAMIC_MATCH")


class TextRow(Frozen):
    """Line of a translated text with its fault; line 0: the whole file."""

    file: str
    line: int
    what: str


class SessionMatch(Frozen):
    """Compatibility of a configured peer with the other end."""

    node: str
    peer: IPv4Address
    status: str


class LoopRow(Frozen):
    """Packet in a forwarding loop: source, destination, and the nodes in order."""

    source: str
    destination: IPv4Address
    nodes: tuple[str, ...]


class OwnerRow(Frozen):
    """Interface that is up with a duplicate address."""

    address: IPv4Address
    node: str
    interface: str


class AclRow(Frozen):
    """Line of an access list that no packet reaches, and the lines that take its packets."""

    node: str
    access_list: str
    line: str
    blocking: tuple[str, ...]
    other_action: bool


class EdgeRow(Frozen):
    """Layer-3 edge: two interfaces that are neighbours."""

    node: str
    interface: str
    far_node: str
    far_interface: str


class Checks(Frozen):
    """All checks of a snapshot, each collection sorted by its fields."""

    unread: tuple[TextRow, ...] = ()
    undefined: tuple[TextRow, ...] = ()
    mismatched: tuple[SessionMatch, ...] = ()
    loops: tuple[LoopRow, ...] = ()
    duplicates: tuple[OwnerRow, ...] = ()
    shadowed: tuple[AclRow, ...] = ()
    edges: tuple[EdgeRow, ...] = ()


def collect_checks(ask: Ask) -> Checks:
    """Send the questions; ask: returns the rows of a question by its name and parameters."""
    return Checks(
        unread=_sorted([*_files(ask("fileParseStatus")), *_issues(ask("initIssues"))]),
        undefined=_sorted(_undefined(ask("undefinedReferences"))),
        mismatched=_sorted(_mismatched(ask("bgpSessionCompatibility"))),
        loops=_sorted(_loop(row) for row in ask("detectLoops")),
        duplicates=_sorted(_owner(row) for row in ask("ipOwners", duplicatesOnly=True)),
        shadowed=_sorted(_shadowed(ask("filterLineReachability"))),
        edges=_sorted(_edge(row) for row in ask("layer3Edges")),
    )


def _sorted(rows: Iterable[T]) -> tuple[T, ...]:
    return tuple(sorted(rows, key=lambda row: tuple(str(value) for _, value in row)))


def _files(rows: list[Row]) -> Iterator[TextRow]:
    """Files that were not read completely; without files whose lines are reported."""
    for row in rows:
        if row["Status"] not in ("PASSED", "PARTIALLY_UNRECOGNIZED"):
            yield TextRow(file=row["File_Name"], line=0, what=f"the file was {row['Status']}")


def _issues(rows: list[Row]) -> Iterator[TextRow]:
    for row in rows:
        text = f"{row['Line_Text']!r}: " if row["Line_Text"] else ""
        what = f"{text}{row['Details']}"
        places = [(s["filename"], n) for s in row["Source_Lines"] or () for n in s["lines"]]
        places = places or [(f"configs/{name}.cfg", 0) for name in row["Nodes"] or ("",)]
        yield from (TextRow(file=file, line=line, what=what) for file, line in places)


def _undefined(rows: list[Row]) -> Iterator[TextRow]:
    for row in rows:
        what = f"{row['Struct_Type']} {row['Ref_Name']} ({row['Context']})"
        for line in row["Lines"]["lines"]:
            yield TextRow(file=row["Lines"]["filename"], line=line, what=what)


def _mismatched(rows: list[Row]) -> Iterator[SessionMatch]:
    for row in rows:
        if row["Configured_Status"] not in COMPATIBLE:
            peer = IPv4Address(row["Remote_IP"]["value"])
            yield SessionMatch(node=row["Node"]["name"], peer=peer, status=row["Configured_Status"])


def _loop(row: Row) -> LoopRow:
    nodes = tuple(hop["node"]["name"] for hop in row["Traces"][0]["hops"])
    flow = row["Flow"]
    return LoopRow(source=flow["ingressNode"], destination=IPv4Address(flow["dstIp"]), nodes=nodes)


def _owner(row: Row) -> OwnerRow:
    return OwnerRow(
        address=IPv4Address(row["IP"]), node=row["Node"]["name"], interface=row["Interface"]
    )


def _shadowed(rows: list[Row]) -> Iterator[AclRow]:
    for row in rows:
        for source in row["Sources"]:
            node, _, name = source.partition(": ")
            yield AclRow(
                node=node,
                access_list=name,
                line=row["Unreachable_Line"],
                blocking=tuple(row["Blocking_Lines"] or ()),
                other_action=bool(row["Different_Action"]),
            )


def _edge(row: Row) -> EdgeRow:
    near, far = row["Interface"], row["Remote_Interface"]
    return EdgeRow(
        node=near["hostname"],
        interface=near["interface"],
        far_node=far["hostname"],
        far_interface=far["interface"],
    )
