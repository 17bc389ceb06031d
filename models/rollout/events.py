"""What a rollout says while it runs, what it sees on each switch, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, TypeAdapter

from rocefort.models.base import Frozen
from rocefort.models.fabric.approvals import Approval


class Phase(StrEnum):
    """Before the act, after it, or when it failed."""

    INTENT = "intent"
    DONE = "done"
    FAILED = "failed"


class Act(StrEnum):
    """What a rollout does on switches; one that is drained goes through them three times."""

    PRECHECK = "precheck"  # reads only; what ran is kept beside the journal
    LOAD = "load"
    TRIAL = "trial"
    CHECK = "check"  # reads only
    SOAK = "soak"  # waits; behind it all checks are made again
    CONFIRM = "confirm"
    SAVE = "save"
    ABORT = "abort"


class RunningConfig(StrEnum):
    """What a switch runs, as it says itself."""

    BASELINE = "old"  # what the plan was made against
    TARGET = "new"  # what is intended
    INTERMEDIATE = "between"  # drained by this plan: `SwitchState.at` says how far it is
    UNKNOWN = "other"


class TrialOwner(StrEnum):
    """Who began the trial that a switch says is pending."""

    NONE = "nobody"  # none is pending
    THIS_RUN = "ours"  # of this run: by its session, its persist id, or the newest commit
    OTHER = "foreign"
    UNKNOWN = "unknown"  # it may be of this run, and the switch does not show whose it is


@dataclass(frozen=True, slots=True)
class RolloutProblem:
    """What is wrong, as one sentence, and the exit code that it means."""

    text: str
    code: int = 3


@dataclass(frozen=True, slots=True)
class SwitchState:
    """What one switch says now; it outranks whatever the journal says.

    held: this controller can confirm the pending trial: it has the session in which it began, or
    the persist id. loaded: this controller's session has the patch in its candidate. left_s: what
    is left of the trial, by the switch itself; where it does not show that, the least by the clock
    of the controller that began it, None for another one. trouble: why nothing can be done with it
    now. at: of a switch that is drained for its change, which state of its way it runs: 0 old,
    1 old and drained, 2 new and drained, 3 new; of one that is not, `runs` tells all. other_run:
    whose trial is pending, where that is another run of the same plan.
    """

    runs: RunningConfig = RunningConfig.UNKNOWN
    saved: bool = False  # would start with what it runs; told of one that runs NEW, or is drained
    trial: TrialOwner = TrialOwner.NONE
    held: bool = False
    left_s: int | None = 0
    loaded: bool = False
    trouble: RolloutProblem | None = None  # unreachable, another switch, a foreign candidate
    at: int = 0
    other_run: str = ""

    @property
    def maybe_ours(self) -> bool:
        """Whether a trial is pending that may be of this run."""
        return self.trial in (TrialOwner.THIS_RUN, TrialOwner.UNKNOWN)


@dataclass(frozen=True, slots=True)
class ApplyRules:
    """Under which rules a plan is applied; a resumed rollout keeps those that it began with.

    author: who made the plan, for not_author. signers: file of keys whose owners may approve.
    keys: the same as lines, of the fabric's policy; where both are empty, approvals need no
    signature. count: how many people approve each wave. live: the live checks judge the fabric
    before, during and after each wave. allow_sick: errors that are there before a wave do not stop
    it.
    """

    max_unavailable: int
    approve: tuple[str, ...] = ()  # waves that wait for an approval
    not_author: bool = False
    expires_h: float = 24
    author: str = ""
    signers: str = ""
    live: bool = False
    allow_sick: bool = False
    keys: tuple[str, ...] = ()
    count: int = 1

    @property
    def who_signs(self) -> str:
        """Who may sign, in words; empty: nobody has to."""
        return "the signers of the fabric's policy" if self.keys else self.signers


class DrainStep(NamedTuple):
    """One change of a device's way: its part of the plan, or that part taken back.

    A switch that is drained has three parts, any other one.
    """

    part: int = 0
    back: bool = False


FIRST = DrainStep()


class EventBase(Frozen):
    """One step of a rollout. `device` is empty for what concerns the wave.

    detail: what people read. code: the exit code of a failure.
    """

    wave: str = ""
    device: str = ""
    phase: Phase
    detail: str = ""
    code: int = 0

    @property
    def leg(self) -> DrainStep:
        """The leg that an act on a device belongs to."""
        return FIRST


class ActEvent(EventBase):
    """An act on a switch; of a drained one: on which part of its way, of how many.

    Of a precheck: running: digest of the text that is kept; established: BGP peers whose sessions
    are up.
    """

    act: Literal[  # each of them: what tells the kinds apart has to be literal
        Act.PRECHECK, Act.LOAD, Act.TRIAL, Act.CHECK, Act.SOAK, Act.CONFIRM, Act.SAVE, Act.ABORT
    ]
    part: int = 0
    of: int = 1
    back: bool = False
    running: str = ""
    established: tuple[str, ...] = ()

    @property
    def leg(self) -> DrainStep:
        """The leg that an act on a device belongs to."""
        return DrainStep(self.part, self.back)


class HealthEvent(EventBase):
    """Live checks of a wave; when: before, during or after it."""

    act: Literal["health"] = "health"
    when: str = ""


class ApprovalEvent(EventBase):
    """A wave waits for an approval (INTENT), has one (DONE), or one does not hold (FAILED).

    until: how long it holds, ISO 8601. expired: one that was given holds no more.
    """

    act: Literal["approve"] = "approve"
    until: str = ""
    expired: bool = False


class StepEvent(EventBase):
    """A step without values of its own.

    wait: for a trial to end by itself. found: what a controller that goes on finds on a switch.
    fault: something went wrong behind its back. ignored: a request to an earlier run.
    """

    act: Literal["gate", "wait", "found", "fault", "stop", "pause", "break-glass", "ignored"]


class TaskEvent(EventBase):
    """A task of any Nornir program; its act is `task:` and its name, which no rollout does."""

    act: Annotated[str, Field(pattern="^task:")]


class RunEvent(EventBase):
    """A mark of a run, in the journal alone: no listener hears it. Which process wrote it.

    scale: seconds of the switches in one of that process; above 1 only in a lab.
    """

    tool: str = ""
    host: str = ""
    user: str = ""
    process: int = 0
    scale: float = 1.0


class RunStarted(RunEvent):
    """A new run: its id, the digest under which its fabric is kept, its rules."""

    act: Literal["apply"] = "apply"
    run: str = ""
    fabric: str = ""
    rules: ApplyRules = ApplyRules(0)


class RunResumed(RunEvent):
    """Another controller goes on with a run."""

    act: Literal["resume"] = "resume"


class RunEnded(RunEvent):
    """How a run ended: the failure, or `finished`; and the exit code of its controller."""

    act: Literal["end"] = "end"
    ended: str


OfRollout = ActEvent | HealthEvent | ApprovalEvent | StepEvent | RunStarted | RunResumed | RunEnded
Event = OfRollout | TaskEvent
_OF_ROLLOUT = TypeAdapter[OfRollout](Annotated[OfRollout, Field(discriminator="act")])


def step_of(event: Event) -> dict[str, str | int]:
    """What the events of all kinds have, as JSON."""
    return {
        "wave": event.wave,
        "device": event.device,
        "act": str(event.act),
        "phase": event.phase.value,
        "detail": event.detail,
        "code": event.code,
    }


def own_values(event: Event) -> dict[str, Any]:
    """What the kind of an event has beside the fields of all, as JSON; without its defaults."""
    values = event.model_dump(mode="json", exclude={*EventBase.model_fields, "act"})
    fields = type(event).model_fields
    return {name: values[name] for name in values if getattr(event, name) != fields[name].default}


def event_of(fields: Mapping[str, Any]) -> Event:
    """The event that has these fields, by its act; raises pydantic.ValidationError."""
    if str(fields["act"]).startswith("task:"):
        return TaskEvent.model_validate(fields)
    return _OF_ROLLOUT.validate_python(fields)


@dataclass(frozen=True, slots=True)
class OperatorRequest:
    """What somebody asks of a controller from another process: pause, abort or approve."""

    number: int
    kind: str
    by: str
    plan: str  # digest
    wave: str = ""
    approval: Approval | None = None


@dataclass(frozen=True, slots=True)
class RolloutOutcome:
    """How a rollout ended; `failure` says why it stopped early, as `where: what; how`."""

    confirmed: tuple[str, ...] = ()
    already: tuple[str, ...] = ()  # ran as intended before
    rolled_back: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # could not be brought back or read: look at them by hand
    failure: str = ""
    exit_code: int = 0
    unfinished: bool = False  # paused, or cut off: `rocefort resume` goes on
