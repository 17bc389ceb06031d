"""The runs that a journal has: who began each, who went on with it, what was done, how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from rocefort.models.change import Plan, Wave
from rocefort.models.progress import Progress, progress_of
from rocefort.models.rollout import ActEvent, Event, Leg, Phase, RunEnded, RunResumed, RunStarted
from rocefort.models.standing import Happened, Life, Run, Standing, Told
from rocefort.rollout.history import History
from rocefort.rollout.lock import holder
from rocefort.rollout.status import Entry, status


def told(journal: Path, plan: str = "") -> Told:
    """Everything that a journal tells, damaged or not; plan: only of this one, by its digest."""
    found = status(journal)
    runs = tuple(run for run in runs_of(found.entries) if plan in ("", run.plan))
    return Told(str(journal), runs, len(found.entries), found.head, found.damage)


def runs_of(entries: Iterable[Entry]) -> list[Run]:
    """All runs of a journal in the order in which they began."""
    found: list[Run] = []
    at_work: dict[str, int] = {}  # by plan, where its run that did not end stands
    for entry in entries:
        number, event = at_work.get(entry.plan), entry.event
        if isinstance(event, RunStarted):
            at_work[entry.plan] = len(found)
            life, rules, scale = _life(entry, event), event.rules, event.scale
            found.append(Run(entry.plan, (life,), rules, run=event.run, scale=scale))
        elif number is not None:
            found[number] = _after(found[number], entry)
            if isinstance(event, RunEnded):
                del at_work[entry.plan]
    return found


def _after(run: Run, entry: Entry) -> Run:
    """A run with one more row: another life, its end, or what happened."""
    match entry.event:
        case RunResumed() as resumed:
            return replace(run, lives=(*run.lives, _life(entry, resumed)))
        case RunEnded() as end:
            return replace(run, ended=end.ended, ended_at=entry.at, code=end.code)
        case event:
            return replace(run, events=(*run.events, Happened(entry.at, event)))


def _life(entry: Entry, event: RunStarted | RunResumed) -> Life:
    return Life(entry.at, event.act, event.user, event.host, event.process, event.tool)


def confirmed_of(found: Told) -> frozenset[str]:
    """Devices that any run of a plan confirmed."""
    events = (each.event for run in found.runs for each in run.events)
    return frozenset(
        event.device
        for event in events
        if (
            (event.act, event.phase) == ("confirm", Phase.DONE)
            or (event.act, event.phase, event.detail) == ("abort", Phase.DONE, "was confirmed")
        )
        and _last_leg(event)
    )


def _last_leg(event: Event) -> bool:
    """Whether an act was on the last leg of its switch's way: a drain alone is no change."""
    return isinstance(event, ActEvent) and event.leg == Leg(event.of - 1)


def standing(plan: Plan, journal: Path, now: datetime) -> Standing:
    """Where the last run of a plan stands; takes no lock, writes nothing beside the journal."""
    if not journal.is_file():
        nothing = Told(str(journal))
        state = "not begun; `rocefort apply` begins"
        return Standing(plan.digest, plan.fabric, state, "", progress_of(plan), None, nothing, now)
    at_work = holder(journal.with_name(journal.name + ".lock"))
    found = status(journal)
    runs = tuple(run for run in runs_of(found.entries) if run.plan == plan.digest)
    last = runs[-1] if runs else None
    seen = Told(str(journal), runs, len(found.entries), found.head, found.damage)
    history = found.history(plan.digest)
    state, code = _state(plan, last, history, at_work)
    progress = progress_in(plan, last)
    return Standing(plan.digest, plan.fabric, state, at_work, progress, last, seen, now, code=code)


def progress_in(plan: Plan, run: Run | None) -> Progress:
    """How far a run is, with seconds of the epoch as its clock."""
    progress = progress_of(plan, frozenset(run.rules.approve if run else ()))
    progress.scale = run.scale if run else 1.0
    for each in run.events if run else ():
        progress.take(each.event, datetime.fromisoformat(each.at).timestamp())
    return progress


def _state(plan: Plan, run: Run | None, history: History, at_work: str) -> tuple[str, int]:
    """A run as a sentence, and the exit code that its controller ends with in this state."""
    if run is None:
        return "not begun; `rocefort apply` begins", 0
    if run.ended:
        return run.ended, run.code
    return (f"under way by {at_work}", 0) if at_work else _left(plan, history)


def _left(plan: Plan, history: History) -> tuple[str, int]:
    """In what state a run was left that no controller carries."""
    if history.failure:
        return "failed, and not yet rolled back; `rocefort resume` does it", history.failure.code
    if history.paused:
        return f"paused by {history.paused}; `rocefort resume` goes on", 4
    wave = next((w.name for w in plan.waves if not _done(plan, w, history)), "")
    waits = history.rules.approve if history.rules and not history.unbound else ()
    if wave in waits and wave not in history.approved:
        how = "`rocefort approve`, then `rocefort resume`"
        return f"wave {wave} waits for its approval; {how}", 4
    return "interrupted, its controller is gone; `rocefort resume` goes on", 3


def _done(plan: Plan, wave: Wave, history: History) -> bool:
    lasts = ((device, Leg(len(plan.parts(wave, device)) - 1)) for device in wave.devices)
    return all(history.course(device, last).saved for device, last in lasts)
