"""History and progress of a rollout, folded from the journal's events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from rocefort.models.change.plan import Plan, Wave
from rocefort.rollout.journal.events import (
    FIRST,
    Act,
    ActEvent,
    ActPhase,
    ApplyRules,
    ApprovalEvent,
    DrainStep,
    Event,
    HealthEvent,
    RunEnded,
    RunResumed,
    RunStarted,
)
from rocefort.rollout.journal.pending_trials import PendingTrial, pending_trials

FINISHED = "finished"  # end of a run without a failure
AS_BEFORE, AS_INTENDED = "as before the change", "as intended"  # found at a resume; saved
RUNNING, BROKEN_OFF = "running", "did not end"  # of gates
BEFORE, DURING, AFTER = "before", "during", "after"
GATE, WAIT, STOP = "gate", "wait", "stop"
PAUSE = "pause requested by"  # a note, with the user
OUTSIDE = "waits for an approval to begin although"  # a wave that a calendar holds
WORDS_OF_OPERATORS = frozenset(
    {"pause", "break-glass", "unmeasured", "outside-window", "drained", "ignored"}
)
FAILS = frozenset({*Act, "health", GATE, "fault", STOP}) - {Act.ABORT, WAIT}


@dataclass(frozen=True, slots=True)
class StepProgress:
    """Progress of one device in one drain step.

    done: acts of the current attempt that succeeded under this controller. A controller that
    resumes begins with none, because earlier checks may be outdated.
    """

    done: frozenset[Act] = frozenset()
    failed: Mapping[Act, int] = field(default_factory=dict)  # number, under this controller
    waits: int = 0  # under this controller
    touched: bool = False  # the first act that changes it was begun, under any controller
    confirmed: bool = False
    saved: bool = False
    before: frozenset[str] = frozenset()  # BGP peers that were up before it was touched
    why: str = ""  # its last act failed, under this controller

    def failures(self, act: Act) -> int:
        """Number of failures of an act under this controller."""
        return self.failed.get(act, 0)


@dataclass(frozen=True, slots=True)
class WaveFailure:
    """Failure for which a wave is rolled back."""

    wave: str
    act: str
    texts: tuple[str, ...]
    code: int


@dataclass(frozen=True, slots=True)
class DeviceHistory:
    """Last event of one device, and what a status needs of it.

    leg: drain step of its last act. trial_at: start of its trial. trouble: its last failure.
    """

    event: Event
    leg: DrainStep = FIRST
    trial_at: float | None = None
    trouble: str = ""
    trial_id: str | None = None  # of its newest trial, as `ActEvent.trial_id`

    def after(self, event: Event, at: float) -> DeviceHistory:
        """Return the history with one more event."""
        failed = event.phase is ActPhase.FAILED
        trial_at = None if _ends_trial(event) else self.trial_at
        trial_id, trouble = self.trial_id, event.detail if failed else self.trouble
        if event.act == WAIT and not failed:
            trouble = ""  # an abort that the switch refused: its timer ends the trial
        if isinstance(event, ActEvent) and event.act is Act.TRIAL:
            trial_at, trial_id = None if failed else at, event.trial_id
        leg = event.leg if isinstance(event, ActEvent) else self.leg
        return DeviceHistory(event, leg, trial_at, trouble, trial_id)


def _ends_trial(event: Event) -> bool:
    """Whether an act, or the state at a resume, shows that a switch has no trial any more."""
    if event.act == "found":
        return event.detail in (AS_BEFORE, AS_INTENDED)
    return event.phase is ActPhase.DONE and event.act in (Act.CONFIRM, Act.ABORT, WAIT)


@dataclass(frozen=True, slots=True)
class RunHistory:
    """History of one run of one plan, under all its controllers, up to now."""

    running: bool = False  # begun and not ended
    ended: str = ""  # its end, as a sentence
    resumed: bool = False
    rules: ApplyRules | None = None
    courses: Mapping[tuple[str, DrainStep], StepProgress] = field(default_factory=dict)
    healthy: frozenset[tuple[str, str]] = frozenset()  # live checks that passed: wave and when
    measured: frozenset[str] = frozenset()  # waves whose gate passed after their last trial began
    run: str = ""  # a word that no other run has
    fabric: str = ""  # digest of the kept fabric, as it was at the start
    approved: Mapping[str, str] = field(default_factory=dict)  # expiry of the last one, by wave
    given: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # by wave, person: ISO 8601
    unbound: str = ""  # user and reason of waves that continue without approvals
    unmeasured: str = ""  # user and reason of waves that continue without a gate
    outside: str = ""  # user and reason of waves that begin although a calendar holds them
    given_outside: Mapping[str, frozenset[str]] = field(
        default_factory=dict
    )  # by wave, people who approved that
    paused: str = ""  # user
    failure: WaveFailure | None = None
    devices: Mapping[str, DeviceHistory] = field(default_factory=dict)
    gates: Mapping[str, str] = field(default_factory=dict)  # by wave, result of its gate
    notes: tuple[str, ...] = ()  # on the whole run
    failures: tuple[str, ...] = ()
    asks: str = ""  # what an operator has to do now, so that it continues
    held: str = ""  # the wave that waits until its window is open or its gate may run, and why
    scale: float = 1.0  # seconds of its switches in one of its first controller
    hosts: Mapping[str, str] = field(default_factory=dict)  # of its last controller, by name

    @property
    def why_not_running(self) -> tuple[str, str]:
        """Why there is no unfinished run, and what to do."""
        if self.ended == FINISHED:
            return "its run of this plan is finished", "nothing is left to do"
        return "has no unfinished run of this plan", "`rocefort apply` begins one"

    def course(self, device: str, leg: DrainStep = FIRST) -> StepProgress:
        """Progress of a device in a drain step; empty for a device without acts."""
        return self.courses.get((device, leg), NOTHING)

    def touched(self, device: str) -> bool:
        """Whether an act that changes a device was begun, in any drain step."""
        legs = (DrainStep(part, back) for part in range(MOST_PARTS) for back in (False, True))
        return any(self.course(device, leg).touched for leg in legs)

    def leg(self, device: str) -> DrainStep:
        """Drain step of a device's last act."""
        return self.devices[device].leg if device in self.devices else FIRST

    def after(self, event: Event, at: float = 0.0) -> RunHistory:
        """Return the history with one more event; at: seconds on the clock that times trials."""
        match event:
            case RunStarted():
                begun = RunHistory(running=True, rules=event.rules, run=event.run)
                return replace(begun, fabric=event.fabric, scale=event.scale, hosts=event.hosts)
            case RunResumed():
                return replace(self._resumed(), hosts=event.hosts or self.hosts)
            case RunEnded():
                notes = self._closed_pause("; the run ended first")
                return replace(self, running=False, ended=event.ended, notes=notes)
        history = self._device(event, at) if event.device else self._wave(event)
        history = _with_notices(history, event)
        # a failure during a rollback is reported at the end of the rollback
        if event.phase is ActPhase.FAILED and event.act in FAILS and not event.leg.back:
            return replace(history, failure=_merged_failure(history.failure, event))
        return history

    def _resumed(self) -> RunHistory:
        courses = {
            key: replace(course, done=frozenset(), failed={}, waits=0, why="")
            for key, course in self.courses.items()
        }
        healthy = frozenset(each for each in self.healthy if each[1] == AFTER)
        history = replace(self, courses=courses, measured=frozenset(), healthy=healthy)
        notes = self._closed_pause(", and resumed")
        return replace(history, resumed=True, paused="", held="", notes=notes)

    def _closed_pause(self, how: str) -> tuple[str, ...]:
        """Return the notes; how: the end of a pause that is open until now."""
        is_open = f"{PAUSE} {self.paused}"
        return tuple(f"{note}{how}" if note == is_open else note for note in self.notes)

    def _wave(self, event: Event) -> RunHistory:  # noqa: PLR0911 - one for each act
        if event.act == "pause":
            return replace(self, paused=event.detail)
        if isinstance(event, ApprovalEvent):
            return self._approval(event)
        if event.phase is not ActPhase.DONE:
            return self
        if event.act == "break-glass":
            return replace(self, unbound=event.detail)
        if event.act == "unmeasured":
            return replace(self, unmeasured=event.detail)
        if event.act == "outside-window":
            kept = self.given_outside if event.detail == self.outside else {}
            return replace(self, outside=event.detail, given_outside=kept)
        if event.act == GATE:
            return replace(self, measured=self.measured | {event.wave})
        if isinstance(event, HealthEvent):
            return replace(self, healthy=self.healthy | {(event.wave, event.when)})
        return self

    def _approval(self, event: ApprovalEvent) -> RunHistory:
        """Add a valid approval with its expiry, or remove one that has expired."""
        approved = {wave: until for wave, until in self.approved.items() if wave != event.wave}
        given = {wave: people for wave, people in self.given.items() if wave != event.wave}
        outside = {w: people for w, people in self.given_outside.items() if w != event.wave}
        if event.phase is ActPhase.DONE:
            people = {**self.given.get(event.wave, {}), event.detail: event.until}
            given[event.wave] = people
            if len(people) >= (self.rules.count if self.rules else 1):
                approved[event.wave] = event.until
            if event.outside and event.outside == self.outside:
                already = self.given_outside.get(event.wave, frozenset())
                outside[event.wave] = already | {event.detail}
            elif event.wave in self.given_outside:
                outside[event.wave] = self.given_outside[event.wave]
        elif not event.expired:
            return self
        return replace(self, approved=approved, given=given, given_outside=outside)

    def permits_outside(self, wave: str) -> bool:
        """Whether enough people approved that a wave begins although a calendar holds it."""
        count = self.rules.count if self.rules else 1
        given = len(self.given_outside.get(wave, ()))
        return bool(self.outside) and (bool(self.unbound) or given >= count)

    @property
    def outside_by(self) -> str:
        """User who requested that waves begin outside their windows; empty: no one."""
        return self.outside.removeprefix("by ").partition(":")[0]

    def _device(self, event: Event, at: float) -> RunHistory:
        leg = self.leg(event.device) if event.act == WAIT else event.leg
        course = _advanced(self.course(event.device, leg), event)
        history = replace(self, courses={**self.courses, (event.device, leg): course})
        last = self.devices.get(event.device) or DeviceHistory(event)
        history = replace(history, devices={**self.devices, event.device: last.after(event, at)})
        soaked = (event.act, event.phase) == (Act.SOAK, ActPhase.DONE)
        if soaked or event.act in (Act.LOAD, Act.TRIAL, Act.ABORT):  # measured again, and looked at
            healthy = self.healthy - {(event.wave, DURING)}
            return replace(history, measured=self.measured - {event.wave}, healthy=healthy)
        return history


