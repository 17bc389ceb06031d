"""LLDP neighbours of a switch's ports, in brief and in full."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from napalm_cloudengine import parse
from napalm_cloudengine.displays.block import LabelledDisplay
from napalm_cloudengine.displays.lines import DisplayAnswer, DisplayLine, Rows, UnreadLine
from napalm_cloudengine.displays.table import DisplayTable, Form

_REFERENCE = 'command reference V300R023C00, "display lldp neighbor{}"'
_OLDER_HEAD = "Local Intf       Neighbor Dev             Neighbor Intf             "
_OLDER = "{local:<16i} {device:<24*} {port:<25} {expires_s:d}"
BRIEF = DisplayTable(
    "display lldp neighbor brief",
    {
        "": Form(
            source=_REFERENCE.format(" brief"),
            head="""\
Local Interface         Exptime(s) Neighbor Interface      Neighbor Device
--------------------------------------------------------------------------""",
            row="{local:<23i} {expires_s:>5d}           {port:<18} {device:*}",
        ),
        "wide": Form(
            source="outputs of CloudEngine switches that public parsers are tested with",
            head="Local Interface         Exptime(s) Neighbor Interface            Neighbor Device",
            row="{local:<23i} {expires_s:>9d}  {port:<29} {device:*}",
        ),
        "older": Form(
            source=_REFERENCE.format(" brief") + ", table 1: names of columns of older releases",
            confirmed=False,  # order and widths are those of a public client
            head=_OLDER_HEAD + "Exptime (sec)",
            row=_OLDER,
        ),
        "older (s)": Form(
            source="outputs of VRP switches that public parsers are tested with",
            confirmed=False,  # of campus switches
            head=_OLDER_HEAD + "Exptime(s)",
            row=_OLDER,
        ),
    },
    spaced="port",
    blank=("device", "port"),  # a NIC that answers by its firmware sends no system name
    titles={
        **dict.fromkeys(("Local Interface", "Local Intf"), "local:i"),
        **dict.fromkeys(("Neighbor Interface", "Neighbor Intf"), "port:"),
        **dict.fromkeys(("Neighbor Device", "Neighbor Dev"), "device:*"),
        **dict.fromkeys(("Exptime(s)", "Exptime (s)", "Exptime (sec)"), "expires_s:d"),
    },
    least=frozenset(("local", "port", "device", "expires_s")),
)
DETAIL_COMMAND = "display lldp neighbor"
INTERFACE_NAME = "Interface Name"  # subtype of a port's ID
_HEARD = "{} has {} neighbor(s)"
_PORT = re.compile(r"(\S+) has (\d+) neighbor\S*\s*:?", re.ASCII)  # `(s)`, `s`, or neither
DETAIL = LabelledDisplay(  # text after `Expired time` is neither read nor written
    """\
Neighbor index                     :{index}
Chassis type                       :{chassis_type}
Chassis ID                         :{chassis_id}
Port ID subtype                    :{port_id_subtype}
Port ID                            :{port_id}
Port description                   :{port_description}
System name                        :{system_name}
System description                 :{system_description}

System capabilities supported      :{capabilities}
System capabilities enabled        :{enabled_capabilities}
Management address type            :{address_type}
Management address                 :{address}
Expired time                       :{expires}
""",
    source=_REFERENCE.format(""),
    also="Port ID type                       :{port_id_subtype}",
)


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A neighbour of the port `local`, in the answer's line `line`; values: of its paragraph.

    port: its ID as sent, an interface's name or another; "" where it sends none.
    """

    local: str
    device: str
    port: str
    line: int
    values: Mapping[str, str] = field(default_factory=dict, compare=False)

    def text(self, name: str) -> str:
        """Return a value of its paragraph; "" for none, which is shown as `--`."""
        value = self.values.get(name, "")
        return "" if value == "--" else value


def read_brief(shown: DisplayAnswer) -> Rows[Neighbor]:
    """Read rows of the brief table; none for an empty answer. Raises UnreadableError.

    `device` is "" for a neighbour without a system name. Nothing in the table shows its end.
    """
    if _has_none(shown):
        return Rows()
    rows = BRIEF.numbered(shown)
    return Rows((brief_row(row, line) for row, line in rows), rows.unread)


