"""Difference of the switches of two sides, each a fabric or text, for reports."""

from __future__ import annotations

from enum import StrEnum

from rocefort.models.base import Frozen
from rocefort.models.rollout.plan import Change


class Ownership(StrEnum):
    """Fate of a line without a model when one side changes to the other."""

    STAYS = "stays"  # the other side has it, too, or is a fabric, which owns only its own lines
    GOES = "goes"  # only the first side has it, and the second is text
    COMES = "comes"  # only the second side has it


class Unowned(Frozen):
    """Kept line of a configuration, with its views; secrets are masked."""

    text: str
    ownership: Ownership
    where: str = ""  # file:line


class Places(Frozen):
    """Places of an Edit's values, file:line on each side; empty without such a line."""

    before: str = ""
    after: str = ""


class SwitchDifference(Frozen):
    """Difference of one switch that both sides have.

    `places` belong to the change's edits, one each. `facts`: differences outside of the text
    (hardware, release). `no_patch`: why a change with edits has no commands. `notes`: remarks on
    the sides.
    """

    change: Change
    places: tuple[Places, ...] = ()
    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    no_patch: str = ""
    unowned: tuple[Unowned, ...] = ()

    @property
    def device(self) -> str:
        """Name of the switch."""
        return self.change.device

    @property
    def changes(self) -> bool:
        """Whether the sides differ in lines that change, in edits or in facts."""
        moved = any(line.ownership is not Ownership.STAYS for line in self.unowned)
        return moved or bool(self.change.patch or self.change.edits or self.facts)


class OneSided(Frozen):
    """Switch that only one side has."""

    device: str
    where: str  # its file
    lines: int  # commands in its configuration


class FabricDifference(Frozen):
    """Difference of two sides; `before` and `after` are the names that the user gave.

    `switches` are those that differ or have kept lines, in the order of the sides.
    """

    before: str
    after: str
    compared: int  # switches that both sides have
    switches: tuple[SwitchDifference, ...]
    only_before: tuple[OneSided, ...] = ()
    only_after: tuple[OneSided, ...] = ()

    @property
    def changed(self) -> tuple[SwitchDifference, ...]:
        """Switches that need a change."""
        return tuple(switch for switch in self.switches if switch.changes)

    @property
    def differs(self) -> bool:
        """Whether the sides differ; lines that stay do not count."""
        return bool(self.changed or self.only_before or self.only_after)

    @property
    def drifts(self) -> bool:
        """Whether running differs from intended; kept lines count as drift."""
        return bool(self.switches or self.only_before or self.only_after)
