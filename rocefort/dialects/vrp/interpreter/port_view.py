"""Commands of an interface view, by the interface's name and by its mode, switched or routed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocefort.dialects.vrp.commands.command import (
    MEMBER,
    ROUTED,
    SWITCHED,
    Row,
    begins_with_any,
)
from rocefort.dialects.vrp.commands.index import Lines


@dataclass(frozen=True, slots=True)
class PortView:
    """An interface: its name and its mode determine the rows of its view."""

    name: str
    switched: bool

    @classmethod
    def of(cls, text: str, lines: Lines) -> PortView:
        """Return the interface that a line opens, by the lines in it."""
        name = text.removeprefix("interface ")
        routed = "undo portswitch" in [line.text for line in lines]
        return cls(name, not routed and re.fullmatch(MEMBER, name) is not None)

    def excludes(self, text: str) -> bool:
        """Whether a line that the table lacks is one of the other mode, by its first words."""
        beginnings = ROUTED if self.switched else SWITCHED
        return re.fullmatch(MEMBER, self.name) is not None and begins_with_any(text, beginnings)

    def has(self, row: Row) -> bool:
        """Whether the interface has a command."""
        if row.on and not re.fullmatch(row.on, self.name):
            return False
        return row.layer == 0 or (row.layer == 2) == self.switched
