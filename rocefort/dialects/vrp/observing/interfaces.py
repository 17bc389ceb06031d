"""`display interface`: ports, their state and counters.

Form: V300R023C00 command reference, Interface Management.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocefort.dialects.vrp.names import interface_name
from rocefort.dialects.vrp.observing.shown import Row, Shown
from rocefort.models.interface import kind_of
from rocefort.models.observed import PortCounters, PortSeen

INTERFACES = "display interface"

STATE = re.compile(r"(\S+) current state : (.+?)\s*(?:\(ifindex: \d+\))?", re.ASCII)
MTU = re.compile(r"The Maximum Transmit Unit is (\d+)", re.ASCII)
FRAME = re.compile(r"The Maximum Frame Length is (\d+)", re.ASCII)
SPEED = re.compile(r"Speed:\s*(\S+?),", re.ASCII)
SECTION = re.compile(r"\s+(Input|Output)\s*:", re.ASCII)
CELL = re.compile(r"([A-Z][A-Za-z ]*?):\s*(\d+|--)(?=\s*(?:,|$))", re.ASCII)
COUNTED = {  # field of PortCounters -> section and name in the output
    "rx_errors": ("Input", "Total Error"),
    "crc": ("Input", "CRC"),
    "rx_discards": ("Input", "Discard"),
    "tx_discards": ("Output", "Discard"),
    "rx_pauses": ("Input", "Pause"),
    "tx_pauses": ("Output", "Pause"),
}


def ports(shown: Shown) -> tuple[PortSeen, ...]:
    """Every interface; raises DeviceFailed, as for a port without one of its counters."""
    found = tuple(_port(shown, block) for block in _blocks(shown))
    names = [port.name for port in found]
    if not found:
        raise shown.wrong(1, "no interface at all")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise shown.wrong(1, f"{twice} is shown twice")
    return found


def _blocks(shown: Shown) -> Iterator[list[Row]]:
    """The lines of each interface; a time stamp before the first is no interface's."""
    block: list[Row] = []
    for row in shown.rows:
        if STATE.fullmatch(row.text):
            if block:
                yield block
            block = [row]
        elif block:
            block.append(row)
        elif not re.match(r"\d{4}-\d\d-\d\d ", row.text, re.ASCII):
            raise shown.wrong(row.number, f"{row.text!r} belongs to no interface")
    if block:
        yield block


def _port(shown: Shown, block: list[Row]) -> PortSeen:
    head = STATE.fullmatch(block[0].text)
    if head is None:
        raise shown.wrong(block[0].number, f"{block[0].text!r} names no interface")
    name = interface_name(head[1]) or head[1]  # a sub-interface is none of ours
    text = "\n".join(row.text for row in block)
    mtu, frame, speed = (pattern.search(text) for pattern in (MTU, FRAME, SPEED))
    state = head[2]
    physical = kind_of(name) == "ethernet"
    if physical and speed is None:
        raise shown.wrong(block[0].number, f"{name} shows no speed")
    return PortSeen(
        name=name,
        state=state,
        up=state.upper().startswith("UP"),
        shut=state.lower().startswith("administratively"),
        mtu=int(mtu[1]) if mtu else None,
        frame_bytes=int(frame[1]) if frame else None,
        speed_mbps=int(speed[1]) if speed and speed[1].isdecimal() else None,
        counters=_counters(shown, name, block) if physical else None,
    )


def _counters(shown: Shown, port: str, block: list[Row]) -> PortCounters:
    cells: dict[tuple[str, str], str] = {}
    section = ""
    for row in block:
        if found := SECTION.match(row.text):
            section = found[1]
        for name, value in CELL.findall(row.text):
            cells[section, name] = value
    values: dict[str, int | None] = {}
    for field, (place, word) in COUNTED.items():
        counted = cells.get((place, word))
        if counted is None:
            what = f"{port} shows no {word!r} of its {place.lower()}"
            raise shown.wrong(block[0].number, what)
        values[field] = None if counted == "--" else int(counted)
    return PortCounters(**values)
