"""How a rollout ended, and what became of every device that it has come to."""

from __future__ import annotations

from dataclasses import replace

from rocefort.errors import RocefortError
from rocefort.models.rollout.events import Applied, Runs, Seen, Trouble, Whose
from rocefort.models.rollout.history import AS_BEFORE, AS_INTENDED
from rocefort.rollout.controller.device_state import Device, Stand
from rocefort.rollout.controller.next_action import (
    Action,
    Await,
    Finished,
    Paused,
    RolledBack,
    Stopped,
    Table,
    came_back,
)
from rocefort.rollout.journal.journal import JournalFailed

CHANGED_AT = 2  # from this state of its way on, a drained switch runs its change


def ended(now: Table, action: Action) -> Applied:
    """How a rollout ended by an action that ends it."""
    base = reached(now)
    match action:
        case Finished():
            return base
        case RolledBack(failure, lost):
            text = "; ".join([*failure.texts, *lost])
            return replace(base, failure=text, exit_code=failure.code)
        case Stopped(troubles):
            text = "; ".join(trouble.text for trouble in troubles)
            return replace(
                base,
                failure=text,
                exit_code=troubles[0].code,
                unfinished=bool(base.unknown),
            )
        case Paused(wave, by):
            text = f"paused by {by} before wave {wave}; `rocefort resume` goes on"
        case Await(wave):
            text = f"wave {wave} waits for its approval; `rocefort approve`, then `rocefort resume`"
        case _:
            raise AssertionError(action)
    return replace(base, failure=text, exit_code=4, unfinished=True)


def reached(now: Table) -> Applied:
    """What became of every device that the rollout has come to."""
    ends: dict[str, list[str]] = {"confirmed": [], "already": [], "rolled_back": []}
    unknown: list[str] = []
    for device in now.devices:
        if device.stand is Stand.NEW:
            ends["confirmed" if device.touched else "already"].append(device.name)
        elif device.touched:
            back = came_back(device)
            (ends["rolled_back"] if back else unknown).append(device.name)
    return Applied(
        confirmed=tuple(ends["confirmed"]),
        already=tuple(ends["already"]),
        rolled_back=tuple(ends["rolled_back"]),
        unknown=tuple(unknown),
    )


def cut_short(now: Table, error: RocefortError) -> Applied:
    """How a rollout ended that can neither go on nor back: the switches' timers do the rest.

    error: what ended it. Where the journal failed there is no act without a record of it: not even
    an abort.
    """
    known, running = reached(now), now.history.running
    begun = tuple(
        device.name
        for device in now.devices
        if device.touched and device.name not in known.confirmed
    )
    how = "nothing further is done"
    if begun:
        how += f"; what is on trial reverts by itself within {now.plan.trial_s} s"
    if not running:
        how += "; correct it, then apply the plan again"
    said = error.problem.what if isinstance(error, JournalFailed) else str(error)
    return replace(
        known,
        rolled_back=(),
        unknown=begun,
        failure=f"{said}; {how}",
        exit_code=error.exit_code,
        unfinished=running,
    )


def after_abort(device: Device, seen: Seen, error: RocefortError | None) -> Trouble:
    """What an abort came to, as its switch says; code 0: it is old, or had been confirmed."""
    name = device.name
    if seen.trouble:
        return seen.trouble
    if seen.maybe_ours:
        return Trouble(str(error or f"{name}: its trial is still pending"))
    if seen.runs is Runs.OTHER or seen.trial is Whose.FOREIGN:
        return Trouble(f"{name}: does not run what it ran before the change")
    if len(device.parts) > 1:
        behind = seen.at <= device.leg.part if device.leg.back else seen.at > device.leg.part
        return Trouble("was confirmed" if behind else "", 0)
    return Trouble("" if seen.runs is Runs.OLD else "was confirmed", 0)


def found(seen: Seen) -> str:
    """What a controller that goes on finds on a switch."""
    if seen.trouble:
        return seen.trouble.text
    if seen.trial is Whose.OURS:
        left = "an unknown time" if seen.left_s is None else f"{seen.left_s} s"
        return f"on trial, {left} left"
    if seen.trial is Whose.UNKNOWN:
        return "a trial is pending, and the switch does not show whose it is"
    if seen.trial is Whose.FOREIGN:
        return "a trial of somebody else is pending"
    saved = "" if seen.runs not in (Runs.NEW, Runs.BETWEEN) or seen.saved else ", not saved"
    words = {Runs.OLD: AS_BEFORE, Runs.NEW: AS_INTENDED, Runs.OTHER: "changed"}
    drained = "drained" if seen.at < CHANGED_AT else "drained and changed"
    return words.get(seen.runs, drained) + saved
