"""What a rollout says while it runs: one Event before and after each act."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """Before the act, after it, or when it failed."""

    INTENT = "intent"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a rollout. `device` is empty for what concerns the wave."""

    wave: str
    device: str
    act: str
    phase: Phase
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """How a rollout ended; `failure` says why it stopped early, as `where: what; how`."""

    confirmed: tuple[str, ...] = ()
    already: tuple[str, ...] = ()  # ran as intended before
    rolled_back: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # could not be brought back or read: look at them
    failure: str = ""
    exit_code: int = 0
