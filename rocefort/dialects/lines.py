"""What lines mean that no model holds, by the dialect of their switch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rocefort.dialects.vrp import lines as vrp
from rocefort.models.device import Device
from rocefort.models.hardware import Family, SyntaxFamily
from rocefort.models.network import TextLine
from rocefort.models.traffic import Uses


class Lines(Protocol):
    """Answers of one dialect about lines of its texts."""

    def may_forward(self, line: TextLine) -> bool:
        """Whether a line may change where packets go."""

    def opens_ssh(self, line: TextLine) -> bool:
        """Whether a line lets SSH sessions in on some interface."""

    def is_community(self, line: TextLine) -> bool:
        """Whether a line sets an SNMP community."""

    def shows_secret(self, line: TextLine) -> bool:
        """Whether the secret of a line can be read."""

    def matches_in(self, line: TextLine, classifier: str) -> bool:
        """Whether a line is a match of a traffic classifier."""

    def uses(self, line: TextLine) -> Uses:
        """ACLs and parts of traffic policies that a line names, as one that is none of them."""

    def closed_peer(self, line: str) -> str | None:
        """The peer or group whose sessions a line closes on purpose, its views before it."""

    def in_use(self, command: str, device: Device) -> bool | None:
        """Whether a Device makes a command stand in its text; None: no Device tells of it."""


BY_FAMILY: Mapping[SyntaxFamily, Lines] = dict.fromkeys(SyntaxFamily, vrp)


def lines_of(family: Family | None) -> Lines:
    """The answers of a family's dialect; without one VRP's, for only its text is read."""
    return vrp if family is None else BY_FAMILY[family.name]
