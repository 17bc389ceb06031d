"""Where a rollout stands, and what a journal tells, as text of 80 columns and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pydantic import JsonValue

from rocefort.models import progress as words
from rocefort.models.base import Frozen
from rocefort.models.rollout import Phase, Rules, own_values, step_of
from rocefort.models.runs import Happened, JournalContents, Life, RolloutStatus, Run
from rocefort.reports.rollout_lines import seal_lines
from rocefort.reports.wording import WIDTH

FOOT = "This is what the journal says; no switch was asked."


def status_text(status: RolloutStatus) -> str:
    """Wave by wave; switches one by one where a wave is under way or did not end well."""
    return "\n".join(_status_lines(status)) + "\n"


def _status_lines(status: RolloutStatus) -> Iterator[str]:
    progress, now = status.progress, status.now.timestamp()
    yield f"plan {status.plan[:12]} of {status.fabric}"
    yield from _wrapped(f"state: {status.state}")
    if status.rehearsal:
        yield from _wrapped(f"rehearsal: {status.rehearsal}")
    if status.journal.damage:
        yield from _wrapped(f"THE JOURNAL IS DAMAGED: {status.journal.damage}")
    width = max([16, *(len(wave.name) for wave in progress.plan.waves)])
    for wave in progress.plan.waves:
        state = progress.state_of(wave)
        gate, approval = progress.gate(wave), progress.approval(wave)
        told = [f"gate: {gate}"] if gate else []
        told += [f"approved {approval}"] if approval else []
        head = f"{wave.name:<{width}} {state:<14} "
        yield from _wrapped(head + ", ".join(told or [", ".join(wave.devices)]), len(head))
        if state in (words.DONE, words.WAITING, words.NEEDS_APPROVAL):
            continue
        for name in wave.devices:
            trouble, left = progress.trouble(name), progress.left_s(name, now)
            timer = "" if left is None else f", {left} s left of its trial"
            yield f"  {name:<14} {progress.word(name)}{timer}"
            if trouble:
                yield from _wrapped(f"    {trouble}", 6)
    for note in progress.history.notes:
        yield from _wrapped(note)
    yield from _seal(status.journal)
    yield FOOT


def _seal(contents: JournalContents) -> Iterator[str]:
    """What seals the journal, where it has a row; one that is damaged is sealed by nothing."""
    if contents.head and not contents.damage:
        yield from seal_lines(contents.path, contents.rows, contents.head)


class DeviceOutput(Frozen):
    """State of one switch; trial_left_s: seconds until its trial ends, None without one."""

    name: str
    state: str
    trial_left_s: int | None
    trouble: str


class WaveOutput(Frozen):
    """State of a wave and of its switches."""

    name: str
    state: str
    gate: str
    approval: str
    devices: tuple[DeviceOutput, ...]


class JournalOutput(Frozen):
    """The journal: how many rows it has, and the link that seals them, "" where it is damaged."""

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
    rehearsal: str
    at: str
    waves: tuple[WaveOutput, ...]
    notes: tuple[str, ...]
    journal: JournalOutput


def status_json(status: RolloutStatus) -> str:
    """The same as data."""
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
                    trouble=progress.trouble(name),
                )
                for name in wave.devices
            ),
        )
        for wave in progress.plan.waves
    )
    content = StatusOutput(
        plan=status.plan,
        fabric=status.fabric,
        state=status.state,
        controller=status.holder,
        rehearsal=status.rehearsal,
        at=status.now.isoformat(timespec="seconds"),
        waves=tuple(waves),
        notes=tuple(progress.history.notes),
        journal=_sealed(status.journal),
    )
    return content.model_dump_json(indent=1) + "\n"


def _sealed(contents: JournalContents) -> JournalOutput:
    head = "" if contents.damage else contents.head  # what is damaged is sealed by nothing
    return JournalOutput(file=contents.path, rows=contents.rows, head=head, damage=contents.damage)


def history_text(contents: JournalContents) -> str:
    """Every run with who carried it, what was done and when; intents are in the JSON alone."""
    lines = [line for run in contents.runs for line in _run_lines(run)] or ["no run"]
    lines += _seal(contents)
    damage = f"THE JOURNAL IS DAMAGED: {contents.damage}" if contents.damage else ""
    lines += _wrapped(damage or "its chain holds")
    return "\n".join(lines) + "\n"


def _run_lines(run: Run) -> Iterator[str]:
    yield f"plan {run.plan[:12]}" + (f", run {run.history.run[:8]}" if run.history.run else "")
    for life in run.lives:
        yield from _wrapped(_life(life))
    for each in run.events:
        if each.event.phase is not Phase.INTENT:
            yield from _event_lines(each)
    for broken in run.broken_glass:
        yield from _wrapped(f"WENT ON WITHOUT APPROVALS {broken}")
    ended = f"ended {_moment(run.ended_at)}: {run.ended}" if run.ended else "has not ended"
    yield from _wrapped(f"{ended}")
    yield ""


def _life(life: Life) -> str:
    who = f"{life.user or 'somebody'} on {life.host}, process {life.process}, rocefort {life.tool}"
    return f"{life.mode} {_moment(life.at)} by {who}"


def _event_lines(each: Happened) -> Iterator[str]:
    event = each.event
    failed = "FAILED " if event.phase is Phase.FAILED else ""
    head = f"  {each.at[11:19]} {event.wave:<14} {event.device:<8} {event.act:<8} "
    yield from _wrapped(head + failed + event.detail, len(head))


def _moment(at: str) -> str:
    return f"{at[:10]} {at[11:19]} UTC"


class EventOutput(Frozen):
    """One step; data: what the events of its act have beside."""

    at: str
    wave: str
    device: str
    act: str
    phase: str
    detail: str
    code: int
    data: dict[str, JsonValue]


class RulesOutput(Frozen):
    """Rules that a run began with; approve: waves that wait for an approval."""

    max_unavailable: int
    approve: tuple[str, ...]
    not_author: bool


class RunOutput(Frozen):
    """One run of a plan; lives: the processes that carried it."""

    plan: str
    run: str
    lives: tuple[Life, ...]
    rules: RulesOutput | None
    break_glass: tuple[str, ...]
    events: tuple[EventOutput, ...]
    ended: str
    ended_at: str


class HistoryOutput(Frozen):
    """Runs of a journal, intents included."""

    runs: tuple[RunOutput, ...]
    journal: JournalOutput


def history_json(contents: JournalContents) -> str:
    """The same as data, with intents."""
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
    content = HistoryOutput(runs=tuple(runs), journal=_sealed(contents))
    return content.model_dump_json(indent=1) + "\n"


def _rules(rules: Rules | None) -> RulesOutput | None:
    if rules is None:
        return None
    return RulesOutput(
        max_unavailable=rules.max_unavailable, approve=rules.approve, not_author=rules.not_author
    )


def _event_output(each: Happened) -> EventOutput:
    values = step_of(each.event) | {"at": each.at, "data": own_values(each.event)}
    return EventOutput.model_validate(values)


def _wrapped(text: str, indent: int = 2) -> list[str]:
    lines = textwrap.wrap(
        text,
        WIDTH,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.rstrip() for line in lines] or [text.rstrip()]
