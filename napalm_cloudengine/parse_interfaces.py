"""Read `display interface` and the addresses of a configuration: pure functions, text to data.

The forms are those that CloudEngine switches of V200 print (physical ports count in columns, other
interfaces in one line each); a number that is not printed is -1.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

_FIRST_LINE = re.compile(r"^(?!Line protocol)(?P<name>\S+) current state ?: ?(?P<state>.+)$")
_TIME = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"
_MBITS = {"G": 1000.0, "M": 1.0, "K": 0.001, "": 1.0}


@dataclass(frozen=True)
class Counters:
    """Packets and octets of one direction; -1 where the switch does not show the number."""

    octets: int
    unicast: int
    multicast: int
    broadcast: int
    errors: int
    discards: int


@dataclass(frozen=True)
class Interface:
    """One interface of `display interface`; mac is as printed ("" without one)."""

    name: str
    up: bool
    enabled: bool
    description: str
    mac: str
    mtu: int
    speed_mbits: float
    flapped_s: float  # seconds since the physical state last changed; -1.0 where it never did
    received: Counters
    sent: Counters


def interfaces(text: str) -> tuple[Interface, ...]:
    """Every interface of `display interface`; ValueError when there is none."""
    found = tuple(_interface(paragraph) for paragraph in _paragraphs(text))
    if not found:
        raise ValueError(f"no interface in: {text.strip()[:200]!r}")
    return found


def _paragraphs(text: str) -> Iterator[list[str]]:
    lines: list[str] = []
    for line in text.splitlines():
        if _FIRST_LINE.match(line):
            if lines:
                yield lines
            lines = [line]
        elif lines:
            lines.append(line)
    if lines:
        yield lines


def _interface(lines: list[str]) -> Interface:
    first, text = _FIRST_LINE.match(lines[0]), "\n".join(lines)
    if first is None:
        raise ValueError(f"not an interface: {lines[0]!r}")
    protocol = _found(r"^Line protocol current state ?: ?(\S+)", text)
    return Interface(
        first["name"],
        up=first["state"].startswith("UP") and protocol == "UP",
        enabled=not first["state"].startswith("Administratively"),
        description=_found(r"^Description: ?(.*)$", text).strip(),
        mac=_found(r"Hardware address is ([0-9a-fA-F-]{14})", text),
        mtu=int(_found(r"The Maximum (?:Transmit Unit|Frame Length) is (\d+)", text) or -1),
        speed_mbits=_speed(text),
        flapped_s=_flapped(text),
        received=_counters(lines, "Input"),
        sent=_counters(lines, "Output"),
    )


def _speed(text: str) -> float:
    plain = re.search(r"^Speed: +(\d+)(G?)", text, re.MULTILINE)
    found = plain or re.search(r"Current BW ?: ?(\d+)([GMK]?)", text)
    return float(found[1]) * _MBITS[found[2]] if found else -1.0


def _flapped(text: str) -> float:
    now = _found(rf"^Current system time: {_TIME}", text)
    changes = re.findall(rf"^Last physical (?:up|down) time +: {_TIME}", text, re.MULTILINE)
    if not now or not changes:
        return -1.0
    return (datetime.fromisoformat(now) - datetime.fromisoformat(max(changes))).total_seconds()


def _counters(lines: list[str], way: str) -> Counters:
    """The numbers of one direction: from `Input` to `Output`, or from there to the utilization."""
    starts = [i for i, line in enumerate(lines) if re.match(rf"\s+{way} ?:", line)]
    if not starts:
        return Counters(-1, -1, -1, -1, -1, -1)
    text = "\n".join(_until_the_other(lines[starts[0] :], way))
    block = "\n".join(_until_the_other(lines[starts[-1] :], way))
    return Counters(
        octets=_number(r"(\d+) bytes", text),
        unicast=_number(r"Unicast: +(\d+)|(\d+) unicast", block),
        multicast=_number(r"Multicast: +(\d+)|(\d+) multicast", block),
        broadcast=_number(r"Broadcast: +(\d+)|(\d+) broadcast", block),
        errors=_number(r"Total Error: +(\d+)|(\d+) errors", block),
        discards=_number(r"Discard: +(\d+)|(\d+) drops", block),
    )


def _until_the_other(lines: list[str], way: str) -> Iterator[str]:
    other = "Output" if way == "Input" else "Input"
    for line in lines:
        if re.match(rf"\s+(?:{other} ?:|\S.*utili)", line):
            return
        yield line


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else ""


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(next(group for group in found.groups() if group)) if found else -1


def addresses(config: str) -> dict[str, dict[str, list[tuple[str, int]]]]:
    """Configured addresses by interface and family (`ipv4`, `ipv6`), with the prefix length.

    Reads a saved or running configuration. An address without a length (link-local) is left out.
    """
    found: dict[str, dict[str, list[tuple[str, int]]]] = {}
    name = ""
    for line in config.splitlines():
        if not line.startswith(" "):
            name = line.removeprefix("interface ").strip() if line[:10] == "interface " else ""
        elif name and (read := _address(line.split())):
            family, address, length = read
            found.setdefault(name, {}).setdefault(family, []).append((address, length))
    return found


def _address(words: list[str]) -> tuple[str, str, int] | None:
    match words:
        case ["ip", "address", address, mask, *_] if address[0].isdigit():
            length = int(mask) if mask.isdecimal() else _length(mask)
            return "ipv4", address, length
        case ["ipv6", "address", address, *rest]:
            address, slash, length6 = address.partition("/")
            length6 = length6 if slash else (rest or [""])[0]
            return ("ipv6", address, int(length6)) if length6.isdecimal() else None
    return None


def _length(mask: str) -> int:
    return sum(int(part).bit_count() for part in mask.split("."))