def _with_notices(history: RunHistory, event: Event) -> RunHistory:
    """Update the notices for people: gates, notes, failures and required actions."""
    gates, notes, failures, asks = history.gates, history.notes, history.failures, ""
    if event.act == GATE:
        begun = event.phase is ActPhase.INTENT
        gates = {**gates, event.wave: RUNNING if begun else event.detail or event.phase.value}
    elif event.act in (Act.ABORT, "found") and gates.get(event.wave) == RUNNING:
        gates = {**gates, event.wave: BROKEN_OFF}
    if event.act == "approve" and event.phase is not ActPhase.DONE:
        waits = event.phase is ActPhase.INTENT
        asks = f"wave {event.wave} {event.detail}" if waits else history.asks
    held = f"wave {event.wave} {event.detail}" if event.act == "hold" else ""
    if event.act == "note":
        notes = (*notes, event.detail)
    elif event.act in WORDS_OF_OPERATORS:
        what = PAUSE if event.act == "pause" else event.act
        notes = (*notes, f"{what} {event.detail}")
    elif event.phase is ActPhase.FAILED:
        failures = (*failures, event.detail)
    return replace(history, gates=gates, notes=notes, failures=failures, asks=asks, held=held)


def _advanced(course: StepProgress, event: Event) -> StepProgress:
    if event.act == WAIT:
        more = event.phase is ActPhase.INTENT
        return replace(course, waits=course.waits + more, done=course.done - ENDED_WITH_TRIAL)
    return _with_act(course, event) if isinstance(event, ActEvent) else course


