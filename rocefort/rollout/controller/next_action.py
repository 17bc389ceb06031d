"""Next action of a rollout, a pure function of the plan, its history and the switches' state.

The history lists intents, results, checks and requests; a switch reports its own state.
A trial of an earlier controller process continues only under two conditions: the switch lets
another session confirm it (a persist id), and half of its time is left. It is then checked and
measured again. Any other trial is aborted; if the switch refuses the abort, the controller waits
for the trial's end. Then the wave is done again. A plain trial belongs to its session: no
documented command confirms it from another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rocefort.models.change.plan import Plan, Wave, longest_soak_s
from rocefort.rollout.controller.device_state import (
    CHANGED,
    DeviceState,
    DeviceStatus,
    device_of,
    end_attempted,
    to_abort,
)
from rocefort.rollout.controller.protocols import UNGUARDED, WaveGuards
from rocefort.rollout.journal.events import (
    Act,
    RolloutProblem,
    RunningConfig,
    SwitchState,
    TrialOwner,
)
from rocefort.rollout.journal.history import AFTER, BEFORE, DURING, RunHistory, WaveFailure

MOST_WAITS = 3  # for one trial to expire
MOST_SAVES = 2
WINDOW_HOW = (
    "`rocefort resume` continues when it may begin; `rocefort resume --outside-window REASON` "
    "begins it with an approval"
)
LOAD_HOW = (
    "`rocefort resume` continues when it may run; `rocefort resume --allow-unmeasured REASON` "
    "continues without it"
)


@dataclass(frozen=True, slots=True)
class RunActs:
    """An act on several switches of one wave at once, each in its own drain step."""

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
    """Wait for trials that only their switches can end. seconds: by the switches' timers."""

    wave: str
    devices: tuple[str, ...]
    seconds: int


@dataclass(frozen=True, slots=True)
class AwaitApproval:
    """A wave waits for its approval. outside: why a calendar holds it; empty: none does."""

    wave: str
    outside: str = ""


@dataclass(frozen=True, slots=True)
class HoldWave:
    """The next wave may not begin now. why: begins with a verb. how: what an operator can do."""

    wave: str
    why: str
    how: str


@dataclass(frozen=True, slots=True)
class FailWave:
    """The current wave has a problem: record it, then roll the wave back."""

    wave: str
    troubles: tuple[tuple[str, RolloutProblem], ...]  # by device


@dataclass(frozen=True, slots=True)
class PauseRollout:
    """No wave is in progress, and a user requested a pause."""

    wave: str
    by: str


@dataclass(frozen=True, slots=True)
class StopRollout:
    """No wave is in progress, and the rollout cannot continue."""

    troubles: tuple[RolloutProblem, ...]


@dataclass(frozen=True, slots=True)
class EndRollback:
    """A failed wave is rolled back as far as possible; `lost` describes every other device."""

    failure: WaveFailure
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FinishRollout:
    """Every device runs its intended configuration and has saved it."""


Action = (
    RunActs
    | RunChecks
    | RunGate
    | AwaitTrials
    | AwaitApproval
    | HoldWave
    | FailWave
    | PauseRollout
    | StopRollout
    | EndRollback
    | FinishRollout
)
END = (AwaitApproval, HoldWave, PauseRollout, StopRollout, EndRollback, FinishRollout)


UNDER_WAY = (DeviceStatus.LOADED, DeviceStatus.ON_TRIAL)
Observed = Mapping[str, SwitchState]
UNSEEN = SwitchState(trouble=RolloutProblem("its state was not read"))


@dataclass(frozen=True)
class RolloutState:
    """Current state of all devices of a plan, by wave."""

    plan: Plan
    history: RunHistory
    waves: tuple[tuple[Wave, tuple[DeviceState, ...]], ...]

    @property
    def devices(self) -> tuple[DeviceState, ...]:
        """All devices in the order of the waves."""
        return tuple(device for _, devices in self.waves for device in devices)

    def of(self, wave: str) -> tuple[DeviceState, ...]:
        """Devices of a wave."""
        return next((devices for each, devices in self.waves if each.name == wave), ())

    @property
    def focus(self) -> tuple[Wave, tuple[DeviceState, ...]] | None:
        """First wave with a device that does not run and save its target configuration."""
        for wave, devices in self.waves:
            if any(device.status is not DeviceStatus.TARGET for device in devices):
                return wave, devices
        return None


