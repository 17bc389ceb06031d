"""What a journal tells of a rollout, folded event by event: a pure value that decisions use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from rocefort.models.rollout.events import (
    FIRST,
    Act,
    ActEvent,
    ApplyRules,
    ApprovalEvent,
    DrainStep,
    Event,
    HealthEvent,
    Phase,
    RunEnded,
    RunResumed,
    RunStarted,
)

FINISHED = "finished"  # how a run ended of which nothing failed
AS_BEFORE, AS_INTENDED = "as before the change", "as intended"  # found by who goes on; saved
RUNNING, BROKEN_OFF = "running", "did not end"  # of gates
BEFORE, DURING, AFTER = "before", "during", "after"
GATE, WAIT, STOP = "gate", "wait", "stop"
FAILS = frozenset({*Act, "health", GATE, "fault", STOP}) - {Act.ABORT, WAIT}


@dataclass(frozen=True, slots=True)
class StepProgress:
    """What the rollout did with one device on one leg of its way.

    done: acts of the attempt under way that ended well in this life of the controller: one that
    resumes begins with none, for what was checked before its death may hold no more.
    """

    done: frozenset[Act] = frozenset()
    failed: Mapping[Act, int] = field(default_factory=dict)  # how often, in this life
    waits: int = 0  # in this life
    touched: bool = False  # the first act that changes it was begun, in whatever life
    confirmed: bool = False
    saved: bool = False
    before: frozenset[str] = frozenset()  # BGP peers that were up before it was touched
    why: str = ""  # its last act failed, in this life

    def failures(self, act: Act) -> int:
        """How often an act failed in this life."""
        return self.failed.get(act, 0)


@dataclass(frozen=True, slots=True)
class WaveFailure:
    """Why a wave is rolled back."""

    wave: str
    act: str
    texts: tuple[str, ...]
    code: int


@dataclass(frozen=True, slots=True)
class DeviceHistory:
    """The last event of one device, and what people ask of it.

    leg: of its last act. trial_at: since when its trial runs. trouble: what failed there last.
    """

    event: Event
    leg: DrainStep = FIRST
    trial_at: float | None = None
    trouble: str = ""

    def after(self, event: Event, at: float) -> DeviceHistory:
        """The same with one more event."""
        failed = event.phase is Phase.FAILED
        trial_at = None if _ends_trial(event) else self.trial_at
        if event.act == Act.TRIAL:
            trial_at = None if failed else at
        leg = event.leg if isinstance(event, ActEvent) else self.leg
        return DeviceHistory(event, leg, trial_at, event.detail if failed else self.trouble)


def _ends_trial(event: Event) -> bool:
    """Whether a switch has no trial any more by what was done, or found by who goes on."""
    if event.act == "found":
        return event.detail in (AS_BEFORE, AS_INTENDED)
    return event.phase is Phase.DONE and event.act in (Act.CONFIRM, Act.ABORT, WAIT)


@dataclass(frozen=True, slots=True)
class RunHistory:
    """One run of one plan, through all lives of its controller, up to now."""

    running: bool = False  # begun and not ended
    resumed: bool = False
    rules: ApplyRules | None = None
    courses: Mapping[tuple[str, DrainStep], StepProgress] = field(default_factory=dict)
    healthy: frozenset[tuple[str, str]] = frozenset()  # live checks that passed: wave and when
    measured: frozenset[str] = frozenset()  # waves whose gate passed after their last trial began
    run: str = ""  # a word that no other run has
    fabric: str = ""  # digest under which the fabric is kept as the run began with it
    approved: Mapping[str, str] = field(default_factory=dict)  # the last until when, by wave
    given: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # by wave, person: ISO 8601
    unbound: str = ""  # by whom, and why, waves go on without approvals
    paused: str = ""  # by whom
    failure: WaveFailure | None = None
    devices: Mapping[str, DeviceHistory] = field(default_factory=dict)
    gates: Mapping[str, str] = field(default_factory=dict)  # by wave, what its gate came to
    notes: tuple[str, ...] = ()  # what concerns the whole
    failures: tuple[str, ...] = ()
    asks: str = ""  # what somebody has to do now, so that it goes on
    scale: float = 1.0  # seconds of its switches in one of its first controller

    def course(self, device: str, leg: DrainStep = FIRST) -> StepProgress:
        """What was done with a device on a leg; nothing yet, where it is not named."""
        return self.courses.get((device, leg), NOTHING)

    def touched(self, device: str) -> bool:
        """Whether an act that changes a device was begun, on whatever leg."""
        legs = (DrainStep(part, back) for part in range(MOST_PARTS) for back in (False, True))
        return any(self.course(device, leg).touched for leg in legs)

    def leg(self, device: str) -> DrainStep:
        """The leg of a device's last act."""
        return self.devices[device].leg if device in self.devices else FIRST

    def after(self, event: Event, at: float = 0.0) -> RunHistory:
        """The history with one more event; at: seconds of whoever asks for the time of trials."""
        match event:
            case RunStarted():
                begun = RunHistory(running=True, rules=event.rules, run=event.run)
                return replace(begun, fabric=event.fabric, scale=event.scale)
            case RunResumed():
                return self._resumed()
            case RunEnded():
                return replace(self, running=False)
        history = self._device(event, at) if event.device else self._wave(event)
        history = _with_notices(history, event)
        # what fails on the way back is told at its end
        if event.phase is Phase.FAILED and event.act in FAILS and not event.leg.back:
            return replace(history, failure=_merged_failure(history.failure, event))
        return history

    def _resumed(self) -> RunHistory:
        courses = {
            key: replace(course, done=frozenset(), failed={}, waits=0, why="")
            for key, course in self.courses.items()
        }
        healthy = frozenset(each for each in self.healthy if each[1] == AFTER)
        anew = replace(self, courses=courses, measured=frozenset(), healthy=healthy)
        return replace(anew, resumed=True, paused="")

    def _wave(self, event: Event) -> RunHistory:  # noqa: PLR0911 - one for each act
        if event.act == "pause":
            return replace(self, paused=event.detail)
        if isinstance(event, ApprovalEvent):
            return self._approval(event)
        if event.phase is not Phase.DONE:
            return self
        if event.act == "break-glass":
            return replace(self, unbound=event.detail)
        if event.act == GATE:
            return replace(self, measured=self.measured | {event.wave})
        if isinstance(event, HealthEvent):
            return replace(self, healthy=self.healthy | {(event.wave, event.when)})
        return self

    def _approval(self, event: ApprovalEvent) -> RunHistory:
        """One that holds is noted with its end; one that has expired holds no more."""
        approved = {wave: until for wave, until in self.approved.items() if wave != event.wave}
        given = {wave: people for wave, people in self.given.items() if wave != event.wave}
        if event.phase is Phase.DONE:
            people = {**self.given.get(event.wave, {}), event.detail: event.until}
            given[event.wave] = people
            if len(people) >= (self.rules.count if self.rules else 1):
                approved[event.wave] = event.until
        elif not event.expired:
            return self
        return replace(self, approved=approved, given=given)

    def _device(self, event: Event, at: float) -> RunHistory:
        leg = event.leg
        course = _advanced(self.course(event.device, leg), event)
        history = replace(self, courses={**self.courses, (event.device, leg): course})
        last = self.devices.get(event.device) or DeviceHistory(event)
        history = replace(history, devices={**self.devices, event.device: last.after(event, at)})
        soaked = (event.act, event.phase) == (Act.SOAK, Phase.DONE)
        if soaked or event.act in (Act.LOAD, Act.TRIAL, Act.ABORT):  # measured again, and looked at
            healthy = self.healthy - {(event.wave, DURING)}
            return replace(history, measured=self.measured - {event.wave}, healthy=healthy)
        return history