def _with_act(course: StepProgress, event: ActEvent) -> StepProgress:
    act = event.act
    if event.phase is ActPhase.INTENT:
        course = replace(course, done=course.done - UNDONE_BY[act])
        if act is Act.LOAD:
            return replace(course, touched=True, confirmed=False, saved=False, waits=0)
        return course
    if event.phase is ActPhase.FAILED:
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
    """Join all failures of one act; a failure during a rollback is reported at its end."""
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
ENDED_WITH_TRIAL = frozenset({Act.LOAD, Act.TRIAL, Act.CHECK, Act.SOAK})  # what ends with a trial
# Acts that the start of an act makes necessary again.
UNDONE_BY: Mapping[Act, frozenset[Act]] = {
    Act.LOAD: ENDED_WITH_TRIAL | {Act.CONFIRM, Act.SAVE, Act.ABORT},
    Act.TRIAL: frozenset({Act.TRIAL, Act.CHECK, Act.SOAK}),
    Act.CHECK: frozenset({Act.CHECK}),
    Act.SOAK: frozenset({Act.SOAK}),
    Act.CONFIRM: frozenset({Act.CONFIRM}),
    Act.SAVE: frozenset({Act.SAVE}),
    Act.ABORT: ENDED_WITH_TRIAL | {Act.ABORT},
    Act.PRECHECK: frozenset({Act.PRECHECK}),
}


