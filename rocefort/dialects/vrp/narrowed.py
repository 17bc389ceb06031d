"""Two texts of one switch without what both say alike: what a change costs is what it changes.

A port, and a BGP peer or group, means what its own lines say and nothing else does: a handler of
the parser gets the part of the Device that its view fills, and no other. So lines of one that are
the same on both sides are left out of both. What is neither port nor BGP stays or goes as a whole.

Both texts are such as the renderer writes: sections between `#`, one for each port. Others are left
as they are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rocefort.dialects.vrp.reduced import (
    INTERFACE,
    PROCESS,
    PROFILE,
    come_and_go,
    first_word,
    speaker,
)

BEGIN, BETWEEN, END = "#\n", "\n#\n", "\n"
TRUNK, SPLIT = f"{INTERFACE}Eth-Trunk", "port split "
UNNAMED, RETURN = "sysname unchanged", "return"  # in place of what is neither port nor BGP
# A line that does not stand in the view of its section: ports have no views below, BGP one more.
NOT_OF_PORT, NOT_OF_BGP = re.compile(r"\n(?! \S)"), re.compile(r"\n(?! {1,2}\S)")
# Lines beside ports and BGP that say something of those, or are followed by what is no command.
REACHES_OUT = re.compile(r"^(?:undo |interface |bgp |dcb pfc global |header )", re.MULTILINE)
# First words of a port's lines that fill one part of it together, as `Interface.bond`.
TOGETHER = {"mode": "eth-trunk", "lacp": "eth-trunk", "least": "eth-trunk"}


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What is left of two texts; both as they were where they cannot be narrowed."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class _Sections:
    """A text by its sections. `order` has the first line of ports and BGP, else all of them."""

    order: tuple[str, ...]
    ports: Mapping[str, str]  # lines below the first
    bgp: Mapping[str, str]
    others: tuple[str, ...]


@lru_cache(maxsize=1024)  # a patch, the reading back and the provenance of a switch ask for it
def narrowed(before: str, after: str) -> Narrowed:
    """Both texts without the lines that are the same on both sides, as far as nothing needs them.

    The patch between what is left is the patch between the whole texts, and so are the lines that
    differ with the fields that they say. Line numbers are of what is left.
    """
    old, new = _sections(before), _sections(after)
    if old is None or new is None:
        return Narrowed(before, after)
    alike = [port for port, lines in old.ports.items() if new.ports.get(port) == lines]
    if alike != [port for port, lines in new.ports.items() if old.ports.get(port) == lines]:
        return Narrowed(before, after)  # in another order
    whole = _touches_ports(old, new)
    return Narrowed(_left(old, new, whole=whole), _left(new, old, whole=whole))


@lru_cache(maxsize=1024)
def _sections(text: str) -> _Sections | None:
    """Sections of a text; None where it is not as the renderer writes it."""
    ports: dict[str, str] = {}
    bgp: dict[str, str] = {}
    others: list[str] = []
    order: list[str] = []
    for section in text.removeprefix(BEGIN).removesuffix(END).split(BETWEEN):
        first, end, lines = section.partition("\n")
        if first.startswith(INTERFACE):
            if first in ports or NOT_OF_PORT.search(end + lines):
                return None
            ports[first] = lines
        elif first.startswith(PROCESS):
            if bgp or NOT_OF_BGP.search(end + lines):
                return None
            bgp[first] = lines
        else:
            others.append(section)
        order.append(first if first in ports or first in bgp else section)
    if REACHES_OUT.search("\n".join(others)):
        return None
    return _Sections(tuple(order), ports, bgp, tuple(others))


def _touches_ports(old: _Sections, new: _Sections) -> bool:
    """Whether a patch looks at ports that stay: at which apply a profile, are members, or stand
    between ports that come and others that go.
    """
    if come_and_go(old.ports, new.ports):
        return True
    differ = set(old.others) ^ set(new.others)
    lines = (line for section in differ for line in section.split("\n"))
    if any(line.startswith((PROFILE, SPLIT)) for line in lines):
        return True
    if not differ and old.others != new.others:  # in another order
        return True
    return any(
        port.startswith(TRUNK) and old.ports.get(port) != new.ports.get(port)
        for port in (*old.ports, *new.ports)
    )


def _left(mine: _Sections, other: _Sections, *, whole: bool) -> str:
    """One text without what the other has, too; whole: but with all ports."""
    with_others = mine.others != other.others
    found = [] if with_others else [UNNAMED]
    for first in mine.order:
        if first in mine.ports:
            lines = mine.ports[first]
            found += _section(first, lines, None if whole else other.ports.get(first), _port_lines)
        elif first in mine.bgp:
            found += _section(first, mine.bgp[first], other.bgp.get(first), _bgp_lines)
        elif with_others:
            found.append(first)
    if not with_others:
        found.append(RETURN)
    return f"{BEGIN}{BETWEEN.join(found)}{END}"


def _section(
    first: str, mine: str, other: str | None, lines: Callable[[str, str], Iterable[str]]
) -> Iterator[str]:
    """A section with those of its lines that are needed; none where the other side's is equal."""
    if other is None:
        yield f"{first}\n{mine}" if mine else first
    elif mine != other:
        yield "\n".join((first, *lines(mine, other)))


def _port_lines(mine: str, other: str) -> Iterator[str]:
    """Lines of a port whose first word differs in some line: such fill a part of it together."""
    own, theirs = _by_word(mine), _by_word(other)
    for line in mine.split("\n") if mine else ():
        if own[_word(line)] != theirs.get(_word(line)):
            yield line


@lru_cache(maxsize=256)
def _by_word(lines: str) -> Mapping[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines.split("\n") if lines else ():
        found[_word(line)].append(line)
    return found


@lru_cache(maxsize=16384)  # ports and switches repeat most of their lines word for word
def _word(line: str) -> str:
    """The word by which lines of a port belong together."""
    word = first_word(line[1:])
    return TOGETHER.get(word, word)


def _bgp_lines(mine: str, other: str) -> Iterator[str]:
    """Lines of a BGP process without those of peers and groups of which all lines stay."""
    own, theirs = _by_speaker(mine), _by_speaker(other)
    for line in mine.split("\n"):
        name = _speaker(line)
        if not name or own[name] != theirs.get(name):
            yield line


@lru_cache(maxsize=4)  # both texts, each for itself and for the other
def _by_speaker(lines: str) -> Mapping[str, list[tuple[str, str]]]:
    """Lines of each peer and group with the line of the family that they stand in."""
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    family = ""
    for line in lines.split("\n"):
        if not line.startswith("  "):
            family = line
            found[_speaker(line)].append(("", line))
        else:
            found[_speaker(line)].append((family, line))
    return found


def _speaker(line: str) -> str:
    return speaker(line.lstrip(" "))
