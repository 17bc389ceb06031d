"""What a rollout does next: a pure function of the plan, its history, and what switches say now.

The history says what was meant, done, checked and asked for; where a switch stands, it says itself.
A trial that an earlier life of the controller began is taken up only where the switch lets another
session confirm it (a persist id) and half of its time is left; then it is checked and measured
anew. Any other is aborted, or waited for where the switch refuses that, and the wave done again:
a plain trial belongs to its session, so no documented command would confirm it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rocefort.models.rollout.events import (
    Act,
    RolloutProblem,
    RunningConfig,
    SwitchState,
    TrialOwner,
)
from rocefort.models.rollout.history import AFTER, BEFORE, DURING, RunHistory, WaveFailure
from rocefort.models.rollout.plan import Plan, Wave, longest_soak_s
from rocefort.rollout.controller.device_state import (
    CHANGED,
    DeviceState,
    DeviceStatus,
    asked_to_end,
    device_of,
    to_abort,
)

MOST_WAITS = 3  # for one trial to end by itself
MOST_SAVES = 2


@dataclass(frozen=True, slots=True)
class RunActs:
    """An act on switches of one wave, at once; each is on a leg of its own way."""

    act: Act
    wave: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunChecks:
    """Run the live checks of a wave: before it, while all of it is on trial, or after it."""

    wave: str
    when: str


@dataclass(frozen=True, slots=True)
class RunGate:
    """Run the gate of a wave whose switches are all on trial and checked."""

    wave: str


@dataclass(frozen=True, slots=True)
class AwaitTrials:
    """Let trials end that only their switches can end; the seconds are theirs."""

    wave: str
    devices: tuple[str, ...]
    seconds: int


@dataclass(frozen=True, slots=True)
class AwaitApproval:
    """A wave waits for its approval."""

    wave: str


@dataclass(frozen=True, slots=True)
class FailWave:
    """Something is wrong with a wave under way: noted, it is rolled back."""

    wave: str
    troubles: tuple[tuple[str, RolloutProblem], ...]  # by device


@dataclass(frozen=True, slots=True)
class PauseRollout:
    """No wave is under way, and somebody asked for a pause."""

    wave: str
    by: str


@dataclass(frozen=True, slots=True)
class StopRollout:
    """Nothing of this rollout is under way, and it cannot go on."""

    troubles: tuple[RolloutProblem, ...]


@dataclass(frozen=True, slots=True)
class EndRollback:
    """A failed wave is back as far as it can be; `lost` says of every device that is not."""

    failure: WaveFailure
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FinishRollout:
    """Every device runs what is intended, and saved it."""


Action = (
    RunActs
    | RunChecks
    | RunGate
    | AwaitTrials
    | AwaitApproval
    | FailWave
    | PauseRollout
    | StopRollout
    | EndRollback
    | FinishRollout
)
END = (AwaitApproval, PauseRollout, StopRollout, EndRollback, FinishRollout)


UNDER_WAY = (DeviceStatus.LOADED, DeviceStatus.ON_TRIAL)
Observed = Mapping[str, SwitchState]
UNSEEN = SwitchState(trouble=RolloutProblem("was not asked where it stands"))


@dataclass(frozen=True)
class RolloutState:
    """All devices of a plan, by wave, with what is known of them now."""

    plan: Plan
    history: RunHistory
    waves: tuple[tuple[Wave, tuple[DeviceState, ...]], ...]

    @property
    def devices(self) -> tuple[DeviceState, ...]:
        """All of them, in the order of the waves."""
        return tuple(device for _, devices in self.waves for device in devices)

    def of(self, wave: str) -> tuple[DeviceState, ...]:
        """Devices of a wave."""
        return next((devices for each, devices in self.waves if each.name == wave), ())

    @property
    def focus(self) -> tuple[Wave, tuple[DeviceState, ...]] | None:
        """The first wave that is not wholly new and saved."""
        for wave, devices in self.waves:
            if any(device.stand is not DeviceStatus.TARGET for device in devices):
                return wave, devices
        return None


def table(plan: Plan, history: RunHistory, observed: Observed) -> RolloutState:
    """Join what is planned, done and seen; a device that nobody looked at is troubled."""
    changes = {change.device: change for change in plan.changes}
    waves = []
    for wave in plan.waves:
        drained = {each.device: each.parts for each in wave.drained}
        ways = {name: drained.get(name) or (changes[name],) for name in wave.devices}
        rest_s = plan.rest_s(longest_soak_s(chain.from_iterable(ways.values())))
        devices = tuple(
            device_of(plan, wave.name, name, parts, history, observed.get(name, UNSEEN), rest_s)
            for name, parts in ways.items()
        )
        waves.append((wave, devices))
    return RolloutState(plan, history, tuple(waves))


def next_action(plan: Plan, history: RunHistory, observed: Observed) -> Action:
    """What to do next. Total: every combination has an answer; pure: it only reads.

    observed: what every device of the plan's waves said last, the wave's own just now.
    """
    now = table(plan, history, observed)
    if history.failure:
        return _way_back(now, history.failure)
    if watch := _afterwards(now):
        return watch
    if now.focus is None:
        return FinishRollout()
    wave, devices = now.focus
    return (
        _surprise_action(now, wave, devices) or _settle_orphans(now) or _onward(now, wave, devices)
    )


def _live(history: RunHistory) -> bool:
    return history.rules is not None and history.rules.live


def _afterwards(now: RolloutState) -> RunChecks | None:
    """A wave that this run brought to its end is looked at once more."""
    if not _live(now.history):
        return None
    for wave, devices in now.waves:
        if any(device.stand is not DeviceStatus.TARGET for device in devices):
            return None
        if any(d.touched for d in devices) and (wave.name, AFTER) not in now.history.healthy:
            return RunChecks(wave.name, AFTER)
    return None


def _surprise_action(
    now: RolloutState, wave: Wave, devices: Sequence[DeviceState]
) -> Action | None:
    """Trouble: with a wave under way it is rolled back, otherwise nothing is begun."""
    here = [(device.name, found) for device in devices if (found := device.surprise)]
    if here and any(device.stand in UNDER_WAY or device.begun for device in devices):
        return FailWave(wave.name, tuple(here))
    troubles = tuple(device.trouble for device in now.devices if device.trouble)
    if troubles:
        return StopRollout(troubles)
    todo = sum(device.stand is not DeviceStatus.TARGET for device in devices)
    limit = now.history.rules.max_unavailable if now.history.rules else len(devices)
    if todo > limit:
        what = f"wave {wave.name}: {todo} switches change at once, {limit} may; plan again"
        return StopRollout((RolloutProblem(what, 4),))
    return None


def _settle_orphans(now: RolloutState) -> Action | None:
    """End trials that an earlier life left behind and that are not taken up."""
    focus = now.focus[0].name if now.focus else ""
    strays = [
        device
        for device in now.devices
        if device.stand is DeviceStatus.ORPHANED_TRIAL
        or (device.wave != focus and device.stand is DeviceStatus.ON_TRIAL)
    ]
    return _abort_orphans(strays) if strays else None


def _abort_orphans(strays: Sequence[DeviceState]) -> Action:
    """Abort them, wave by wave; what refuses that is waited for."""
    wave = strays[-1].wave  # the last one that began
    here = [device for device in strays if device.wave == wave]
    if todo := [
        d for d in here if d.seen.trial is TrialOwner.THIS_RUN and not d.course.failures(Act.ABORT)
    ]:
        return RunActs(Act.ABORT, wave, _backwards(todo))
    if todo := [device for device in here if device.course.waits < MOST_WAITS]:
        return AwaitTrials(wave, _names(todo), max(device.wait_s for device in todo))
    return StopRollout(tuple(RolloutProblem(f"{d.name}: {_endless(d)}, then resume") for d in here))


def _endless(device: DeviceState) -> str:
    """Words for a trial that was waited for in vain, or that nothing may be done about."""
    if device.seen.trial is TrialOwner.UNKNOWN:
        what = "a trial is pending, and the switch does not show whose"
        return f"{what}; one of this rollout would be over: confirm or abort it on the switch"
    return "a trial of this rollout does not end; abort it on the switch by hand"


def _onward(now: RolloutState, wave: Wave, devices: Sequence[DeviceState]) -> Action:
    """The next step of a wave: what is confirmed is saved, then all go on together."""
    if unsaved := tuple(device.name for device in devices if device.stand is DeviceStatus.UNSAVED):
        return RunActs(Act.SAVE, wave.name, unsaved)
    todo = [device for device in devices if device.stand is not DeviceStatus.TARGET]
    under_way = any(device.stand in UNDER_WAY or device.amid for device in todo)
    if not under_way and (waits := _not_yet(now.history, wave)):
        return waits
    if step := _step(todo, wave) or _pending_check(now.history, wave):
        return step
    if soaks := _to_soak(todo):
        return RunActs(Act.SOAK, wave.name, _names(soaks))
    return RunActs(Act.CONFIRM, wave.name, _names(todo))


def _to_soak(devices: Sequence[DeviceState]) -> list[DeviceState]:
    """Those that are still to soak before they are confirmed: all, where one of them has to.

    What one breaks may be another's, so all of them are checked again behind it.
    """
    soaks = any(each.soak for each in devices)
    return [each for each in devices if soaks and Act.SOAK not in each.course.done]


def _step(todo: Sequence[DeviceState], wave: Wave) -> RunActs | None:
    for act, lacks in STEPS:
        if lacking := tuple(device.name for device in todo if lacks(device)):
            return RunActs(act, wave.name, lacking)
    return None


def _pending_check(history: RunHistory, wave: Wave) -> RunChecks | RunGate | None:
    """What has to pass while all of a wave is on trial and checked."""
    if _live(history) and (wave.name, DURING) not in history.healthy:
        return RunChecks(wave.name, DURING)
    return RunGate(wave.name) if wave.name not in history.measured else None


def _not_yet(history: RunHistory, wave: Wave) -> PauseRollout | AwaitApproval | RunChecks | None:
    """What comes before a wave may begin."""
    if history.paused:
        return PauseRollout(wave.name, history.paused)
    if _needs_approval(history, wave):
        return AwaitApproval(wave.name)
    watched = not _live(history) or (wave.name, BEFORE) in history.healthy
    return None if watched else RunChecks(wave.name, BEFORE)


def _needs_approval(history: RunHistory, wave: Wave) -> bool:
    if history.unbound:
        return False
    wanted = history.rules.approve if history.rules else ()
    return wave.name in wanted and wave.name not in history.approved


# What a wave goes through before its gate: the act, and which devices it still has to reach.
STEPS: tuple[tuple[Act, Callable[[DeviceState], bool]], ...] = (
    (
        Act.PRECHECK,
        lambda d: d.stand is DeviceStatus.BASELINE and Act.PRECHECK not in d.course.done,
    ),
    (Act.LOAD, lambda d: d.stand is DeviceStatus.BASELINE),
    (Act.TRIAL, lambda d: d.stand is DeviceStatus.LOADED),
    (Act.CHECK, lambda d: Act.CHECK not in d.course.done),
)


def _way_back(now: RolloutState, failure: WaveFailure) -> Action:
    """Abort what the wave began, in reverse; save what was confirmed; lift its drains; say."""
    touched = [device for device in now.of(failure.wave) if device.touched]
    if todo := [device for device in touched if _to_abort(device)]:
        return RunActs(Act.ABORT, failure.wave, _backwards(todo))
    pending = [
        d for d in now.devices if d.seen.maybe_ours and not d.seen.trouble and not _going_back(d)
    ]
    if todo := [d for d in pending if d.course.waits < MOST_WAITS]:
        ours = [d for d in todo if d.seen.trial is TrialOwner.THIS_RUN]
        strays = [d for d in ours if not asked_to_end(d.course)]
        if strays:
            return RunActs(Act.ABORT, strays[-1].wave, _of_one_wave(strays))
        return AwaitTrials(todo[-1].wave, _of_one_wave(todo), max(1, *(d.wait_s for d in todo)))
    for device in touched:
        if device.stand is DeviceStatus.UNSAVED and device.course.failures(Act.SAVE) < MOST_SAVES:
            return RunActs(Act.SAVE, failure.wave, (device.name,))
    if lifted := _taken_back(failure.wave, touched):
        return lifted
    lost = [
        text for device in (*touched, *_elsewhere(now, failure)) if (text := _loss_reason(device))
    ]
    return EndRollback(failure, tuple(dict.fromkeys(lost)))


def _elsewhere(now: RolloutState, failure: WaveFailure) -> list[DeviceState]:
    """Devices of other waves on which a trial is still pending that may be ours."""
    return [d for d in now.devices if d.wave != failure.wave and d.seen.maybe_ours]


def _to_abort(device: DeviceState) -> bool:
    """Whether its abort is still to come; one that was confirmed and saved needs none."""
    if len(device.parts) > 1:
        return not device.leg.back and to_abort(device.course)
    return not (
        asked_to_end(device.course) or (device.stand is DeviceStatus.TARGET and device.course.saved)
    )


def _going_back(device: DeviceState) -> bool:
    """Whether it is on its way back from being drained, and nothing of that went wrong."""
    failed = any(device.course.failures(act) for act in (Act.PRECHECK, *CHANGED))
    return device.leg.back and not failed and not device.surprise


def _taken_back(wave: str, touched: Sequence[DeviceState]) -> RunActs | None:
    """Undo what was confirmed of a drained switch, leg by leg, each under a trial of its own.

    No gate and no live check decides here: they may fail for what is wrong elsewhere, and the
    switch would stay drained for ever. It soaks, and its own sessions are looked at again.
    """
    on_the_way = [d for d in touched if d.leg.back and d.stand is not DeviceStatus.UNSAVED]
    stuck = [
        d for d in on_the_way if not (_going_back(d) or d.seen.trouble or asked_to_end(d.course))
    ]
    if loaded := [d for d in stuck if d.seen.loaded]:
        return RunActs(Act.ABORT, wave, _backwards(loaded))
    todo = [d for d in on_the_way if _going_back(d)]
    for act, lacks in STEPS:
        if lacking := [device for device in todo if lacks(device)]:
            return RunActs(act, wave, _backwards(lacking))
    if soaks := _to_soak(todo):
        return RunActs(Act.SOAK, wave, _backwards(soaks))
    return RunActs(Act.CONFIRM, wave, _backwards(todo)) if todo else None


def _loss_reason(device: DeviceState) -> str:  # noqa: PLR0911 - a sentence for each case
    """Why a device of a failed wave is neither old nor new; empty: it is one of them."""
    seen = device.seen
    if came_back(device) or device.stand is DeviceStatus.TARGET:
        return ""
    if device.amid and device.stand in (DeviceStatus.BASELINE, DeviceStatus.LOADED):
        changed = " and changed" if device.seen.at > 1 else ""
        why = f": {device.course.why}" if device.course.why else ""
        how = "lift the drain on the switch by hand; the plan shows the commands"
        return f"{device.name}: is still drained{changed}, its way back failed{why}; {how}"
    if seen.trouble:
        timer = f"a trial that runs there reverts by itself within {device.trial_s} s"
        return f"{seen.trouble.text}; {timer}"
    if seen.maybe_ours:
        return f"{device.name}: {_endless(device)}"
    if seen.trial is TrialOwner.OTHER:
        return device.trouble.text if device.trouble else ""
    if seen.runs is RunningConfig.UNKNOWN:
        what = "does not run what it ran before the change"
        back = " / ".join(device.change.reverse)
        return f"{device.name}: {what}; compare it with the plan; the way back is: {back}"
    return f"{device.name}: was confirmed and could not be saved; save it on the switch by hand"


def came_back(device: DeviceState) -> bool:
    """Whether a device runs what it ran before, with nothing pending."""
    return device.stand in (DeviceStatus.BASELINE, DeviceStatus.LOADED) and not device.amid


def _names(devices: Iterable[DeviceState]) -> tuple[str, ...]:
    return tuple(device.name for device in devices)


def _backwards(devices: Sequence[DeviceState]) -> tuple[str, ...]:
    return _names(reversed(devices))


def _of_one_wave(devices: Sequence[DeviceState]) -> tuple[str, ...]:
    return _backwards([device for device in devices if device.wave == devices[-1].wave])
