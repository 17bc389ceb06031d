"""State of a rollout and contents of a journal, as blocks and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from rocefort.base.errors import ExitCode
from rocefort.models.base import Frozen
from rocefort.reports.blocks import Block, Note, Section, Table, TableColumn, Tone
from rocefort.rollout.journal import history as words
from rocefort.rollout.journal.events import ActPhase, ApplyRules, own_values, step_of
from rocefort.rollout.journal.runs import (
    ControllerProcess,
    JournalContents,
    RolloutStatus,
    Run,
    TimedEvent,
)
from rocefort.rollout.report.event_lines import seal_report

TRIAL_OVER = "its trial is over: its timer has restored the old configuration"
FOOT = "This is the state in the journal; no switch was read."


def status_report(status: RolloutStatus) -> Iterator[Block]:
    """Show each wave; for a current or failed wave also its switches."""
    yield Note(f"plan {status.plan[:12]} of {status.fabric}")
    yield Note(f"state: {status.state}")
    if status.untouched:
        yield Note(status.untouched)
    if status.progress.plan.limit:
        yield Note(status.progress.plan.limit.sentence)
    if status.policy:
        yield Note(status.policy)
    if status.rehearsal:
        yield Note(f"rehearsal: {status.rehearsal}")
    if status.journal.damage:
        yield Note(f"THE JOURNAL IS DAMAGED: {status.journal.damage}", Tone.ERROR)
    rows = Table((TableColumn(), TableColumn(), TableColumn(wraps=True)), tuple(_wave_rows(status)))
    notes = (*map(Note, status.progress.history.notes), *_seal(status.journal), Note(FOOT))
    trials = [Note(text, Tone.WARNING) for text in status.trials]
    yield Section("", (rows, *trials, *notes))


def _wave_rows(status: RolloutStatus) -> Iterator[tuple[str, str, str]]:
    progress, now = status.progress, status.now.timestamp()
    for wave in progress.plan.waves:
        state = progress.state_of(wave)
        gate, approval = progress.gate(wave), progress.approval(wave)
        details = [f"gate: {gate}"] if gate else []
        details += [f"approved {approval}"] if approval else []
        yield wave.name, state, ", ".join(details or wave.devices)
        if state in (words.DONE, words.WAITING, words.NEEDS_APPROVAL):
            continue
        for name in wave.devices:
            trouble, left = progress.trouble(name), progress.left_s(name, now)
            timer = "" if left is None else f"{left} s left of its trial" if left else TRIAL_OVER
            yield f"  {name}", progress.word(name), "; ".join(filter(None, (timer, trouble)))


def _seal(contents: JournalContents) -> Iterator[Block]:
    """Show the seal of a journal with rows; a damaged journal has none."""
    if contents.head and not contents.damage:
        yield from seal_report(contents.path, contents.rows, contents.head)


class DeviceOutput(Frozen):
    """State of one switch.

    trial_left_s: seconds until its trial ends, None without one. trial_id: id by which any session
    ends it; "": it has none, and only its session ends it, None: not known.
    """

    name: str
    state: str
    trial_left_s: int | None
    trial_id: str | None
    trouble: str


class WaveOutput(Frozen):
    """State of a wave and of its switches."""

    name: str
    state: str
    gate: str
    approval: str
    devices: tuple[DeviceOutput, ...]


class JournalOutput(Frozen):
    """Journal: number of rows, and the link that seals them, "" if it is damaged."""

    file: str
    rows: int
    head: str
    damage: str


class StatusOutput(Frozen):
    """State of a rollout."""

    plan: str
    fabric: str
    state: str
    controller: str
    policy: str
    rehearsal: str
    at: str
    waves: tuple[WaveOutput, ...]
    notes: tuple[str, ...]
    journal: JournalOutput


def status_output(status: RolloutStatus) -> StatusOutput:
    """Return the state for programs."""
    progress, now = status.progress, status.now.timestamp()
    waves = (
        WaveOutput(
            name=wave.name,
            state=progress.state_of(wave),
            gate=progress.gate(wave),
            approval=progress.approval(wave),
            devices=tuple(
                DeviceOutput(
                    name=name,
                    state=progress.word(name),
                    trial_left_s=progress.left_s(name, now),
                    trial_id=progress.trial_id(name),
                    trouble=progress.trouble(name),
                )
                for name in wave.devices
            ),
        )
        for wave in progress.plan.waves
    )
    return StatusOutput(
        plan=status.plan,
        fabric=status.fabric,
        state=status.state,
        controller=status.holder,
        policy=status.policy,
        rehearsal=status.rehearsal,
        at=status.now.isoformat(timespec="seconds"),
        waves=tuple(waves),
        notes=tuple(progress.history.notes),
        journal=_sealed(status.journal),
    )


def _sealed(contents: JournalContents) -> JournalOutput:
    head = "" if contents.damage else contents.head  # a damaged journal has no seal
    return JournalOutput(file=contents.path, rows=contents.rows, head=head, damage=contents.damage)


def history_report(contents: JournalContents) -> Iterator[Block]:
    """Show every run with its operator, steps and times; only the JSON has intents."""
    yield from map(_run, contents.runs)
    if not contents.runs:
        yield Note("no run")
    yield Section("", tuple(_seal(contents)))
    if contents.damage:
        yield Note(f"THE JOURNAL IS DAMAGED: {contents.damage}", Tone.ERROR)
    else:
        yield Note("its chain holds")


def _run(run: Run) -> Section:
    steps = tuple(_step(each) for each in run.events if each.event.phase is not ActPhase.INTENT)
    broken = tuple(f"CONTINUED WITHOUT APPROVALS {one}" for one in run.broken_glass)
    ended = f"ended {_moment(run.ended_at)}: {run.ended}" if run.ended else "has not ended"
    name = f"plan {run.plan[:12]}" + (f", run {run.history.run[:8]}" if run.history.run else "")
    heads = (TableColumn(), TableColumn(), TableColumn(), TableColumn(), TableColumn(wraps=True))
    return Section(
        "",
        (
            Note(name),
            *map(Note, map(_process_text, run.lives)),
            Table(heads, steps),
            *(Note(text, Tone.WARNING) for text in broken),
            Note(ended),
        ),
    )


def _step(each: TimedEvent) -> tuple[str, ...]:
    event = each.event
    failed = "FAILED " if event.phase is ActPhase.FAILED and event.code != ExitCode.STOPPED else ""
    return each.at[11:19], event.wave, event.device, str(event.act), failed + event.detail


def _process_text(life: ControllerProcess) -> str:
    user = life.user or "unknown user"
    process = f"{user} on {life.host}, process {life.process}, rocefort {life.tool}"
    return f"{life.mode} {_moment(life.at)} by {process}"


def _moment(at: str) -> str:
    return f"{at[:10]} {at[11:19]} UTC"


class EventOutput(Frozen):
    """Step of a run; data: further values of its event."""

    at: str
    wave: str
    device: str
    act: str
    phase: str
    detail: str
    code: int
    data: dict[str, JsonValue]


class RunRules(Frozen):
    """Rules at the start of a run; approve: waves that wait for an approval."""

    max_unavailable: int
    approve: tuple[str, ...]
    not_author: bool


class RunOutput(Frozen):
    """Run of a plan; `lives`: its controller processes."""

    plan: str
    run: str
    lives: tuple[ControllerProcess, ...]
    rules: RunRules | None
    break_glass: tuple[str, ...]
    events: tuple[EventOutput, ...]
    ended: str
    ended_at: str


class HistoryOutput(Frozen):
    """Runs of a journal, intents included."""

    runs: tuple[RunOutput, ...]
    journal: JournalOutput


def history_output(contents: JournalContents) -> HistoryOutput:
    """Return the runs for programs, with intents."""
    runs = (
        RunOutput(
            plan=run.plan,
            run=run.history.run,
            lives=tuple(run.lives),
            rules=_rules(run.history.rules),
            break_glass=tuple(run.broken_glass),
            events=tuple(map(_event_output, run.events)),
            ended=run.ended,
            ended_at=run.ended_at,
        )
        for run in contents.runs
    )
    return HistoryOutput(runs=tuple(runs), journal=_sealed(contents))


def _rules(rules: ApplyRules | None) -> RunRules | None:
    if rules is None:
        return None
    return RunRules(
        max_unavailable=rules.max_unavailable, approve=rules.approve, not_author=rules.not_author
    )


def _event_output(each: TimedEvent) -> EventOutput:
    values = step_of(each.event) | {"at": each.at, "data": own_values(each.event)}
    return EventOutput.model_validate(values)
