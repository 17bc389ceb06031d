"""`display interface`: ports, their state and counters.

Form: V300R023C00 command reference, Interface Management. A switch shows some 40 lines a port, so
what is wanted is looked for in the text as it is: to read every cell takes five times as long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rocefort.dialects.vrp.names import interface_name
from rocefort.dialects.vrp.observing.shown import Shown
from rocefort.errors import DeviceFailed
from rocefort.models.interface import kind_of
from rocefort.models.observed import PortCounters, PortSeen

INTERFACES = "display interface"

STATE = " current state : "
HEAD = re.compile(rf"(\S+){STATE}(.+?)[ \t]*(?:\(ifindex: \d+\))?[ \t]*$", re.ASCII | re.MULTILINE)
MTU = re.compile(r"The Maximum Transmit Unit is (\d+)", re.ASCII)
FRAME = re.compile(r"The Maximum Frame Length is (\d+)", re.ASCII)
SPEED = re.compile(r"Speed:\s*(\S+?),", re.ASCII)
STAMP = re.compile(r"\d{4}-\d\d-\d\d ", re.ASCII)
# A heading of counters, or a counter that is wanted; in the documented form it begins its line.
FIRST_CELL, ANY_CELL = (
    re.compile(
        rf"\n[ \t]+(Input|Output)[ \t]*:|"
        rf"{before}[ \t]*(Total Error|CRC|Discard|Pause):[ \t]*(\d+|--)(?=[ \t]*(?:,|$))",
        re.ASCII | re.MULTILINE,
    )
    for before in (r"\n", r"[\n,]")
)
COUNTED = {  # field of PortCounters -> section and name in the output
    "rx_errors": ("Input", "Total Error"),
    "crc": ("Input", "CRC"),
    "rx_discards": ("Input", "Discard"),
    "tx_discards": ("Output", "Discard"),
    "rx_pauses": ("Input", "Pause"),
    "tx_pauses": ("Output", "Pause"),
}


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines of one interface; place: where they begin in the answer."""

    shown: Shown
    place: int
    name: str
    state: str
    text: str

    def wrong(self, what: str) -> DeviceFailed:
        return self.shown.wrong(_line(self.shown, self.place), what)


def ports(shown: Shown) -> tuple[PortSeen, ...]:
    """Every interface; raises DeviceFailed, as for a port without one of its counters."""
    found = tuple(_port(block) for block in _blocks(shown))
    names = [port.name for port in found]
    if not found:
        raise shown.wrong(1, "no interface at all")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise shown.wrong(1, f"{twice} is shown twice")
    return found


def _blocks(shown: Shown) -> Iterator[_Block]:
    """The lines of each interface; a time stamp before the first is no interface's."""
    heads = list(_heads(shown.text))
    begins = [*(head.start() for head in heads), len(shown.text)]
    _check_before(shown, begins[0])
    for head, end in zip(heads, begins[1:], strict=True):
        name = interface_name(head[1]) or head[1]  # a sub-interface is none of ours
        yield _Block(shown, head.start(), name, head[2], shown.text[head.end() : end])


def _heads(text: str) -> Iterator[re.Match[str]]:
    """First lines of interfaces; those that are none are not looked at one by one."""
    end = 0
    while (said := text.find(STATE, end)) >= 0:
        head = HEAD.match(text, text.rfind("\n", 0, said) + 1)
        end = head.end() if head else said + len(STATE)
        if head:
            yield head


def _check_before(shown: Shown, end: int) -> None:
    """Raise DeviceFailed for anything but a time stamp before the first interface."""
    for number, line in enumerate(shown.text[:end].splitlines(), 1):
        if line.strip() and not STAMP.match(line):
            raise shown.wrong(number, f"{line.rstrip()!r} belongs to no interface")


def _line(shown: Shown, place: int) -> int:
    return shown.text.count("\n", 0, place) + 1


def _port(block: _Block) -> PortSeen:
    mtu, frame, speed = (pattern.search(block.text) for pattern in (MTU, FRAME, SPEED))
    physical = kind_of(block.name) == "ethernet"
    if physical and speed is None:
        raise block.wrong(f"{block.name} shows no speed")
    return PortSeen(
        name=block.name,
        state=block.state,
        up=block.state.upper().startswith("UP"),
        shut=block.state.lower().startswith("administratively"),
        mtu=int(mtu[1]) if mtu else None,
        frame_bytes=int(frame[1]) if frame else None,
        speed_mbps=int(speed[1]) if speed and speed[1].isdecimal() else None,
        counters=_counters(block) if physical else None,
    )


def _counters(block: _Block) -> PortCounters:
    cells = _cells(FIRST_CELL, block.text)
    if not cells.keys() >= set(COUNTED.values()):
        cells = _cells(ANY_CELL, block.text)
    values: dict[str, int | None] = {}
    for field, (place, word) in COUNTED.items():
        counted = cells.get((place, word))
        if counted is None:
            raise block.wrong(f"{block.name} shows no {word!r} of its {place.lower()}")
        values[field] = None if counted == "--" else int(counted)
    return PortCounters(**values)


def _cells(pattern: re.Pattern[str], text: str) -> dict[tuple[str, str], str]:
    """Counters by section and name."""
    cells: dict[tuple[str, str], str] = {}
    section = ""
    for heading, name, value in pattern.findall(text):
        section = heading or section
        cells[section, name] = value
    return cells