def table(plan: Plan, history: RunHistory, observed: Observed) -> RolloutState:
    """Join plan, history and observed state; a device that was not observed has a problem."""
    changes = {change.device: change for change in plan.changes}
    waves = []
    for wave in plan.waves:
        drained = {each.device: each.parts for each in wave.drained}
        parts_by_device = {name: drained.get(name) or (changes[name],) for name in wave.devices}
        rest_s = plan.rest_s(longest_soak_s(chain.from_iterable(parts_by_device.values())))
        devices = tuple(
            device_of(plan, wave.name, name, parts, history, observed.get(name, UNSEEN), rest_s)
            for name, parts in parts_by_device.items()
        )
        waves.append((wave, devices))
    return RolloutState(plan, history, tuple(waves))


def next_action(
    plan: Plan, history: RunHistory, observed: Observed, guards: WaveGuards = UNGUARDED
) -> Action:
    """Return the next action. Total: every combination has one; pure: it only reads.

    observed: last reported state of every device of the plan; the wave's devices were just read.
    guards: asked before a wave begins.
    """
    now = table(plan, history, observed)
    if history.failure:
        return _rollback_action(now, history.failure)
    if watch := _final_check(now):
        return watch
    if now.focus is None:
        return FinishRollout()
    wave, devices = now.focus
    return (
        _surprise_action(now, wave, devices)
        or _settle_orphans(now)
        or _forward_action(now, wave, devices, guards)
    )


def _live(history: RunHistory) -> bool:
    return history.rules is not None and history.rules.live


def _final_check(now: RolloutState) -> RunChecks | None:
    """Return the live checks that follow a wave completed by this run."""
    if not _live(now.history):
        return None
    for wave, devices in now.waves:
        if any(device.status is not DeviceStatus.TARGET for device in devices):
            return None
        if any(d.touched for d in devices) and (wave.name, AFTER) not in now.history.healthy:
            return RunChecks(wave.name, AFTER)
    return None


def _surprise_action(
    now: RolloutState, wave: Wave, devices: Sequence[DeviceState]
) -> Action | None:
    """Action for a problem: roll back the current wave, or begin none."""
    here = [(device.name, surprise) for device in devices if (surprise := device.surprise)]
    if here and any(device.status in UNDER_WAY or device.begun for device in devices):
        return FailWave(wave.name, tuple(here))
    troubles = tuple(device.trouble for device in now.devices if device.trouble)
    if troubles:
        return StopRollout(troubles)
    todo = sum(device.status is not DeviceStatus.TARGET for device in devices)
    limit = now.history.rules.max_unavailable if now.history.rules else len(devices)
    if todo > limit:
        what = f"wave {wave.name}: {todo} switches change at once, {limit} may; plan again"
        return StopRollout((RolloutProblem(what, 4),))
    return None


def _settle_orphans(now: RolloutState) -> Action | None:
    """End trials of an earlier controller process that this one does not continue."""
    focus = now.focus[0].name if now.focus else ""
    strays = [
        device
        for device in now.devices
        if device.status is DeviceStatus.ORPHANED_TRIAL
        or (device.wave != focus and device.status is DeviceStatus.ON_TRIAL)
    ]
    return _abort_orphans(strays) if strays else None


def _abort_orphans(strays: Sequence[DeviceState]) -> Action:
    """Abort orphaned trials wave by wave; wait for those that refuse the abort."""
    wave = strays[-1].wave  # the wave that began last
    here = [device for device in strays if device.wave == wave]
    if todo := [
        d
        for d in here
        if d.seen.trial is TrialOwner.THIS_RUN and not d.progress.failures(Act.ABORT)
    ]:
        return RunActs(Act.ABORT, wave, _reversed_names(todo))
    if todo := [device for device in here if device.progress.waits < MOST_WAITS]:
        return AwaitTrials(wave, _names(todo), max(device.wait_s for device in todo))
    return StopRollout(
        tuple(RolloutProblem(f"{d.name}: {_pending_trial_text(d)}, then resume") for d in here)
    )


def _pending_trial_text(device: DeviceState) -> str:
    """Message for a trial that did not end, or that this rollout may not touch."""
    if device.seen.trial is TrialOwner.UNKNOWN:
        what = "a trial is pending, and the switch does not show whose"
        return f"{what}; a trial of this rollout would be over: confirm or abort it on the switch"
    return "the trial commit of this rollout is still pending; abort it on the switch"


