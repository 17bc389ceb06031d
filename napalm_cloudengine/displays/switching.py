"""Layer 2: the ARP table, the MAC address table, and VLANs with their ports.

The number of rows is below each table of addresses: it shows whether the answer is whole. V200
prints the same columns, as outputs show that public drivers are tested with; widths differ.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from napalm_cloudengine.displays.lines import DisplayAnswer, DisplayLine, Rows, UnreadLine
from napalm_cloudengine.displays.table import REFERENCE, DisplayTable, Form, Row

INCOMPLETE = "Incomplete"  # in place of the MAC address, until the neighbour replies
_MAC = re.compile(rf"(?:[0-9A-Fa-f]{{4}}-){{2}}[0-9A-Fa-f]{{4}}|{INCOMPLETE}", re.ASCII)
_RULE = "-" * 88
ARP = DisplayTable(
    "display arp",
    {
        "": Form(
            source=REFERENCE.format("display arp (All views)"),
            head=f"""\
ARP Entry Types: D - Dynamic, S - Static, I - Interface, O - OpenFlow, RD - Redirect
EXP: Expire-time VLAN: VLAN or Bridge Domain

IP ADDRESS      MAC ADDRESS    EXP(M) TYPE/VLAN       INTERFACE        VPN-INSTANCE
{_RULE}""",
            row="{address:<15} {mac:<15} {minutes:<9} {kind:<11} {interface:<16i} {instance}",
            foot=_RULE,
        )
    },
    blank=("minutes", "instance"),
    cells={
        "address": re.compile(r"(?<!\d)\d+(?:\.\d+){3}", re.ASCII),
        "mac": _MAC,
        "minutes": re.compile(r"\d*", re.ASCII),
        "kind": re.compile(r"(?:RD|[A-Z])(?:/[\w/-]+)?", re.ASCII),
    },
    titles={
        "IP ADDRESS": "address:",
        "MAC ADDRESS": "mac:",
        "EXP(M)": "minutes:",
        "TYPE/VLAN": "kind:",
        "INTERFACE": "interface:i",
        "VPN-INSTANCE": "instance:",
    },
    least=frozenset(("address", "mac", "minutes", "kind", "interface")),
)
_ARP_TOTAL = "Total:{total:<9d} Dynamic:{dynamic:<7d} Static:{static:<4d} Interface:{own}"
_MAC_RULE = "-" * 79
MAC_ADDRESSES = DisplayTable(
    "display mac-address",
    {
        "": Form(
            source=REFERENCE.format("display mac-address dynamic"),
            head=f"""\
Flags: * - Backup
       # - forwarding logical interface, operations cannot be performed based
           on the interface.
BD   : bridge-domain   Age : dynamic MAC learned time in seconds
{_MAC_RULE}
MAC Address    VLAN/VSI/BD   Learned-From        Type                Age
{_MAC_RULE}""",
            row="{mac:<14} {where:<13} {interface:<19} {kind:<10} {age:>12?}",
            foot=_MAC_RULE,
        )
    },
    cells={
        "mac": re.compile(r"(?:[\dA-Fa-f]{4}-){2}[\dA-Fa-f]{4}|(?:[\dA-Fa-f]{2}-){5}[\dA-Fa-f]{2}"),
        "where": re.compile(r"(?:\d+|-)(?:/[^\s/]+)*", re.ASCII),
    },
    titles={
        "MAC Address": "mac:",
        "VLAN/VSI/BD": "where:",
        "VLAN/VSI": "where:",
        "VLAN": "where:",
        "Learned-From": "interface:",
        "Type": "kind:",
        "Age": "age:?",
    },
    least=frozenset(("mac", "where", "interface", "kind")),
)
_TOTAL = re.compile(r"Total(?:\s+items(?:\s+displayed)?)?\s*[:=]\s*(\d+)(?!\S)", re.ASCII)


def read_arp(shown: DisplayAnswer) -> Rows[Row]:
    """Read the ARP table; raises UnreadableError where announced rows are missing.

    An empty answer is a table without rows: the form without entries is not documented.
    """
    return _read_counted(ARP, shown)


def read_mac_addresses(shown: DisplayAnswer) -> Rows[Row]:
    """Read the MAC address table, otherwise as `read_arp`; `age` in seconds, None if not shown."""
    rows = _read_counted(MAC_ADDRESSES, shown)
    return Rows(({"age": None, **row} for row in rows), rows.unread)


def _read_counted(table: DisplayTable, shown: DisplayAnswer) -> Rows[Row]:
    if not shown.lines:
        return Rows()
    totals = ((line, m) for line in shown.lines if (m := _TOTAL.match(line.text.strip(" \t"))))
    line, match = next(totals, (None, None))
    if line is None or match is None:
        last = shown.lines[-1].number
        raise shown.wrong(last, "the number of rows below the table is missing: it is cut off")
    rows = table.read(DisplayAnswer(shown.command, "\n".join(shown.rows[: line.number - 1])))
    shown.require_all(line.number, "rows", int(match[1]), len(rows), len(rows.unread))
    return rows


def write_arp(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write `display arp` with its numbers of rows."""
    kinds = [str(row["kind"]).partition("/")[0] for row in rows]
    count = {"total": len(rows), "dynamic": kinds.count("D"), "static": kinds.count("S")}
    total = _ARP_TOTAL.format(**count, own=kinds.count("I"))
    return f"{ARP.write(rows)}\n{total}    OpenFlow:0\nRedirect:0"


