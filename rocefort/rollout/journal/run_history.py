"""Runs of a journal: the user who began or resumed each, its acts and its outcome."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from rocefort.base.exit_codes import ExitCode
from rocefort.dialects.words import in_words
from rocefort.models.change.plan import Plan, Wave
from rocefort.rollout.journal.events import DrainStep, RunEnded, RunStarted
from rocefort.rollout.journal.history import RunHistory
from rocefort.rollout.journal.lock import holder
from rocefort.rollout.journal.progress import RunProgress
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import NOTHING_CHANGES, JournalContents, RolloutStatus, Run
from rocefort.rollout.journal.status import JournalEntry, status


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
        return f"{history.held}; `rocefort resume` continues", ExitCode.STOPPED
    if history.paused:
        return (
            f"paused as requested by {history.paused}; `rocefort resume` continues",
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
