"""Where a rollout stands, and what a journal tells, as text of 80 columns and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import asdict

from rocefort.models import progress as words
from rocefort.models.rollout import Phase, own_values, step_of
from rocefort.models.standing import Happened, Life, Run, Standing, Told
from rocefort.reports.rollout_lines import seal_lines
from rocefort.reports.terminal import WIDTH

SHOWN_RULES = ("max_unavailable", "approve", "not_author")
FOOT = "This is what the journal says; no switch was asked."


def status_text(standing: Standing) -> str:
    """Wave by wave; switches one by one where a wave is under way or did not end well."""
    return "\n".join(_status_lines(standing)) + "\n"


def _status_lines(standing: Standing) -> Iterator[str]:
    progress, now = standing.progress, standing.now.timestamp()
    yield f"plan {standing.plan[:12]} of {standing.fabric}"
    yield from _wrapped(f"state: {standing.state}")
    if standing.rehearsal:
        yield from _wrapped(f"rehearsal: {standing.rehearsal}")
    if standing.told.damage:
        yield from _wrapped(f"THE JOURNAL IS DAMAGED: {standing.told.damage}")
    width = max([16, *(len(wave.name) for wave in progress.waves)])
    for wave in progress.waves:
        state = progress.state_of(wave)
        told = [f"gate: {wave.gate}"] if wave.gate else []
        told += [f"approved {wave.approval}"] if wave.approval else []
        head = f"{wave.name:<{width}} {state:<14} "
        yield from _wrapped(head + ", ".join(told or [", ".join(wave.devices)]), len(head))
        if state in (words.DONE, words.WAITING, "needs approval"):
            continue
        for name in wave.devices:
            device, left = progress.devices[name], progress.left_s(name, now)
            timer = "" if left is None else f", {left} s left of its trial"
            yield f"  {name:<14} {device.word}{timer}"
            if device.trouble:
                yield from _wrapped(f"    {device.trouble}", 6)
    for note in progress.notes:
        yield from _wrapped(note)
    yield from _seal(standing.told)
    yield FOOT


def _seal(told: Told) -> Iterator[str]:
    """What seals the journal, where it has a row; one that is damaged is sealed by nothing."""
    if told.head and not told.damage:
        yield from seal_lines(told.journal, told.rows, told.head)


def status_json(standing: Standing) -> str:
    """The same as data."""
    progress, now = standing.progress, standing.now.timestamp()
    waves = [
        {
            "name": wave.name,
            "state": progress.state_of(wave),
            "gate": wave.gate,
            "approval": wave.approval,
            "devices": [
                {
                    "name": name,
                    "state": progress.devices[name].word,
                    "trial_left_s": progress.left_s(name, now),
                    "trouble": progress.devices[name].trouble,
                }
                for name in wave.devices
            ],
        }
        for wave in progress.waves
    ]
    content = {
        "plan": standing.plan,
        "fabric": standing.fabric,
        "state": standing.state,
        "controller": standing.holder,
        "rehearsal": standing.rehearsal,
        "at": standing.now.isoformat(timespec="seconds"),
        "waves": waves,
        "notes": progress.notes,
        "journal": _sealed(standing.told),
    }
    return json.dumps(content, indent=1) + "\n"


def _sealed(told: Told) -> dict[str, object]:
    head = "" if told.damage else told.head  # as `_seal`: what is damaged is sealed by nothing
    return {"file": told.journal, "rows": told.rows, "head": head, "damage": told.damage}


def history_text(told: Told) -> str:
    """Every run with who carried it, what was done and when; intents are in the JSON alone."""
    lines = [line for run in told.runs for line in _run_lines(run)] or ["no run"]
    lines += _seal(told)
    damage = f"THE JOURNAL IS DAMAGED: {told.damage}" if told.damage else ""
    lines += _wrapped(damage or "its chain holds")
    return "\n".join(lines) + "\n"


def _run_lines(run: Run) -> Iterator[str]:
    yield f"plan {run.plan[:12]}" + (f", run {run.run[:8]}" if run.run else "")
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


def history_json(told: Told) -> str:
    """The same as data, with intents."""
    runs = [
        {
            "plan": run.plan,
            "run": run.run,
            "lives": [asdict(life) for life in run.lives],
            "rules": {name: getattr(run.rules, name) for name in SHOWN_RULES},
            "break_glass": list(run.broken_glass),
            "events": [_happened(each) for each in run.events],
            "ended": run.ended,
            "ended_at": run.ended_at,
        }
        for run in told.runs
    ]
    return json.dumps({"runs": runs, "journal": _sealed(told)}, indent=1) + "\n"


def _happened(each: Happened) -> dict[str, object]:
    return {"at": each.at, **step_of(each.event), "data": own_values(each.event)}


def _wrapped(text: str, indent: int = 2) -> list[str]:
    lines = textwrap.wrap(
        text,
        WIDTH,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.rstrip() for line in lines] or [text.rstrip()]