def _has_none(shown: DisplayAnswer) -> bool:
    """Whether an answer has no neighbours: it is empty, or a note that reports no failure."""
    note = not shown.lines or shown.lines[0].text.startswith("Info:")
    return note and not parse.failure_lines(shown.text)


def brief_row(row: Mapping[str, Any], line: int) -> Neighbor:
    """Return the neighbour of a row."""
    return Neighbor(row["local"], row["device"], row["port"], line)


def read_detail(shown: DisplayAnswer) -> Rows[Neighbor]:
    """Read `display lldp neighbor`; a port with other neighbours than announced is not read.

    Raises UnreadableError where nothing else was read, and for an answer that is cut off: the last
    port has fewer neighbours than announced, or the last neighbour no expiry time.
    """
    ports = [start for start, line in enumerate(shown.lines) if port_of(line)]
    if not ports and not _has_none(shown) and not any(map(DETAIL.value, shown.lines)):
        raise shown.wrong(1, "no port at all")
    for line in shown.lines[: ports[0] if ports else None]:
        if DETAIL.value(line):
            raise shown.wrong(line.number, f"{line.text.strip()!r} is of no port")
    neighbors: list[Neighbor] = []
    unread: list[UnreadLine] = []
    for start, end in pairwise([*ports, len(shown.lines)]):
        line = shown.lines[start]
        port, heard = port_of(line) or "", read_paragraphs(shown.lines[start:end])
        announced = int(line.text.split()[2])
        what = f"{announced} neighbours of {port} announced, {len(heard)} read"
        last = end == len(shown.lines)
        if announced != len(heard):
            if last:
                raise shown.wrong(line.number, what)
            unread.append(shown.unread(line, what, port))
            continue
        if last and heard and "expires" not in heard[-1].values:
            raise shown.wrong(shown.lines[-1].number, "the last neighbour has no expiry time")
        neighbors += heard
        unread += _unlabelled(shown, shown.lines[start + 1 : end], port)
    if unread and not neighbors:
        raise shown.wrong(unread[0].line, unread[0].why)
    return Rows(neighbors, unread)


def _unlabelled(
    shown: DisplayAnswer, lines: Iterable[DisplayLine], port: str
) -> Iterator[UnreadLine]:
    """Yield lines of a port that have no label and continue no description."""
    name = ""
    for line in lines:
        pair = DETAIL.value(line)
        name = pair[0] if pair else "" if ":" in line.text else name
        if not pair and name != "system_description" and ":" not in line.text:
            yield shown.unread(line, f"{line.text.strip()!r} has no label", port)


def read_paragraphs(lines: Iterable[DisplayLine]) -> list[Neighbor]:
    """Read neighbours of `display lldp neighbor` by their paragraphs; other lines are skipped.

    The line number of a neighbour is that of its name, or of its index where it has no name.
    """
    neighbors: list[Neighbor] = []
    local = name = ""
    number = 0
    values: dict[str, str] = {}

    def end() -> None:
        if values:
            device, port = values.get("system_name", ""), values.get("port_id", "")
            neighbors.append(Neighbor(local, device, port, number, dict(values)))
        values.clear()

    for line in lines:
        pair = DETAIL.value(line)
        if port := _PORT.fullmatch(line.text.strip()):
            end()
            local, name = port[1], ""
        elif pair and local:
            name = pair[0]
            if name == "index" or not values:
                end()
                number = line.number
            elif name == "system_name":
                number = line.number
            values.setdefault(*pair)
        elif name == "system_description":
            values[name] += "\n" + line.text.strip(" \t")
    end()
    return neighbors


def port_of(line: DisplayLine) -> str | None:
    """Return the port whose neighbours follow a line of `display lldp neighbor`."""
    match = _PORT.fullmatch(line.text.strip())
    return match[1] if match else None


def write_detail(ports: Mapping[str, Iterable[Mapping[str, object]]]) -> str:
    """Write `display lldp neighbor` for ports with neighbours, each given as paragraph values.

    The form of a port without neighbours is field evidence, not from the reference.
    """
    blocks = []
    for port, heard in ports.items():
        paragraphs = [DETAIL.write(values) for values in heard]
        colon = ":\n" if paragraphs else ""
        blocks.append("\n".join([_HEARD.format(port, len(paragraphs)) + colon, *paragraphs]))
    return "\n".join(block if block.endswith("\n") else f"{block}\n" for block in blocks)
