"""Commands of an interface view, by name and mode of the interface, and by its Eth-Trunk.

The sentences are our own: no source shows the switch's messages. The reference does not list the
services that keep a port out of an Eth-Trunk; this module uses the commands that its view must not
have (`service` and `layer` of the command table).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rocefort.dialects.vrp.commands.catalogue import Syntax
from rocefort.dialects.vrp.commands.command import (
    MEMBER,
    ROUTED,
    SWITCHED,
    Row,
    begins_with_any,
)
from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.interpreter.tree_edit import Lines, View, children_at
from rocefort.models.device.interface import trunk_name, trunk_number


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


HEAD = "interface "
JOINS = "eth-trunk "


def objection(lines: Lines, after: Lines, view: View, family: Syntax) -> str | None:
    """Return the reason why the switch refuses a line of an interface view that had `lines`."""
    own = [line.text for line in children_at(after, view)]
    was = [line.text for line in lines]
    name = view[-1].removeprefix(HEAD)
    if trunk_number(name) is not None:
        return _of_trunk(after, name, was, own)
    return _of_member(name, was, own, family)


def why_kept(config: Lines, name: str) -> str | None:
    """Return the reason why an Eth-Trunk is not deleted: it still has members."""
    member = next(members(config, name), None)
    return f"Error: {name} still has member {member}." if member else None


def members(config: Lines, name: str) -> Iterator[str]:
    """Yield the member ports of an Eth-Trunk."""
    joined = f"{JOINS}{trunk_number(name)}"
    for line in config:
        if line.text.startswith(HEAD) and any(child.text == joined for child in line.children):
            yield line.text.removeprefix(HEAD)


def _of_trunk(config: Lines, name: str, was: list[str], own: list[str]) -> str | None:
    mode, old = (_begins(texts, "mode ") for texts in (own, was))
    if _begins(own, "lacp timeout ") and not (mode or "").startswith("mode lacp"):
        return f"Error: {name} has an LACP timeout, but no LACP."
    if old not in (mode, None):  # from manual mode it changes with its members in place
        member = next(members(config, name), None)
        return f"Error: {name} still has member {member}." if member else None
    return None


def _of_member(name: str, was: list[str], own: list[str], family: Syntax) -> str | None:
    joined, old = (_begins(texts, JOINS) for texts in (own, was))
    if joined is None:
        return None
    if old not in (joined, None):
        return f"Error: {name} is a member of {trunk_name(int(old.split()[1]))}."
    for text in own:
        row = identify("interface", text, family).row
        if begins_with_any(text, (*ROUTED, *SWITCHED)) or (
            row is not None and (row.layer or row.service)
        ):
            return f"Error: {name} still has '{text}'."
    return None


def _begins(texts: list[str], start: str) -> str | None:
    return next((text for text in texts if text.startswith(start)), None)
