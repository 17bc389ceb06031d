"""What a rollout says while it runs, what it sees on each switch, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a rollout. `device` is empty for what concerns the wave.

    act: an Act, or health, gate, wait, found, fault, stop, pause, approve. code: the exit code of
    a failure. data: JSON that a resumed rollout needs; detail is what people read.
    """

    wave: str
    device: str
    act: str
    phase: Phase
    detail: str = ""
    code: int = 0
    data: str = ""


class Runs(StrEnum):
    """What a switch runs, as it says itself."""

    OLD = "old"  # what the plan was made against
    NEW = "new"  # what is intended
    BETWEEN = "between"  # drained by this plan: `Seen.at` says how far it is
    OTHER = "other"


class Whose(StrEnum):
    """Who began the trial that a switch says is pending."""

    NOBODY = "nobody"  # none is pending
    OURS = "ours"  # of this run: by its session, its persist id, or the newest commit
    FOREIGN = "foreign"
    UNKNOWN = "unknown"  # it may be of this run, and the switch does not show whose it is


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong, as one sentence, and the exit code that it means."""

    text: str
    code: int = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """What one switch says now; it outranks whatever the journal says.

    held: this controller can confirm the pending trial: it has the session in which it began, or
    the persist id. loaded: this controller's session has the patch in its candidate. left_s: what
    is left of the trial, by the switch itself; where it does not show that, the least by the clock
    of the controller that began it, None for another one. trouble: why nothing can be done with it
    now. at: of a switch that is drained for its change, which state of its way it runs: 0 old,
    1 old and drained, 2 new and drained, 3 new; of one that is not, `runs` tells all. other_run:
    whose trial is pending, where that is another run of the same plan.
    """

    runs: Runs = Runs.OTHER
    saved: bool = False  # would start with what it runs; told of one that runs NEW, or is drained
    trial: Whose = Whose.NOBODY
    held: bool = False
    left_s: int | None = 0
    loaded: bool = False
    trouble: Trouble | None = None  # unreachable, another switch, a foreign candidate
    at: int = 0
    other_run: str = ""

    @property
    def maybe_ours(self) -> bool:
        """Whether a trial is pending that may be of this run."""
        return self.trial in (Whose.OURS, Whose.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Rules:
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


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks of a controller from another process: pause, abort or approve."""

    number: int
    kind: str
    by: str
    plan: str  # digest
    wave: str = ""
    data: str = ""  # of an approval: all that it says


@dataclass(frozen=True, slots=True)
class Applied:
    """How a rollout ended; `failure` says why it stopped early, as `where: what; how`."""

    confirmed: tuple[str, ...] = ()
    already: tuple[str, ...] = ()  # ran as intended before
    rolled_back: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # could not be brought back or read: look at them by hand
    failure: str = ""
    exit_code: int = 0
    unfinished: bool = False  # paused, or cut off: `rocefort resume` goes on
