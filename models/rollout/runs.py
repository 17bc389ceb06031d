"""Runs of a plan as its journal has them, and the status of the last one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from rocefort.models.rollout.events import Event, RunEnded, RunResumed, RunStarted
from rocefort.models.rollout.history import RunHistory
from rocefort.models.rollout.progress import RunProgress


@dataclass(frozen=True, slots=True)
class ControllerProcess:
    """One process that carried a run: which, and from when; mode is `apply` or `resume`."""

    at: str
    mode: str
    user: str
    host: str
    process: int
    tool: str


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event, and when it was written down (ISO 8601, UTC)."""

    at: str
    event: Event


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one plan: what its history keeps, who carried it, and all of its events.

    ended: how, as a sentence; empty while it is under way. code: the exit code that it ended with.
    """

    plan: str
    history: RunHistory = field(default_factory=RunHistory)
    lives: tuple[ControllerProcess, ...] = ()
    events: tuple[TimedEvent, ...] = ()
    ended: str = ""
    ended_at: str = ""
    code: int = 0

    def after(self, at: str, event: Event) -> Run:
        """The run with one more row; at: ISO 8601."""
        history = self.history.after(event, datetime.fromisoformat(at).timestamp())
        match event:
            case RunStarted() | RunResumed():
                by = event.user, event.host, event.process, event.tool
                return replace(
                    self,
                    history=history,
                    lives=(*self.lives, ControllerProcess(at, event.act, *by)),
                )
            case RunEnded():
                ended, code = event.ended, event.code
                return replace(self, history=history, ended=ended, ended_at=at, code=code)
        return replace(self, history=history, events=(*self.events, TimedEvent(at, event)))

    @property
    def broken_glass(self) -> tuple[str, ...]:
        """Who went on without approvals, and why."""
        found = (each.event for each in self.events if each.event.act == "break-glass")
        return tuple(event.detail for event in found)


@dataclass(frozen=True, slots=True)
class JournalContents:
    """A journal: its runs and its seal.

    damage: why it cannot be trusted; empty: its chain holds.
    """

    path: str
    runs: tuple[Run, ...] = ()
    rows: int = 0
    head: str = ""
    damage: str = ""


@dataclass(frozen=True, slots=True)
class RolloutStatus:
    """Status of the last run of a plan, by its journal; no switch was asked.

    state: as a sentence. holder: the controller at work; empty: none. now: when this was looked at.
    rehearsal: what is known of one, as a sentence; empty: nobody asked. code: the exit code that
    `apply` ends with in this state.
    """

    plan: str
    fabric: str
    state: str
    holder: str
    progress: RunProgress
    run: Run | None
    journal: JournalContents
    now: datetime
    rehearsal: str = ""
    code: int = 0
