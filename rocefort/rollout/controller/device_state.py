"""State of one device during a rollout, from its own output and this controller's actions.

A device takes one change, or three if it is drained: the drain, the change, the end of the drain.
Each of the three is a drain step with its own trial commit. A device may stay between two steps:
what is confirmed there lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from rocefort.models.change.plan import Change, Plan, Soak
from rocefort.models.fabric.trial_time import SPARE_S
from rocefort.rollout.journal.events import (
    Act,
    ActEvent,
    ActPhase,
    DrainStep,
    RolloutProblem,
    RunningConfig,
    SwitchState,
    TrialOwner,
)
from rocefort.rollout.journal.history import RunHistory, StepProgress
from rocefort.rollout.journal.pending_trials import END_OF_FOREIGN, time_left

STEP_NAMES = ("drain", "change while drained", "end of the drain")  # also of a commit's description
UNDONE = " undone"
CHANGED = frozenset({Act.LOAD, Act.TRIAL, Act.CHECK, Act.SOAK, Act.CONFIRM})


class DeviceStatus(Enum):
    """Status of one device in its current drain step."""

    TROUBLED = auto()
    BASELINE = auto()
    LOADED = auto()
    ON_TRIAL = auto()  # ours, and we may confirm it
    ORPHANED_TRIAL = auto()  # ours, but this controller does not continue it
    UNSAVED = auto()
    TARGET = auto()


@dataclass(frozen=True, slots=True)
class DeviceState:
    """One device of the plan in its current drain step.

    seen: state relative to this step, BASELINE before it and TARGET after it. touched: changed in
    any step. `mid_drain`: the device is drained, or may be.
    """

    name: str
    wave: str
    parts: tuple[Change, ...]
    step: DrainStep
    progress: StepProgress
    seen: SwitchState
    trial_s: int  # of the longest trial
    margin_s: float  # seconds that a trial must have left to be confirmed
    rest_s: float  # seconds a trial must have left to soak with its wave, then be confirmed
    touched: bool
    mid_drain: bool

    @property
    def change(self) -> Change:
        """Change of this drain step."""
        part = self.parts[self.step.part]
        return part.undone if self.step.back else part

    @property
    def soak(self) -> Soak | None:
        """Soak time of this step; its rollback soaks as long: it may end the same sessions."""
        return self.change.soak

    @property
    def word(self) -> str:
        """Name of this drain step; empty for a change without a drain."""
        if len(self.parts) == 1:
            return ""
        return STEP_NAMES[self.step.part] + (UNDONE if self.step.back else "")

    def event(self, act: Act, at_once: Sequence[DeviceState] = ()) -> ActEvent:
        """Event of an act that begins. at_once: all devices that the act is for.

        Its text names the drain step, and the soak time of all devices with the reason.
        """
        event = ActEvent(act=act, wave=self.wave, device=self.name, phase=ActPhase.INTENT)
        detail, soaks = self.word, [(each.name, each.soak) for each in at_once if each.soak]
        if act is Act.SOAK and soaks:
            name, soak = max(soaks, key=lambda each: (each[1].seconds, each[0] == self.name))
            whose = "" if name == self.name else f"{name}: "
            detail = ", ".join(filter(None, (detail, f"{soak.seconds} s: {whose}{soak.why}")))
        if len(self.parts) == 1:
            return event.like(detail=detail)
        part, back = self.step
        return event.like(detail=detail, part=part, of=len(self.parts), back=back)

    @property
    def status(self) -> DeviceStatus:
        """Status of the device."""
        seen = self.seen
        if self.trouble:
            return DeviceStatus.TROUBLED
        if seen.trial is TrialOwner.THIS_RUN:
            return DeviceStatus.ON_TRIAL if self._ours_to_confirm else DeviceStatus.ORPHANED_TRIAL
        if seen.trial is TrialOwner.UNKNOWN:
            return DeviceStatus.ORPHANED_TRIAL
        if seen.runs is RunningConfig.TARGET:
            return (
                DeviceStatus.TARGET
                if _is_saved(self.change, self.progress, seen)
                else DeviceStatus.UNSAVED
            )
        return DeviceStatus.LOADED if seen.loaded else DeviceStatus.BASELINE

    @property
    def _ours_to_confirm(self) -> bool:
        seen = self.seen
        left_s = seen.left_s
        enough = left_s is not None and left_s * 2 >= self.trial_s and left_s >= self.rest_s
        return self.is_own_trial or (seen.runs is RunningConfig.TARGET and seen.held and enough)

    @property
    def wait_s(self) -> int:
        """Longest time until its trial ends, in seconds.

        A trial that a full wait has not ended gets a short one: its switch may be cancelling it.
        """
        longest = SPARE_S if self.progress.waits else self.trial_s
        return longest if self.seen.left_s is None else min(self.seen.left_s, longest)

    @property
    def is_own_trial(self) -> bool:
        """Whether this controller process began its trial, or resumed and checked it."""
        begun = self.progress.done & {Act.TRIAL, Act.CHECK, Act.SOAK}
        return not self.progress.confirmed and bool(begun)

    @property
    def begun(self) -> bool:
        """Whether its change has begun and is not complete."""
        return self.mid_drain or bool(self.progress.done & CHANGED)

    @property
    def trouble(self) -> RolloutProblem | None:
        """Reason why no act on the device is allowed, whatever was done before."""
        if self.seen.trouble:
            return self.seen.trouble
        if self.seen.trial is TrialOwner.OTHER:
            return RolloutProblem(f"{self.name}: {_foreign(self.seen)}", 4)
        if self.seen.runs is RunningConfig.UNKNOWN and not self.is_own_trial:
            what = "its running configuration is not the one that the plan was made against"
            return RolloutProblem(f"{self.name}: {what}; plan again", 4)
        return None

    @property
    def surprise(self) -> RolloutProblem | None:
        """Change of the device that this controller process did not make."""
        if self.trouble:
            return self.trouble
        what = self._ended_trial() if self.is_own_trial else self._ended_leg()
        return RolloutProblem(f"{self.name}: {what}") if what else None

    def _ended_trial(self) -> str:
        seen = self.seen
        if seen.runs is RunningConfig.UNKNOWN or (
            seen.runs is RunningConfig.BASELINE and seen.trial is TrialOwner.THIS_RUN
        ):
            return "after the trial commit, the switch does not run what was planned"
        if seen.trial is TrialOwner.NONE:
            old = seen.runs is RunningConfig.BASELINE
            ended = "its trial ended before it was confirmed"
            return ended if old else "another user confirmed its trial"
        if not seen.held:
            return "the session that began its trial is lost, and no other session can confirm it"
        if seen.left_s is None:
            return "its switch does not show how much time its trial has left; it may be too little"
        if seen.left_s < self.margin_s:
            time_left = f"only {seen.left_s} s are left of its trial"
            return f"{time_left}, too little to confirm it, which may take {self.margin_s:.0f} s"
        return ""

    def _ended_leg(self) -> str:
        seen, done = self.seen, self.progress.done
        if Act.CONFIRM in done and (
            seen.runs is not RunningConfig.TARGET or seen.trial is TrialOwner.THIS_RUN
        ):
            return "after the confirmation, the switch does not run what was planned"
        if Act.LOAD in done and self.status is DeviceStatus.BASELINE:
            return "the candidate no longer contains the planned change"
        return ""


def _foreign(seen: SwitchState) -> str:
    """Description of a trial that is not of this run, and the cure."""
    if seen.other_run:
        what = f"another run of this plan, {seen.other_run}, has a trial pending"
        what += time_left(seen.left_s)
        return f"{what}; one run at a time: resume that run, or wait for its end"
    what = f"a trial is pending that this rollout did not start{time_left(seen.left_s)}"
    return f"{what}; {END_OF_FOREIGN}"


def device_of(  # noqa: PLR0913, PLR0917 - all inputs of the state
    plan: Plan,
    wave: str,
    name: str,
    parts: tuple[Change, ...],
    history: RunHistory,
    seen: SwitchState,
    rest_s: float,
) -> DeviceState:
    """State of a device in its current drain step, from its output and the acts on it."""
    if len(parts) == 1:
        between = seen.runs is RunningConfig.INTERMEDIATE
        step, seen, mid_drain = (
            DrainStep(),
            replace(seen, runs=RunningConfig.UNKNOWN) if between else seen,
            False,
        )
    else:
        step, seen, mid_drain = _current_step(name, parts, history, seen)
    return DeviceState(
        name=name,
        wave=wave,
        parts=parts,
        step=step,
        progress=history.course(name, step),
        seen=seen,
        trial_s=plan.trial_s,
        margin_s=plan.margin_s,
        rest_s=rest_s,
        touched=history.touched(name),
        mid_drain=mid_drain,
    )


def _current_step(
    name: str, parts: Sequence[Change], history: RunHistory, seen: SwitchState
) -> tuple[DrainStep, SwitchState, bool]:
    """Drain step, state of the switch relative to it, and whether the device is drained."""
    if seen.trouble or seen.runs is RunningConfig.UNKNOWN:
        step = history.leg(name)
        begun = step.part > 0 or step.back or history.course(name).confirmed
        return step, seen, begun
    at = min(seen.at, len(parts))
    if at == 1 and parts[1].only_secrets and history.course(name, DrainStep(1)).confirmed:
        at = 2  # a secret does not show: only the history has the difference
    step = _drain_step(name, parts, history, replace(seen, at=at))
    behind = at <= step.part if step.back else at > step.part
    mid_drain = 0 < at < len(parts)
    return (
        step,
        replace(seen, at=at, runs=RunningConfig.TARGET if behind else RunningConfig.BASELINE),
        mid_drain,
    )


def _drain_step(
    name: str, parts: Sequence[Change], history: RunHistory, seen: SwitchState
) -> DrainStep:
    at, failed = seen.at, bool(history.failure)
    back = history.course(name, DrainStep(min(at, len(parts) - 1), back=True))
    if seen.trial is not TrialOwner.NONE:
        going_back = failed and at < len(parts) and back.done & {Act.TRIAL, Act.CHECK}
        return DrainStep(at, back=True) if going_back else DrainStep(max(at - 1, 0))
    came = DrainStep(at - 1) if at else DrainStep()
    if at and not _is_saved(parts[came.part], history.course(name, came), seen):
        return DrainStep(at, back=True) if failed and back.done and at < len(parts) else came
    if at == len(parts):
        return came
    return _from(name, history, seen) if failed else DrainStep(at)


def _from(name: str, history: RunHistory, seen: SwitchState) -> DrainStep:
    """Rollback from the confirmed and saved state; what has begun there is ended first."""
    if seen.at == 0:
        unsaved = not seen.saved and history.touched(name)
        return DrainStep(0, back=unsaved)
    ended = not to_abort(history.course(name, DrainStep(seen.at)))
    return DrainStep(seen.at - 1, back=True) if ended else DrainStep(seen.at)


def to_abort(progress: StepProgress) -> bool:
    """Whether a drain step has begun and must still be ended."""
    return progress.touched and not progress.confirmed and not end_attempted(progress)


def end_attempted(progress: StepProgress) -> bool:
    """Whether this controller process has tried to end a drain step."""
    return Act.ABORT in progress.done or bool(progress.failures(Act.ABORT))


def _is_saved(change: Change, progress: StepProgress, seen: SwitchState) -> bool:
    if change.only_secrets and progress.touched:
        return progress.saved  # its saved text shows no secret
    return seen.saved
