"""Which commands an interface has, by its name and by whether it is switched or routed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocefort.dialects.vrp.commands.command import MEMBER, Row
from rocefort.dialects.vrp.commands.index import Lines


@dataclass(frozen=True, slots=True)
class PortView:
    """An interface: by its name and its mode it has some rows of its view, and others not."""

    name: str
    switched: bool

    @classmethod
    def of(cls, text: str, lines: Lines) -> PortView:
        """The interface that a line opens, by what is set in it."""
        name = text.removeprefix("interface ")
        routed = "undo portswitch" in [line.text for line in lines]
        return cls(name, not routed and re.fullmatch(MEMBER, name) is not None)

    def has(self, row: Row) -> bool:
        """Whether the interface has a command."""
        if row.on and not re.fullmatch(row.on, self.name):
            return False
        return row.layer == 0 or (row.layer == 2) == self.switched
