"""Outcome of a rollout, of its devices and acts, and the events that the loop records of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from rocefort.base import internal_errors
from rocefort.base.errors import DeviceFailed, ExitCode, RocefortError, ServiceFailed
from rocefort.dialects.words import in_words
from rocefort.models.change.plan import Wave
from rocefort.models.wording import listing
from rocefort.rollout import operator
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.controller.device_state import DeviceState, DeviceStatus
from rocefort.rollout.controller.next_action import (
    Action,
    AwaitApproval,
    EndRollback,
    FinishRollout,
    HoldWave,
    PauseRollout,
    RolloutState,
    StopRollout,
    came_back,
)
from rocefort.rollout.controller.protocols import WindowGuard
from rocefort.rollout.journal.events import (
    Act,
    ActEvent,
    ActPhase,
    RolloutOutcome,
    RolloutProblem,
    RunningConfig,
    StepEvent,
    SwitchState,
    TrialOwner,
)
from rocefort.rollout.journal.history import AS_BEFORE, AS_INTENDED, OUTSIDE, RunHistory
from rocefort.rollout.journal.journal import JournalFailed
from rocefort.rollout.journal.pending_trials import PendingTrial, pending_trials

CHANGED_AT = 2  # number of the first state in which a drained switch runs its change


def ending_of(now: RolloutState, action: Action) -> RolloutOutcome:
    """Outcome of a rollout from the action that ends it."""
    base = device_outcomes(now)
    match action:
        case FinishRollout():
            return base
        case EndRollback(failure, lost):
            text = "; ".join([*failure.texts, *lost])
            code = (
                DeviceFailed.exit_code
                if lost and failure.code == ExitCode.STOPPED
                else failure.code
            )
            return replace(base, failure=text, exit_code=code)
        case StopRollout(troubles):
            text = "; ".join(trouble.text for trouble in troubles)
            return replace(
                base,
                failure=text,
                exit_code=troubles[0].code,
                unfinished=bool(base.unknown),
            )
        case PauseRollout(wave, by):
            text = f"paused before wave {wave} as requested by {by}; `rocefort resume` continues"
        case AwaitApproval(wave, outside):
            what = outside_text(outside) if outside else "waits for its approval"
            text = f"wave {wave} {what}; `rocefort approve`, then `rocefort resume`"
        case HoldWave(wave, why, how):
            text = f"wave {wave} {why}; {how}"
        case _:
            raise AssertionError(action)
    return replace(base, failure=text, exit_code=ExitCode.STOPPED, unfinished=True)


def outside_text(reason: str) -> str:
    """Text of a wave that waits for an approval to begin outside its window; begins with a verb."""
    return f"{OUTSIDE} {reason}"


def outside_note(history: RunHistory, reason: str) -> str:
    """End of the prompt for an approval of such a wave; empty: no calendar holds the wave."""
    return f"; it begins although {reason}, {history.outside}" if reason else ""


def interruption(now: RolloutState, wave: str) -> str:
    """Sentence on the interruption of a wave, or before it."""
    if any(device.touched for device in now.of(wave)):
        return f"wave {wave}: interrupted"
    return f"interrupted before wave {wave}"


def device_outcomes(now: RolloutState) -> RolloutOutcome:
    """Outcome of every device that the rollout has reached."""
    ends: dict[str, list[str]] = {"confirmed": [], "already": [], "rolled_back": []}
    unknown: list[str] = []
    for device in now.devices:
        if device.status is DeviceStatus.TARGET:
            ends["confirmed" if device.touched else "already"].append(device.name)
        elif device.touched:
            back = came_back(device)
            (ends["rolled_back"] if back else unknown).append(device.name)
    return RolloutOutcome(
        confirmed=tuple(ends["confirmed"]),
        already=tuple(ends["already"]),
        rolled_back=tuple(ends["rolled_back"]),
        unknown=tuple(unknown),
    )


def cut_short(now: RolloutState, error: RocefortError) -> RolloutOutcome:
    """Outcome of a rollout that can neither continue nor roll back: trial timers do the rest.

    error: the cause. After a failure of the journal there is no further act, because no act is
    allowed without a record: not even an abort.
    """
    reached, running = device_outcomes(now), now.history.running
    begun = tuple(
        device.name
        for device in now.devices
        if device.touched and device.name not in reached.confirmed
    )
    how = "nothing further is done"
    if begun:
        how += f"; what is on trial reverts automatically within {now.plan.trial_s} s"
    if not running:
        how += "; correct it, then apply the plan again"
    message = error.problem.what if isinstance(error, JournalFailed) else str(error)
    return replace(
        reached,
        rolled_back=(),
        unknown=begun,
        failure=f"{message}; {how}",
        exit_code=error.exit_code,
        unfinished=running,
    )


def wait_interrupted(now: RolloutState, trials: Sequence[PendingTrial]) -> RolloutOutcome:
    """Outcome of a controller that an operator stops while it waits for trials to end."""
    failed = now.history.failure.texts if now.history.failure else ()
    names = [name for trial in trials for name in trial.devices]
    text = f"stopped while it waits for the trial of {listing(names)}; nothing is changed"
    how = "`rocefort resume` waits again, then continues"
    reached = device_outcomes(now)
    return replace(
        reached,
        unknown=tuple(name for name in reached.unknown if name not in names),
        failure="; ".join([*failed, text, how]),
        exit_code=ExitCode.STOPPED,
        unfinished=True,
    )


def pending_of(
    now: RolloutState, devices: Iterable[str], at: float, scale: float, since_s: float
) -> list[PendingTrial]:
    """Trials of devices that may be of this run, by their state.

    at: a timestamp. since_s: seconds on the switches since they were observed.
    """
    chosen, history = set(devices), now.history.devices
    left = {}
    for device in now.devices:
        seen, last = device.seen, history.get(device.name)
        if device.name in chosen and seen.maybe_ours:
            journalled = last.trial_id if last else None
            trial_id = journalled if seen.trial_id is None else seen.trial_id
            left_s = seen.left_s
            left[device.name] = left_s and max(0, left_s - round(since_s)), trial_id
    return pending_trials(left, now.plan.trial_s, at, scale)


def pending_text(trials: Iterable[PendingTrial]) -> str:
    """Pending trials as text, with the commands of the dialect."""
    return "; ".join(in_words(trial.sentence) for trial in trials)


def after_abort(
    device: DeviceState, seen: SwitchState, error: RocefortError | None
) -> RolloutProblem:
    """Result of an abort by the switch's state; code 0: it runs the baseline, or was confirmed."""
    name = device.name
    if seen.trouble:
        return seen.trouble
    if seen.maybe_ours:
        return RolloutProblem(str(error or f"{name}: its trial is still pending"))
    if seen.runs is RunningConfig.UNKNOWN or seen.trial is TrialOwner.OTHER:
        return RolloutProblem(f"{name}: does not run its configuration from before the change")
    if len(device.parts) > 1:
        behind = seen.at <= device.step.part if device.step.back else seen.at > device.step.part
        return RolloutProblem("was confirmed" if behind else "", 0)
    return RolloutProblem("" if seen.runs is RunningConfig.BASELINE else "was confirmed", 0)


