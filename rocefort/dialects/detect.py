"""Detection of the network operating system of a text, for a clear error about a wrong file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rocefort.base.errors import BadInput


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
