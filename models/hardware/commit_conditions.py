"""Conditions of lines that need more than a commit: a save, a reboot, an idle port."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.wording import listing


class Requirement(StrEnum):
    """Requirement for a switch to accept a line, or for the line to take effect."""

    SAVE = "save"  # the configuration must be saved
    REBOOT = "reboot"  # the switch must restart before the line takes effect
    RESTART_FREES = "restart-frees"  # it takes effect; a restart frees its old resources
    IDLE_PORT = "idle-port"  # the switch may refuse the line while the port carries traffic
    PFC_OFF = "pfc-off"  # the switch refuses the line while a port applies a PFC profile
    NO_ROLLBACK = "no-rollback"  # a rollback does not restore what the line removed


class Condition(Frozen):
    """Condition of a command of a syntax family, besides a commit."""

    command: str  # the words that a line begins with, `undo` included
    needs: Annotated[tuple[Requirement, ...], Field(min_length=1)]
    note: str
    source: str
    confirmed: bool = True


WORDS = {
    Requirement.SAVE: "needs a save",
    Requirement.REBOOT: "needs a restart of the switch",
    Requirement.RESTART_FREES: "frees what it held only at a restart of the switch",
    Requirement.IDLE_PORT: "needs an idle port",
    Requirement.PFC_OFF: "needs PFC off on every port",
    Requirement.NO_ROLLBACK: "has no way back by rollback",
}


class ConditionedLine(Frozen):
    """Line of a text or a patch that has a condition, with its view."""

    line: str
    view: str = ""  # `interface 100GE1/0/1`; empty: the system view
    command: str  # the condition's, with which the line begins
    needs: tuple[Requirement, ...]
    note: str

    def __str__(self) -> str:
        needs = listing(WORDS[requirement] for requirement in self.needs)
        return f"`{self.command}` {needs}: {self.note}"
