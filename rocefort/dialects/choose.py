"""Choice of a dialect: by the data of a syntax family, by name, or by a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Protocol

from rocefort.base.errors import BadInput
from rocefort.dialects.dialect import Dialect
from rocefort.dialects.syntax_families import load_families

ENTRY_POINTS = "rocefort.dialects"  # entry-point group of installed packages


class OfDialect(Protocol):
    """A syntax family, a switch, or its change: each names its dialect where that is known."""

    @property
    def dialect(self) -> str | None:
        """Return the name of its package; None: not known."""


def dialect_of(known: OfDialect | None) -> Dialect:
    """Return the dialect of an object; for a text without a switch, the first in the data."""
    name = known.dialect if known else None
    return load_dialect(name or next(iter(dialects())))


def reader_of(text: str) -> str:
    """Return the name of the dialect that recognises a text, or else of the first in the data.

    The parser of that dialect then reports the error.
    """
    names = dialects()
    return next((name for name in names if load_dialect(name).is_config(text)), names[0])


@cache
def dialects() -> tuple[str, ...]:
    """Return names of the dialects of the shipped families, in the order of the file."""
    return tuple(dict.fromkeys(family.dialect for family in load_families().values()))


@cache
def load_dialect(name: str) -> Dialect:
    """Return the dialect of a package here, or of an installed one's entry point; raises BadInput.

    Reviewed data name a dialect, so a name is never imported as a module.
    """
    path = f"rocefort.dialects.{name}.dialect"
    package = find_spec(f"rocefort.dialects.{name}") if name.isidentifier() else None
    if package and package.submodule_search_locations and find_spec(path):
        shipped: Dialect = import_module(path).DIALECT
        return shipped
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        installed: Dialect = entry.load()
        return installed
    how = f"name a package of rocefort.dialects, or install one with an entry point {ENTRY_POINTS}"
    raise BadInput(f"no dialect {name!r}", where="syntax family", how=how)


class NoConfigurationError(BadInput):
    """A text is no configuration of a network operating system that is read."""


EVIDENCE = 60  # length of the line shown, in characters


@dataclass(frozen=True, slots=True)
class SystemMarks:
    """An operating system, with lines that only it writes."""

    name: str
    lines: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Resemblance:
    """The operating system that a text resembles, and the line that shows it."""

    system: str
    line: int  # 1-based
    evidence: str


def _system(name: str, *lines: str) -> SystemMarks:
    return SystemMarks(name, re.compile(rf"^[ \t]*(?:{'|'.join(lines)}).*", re.MULTILINE))


COMWARE = _system(
    "H3C Comware",
    r"version \d+\.\d+\.\d+, (?:Release|Feature|ESS|Alpha|Beta|Demo) ",
    r"interface (?:(?:M-|Ten-|Twenty-Five)GigabitEthernet|(?:Forty|Hundred)GigE)",
    r"port link-mode (?:bridge|route)",
    r"irf (?:mac-address|auto-update|member|domain)\b",
)
# In descending order of certainty: NX-OS and EOS share much with IOS, so theirs come first.
SYSTEMS = (
    _system(
        "Junos",
        r"set version \d\d\.\d",
        r"set system host-name ",
        r"host-name [\w.-]+;",
        r"system \{",
        r"interfaces \{",
    ),
    _system(
        "Cisco NX-OS",
        r"feature (?:bgp|lacp|interface-vlan|vpc|ospf|nxapi|lldp)\b",
        r"vdc \S+ id \d",
        r"boot nxos ",
        r"version \d+\.\d+\(\d+\)",
        r"cfs eth distribute",
    ),
    _system(
        "Arista EOS",
        r"! device: .*EOS",
        r"transceiver qsfp default-mode ",
        r"service routing protocols model ",
        r"daemon TerminAttr",
        r"! boot system flash:/\S*EOS",
        r"(?:switchport default mode|ip routing$|spanning-tree mode mstp$)",
    ),
    _system("Cisco IOS XR", r"!! IOS XR Configuration", r"RP/\d/\w+/CPU\d:"),
    _system(
        "Cisco IOS",
        r"service timestamps ",
        r"Current configuration ?: \d+ bytes",
        r"boot-start-marker",
        r"ip cef$",
        r"router bgp \d",
        r"interface (?:Ten)?GigabitEthernet\d",
        r"enable secret ",
    ),
    COMWARE,
)


def looks_like(text: str, systems: Sequence[SystemMarks] | None = None) -> Resemblance | None:
    """Return the first of some systems (default: all) that a text resembles; None: none of them."""
    for system in SYSTEMS if systems is None else systems:
        if match := system.lines.search(text):
            line = text.count("\n", 0, match.start()) + 1
            return Resemblance(system.name, line, " ".join(match[0].split())[:EVIDENCE])
    return None