def write_mac_addresses(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write `display mac-address` with its number of rows."""
    return f"{MAC_ADDRESSES.write(rows)}\nTotal items: {len(rows)}"


_VLAN_RULE = "-" * 80
_GUIDE = 'configuration guide V300R023C00, "Example for Configuring Interface-based VLAN Assignment'
VLANS = DisplayTable(
    "display vlan",
    {
        "": Form(
            source=f"{_GUIDE} to Implement Intra-VLAN Communication (Through a Single Device)",
            head=f"""\
VID  Type     Status  Property  MAC-LRN STAT    BC  MC  UC  Description
{_VLAN_RULE}""",
            row="{vlan:>4d} {type:<8} {status:<7} {property:<9} {learning:<7} {statistics:<7} "
            "{broadcast:<3} {multicast:<3} {unicast:<3} {name:*}",
        )
    },
    key=("vlan",),
)
VLAN_COMMAND = "display vlan {}"
_LEGEND = f"""\
{_VLAN_RULE}
U: Up;         D: Down;         TG: Tagged;         UT: Untagged;
MP: Vlan-mapping;               ST: Vlan-stacking;
#: ProtocolTransparent-vlan;    *: Management-vlan;
MAC-LRN: MAC-address learning;  STAT: Statistic;
BC: Broadcast; MC: Multicast;   UC: Unknown-unicast;
FWD: Forward;  DSD: Discard;
{_VLAN_RULE}

VID          Ports
{_VLAN_RULE}"""
_PORTS = ("VID", "Ports")
_DETAILS = ("VID", "Type", "Status")
_VID = re.compile(r"[*#]?(\d+)(?=\s|$)", re.ASCII)
_PORT = re.compile(r"(?<![\w/:.-])(?:(?:UT|TG|MP|ST):)?([A-Za-z\d][\w/:.-]*)\([UD]\)", re.ASCII)
_VLAN_TOTAL = re.compile(r"The total number of vlans is\s*:\s*(\d+)", re.ASCII | re.IGNORECASE)
PORTS_A_LINE = 4


def read_vlans(shown: DisplayAnswer) -> Rows[Row]:
    """Read VLANs with their names and `ports`; None: the release does not list ports here.

    Raises UnreadableError without the table of VLANs, and where announced rows are missing.
    """
    start = next((line for line in shown.lines if line.words[:3] == _DETAILS), None)
    if start is None:
        raise shown.wrong(1, "no table of VLANs")
    below = [*[""] * (start.number - 1), *shown.rows[start.number - 1 :]]
    rows = VLANS.read(DisplayAnswer(shown.command, "\n".join(below)))
    above = [line for line in shown.lines if line.number < start.number]
    totals = ((line, m) for line in above if (m := _VLAN_TOTAL.match(line.text.strip())))
    for line, match in totals:
        shown.require_all(line.number, "VLANs", int(match[1]), len(rows), len(rows.unread))
    titles = next((n for n, line in enumerate(above) if line.words == _PORTS), None)
    if titles is None:
        return Rows(({**row, "ports": None} for row in rows), rows.unread)
    ports, unread = _ports(shown, above[titles + 1 :])
    return Rows(
        ({**row, "ports": ports.get(row["vlan"], [])} for row in rows), (*rows.unread, *unread)
    )


def _ports(
    shown: DisplayAnswer, lines: Sequence[DisplayLine]
) -> tuple[dict[int, list[str]], list[UnreadLine]]:
    """Return ports by VLAN: a line without a VLAN continues the one above it."""
    ports: dict[int, list[str]] = {}
    unread: list[UnreadLine] = []
    vlan: int | None = None
    for line in lines:
        text = line.text.strip(" \t")
        if match := _VID.match(text):
            vlan, text = int(match[1]), text[match.end() :].strip(" \t")
            ports.setdefault(vlan, [])
        names = _PORT.findall(text)
        if vlan is None or len(names) != len(text.split()):
            unread.append(shown.unread(line, f"{line.text.strip()!r} lists no ports"))
        else:
            ports[vlan] += names
    return ports, unread


def write_vlans(rows: Sequence[Mapping[str, Any]], *, total: bool) -> str:
    """Write `display vlan`; a row has `untagged` and `tagged`, with their state: `25GE1/0/1(U)`."""
    lines: list[str] = []
    for row in rows:
        first = f"{row['vlan']:>4}         "
        for label, ports in (("UT", row["untagged"]), ("TG", row["tagged"])):
            for number in range(0, len(ports), PORTS_A_LINE):
                cells = "".join(f"{port:<16}" for port in ports[number : number + PORTS_A_LINE])
                begin = f"{first}{label}:" if not number else " " * 16
                lines.append((begin + cells).rstrip())
                first = " " * 13
        if not (row["untagged"] or row["tagged"]):
            lines.append(first.rstrip())
    head = [f"The total number of vlans is : {len(rows)}"] if total else []
    return "\n".join([*head, _LEGEND, *lines, "", VLANS.write(rows)])
