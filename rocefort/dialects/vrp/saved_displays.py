"""Reader of saved `display` outputs beside a configuration: LLDP neighbours, model, release."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace

from napalm_cloudengine.displays import lldp, system
from napalm_cloudengine.displays.lldp import Neighbor
from napalm_cloudengine.displays.shown import DisplayAnswer, DisplayLine, UnreadableError
from napalm_cloudengine.displays.table import Form
from rocefort.dialects.data import Display
from rocefort.dialects.vrp.text.config_tree import prompt_in
from rocefort.dialects.vrp.text.names import interface_name

# From `display version`. A neighbour's description in `display lldp neighbor` has the line of the
# release, too, but its heading has a label before it, and no line has `uptime is`. Oxidized removes
# that line of the switch itself.
RELEASE = re.compile(r"V\d{3}R\d{3}C\d{2}\w*", re.ASCII)
HEADING = "Huawei Versatile Routing Platform Software"  # of the switch itself, alone in its line


@dataclass
class _DisplayContext:
    software: str | None = None
    model: str | None = None
    neighbours: list[Neighbor] = field(default_factory=list)
    known: bool = False  # some heading was found
    release: str | None = None  # of this switch, if `uptime is` follows
    headed: bool = False  # whether the heading of `display version` is above
    boards: bool = False  # whether rows of `display device` may follow
    form: Form | None = None  # of the current table
    detail: list[DisplayLine] = field(default_factory=list)  # current paragraphs


def read_display(text: str) -> Display | None:
    """Read the outputs of a file; None for text that has none of their headings."""
    reading = _DisplayContext()
    for line in DisplayAnswer("", text).lines:
        _read_line(reading, line)
    _end_detail(reading)
    if not reading.known:
        return None
    return Display(reading.software, reading.model, tuple(reading.neighbours))


def _read_line(reading: _DisplayContext, line: DisplayLine) -> None:
    text = line.text.strip()
    if prompt_in(text):
        reading.form, reading.headed = None, False
        _end_detail(reading)
    elif form := lldp.BRIEF.form_of(line):
        reading.form, reading.known = form, True
        _end_detail(reading)
    elif reading.detail or lldp.port_of(line):
        reading.detail.append(line)
        reading.known = True
    elif reading.form:
        _row(reading, reading.form, line)
    else:
        _version_line(reading, line)


def _row(reading: _DisplayContext, form: Form, line: DisplayLine) -> None:
    """Read one row; a line outside the table, as the next prompt of a terminal, is skipped."""
    with suppress(UnreadableError):
        row = lldp.BRIEF.row(DisplayAnswer("", ""), line, form)
        _add_neighbour(reading, lldp.brief_row(row, line.number), is_name=True)


def _end_detail(reading: _DisplayContext) -> None:
    for neighbour in lldp.read_paragraphs(reading.detail):
        if neighbour.device:
            subtype = neighbour.text("port_id_subtype").casefold().replace(" ", "")
            _add_neighbour(reading, neighbour, is_name=subtype == "interfacename")
    reading.detail = []


def _board(line: DisplayLine) -> str:
    """Return the model in a row of `display device`, whose first line may name only the series."""
    table = system.BOARDS
    row = table.row(DisplayAnswer(table.command, ""), line, table.forms[""])
    return str(row["model"])


def _add_neighbour(reading: _DisplayContext, neighbour: Neighbor, *, is_name: bool) -> None:
    port = interface_name(neighbour.port) if is_name else None
    if local := interface_name(neighbour.local):
        reading.neighbours.append(replace(neighbour, local=local, port=port or ""))


def _version_line(reading: _DisplayContext, line: DisplayLine) -> None:
    values = system.VERSION_V300.match(line) or system.VERSION_V200.match(line)
    if line.text.strip() == HEADING:
        reading.headed = True
    elif release := RELEASE.search(values.get("release", "")):
        reading.release = release[0]
        if reading.headed:
            reading.software, reading.known = release[0], True
    elif "uptime" in values:
        reading.model, reading.software, reading.known = values["model"], reading.release, True
    elif (name := system.device_named(line) or "").startswith("CE"):
        reading.model, reading.known, reading.boards = name, True, True
    elif reading.boards:
        with suppress(UnreadableError):  # heads, fans and power supplies are not boards
            reading.model = _board(line)
            reading.boards = False
