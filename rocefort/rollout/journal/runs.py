"""Runs of a plan in its journal: who began each, its acts, its outcome, and the status.

SQLite may write to the side files of a database that it only reads. So a copy is read, in memory
if there is /dev/shm. The file does not change while a controller runs, which only appends to the
log. A copy made while a controller ended has a damaged chain, and is made again.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, ExitCode, ServiceFailed
from rocefort.dialects.words import in_words
from rocefort.models.change.plan import Plan, Wave
from rocefort.rollout.journal.events import (
    Act,
    ActEvent,
    ActPhase,
    DrainStep,
    Event,
    RunEnded,
    RunResumed,
    RunStarted,
)
from rocefort.rollout.journal.history import (
    BACK,
    CONFIRMED,
    FINISHED,
    OUTSIDE,
    SAVED,
    RunHistory,
    RunProgress,
    history_of,
)
from rocefort.rollout.journal.journal import (
    COLUMNS,
    FIRST,
    FORMAT,
    HEAD_BYTES,
    Connection,
    Row,
    damage,
    event_of_row,
    head_content,
    sound_rows,
)
from rocefort.rollout.journal.lock import holder
from rocefort.rollout.journal.run_directory import RunDirectory

RESUMES = "`rocefort resume` continues"
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
            and event.phase is ActPhase.DONE
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


TRIES = 3
# Errors of the copy's disk; they do not mean damage.
OF_THE_DISK = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)
# Directories for the copy, of mode 0700: in memory, or the one for temporary files.
PLACES = ("/dev/shm", None)  # noqa: S108


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One row of a journal."""

    number: int
    at: str
    plan: str
    event: Event


@dataclass(frozen=True, slots=True)
class JournalReading:
    """Content of a journal. `damage`: reason why it cannot be trusted.

    entries: the rows before the first changed one.
    head: the newest link of its chain; a copy of it elsewhere reveals a forged journal.
    """

    entries: tuple[JournalEntry, ...]
    head: str
    damage: str = ""

    def history(self, plan_digest: str) -> RunHistory:
        """History of the last run of a plan."""
        return history_of(entry.event for entry in self.entries if entry.plan == plan_digest)


def status(path: Path) -> JournalReading:
    """Read a journal, also a damaged one.

    Raises BadInput for a missing journal, ServiceFailed if no copy of it can be written.
    """
    if not path.is_file():
        raise BadInput("no such journal", file=str(path), how="`rocefort apply` creates it")
    for _ in range(TRIES):
        reading = _journal_reading(path)
        if not reading.damage:
            break
    return reading


def _journal_reading(path: Path) -> JournalReading:
    head, file = FIRST, RunDirectory.of_journal(path).head
    try:
        with suppress(FileNotFoundError):
            head = head_content(
                regular_file.read_bytes(file)[:HEAD_BYTES]
            )  # first: rows may only be more
        rows = _rows(path)
    except sqlite3.Error as error:
        return JournalReading((), "", str(error))
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None
    entries = tuple(_entry(row) for row in rows[: sound_rows(rows)])
    link = str(rows[-1][-1]) if rows else ""
    return JournalReading(entries, link, damage(_up_to(rows, head), head))


def _up_to(rows: list[Row], head: tuple[int, str]) -> list[Row]:
    """Rows without those written after the head was read: a controller may be running."""
    return rows if head == FIRST else rows[: head[0] + 1]


def _rows(path: Path) -> list[Row]:
    content, log = regular_file.read_bytes(path), b""
    with suppress(FileNotFoundError):
        log = path.with_name(path.name + "-wal").read_bytes()
    troubles = []
    for parent in PLACES:
        try:
            with tempfile.TemporaryDirectory(prefix="rocefort-status-", dir=parent) as folder:
                copy = Path(folder) / "journal"
                copy.write_bytes(content)
                if log:
                    copy.with_name("journal-wal").write_bytes(log)
                return _rows_of(copy)
        except OSError as error:  # read-only, full, or missing
            troubles.append(f"{parent or 'the temporary directory'} ({error.strerror})")
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0)  # an error of Python's own has none
            if code & 0xFF not in OF_THE_DISK:
                raise
            troubles.append(f"{parent or 'the temporary directory'} ({error})")
    how = "set TMPDIR to a directory in which you may write"
    what = f"is read from a copy, which can be written neither to {' nor to '.join(troubles)}"
    raise ServiceFailed(what, file=str(path), how=how)


