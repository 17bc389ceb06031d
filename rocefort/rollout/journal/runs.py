"""Runs of a plan in its journal, and the status of the last one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from rocefort.rollout.journal.events import (
    Act,
    ActEvent,
    DrainStep,
    Event,
    Phase,
    RunEnded,
    RunResumed,
    RunStarted,
)
from rocefort.rollout.journal.history import FINISHED, RunHistory
from rocefort.rollout.journal.progress import BACK, CONFIRMED, SAVED, RunProgress

NOTHING_CHANGES = "no switch changes: there is nothing to apply"
CONFIRMED_BEFORE = (Act.ABORT, "was confirmed")  # an abort came too late


@dataclass(frozen=True, slots=True)
class ControllerProcess:
    """Process that controlled a run, and its start; mode is `apply` or `resume`."""

    at: str
    mode: str
    user: str
    host: str
    process: int
    tool: str


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """Event, and the time of its journal row (ISO 8601, UTC)."""

    at: str
    event: Event


@dataclass(frozen=True, slots=True)
class Run:
    """Run of one plan: its history, its controllers, and all of its events.

    `lives`: its controllers, in order. ended: its end, as a sentence; empty while it runs. code:
    its exit code.
    """

    plan: str
    history: RunHistory = field(default_factory=RunHistory)
    lives: tuple[ControllerProcess, ...] = ()
    events: tuple[TimedEvent, ...] = ()
    ended: str = ""
    ended_at: str = ""
    code: int = 0

    def after(self, at: str, event: Event) -> Run:
        """Return the run with one more row; at: ISO 8601."""
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
        """Users who continued without approvals, with their reasons."""
        events = (each.event for each in self.events if each.event.act == "break-glass")
        return tuple(event.detail for event in events)


@dataclass(frozen=True, slots=True)
class JournalContents:
    """Content of a journal: its runs and its seal.

    damage: why it cannot be trusted; empty: its hash chain is intact.
    """

    path: str
    runs: tuple[Run, ...] = ()
    rows: int = 0
    head: str = ""
    damage: str = ""

    @property
    def confirmed(self) -> frozenset[str]:
        """Switches that any of the runs has confirmed; the end of a drain alone is no change."""
        events = (each.event for run in self.runs for each in run.events)
        return frozenset(
            event.device
            for event in events
            if isinstance(event, ActEvent)
            and event.phase is Phase.DONE
            and (event.act is Act.CONFIRM or (event.act, event.detail) == CONFIRMED_BEFORE)
            and event.leg == DrainStep(event.of - 1)
        )


def untouched_text(*, touched: bool) -> str:
    """Sentence on the switches that a stopped rollout did not touch; it may not have read them."""
    return "the rollout touched no other switch" if touched else "no switch was touched"


@dataclass(frozen=True, slots=True)
class RolloutStatus:
    """Status of the last run of a plan, by its journal; no switch was read.

    state: as a sentence. holder: the active controller; empty: none. now: time of this status.
    rehearsal, policy: its result, and the approval policy, as sentences; empty: not requested.
    code: the exit code of `apply` in this state. trials: which switches should be on trial, how
    long, and who can end it.
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
    policy: str = ""
    code: int = 0
    trials: tuple[str, ...] = ()

    @property
    def untouched(self) -> str:
        """Sentence on the switches that a stopped run did not touch; "" while any may change."""
        if self.run is None or self.run.ended == FINISHED or self.holder:
            return ""
        devices = [device for wave in self.progress.plan.waves for device in wave.devices]
        touched = [device for device in devices if self.progress.history.touched(device)]
        if not {BACK, SAVED, CONFIRMED}.issuperset(map(self.progress.word, touched)):
            return ""
        return untouched_text(touched=bool(self.journal.confirmed or touched))
