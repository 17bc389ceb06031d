"""What a journal tells of a plan: its runs, who carried them, and where the last one stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rocefort.models.progress import Progress
from rocefort.models.rollout import Event, Rules


@dataclass(frozen=True, slots=True)
class Life:
    """One process that carried a run: which, and from when; mode is `apply` or `resume`."""

    at: str
    mode: str
    user: str
    host: str
    process: int
    tool: str


@dataclass(frozen=True, slots=True)
class Happened:
    """An event, and when it was written down (ISO 8601, UTC)."""

    at: str
    event: Event


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one plan. `ended`: how, as a sentence; empty while it is under way.

    code: the exit code that it ended with.
    run: its id, of which switches are told the beginning. scale: seconds of its switches in one of
    this machine; above 1 only in a lab.
    """

    plan: str
    lives: tuple[Life, ...]
    rules: Rules
    events: tuple[Happened, ...] = ()
    ended: str = ""
    ended_at: str = ""
    code: int = 0
    run: str = ""
    scale: float = 1.0

    @property
    def broken_glass(self) -> tuple[str, ...]:
        """Who went on without approvals, and why."""
        found = (each.event for each in self.events if each.event.act == "break-glass")
        return tuple(event.detail for event in found)


@dataclass(frozen=True, slots=True)
class Told:
    """A journal: its runs and its seal.

    damage: why it cannot be trusted; empty: its chain holds.
    """

    journal: str
    runs: tuple[Run, ...] = ()
    rows: int = 0
    head: str = ""
    damage: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the last run of a plan stands, by its journal; no switch was asked.

    state: as a sentence. holder: the controller at work; empty: none. now: when this was looked at.
    rehearsal: what is known of one, as a sentence; empty: nobody asked. code: the exit code that
    `apply` ends with in this state.
    """

    plan: str
    fabric: str
    state: str
    holder: str
    progress: Progress
    run: Run | None
    told: Told
    now: datetime
    rehearsal: str = ""
    code: int = 0