WAITING, ON_TRIAL, CONFIRMED, SAVED, BACK, FAILED, UNKNOWN = (
    "waiting",
    "on trial",
    "confirmed",
    "saved",
    "rolled back",
    "failed",
    "UNKNOWN",
)
UNDER_WAY, DONE, NEEDS_APPROVAL = "under way", "done", "needs approval"  # of waves
# Word for a device, by the last act and its phase.
WORDS: Mapping[tuple[str, ActPhase], str] = {
    (Act.PRECHECK, ActPhase.INTENT): "looked at",
    (Act.PRECHECK, ActPhase.DONE): "looked at",
    (Act.LOAD, ActPhase.INTENT): "loading",
    (Act.LOAD, ActPhase.DONE): "loaded",
    (Act.TRIAL, ActPhase.INTENT): "trial begins",
    (Act.TRIAL, ActPhase.DONE): ON_TRIAL,
    (Act.CHECK, ActPhase.INTENT): "on trial, checking",
    (Act.CHECK, ActPhase.DONE): "on trial, checked",
    (Act.SOAK, ActPhase.INTENT): "on trial, soaking",
    (Act.SOAK, ActPhase.DONE): "on trial, soaked",
    (Act.CONFIRM, ActPhase.INTENT): "confirming",
    (Act.CONFIRM, ActPhase.DONE): CONFIRMED,
    (Act.SAVE, ActPhase.INTENT): "saving",
    (Act.SAVE, ActPhase.DONE): SAVED,
    (Act.ABORT, ActPhase.INTENT): "rolling back",
    (Act.ABORT, ActPhase.DONE): BACK,
    (Act.ABORT, ActPhase.FAILED): UNKNOWN,
    ("wait", ActPhase.INTENT): "its trial ends",
    ("wait", ActPhase.DONE): "its trial ended",
    ("wait", ActPhase.FAILED): ON_TRIAL,
}


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Plan and the history of its run. scale: seconds of the switches in one of the history."""

    plan: Plan
    history: RunHistory = field(default_factory=RunHistory)
    scale: float = 1.0

    def word(self, device: str) -> str:
        """Word for the state of a switch."""
        last = self.history.devices.get(device)
        return word_of(last.event) if last else WAITING

    def trouble(self, device: str) -> str:
        """Last failure on a switch."""
        last = self.history.devices.get(device)
        return last.trouble if last else ""

    def left_s(self, device: str, now: float) -> int | None:
        """Seconds that should be left of the trial on a switch; None where none is pending."""
        last = self.history.devices.get(device)
        if last is None or last.trial_at is None:
            return None
        length = self.plan.trial_length.of(last.trial_id)
        return max(0, round(length - (now - last.trial_at) * self.scale))

    def trial_id(self, device: str) -> str | None:
        """Id by which any session ends the trial of a switch; "": it has none, None: not known."""
        last = self.history.devices.get(device)
        return last.trial_id if last else None

    def pending_trials(self, now: float) -> list[PendingTrial]:
        """Trials that should still run, by the journal. now: a timestamp."""
        left = {
            name: (seconds, self.trial_id(name))
            for wave in self.plan.waves
            for name in wave.devices
            if (seconds := self.left_s(name, now))
        }
        return pending_trials(left, self.plan.trial_s, now, self.scale)

    def gate(self, wave: Wave) -> str:
        """Result of the gate of a wave; empty before it begins."""
        return self.history.gates.get(wave.name, "")

    def approval(self, wave: Wave) -> str:
        """Person who approved a wave last; empty: no one."""
        return "".join([*self.history.given.get(wave.name, {})][-1:])

    def state_of(self, wave: Wave) -> str:
        """Word for the state of a wave: the worst of its switches."""
        words = [self.word(name) for name in wave.devices]
        for worst in (UNKNOWN, FAILED, BACK):
            if worst in words:
                return worst
        if all(word == SAVED for word in words):
            return DONE
        if all(word == WAITING for word in words):
            needs = self.history.rules is not None and wave.name in self.history.rules.approve
            return NEEDS_APPROVAL if needs and not self.approval(wave) else WAITING
        return UNDER_WAY


def word_of(event: Event) -> str:
    """Return the word for a switch by its last event."""
    word = WORDS.get((event.act, event.phase))
    if event.act == "found":
        word = SAVED if event.detail == AS_INTENDED else event.detail
    elif event.act == Act.ABORT and event.phase is ActPhase.DONE and event.detail:
        word = CONFIRMED  # the confirmation was earlier than the abort
    elif word is None:
        word = FAILED if event.phase is ActPhase.FAILED else f"{event.act} {event.phase.value}"
    if not isinstance(event, ActEvent) or event.of == 1 or word == UNKNOWN:
        return word
    # the switch is drained until the end of the last part
    behind = event.part + ((word in (CONFIRMED, SAVED)) != event.back)  # parts behind it
    if behind == 0 and word == SAVED:
        return BACK
    return f"drained, {word}" if 0 < behind < event.of else word
