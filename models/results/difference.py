"""Difference: how the switches of two sides differ, each side a fabric or text; for reports."""

from __future__ import annotations

from enum import StrEnum

from rocefort.models.base import Frozen
from rocefort.models.rollout.plan import Change


class Ownership(StrEnum):
    """What becomes of a line that no model knows, on the way from one side to the other."""

    STAYS = "stays"  # the other side is a fabric, which owns its lines only, or has it, too
    GOES = "goes"  # only the first side has it, and the second is text
    COMES = "comes"  # only the second side has it


class Unowned(Frozen):
    """A line of a configuration that nobody owns, with the views around it, secrets masked."""

    text: str
    ownership: Ownership
    where: str = ""  # file:line


class Places(Frozen):
    """Where an Edit's values stand, file:line on each side; empty where there is no such line."""

    before: str = ""
    after: str = ""


class SwitchDifference(Frozen):
    """One switch that both sides have.

    `places` belong to the change's edits, one each. `facts` say what differs beside the text
    (hardware, release); `no_patch` says why the change has no commands, where it has edits;
    `notes` tell what to know of the sides.
    """

    change: Change
    places: tuple[Places, ...] = ()
    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    no_patch: str = ""
    unowned: tuple[Unowned, ...] = ()

    @property
    def device(self) -> str:
        """The switch's name."""
        return self.change.device

    @property
    def changes(self) -> bool:
        """Whether something is to be done, or to be known, to get from one side to the other."""
        moved = any(line.ownership is not Ownership.STAYS for line in self.unowned)
        return moved or bool(self.change.patch or self.change.edits or self.facts)


class OneSided(Frozen):
    """A switch that only one side has."""

    device: str
    where: str  # the file that says it
    lines: int  # commands in its configuration


class FabricDifference(Frozen):
    """How two sides differ; `before` and `after` are named as the user named them.

    `switches` are those that differ or hold lines that nobody owns, in the order of the sides.
    """

    before: str
    after: str
    compared: int  # switches that both sides have
    switches: tuple[SwitchDifference, ...]
    only_before: tuple[OneSided, ...] = ()
    only_after: tuple[OneSided, ...] = ()

    @property
    def changed(self) -> tuple[SwitchDifference, ...]:
        """Switches that get from one side to the other by a change."""
        return tuple(switch for switch in self.switches if switch.changes)

    @property
    def differs(self) -> bool:
        """Whether the sides are not the same; lines that stay are no difference."""
        return bool(self.changed or self.only_before or self.only_after)

    @property
    def drifts(self) -> bool:
        """Whether what runs is not what is intended; lines that nobody owns are drift."""
        return bool(self.switches or self.only_before or self.only_after)
