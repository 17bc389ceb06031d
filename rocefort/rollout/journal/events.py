"""Events of a rollout, state of a switch during it, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, TypeAdapter

from rocefort.models.base import Frozen
from rocefort.models.fabric.approvals import Approvals, WaveApproval
from rocefort.models.fabric.calendar import Calendar


class ActPhase(StrEnum):
    """Phase of an act: before it, after it, or after it failed."""

    INTENT = "intent"
    DONE = "done"
    FAILED = "failed"


class Act(StrEnum):
    """Act of a rollout on a switch; a drained switch runs through them three times."""

    PRECHECK = "precheck"  # reads only; the running text is kept beside the journal
    LOAD = "load"
    TRIAL = "trial"
    CHECK = "check"  # reads only
    SOAK = "soak"  # waits; all checks are made again after it
    CONFIRM = "confirm"
    SAVE = "save"
    ABORT = "abort"


class RunningConfig(StrEnum):
    """Configuration that a switch runs, by its own output."""

    BASELINE = "old"  # the one that the plan was made against
    TARGET = "new"  # the intended one
    INTERMEDIATE = "between"  # drained by this plan: `SwitchState.at` is its state
    UNKNOWN = "other"


class TrialOwner(StrEnum):
    """Owner of the trial that is pending on a switch."""

    NONE = "nobody"  # no trial is pending
    THIS_RUN = "ours"  # this run, by its session, its persist id, or the newest commit
    OTHER = "foreign"
    UNKNOWN = "unknown"  # it may be this run; the switch does not show the owner


@dataclass(frozen=True, slots=True)
class RolloutProblem:
    """Problem of a rollout as one sentence, with its exit code."""

    text: str
    code: int = 3


@dataclass(frozen=True, slots=True)
class SwitchState:
    """State of one switch by its own output, which has priority over the journal.

    held: this controller can confirm the pending trial: it has the session in which it began, or
    the persist id. loaded: this controller's session has the patch in its candidate. left_s: time
    left of the trial, by the switch. If the switch does not show it: the least by the clock of the
    controller that began the trial, None for another controller. trouble: reason why the rollout
    can do nothing with the switch now. at: state of a switch that is drained for its change: 0 old,
    1 old and drained, 2 new and drained, 3 new. For other switches `runs` is enough. other_run: a
    different run of the same plan that owns the pending trial.
    """

    runs: RunningConfig = RunningConfig.UNKNOWN
    saved: bool = False  # startup equals running; read if it runs TARGET, or is drained
    trial: TrialOwner = TrialOwner.NONE
    held: bool = False
    left_s: int | None = 0
    loaded: bool = False
    trouble: RolloutProblem | None = None  # unreachable, another switch, a foreign candidate
    at: int = 0
    other_run: str = ""
    trial_id: str | None = None  # by which any session ends its trial; "": none, None: not known

    @property
    def has_no_trial(self) -> bool:
        """Whether the switch was read, and no trial of this run is pending."""
        return self.trouble is None and not self.maybe_ours

    @property
    def maybe_ours(self) -> bool:
        """Whether a trial is pending that this run may own."""
        return self.trial in (TrialOwner.THIS_RUN, TrialOwner.UNKNOWN)


@dataclass(frozen=True, slots=True)
class ApplyRules:
    """Rules under which a plan is applied; a resumed rollout keeps those of its start.

    author: of the plan, for not_author. signers: file of keys whose owners may approve. keys: the
    same as lines, of the fabric's policy. Without both, approvals need no signature. count: people
    who approve each wave. live: the live checks judge the fabric before, during and after each
    wave. allow_sick: errors that exist before a wave do not stop it. policy: the policy that they
    follow from, with its origin, as a sentence; empty: of no policy. approvals: that policy; None:
    by an earlier version. calendars: each is read when a wave begins.
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
    policy: str = ""
    approvals: Approvals | None = None
    calendars: tuple[Calendar, ...] = ()

    @property
    def who_signs(self) -> str:
        """Source of allowed signers, as text; empty: no signature is needed."""
        return "the signers of the fabric's policy" if self.keys else self.signers


class DrainStep(NamedTuple):
    """One step of a device's change: a part of the plan, or the reversal of that part.

    A drained switch has three parts, any other switch one.
    """

    part: int = 0
    back: bool = False


FIRST = DrainStep()


class EventBase(Frozen):
    """One step of a rollout. `device` is empty for a step of the whole wave.

    detail: text for people. code: the exit code of a failure.
    """

    wave: str = ""
    device: str = ""
    phase: ActPhase
    detail: str = ""
    code: int = 0

    @property
    def leg(self) -> DrainStep:
        """Drain step that an act on a device belongs to."""
        return FIRST


class ActEvent(EventBase):
    """Act on a switch. part, of: for a drained switch, the part of its change.

    A precheck also has `running`, the digest of the kept text, and `established`, the BGP peers
    whose sessions are up. trial_id: of a trial that began; "": its release has none, so that only
    the session of the trial ends it; None: not known.
    """

    act: Literal[  # each value: the discriminator of a union has to be literal
        Act.PRECHECK, Act.LOAD, Act.TRIAL, Act.CHECK, Act.SOAK, Act.CONFIRM, Act.SAVE, Act.ABORT
    ]
    part: int = 0
    of: int = 1
    back: bool = False
    running: str = ""
    established: tuple[str, ...] = ()
    trial_id: str | None = None

    @property
    def leg(self) -> DrainStep:
        """Drain step that an act on a device belongs to."""
        return DrainStep(self.part, self.back)