def _forward_action(
    now: RolloutState, wave: Wave, devices: Sequence[DeviceState], guards: WaveGuards
) -> Action:
    """Next act of a wave: save what is confirmed, then continue with all devices together."""
    if unsaved := tuple(device.name for device in devices if device.status is DeviceStatus.UNSAVED):
        return RunActs(Act.SAVE, wave.name, unsaved)
    todo = [device for device in devices if device.status is not DeviceStatus.TARGET]
    under_way = any(device.status in UNDER_WAY or device.mid_drain for device in todo)
    if not under_way and (waits := _precondition(now.history, wave, todo, guards)):
        return waits
    if step := _step(todo, wave) or _pending_check(now.history, wave):
        return step
    if soaks := _to_soak(todo):
        return RunActs(Act.SOAK, wave.name, _names(soaks))
    return RunActs(Act.CONFIRM, wave.name, _names(todo))


def _to_soak(devices: Sequence[DeviceState]) -> list[DeviceState]:
    """Devices that must still soak before they are confirmed: all, if one of them must.

    A change may break sessions of another device, so all are checked again after the soak.
    """
    soaks = any(each.soak for each in devices)
    return [each for each in devices if soaks and Act.SOAK not in each.progress.done]


def _step(todo: Sequence[DeviceState], wave: Wave) -> RunActs | None:
    for act, lacks in STEPS:
        if lacking := tuple(device.name for device in todo if lacks(device)):
            return RunActs(act, wave.name, lacking)
    return None


def _pending_check(history: RunHistory, wave: Wave) -> RunChecks | RunGate | None:
    """Check or gate that must pass while the whole wave is on trial and checked."""
    if _live(history) and (wave.name, DURING) not in history.healthy:
        return RunChecks(wave.name, DURING)
    return RunGate(wave.name) if wave.name not in history.measured else None


def _precondition(
    history: RunHistory, wave: Wave, todo: Iterable[DeviceState], guards: WaveGuards
) -> PauseRollout | AwaitApproval | HoldWave | RunChecks | None:
    """Pause, approval, time or check that a wave needs before it begins."""
    if history.paused:
        return PauseRollout(wave.name, history.paused)
    begun = any(Act.PRECHECK in each.progress.done for each in todo)
    if not begun and (closed := guards.windows(wave)):
        if not history.outside:
            return HoldWave(wave.name, f"waits for its window: {closed}", WINDOW_HOW)
        if not history.permits_outside(wave.name):
            return AwaitApproval(wave.name, closed)
    if _needs_approval(history, wave):
        return AwaitApproval(wave.name)
    if not (begun or history.unmeasured) and (why := guards.load(wave, begun=False)):
        return HoldWave(wave.name, f"waits for its RDMA gate: {why}", LOAD_HOW)
    watched = not _live(history) or (wave.name, BEFORE) in history.healthy
    return None if watched else RunChecks(wave.name, BEFORE)


def _needs_approval(history: RunHistory, wave: Wave) -> bool:
    if history.unbound:
        return False
    waves = history.rules.approve if history.rules else ()
    return wave.name in waves and wave.name not in history.approved


# Acts of a wave before its gate, in order, each with a test for the devices that still need it.
STEPS: tuple[tuple[Act, Callable[[DeviceState], bool]], ...] = (
    (
        Act.PRECHECK,
        lambda d: d.status is DeviceStatus.BASELINE and Act.PRECHECK not in d.progress.done,
    ),
    (Act.LOAD, lambda d: d.status is DeviceStatus.BASELINE),
    (Act.TRIAL, lambda d: d.status is DeviceStatus.LOADED),
    (Act.CHECK, lambda d: Act.CHECK not in d.progress.done),
)


def _rollback_action(now: RolloutState, failure: WaveFailure) -> Action:
    """Abort the wave's trials in reverse, save what is confirmed, lift drains, then report."""
    touched = [device for device in now.of(failure.wave) if device.touched]
    if todo := [device for device in touched if _to_abort(device)]:
        return RunActs(Act.ABORT, failure.wave, _reversed_names(todo))
    pending = [
        d for d in now.devices if d.seen.maybe_ours and not d.seen.trouble and not _is_undraining(d)
    ]
    if todo := [d for d in pending if d.progress.waits < MOST_WAITS]:
        ours = [d for d in todo if d.seen.trial is TrialOwner.THIS_RUN]
        strays = [d for d in ours if not end_attempted(d.progress)]
        if strays:
            return RunActs(Act.ABORT, strays[-1].wave, _of_one_wave(strays))
        return AwaitTrials(todo[-1].wave, _of_one_wave(todo), max(1, *(d.wait_s for d in todo)))
    for device in touched:
        if (
            device.status is DeviceStatus.UNSAVED
            and device.progress.failures(Act.SAVE) < MOST_SAVES
        ):
            return RunActs(Act.SAVE, failure.wave, (device.name,))
    if lifted := _undrain_action(failure.wave, touched):
        return lifted
    lost = [
        text for device in (*touched, *_other_waves(now, failure)) if (text := _loss_reason(device))
    ]
    return EndRollback(failure, tuple(dict.fromkeys(lost)))