def state_message(seen: SwitchState) -> str:
    """State of a switch as a resuming controller records it."""
    if seen.trouble:
        return seen.trouble.text
    if seen.trial is TrialOwner.THIS_RUN:
        time_left = "an unknown time" if seen.left_s is None else f"{seen.left_s} s"
        return f"on trial, {time_left} left"
    if seen.trial is TrialOwner.UNKNOWN:
        return "a trial is pending, and the switch does not show its owner"
    if seen.trial is TrialOwner.OTHER:
        return "a trial of another owner is pending"
    saved = (
        ""
        if seen.runs not in (RunningConfig.TARGET, RunningConfig.INTERMEDIATE) or seen.saved
        else ", not saved"
    )
    words = {
        RunningConfig.BASELINE: AS_BEFORE,
        RunningConfig.TARGET: AS_INTENDED,
        RunningConfig.UNKNOWN: "changed",
    }
    drained = "drained" if seen.at < CHANGED_AT else "drained and changed"
    return words.get(seen.runs, drained) + saved


def permissions(options: ApplyOptions) -> Iterator[StepEvent]:
    """Yield what the operator permits for this run."""
    words: dict[Literal["break-glass", "unmeasured", "outside-window", "drained"], str] = {
        "break-glass": options.break_glass,
        "unmeasured": options.unmeasured,
        "outside-window": options.outside,
        "drained": ", ".join(options.drained),
    }
    for act, word in words.items():
        if word:
            detail = f"by {operator.user()}: {word}"
            yield StepEvent(act=act, phase=ActPhase.DONE, detail=detail)


def hold_event(action: Action) -> StepEvent | None:
    """Return the event of a wave that may not begin now; None for another action."""
    match action:
        case HoldWave(wave, why):
            return StepEvent(act="hold", wave=wave, phase=ActPhase.DONE, detail=why)
        case AwaitApproval(wave, outside) if outside:
            text = outside_text(outside)
            return StepEvent(act="hold", wave=wave, phase=ActPhase.DONE, detail=text)
    return None


def window_event(windows: WindowGuard, wave: Wave, history: RunHistory) -> StepEvent | None:
    """Return the event with the calendars by which a wave begins; None without a calendar.

    For a wave that a calendar holds it has who requested and who approved that it begins.
    """
    detail = windows.record(wave)
    if not detail:
        return None
    if windows(wave):
        people = listing(sorted(history.given_outside.get(wave.name, ())))
        approved = f", approved {people}" if people else ", without an approval"
        detail = f"begins outside its window {history.outside}{approved}: {detail}"
    return StepEvent(act="window", wave=wave.name, phase=ActPhase.DONE, detail=detail)


def wait_event(wave: str) -> StepEvent:
    """Return the event of a wait for a trial to end."""
    return StepEvent(act="wait", wave=wave, phase=ActPhase.INTENT)


def failure_event(
    act: Literal["fault", "stop"], wave: str, text: str, code: int = 3, device: str = ""
) -> StepEvent:
    """Return the event of a problem outside of any act, or of a stop."""
    failed = StepEvent(act=act, wave=wave, device=device, phase=ActPhase.FAILED)
    return failed.like(detail=text, code=code)


def result_event(
    done: ActEvent, device: DeviceState, seen: SwitchState, error: RocefortError | None
) -> ActEvent:
    """Return the event of an act's result; seen: state of the switch after it."""
    if done.act is Act.ABORT:
        end = after_abort(device, seen, error)
        phase = ActPhase.FAILED if end.code else ActPhase.DONE
        return done.like(phase=phase, detail=end.text, code=end.code)
    if error:
        return done.like(phase=ActPhase.FAILED, detail=str(error), code=error.exit_code)
    return done


def shown_error(error: Exception) -> RocefortError:
    """Return an error that can be shown; the traceback of a defect is written to a file."""
    if isinstance(error, RocefortError):
        return error
    what, how = internal_errors.error_report(error)
    return ServiceFailed(what, how=how)