def _with_notices(history: RunHistory, event: Event) -> RunHistory:
    """What people are told beside the state of each switch."""
    gates, notes, failures, asks = history.gates, history.notes, history.failures, ""
    if event.act == GATE:
        begun = event.phase is Phase.INTENT
        gates = {**gates, event.wave: RUNNING if begun else event.detail or event.phase.value}
    elif event.act in (Act.ABORT, "found") and gates.get(event.wave) == RUNNING:
        gates = {**gates, event.wave: BROKEN_OFF}
    if event.act == "approve" and event.phase is not Phase.DONE:
        waits = event.phase is Phase.INTENT
        asks = f"wave {event.wave} {event.detail}" if waits else history.asks
    if event.act in ("pause", "break-glass", "ignored"):
        notes = (*notes, f"{event.act} {event.detail}")
    elif event.phase is Phase.FAILED:
        failures = (*failures, event.detail)
    return replace(history, gates=gates, notes=notes, failures=failures, asks=asks)


def _advanced(course: StepProgress, event: Event) -> StepProgress:
    if event.act == WAIT:
        more = event.phase is Phase.INTENT
        return replace(course, waits=course.waits + more, done=course.done - ON_TRIAL)
    return _with_act(course, event) if isinstance(event, ActEvent) else course


def _with_act(course: StepProgress, event: ActEvent) -> StepProgress:
    act = event.act
    if event.phase is Phase.INTENT:
        course = replace(course, done=course.done - UNDONE_BY[act])
        if act is Act.LOAD:
            return replace(course, touched=True, confirmed=False, saved=False)
        return course
    if event.phase is Phase.FAILED:
        failed = {**course.failed, act: course.failures(act) + 1}
        return replace(course, failed=failed, why=event.detail)
    checked = frozenset({Act.CHECK} if act is Act.SOAK else ())
    course = replace(course, done=course.done - checked | {act})
    if act is Act.PRECHECK:
        return replace(course, before=frozenset(event.established))
    return replace(
        course,
        confirmed=course.confirmed or act is Act.CONFIRM,
        saved=course.saved or act is Act.SAVE,
    )


def _merged_failure(failure: WaveFailure | None, event: Event) -> WaveFailure:
    """All that fails in one act is one failure; what fails on the way back is told at its end."""
    if failure is None:
        return WaveFailure(event.wave, event.act, (event.detail,), event.code)
    if (failure.wave, failure.act) == (event.wave, event.act):
        return replace(failure, texts=(*failure.texts, event.detail))
    return failure


def history_of(events: Iterable[Event]) -> RunHistory:
    """Fold a journal's events, oldest first."""
    history = RunHistory()
    for event in events:
        history = history.after(event)
    return history


NOTHING = StepProgress()
MOST_PARTS = 3  # a drain, the change, the end of the drain
ON_TRIAL = frozenset({Act.LOAD, Act.TRIAL, Act.CHECK, Act.SOAK})  # what ends with a trial
# What a begun act leaves to be done anew.
UNDONE_BY: Mapping[Act, frozenset[Act]] = {
    Act.LOAD: ON_TRIAL | {Act.CONFIRM, Act.SAVE, Act.ABORT},
    Act.TRIAL: frozenset({Act.TRIAL, Act.CHECK, Act.SOAK}),
    Act.CHECK: frozenset({Act.CHECK}),
    Act.SOAK: frozenset({Act.SOAK}),
    Act.CONFIRM: frozenset({Act.CONFIRM}),
    Act.SAVE: frozenset({Act.SAVE}),
    Act.ABORT: ON_TRIAL | {Act.ABORT},
    Act.PRECHECK: frozenset({Act.PRECHECK}),
}