def _other_waves(now: RolloutState, failure: WaveFailure) -> list[DeviceState]:
    """Devices of other waves with a pending trial that may be ours."""
    return [d for d in now.devices if d.wave != failure.wave and d.seen.maybe_ours]


def _to_abort(device: DeviceState) -> bool:
    """Whether the device must be aborted; one that is confirmed and saved needs no abort."""
    if len(device.parts) > 1:
        return not device.step.back and to_abort(device.progress)
    return not (
        end_attempted(device.progress)
        or (device.status is DeviceStatus.TARGET and device.progress.saved)
    )


def _is_undraining(device: DeviceState) -> bool:
    """Whether the device is being undrained without a failure."""
    failed = any(device.progress.failures(act) for act in (Act.PRECHECK, *CHANGED))
    return device.step.back and not failed and not device.surprise


def _undrain_action(wave: str, touched: Sequence[DeviceState]) -> RunActs | None:
    """Undo the confirmed steps of a drained switch one by one, each with its own trial commit.

    No gate and no live check decides here. They may fail because of other devices, and the switch
    would stay drained for ever. The switch soaks, and its own sessions are checked again.
    """
    on_the_way = [d for d in touched if d.step.back and d.status is not DeviceStatus.UNSAVED]
    stuck = [
        d
        for d in on_the_way
        if not (_is_undraining(d) or d.seen.trouble or end_attempted(d.progress))
    ]
    if loaded := [d for d in stuck if d.seen.loaded]:
        return RunActs(Act.ABORT, wave, _reversed_names(loaded))
    todo = [d for d in on_the_way if _is_undraining(d)]
    for act, lacks in STEPS:
        if lacking := [device for device in todo if lacks(device)]:
            return RunActs(act, wave, _reversed_names(lacking))
    if soaks := _to_soak(todo):
        return RunActs(Act.SOAK, wave, _reversed_names(soaks))
    return RunActs(Act.CONFIRM, wave, _reversed_names(todo)) if todo else None


def _loss_reason(device: DeviceState) -> str:  # noqa: PLR0911 - a sentence for each case
    """Reason why a device of a failed wave runs neither baseline nor target; else empty."""
    seen = device.seen
    if came_back(device) or device.status is DeviceStatus.TARGET:
        return ""
    if device.mid_drain and device.status in (DeviceStatus.BASELINE, DeviceStatus.LOADED):
        changed = " and changed" if device.seen.at > 1 else ""
        why = f": {device.progress.why}" if device.progress.why else ""
        how = "remove the drain on the switch by hand; the plan lists the commands"
        return f"{device.name}: is still drained{changed}, its rollback failed{why}; {how}"
    if seen.trouble:
        timer = f"a trial that runs there reverts automatically within {device.trial_s} s"
        return f"{seen.trouble.text}; {timer}"
    if seen.maybe_ours:
        return f"{device.name}: {_pending_trial_text(device)}"
    if seen.trial is TrialOwner.OTHER:
        return device.trouble.text if device.trouble else ""
    if seen.runs is RunningConfig.UNKNOWN:
        what = "does not run its configuration from before the change"
        back = " / ".join(device.change.reverse)
        return f"{device.name}: {what}; compare it with the plan; its rollback commands: {back}"
    return f"{device.name}: was confirmed, but saving it failed; save it on the switch"


def came_back(device: DeviceState) -> bool:
    """Whether a device runs its baseline configuration with nothing pending."""
    return device.status in (DeviceStatus.BASELINE, DeviceStatus.LOADED) and not device.mid_drain


def _names(devices: Iterable[DeviceState]) -> tuple[str, ...]:
    return tuple(device.name for device in devices)


def _reversed_names(devices: Sequence[DeviceState]) -> tuple[str, ...]:
    return _names(reversed(devices))


def _of_one_wave(devices: Sequence[DeviceState]) -> tuple[str, ...]:
    return _reversed_names([device for device in devices if device.wave == devices[-1].wave])
