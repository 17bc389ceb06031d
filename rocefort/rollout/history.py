"""What a journal tells of a rollout, folded event by event: a pure value that decisions use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from rocefort.models.rollout import (
    FIRST,
    Act,
    ActEvent,
    ApprovalEvent,
    Event,
    HealthEvent,
    Leg,
    Phase,
    Rules,
    RunEnded,
    RunResumed,
    RunStarted,
)

FINISHED = "finished"  # how a run ended of which nothing failed
BEFORE, DURING, AFTER = "before", "during", "after"
GATE, WAIT, STOP = "gate", "wait", "stop"
FAILS = frozenset({*Act, "health", GATE, "fault", STOP}) - {Act.ABORT, WAIT}


@dataclass(frozen=True, slots=True)
class Course:
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
class Failure:
    """Why a wave is rolled back."""

    wave: str
    act: str
    texts: tuple[str, ...]
    code: int


@dataclass(frozen=True, slots=True)
class History:
    """One run of one plan, through all lives of its controller, up to now."""

    running: bool = False  # begun and not ended
    resumed: bool = False
    rules: Rules | None = None
    courses: Mapping[tuple[str, Leg], Course] = field(default_factory=dict)
    legs: Mapping[str, Leg] = field(default_factory=dict)  # the last one of each device
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
    failure: Failure | None = None

    def course(self, device: str, leg: Leg = FIRST) -> Course:
        """What was done with a device on a leg; nothing yet, where it is not named."""
        return self.courses.get((device, leg), NOTHING)

    def touched(self, device: str) -> bool:
        """Whether an act that changes a device was begun, on whatever leg."""
        legs = (Leg(part, back) for part in range(MOST_PARTS) for back in (False, True))
        return any(self.course(device, leg).touched for leg in legs)

    def after(self, event: Event) -> History:
        """The history with one more event."""
        match event:
            case RunStarted():
                rules, fabric = event.rules, event.fabric
                return History(running=True, rules=rules, run=event.run, fabric=fabric)
            case RunResumed():
                return self._resumed()
            case RunEnded():
                return replace(self, running=False)
        history = self._device(event) if event.device else self._wave(event)
        # what fails on the way back is told at its end
        if event.phase is Phase.FAILED and event.act in FAILS and not event.leg.back:
            return replace(history, failure=_joined(history.failure, event))
        return history

    def _resumed(self) -> History:
        courses = {
            key: replace(course, done=frozenset(), failed={}, waits=0, why="")
            for key, course in self.courses.items()
        }
        healthy = frozenset(each for each in self.healthy if each[1] == AFTER)
        anew = replace(self, courses=courses, measured=frozenset(), healthy=healthy)
        return replace(anew, resumed=True, paused="")

    def _wave(self, event: Event) -> History:  # noqa: PLR0911 - one for each act
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

    def _approval(self, event: ApprovalEvent) -> History:
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

    def _device(self, event: Event) -> History:
        leg = event.leg
        course = _advanced(self.course(event.device, leg), event)
        history = replace(self, courses={**self.courses, (event.device, leg): course})
        if not isinstance(event, ActEvent):
            return history
        history = replace(history, legs={**self.legs, event.device: leg})
        soaked = (event.act, event.phase) == (Act.SOAK, Phase.DONE)
        if soaked or event.act in (Act.LOAD, Act.TRIAL, Act.ABORT):  # measured again, and looked at
            healthy = self.healthy - {(event.wave, DURING)}
            return replace(history, measured=self.measured - {event.wave}, healthy=healthy)
        return history


def _advanced(course: Course, event: Event) -> Course:
    if event.act == WAIT:
        more = event.phase is Phase.INTENT
        return replace(course, waits=course.waits + more, done=course.done - ON_TRIAL)
    return _acted(course, event) if isinstance(event, ActEvent) else course


def _acted(course: Course, event: ActEvent) -> Course:
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


def _joined(failure: Failure | None, event: Event) -> Failure:
    """All that fails in one act is one failure; what fails on the way back is told at its end."""
    if failure is None:
        return Failure(event.wave, event.act, (event.detail,), event.code)
    if (failure.wave, failure.act) == (event.wave, event.act):
        return replace(failure, texts=(*failure.texts, event.detail))
    return failure


def history_of(events: Iterable[Event]) -> History:
    """Fold a journal's events, oldest first."""
    history = History()
    for event in events:
        history = history.after(event)
    return history


NOTHING = Course()
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
