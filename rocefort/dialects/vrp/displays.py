"""What `display` outputs beside a configuration say: neighbours by LLDP, model and release."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rocefort.dialects.data import Display, Neighbour
from rocefort.dialects.vrp.names import interface_name

# V300R023C00 command reference, `display lldp neighbor brief`: the names of its columns, which
# older releases shorten. They are read in the order in which the heading has them.
COLUMNS = {
    "local": re.compile(r"Local (?:Interface|Intf)"),
    "device": re.compile(r"Neighbor (?:Device|Dev)\b"),
    "port": re.compile(r"Neighbor (?:Interface|Intf)"),
    "expires": re.compile(r"Exptime ?\(s(?:ec)?\)"),
}
# `display lldp neighbor`: a paragraph a neighbour.
PARAGRAPH = re.compile(r"(\S+) has (\d+) neighbor\(s\)\s*:?", re.ASCII)
NAMED = re.compile(r"(Port ID|Port ID subtype|System name)\s*:\s*(\S.*)", re.ASCII)
# `display version`, V200 and V300; `display device`. A neighbour's description in `display lldp
# neighbor` has the line of the release, too, but none with `uptime is`.
RELEASE = re.compile(
    r"(?:VRP \(R\) software|YunShan OS), Version \S+ \(.*?(V\d{3}R\d{3}C\d{2}\w*)\)"
)
UPTIME = re.compile(r"HUAWEI (\S+) uptime is\b", re.ASCII)
DEVICE = re.compile(r"(CE\S+)'s Device status:", re.ASCII)
PROMPT = re.compile(r"<([\w.-]+)> ?dis\w* .*", re.ASCII)


@dataclass
class _Reading:
    device: str | None = None
    software: str | None = None
    model: str | None = None
    neighbours: list[Neighbour] = field(default_factory=list)
    known: bool = False  # some heading was there
    release: str | None = None  # of this switch, if `uptime is` follows
    columns: tuple[str, ...] = ()  # of the table that is being read
    port: str | None = None  # whose paragraph is being read
    far_port: str | None = None
    is_name: bool = False  # Port ID is an interface's name


def read_display(text: str) -> Display | None:
    """Read the outputs of a file; None for text that has none of their headings."""
    reading = _Reading()
    for number, raw in enumerate(text.split("\n"), 1):
        _read_line(reading, raw.strip(), number)
    if not reading.known:
        return None
    return Display(reading.device, reading.software, reading.model, tuple(reading.neighbours))


def _read_line(reading: _Reading, line: str, number: int) -> None:
    if prompt := PROMPT.fullmatch(line):
        reading.device = reading.device or prompt[1]
        reading.columns, reading.port = (), None
    elif columns := _heading(line):
        reading.columns, reading.known = columns, True
    elif paragraph := PARAGRAPH.fullmatch(line):
        reading.port, reading.known = interface_name(paragraph[1]), True
    elif reading.port:
        _paragraph_line(reading, line, number)
    elif reading.columns:
        reading.neighbours += _row(reading.columns, line, number)
    else:
        _version_line(reading, line)


def _heading(line: str) -> tuple[str, ...]:
    """Columns of the heading of `display lldp neighbor brief`, in their order; none otherwise."""
    if not line.startswith("Local "):
        return ()
    found = {name: match.start() for name, p in COLUMNS.items() if (match := p.search(line))}
    return tuple(sorted(found, key=found.__getitem__)) if len(found) == len(COLUMNS) else ()


def _row(columns: tuple[str, ...], line: str, number: int) -> Iterator[Neighbour]:
    """One row; every cell is a word but the neighbour's name, which takes what is left."""
    words = line.split()
    at = columns.index("device")
    after = len(columns) - 1 - at
    if len(words) < len(columns):
        return
    name = " ".join(words[at : len(words) - after])
    cells = (*words[:at], name, *words[len(words) - after :])
    row = dict(zip(columns, cells, strict=True))
    if local := interface_name(row["local"]):
        yield Neighbour(local, row["device"], interface_name(row["port"]), number)


def _paragraph_line(reading: _Reading, line: str, number: int) -> None:
    match = NAMED.fullmatch(line)
    if match is None or reading.port is None:
        return
    name, value = match[1], match[2].strip()
    if name == "Port ID subtype":
        reading.is_name = value.casefold().replace(" ", "") == "interfacename"
    elif name == "Port ID":
        reading.far_port = interface_name(value) if reading.is_name else None
    else:
        reading.neighbours.append(Neighbour(reading.port, value, reading.far_port, number))
        reading.far_port = None


def _version_line(reading: _Reading, line: str) -> None:
    if match := RELEASE.match(line):
        reading.release = match[1]
    elif match := UPTIME.match(line):
        reading.model, reading.software, reading.known = match[1], reading.release, True
    elif match := DEVICE.match(line):
        reading.model, reading.known = match[1], True