class HealthEvent(EventBase):
    """Live checks of a wave; when: before, during or after it."""

    act: Literal["health"] = "health"
    when: str = ""


class ApprovalEvent(EventBase):
    """Approval of a wave: it is awaited (INTENT), given (DONE), or not valid (FAILED).

    until: its expiry, ISO 8601. expired: an earlier approval is no longer valid. outside: the
    request to begin outside a window that it approves, too.
    """

    act: Literal["approve"] = "approve"
    until: str = ""
    expired: bool = False
    outside: str = ""


class StepEvent(EventBase):
    """Step without fields of its own.

    wait: for a trial to end automatically. found: state of a switch when a controller resumes.
    fault: a problem outside of any act. hold: a wave waits until its window is open, or its gate
    may load servers. unmeasured, drained: words of an operator on gates; outside-window: on waves
    that a calendar holds. window: calendars that a wave which begins is judged by. ignored: a
    request to an earlier run. note: a fact for people that stops nothing.
    """

    act: Literal[
        "gate", "wait", "found", "fault", "stop", "pause", "hold", "break-glass", "unmeasured",
        "outside-window", "window", "drained", "ignored", "note",
    ]  # fmt: skip


class TaskEvent(EventBase):
    """Task of any Nornir program; its act is `task:` and its name. Rollouts have none."""

    act: Annotated[str, Field(pattern="^task:")]


class RunEvent(EventBase):
    """Mark of a run and the process that wrote it; only the journal gets it, no listener.

    scale: seconds of the switches in one of that process; above 1 only in a lab.
    """

    tool: str = ""
    host: str = ""
    user: str = ""
    process: int = 0
    scale: float = 1.0


class RunStarted(RunEvent):
    """Start of a new run: its id, the digest of its kept fabric, its rules, and its hosts.

    hosts: host and port of each switch and server, by name; empty: by an earlier version.
    """

    act: Literal["apply"] = "apply"
    run: str = ""
    fabric: str = ""
    rules: ApplyRules = ApplyRules(0)
    hosts: Mapping[str, str] = {}


class RunResumed(RunEvent):
    """Another controller resumes a run. hosts: those that it reaches, as of a start."""

    act: Literal["resume"] = "resume"
    hosts: Mapping[str, str] = {}


class RunEnded(RunEvent):
    """End of a run: the failure, or `finished`, and the exit code of its controller."""

    act: Literal["end"] = "end"
    ended: str


OfRollout = ActEvent | HealthEvent | ApprovalEvent | StepEvent | RunStarted | RunResumed | RunEnded
Event = OfRollout | TaskEvent
_OF_ROLLOUT = TypeAdapter[OfRollout](Annotated[OfRollout, Field(discriminator="act")])


def step_of(event: Event) -> dict[str, str | int]:
    """Return the fields that events of all kinds have, as JSON."""
    return {
        "wave": event.wave,
        "device": event.device,
        "act": str(event.act),
        "phase": event.phase.value,
        "detail": event.detail,
        "code": event.code,
    }


def own_values(event: Event) -> dict[str, Any]:
    """Return the fields of only this kind of event, as JSON; without its defaults."""
    values = event.model_dump(mode="json", exclude={*EventBase.model_fields, "act"})
    fields = type(event).model_fields
    return {name: values[name] for name in values if getattr(event, name) != fields[name].default}


def event_of(fields: Mapping[str, Any]) -> Event:
    """Build the event of these fields, by its act; raises pydantic.ValidationError."""
    if str(fields["act"]).startswith("task:"):
        return TaskEvent.model_validate(fields)
    return _OF_ROLLOUT.validate_python(fields)


@dataclass(frozen=True, slots=True)
class OperatorRequest:
    """Request of an operator to a controller, from another process: pause, abort or approve."""

    number: int
    kind: str
    by: str
    plan: str  # digest
    wave: str = ""
    approval: WaveApproval | None = None


@dataclass(frozen=True, slots=True)
class RolloutOutcome:
    """Outcome of a rollout; `failure`: why it stopped early, as `where: what; how`."""

    confirmed: Annotated[
        tuple[str, ...],
        Field(description="Switches that keep the change.", examples=[["leaf08", "leaf01"]]),
    ] = ()
    already: Annotated[
        tuple[str, ...], Field(description="Switches that ran as intended.", examples=[["spine01"]])
    ] = ()
    rolled_back: Annotated[
        tuple[str, ...],
        Field(description="Switches that run the old text again.", examples=[["leaf02"]]),
    ] = ()
    unknown: Annotated[
        tuple[str, ...],
        Field(
            description="Switches that could not be rolled back or read: check them.",
            examples=[["leaf03"]],
        ),
    ] = ()
    on_trial: Annotated[
        tuple[str, ...],
        Field(
            description="Pending trials: their switches, their end, and who can end them.",
            examples=[["leaf02 stays on trial until 14:32:10 UTC (9 min 12 s)"]],
        ),
    ] = ()
    failure: Annotated[
        str,
        Field(
            description="Why it stopped early: where, what, and how to fix it; empty: it did not.",
            examples=["wave canary: the RDMA gate failed"],
        ),
    ] = ""
    exit_code: Annotated[int, Field(description="Exit code.")] = 0
    unfinished: Annotated[
        bool, Field(description="Paused or interrupted: `rocefort resume` continues.")
    ] = False