def _rows_of(copy: Path) -> list[Row]:
    with closing(sqlite3.connect(copy, factory=Connection)) as connection:
        (version,) = connection.execute("pragma user_version").fetchone()
        if version != FORMAT:
            raise sqlite3.DatabaseError(f"format {version}, this Rocefort reads {FORMAT}")
        order = f"select {COLUMNS}, hash from entry order by id"  # noqa: S608
        return connection.execute(order).fetchall()


def _entry(row: Row) -> JournalEntry:
    number, at, plan, *columns, _ = row
    return JournalEntry(int(str(number)), str(at), str(plan), event_of_row(columns))


def contents_of(journal: Path, plan: str = "") -> JournalContents:
    """Contents of a journal, also of a damaged one. plan: digest, to select one plan's runs."""
    reading = status(journal)
    runs = tuple(run for run in runs_of(reading.entries) if plan in ("", run.plan))
    return JournalContents(str(journal), runs, len(reading.entries), reading.head, reading.damage)


def runs_of(entries: Iterable[JournalEntry]) -> list[Run]:
    """All runs of a journal in the order in which they began."""
    runs: list[Run] = []
    at_work: dict[str, int] = {}  # by plan, the index of its unfinished run
    for entry in entries:
        if isinstance(entry.event, RunStarted):
            at_work[entry.plan] = len(runs)
            runs.append(Run(entry.plan))
        if (number := at_work.get(entry.plan)) is None:
            continue
        runs[number] = runs[number].after(entry.at, entry.event)
        if isinstance(entry.event, RunEnded):
            del at_work[entry.plan]
    return runs


def rollout_status(plan: Plan, journal: Path, now: datetime) -> RolloutStatus:
    """Status of the last run of a plan, without a lock and without writing a file."""
    there = journal.is_file()
    at_work = holder(RunDirectory.of_journal(journal).lock) if there else ""
    contents = contents_of(journal, plan.digest) if there else JournalContents(str(journal))
    last = contents.runs[-1] if contents.runs else None
    state, code = _state(plan, last, at_work)
    progress = RunProgress(plan, last.history, last.history.scale) if last else RunProgress(plan)
    on_trial = () if last is None or last.ended else progress.pending_trials(now.timestamp())
    trials = tuple(in_words(trial.sentence) for trial in on_trial)
    return RolloutStatus(
        plan.digest,
        plan.fabric,
        state,
        at_work,
        progress,
        last,
        contents,
        now,
        code=code,
        trials=trials,
    )


def _state(plan: Plan, run: Run | None, at_work: str) -> tuple[str, int]:
    """State of a run as a sentence, and the exit code of its controller in this state."""
    if not plan.waves:
        return NOTHING_CHANGES, 0
    if run is None:
        return "not begun; `rocefort apply` begins it", 0
    if run.ended:
        return run.ended, run.code
    return (f"in progress by {at_work}", 0) if at_work else _abandoned_state(plan, run.history)


def _abandoned_state(plan: Plan, history: RunHistory) -> tuple[str, int]:
    """State of an unfinished run without a controller."""
    if history.failure:
        return (
            "failed, not yet rolled back; `rocefort resume` rolls it back",
            history.failure.code,
        )
    if history.held:
        how = "`rocefort approve`, then `rocefort resume`" if OUTSIDE in history.held else RESUMES
        return f"{history.held}; {how}", ExitCode.STOPPED
    if history.paused:
        return (
            f"paused as requested by {history.paused}; {RESUMES}",
            ExitCode.STOPPED,
        )
    wave = next((w.name for w in plan.waves if not is_wave_done(plan, w, history)), "")
    waits = history.rules.approve if history.rules and not history.unbound else ()
    if wave in waits and wave not in history.approved:
        how = "`rocefort approve`, then `rocefort resume`"
        return f"wave {wave} waits for its approval; {how}", ExitCode.STOPPED
    return "interrupted, its controller is gone; `rocefort resume` continues", ExitCode.FAILED


def is_wave_done(plan: Plan, wave: Wave, history: RunHistory) -> bool:
    """Whether every switch of a wave has saved its target configuration."""
    lasts = ((device, DrainStep(len(plan.parts(wave, device)) - 1)) for device in wave.devices)
    return all(history.course(device, last).saved for device, last in lasts)
