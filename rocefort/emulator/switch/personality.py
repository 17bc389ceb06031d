"""Behaviour of an emulated switch: its faults by name, and points that no source defines.

switch.faults = (LineFault("hang", "commit"), LineFault("full-flash"))
read_fault("leaf03:hang@commit")     -> ("leaf03", LineFault("hang", "commit"))
read_fault("leaf03:drop-reply@commit*1")       # only the first time

EmulatedSwitch(.., personality=Personality(trial_mode="survives", persist="absent"))

The default of a plain trial is what users of real switches report twice: it outlives its session,
and no other session may end it. The other defaults are the vendor's wording (V300R023C00): during a
trial "other users cannot modify the configuration".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Literal, get_args, get_type_hints

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput

FORM = re.compile(r"(?P<host>[^:@]+):(?P<name>[a-z-]+)(?:@(?P<match>.*?))?(?:\*(?P<times>\d+))?")
FOREIGN = "vlan batch 4094"  # uncommitted line of another user, unless the fault names one
EARLY_S = 1  # a trial that expires early does so after this many seconds

# Effect of each fault. LINE is the part of the typed line given after `@`.
FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "refuse-line": "a configuration line with LINE is not recognized (LINE must be given)",
        "unknown-question": "a configuration line with LINE gets an unexpected [Y/N] question",
        "fail-commit": "the commit fails with an error; the candidate stays",
        "hang": "a line with LINE has no effect and no answer; the session stays open",
        "hang-on-commit": "as hang@commit, also for the commit on leaving a view",
        "drop-line": "the session ends at a line with LINE, before it is done",
        "drop-reply": "a line with LINE is done, the session ends without its reply",
        "drop-after": "a line with LINE is done and answered, with the next prompt, then it ends",
        "drop-session-on-commit": "the commit is done, the session ends without an answer",
        "lie-ok": "a configuration line or commit with LINE is answered as done and is not",
        "expire-early": "a trial runs LINE seconds (1), whatever the command sets and prints",
        "expire-before-commit": "a trial's time is over just as the next commit arrives",
        "full-flash": "save and commit fail because flash has no space",
        "wrong-host-key": "the switch shows a host key that is not the one in known_hosts",
        "foreign-candidate": f"another user's LINE ({FOREIGN}) is uncommitted in a new system view",
        "refuse-login": "the switch refuses new sessions; open ones continue",
    }
)
ANYWHERE = ("expire-early", "foreign-candidate")  # text after `@` is not part of a line
WITHOUT = (
    "fail-commit",
    "hang-on-commit",
    "drop-session-on-commit",
    "expire-before-commit",
    "full-flash",
    "wrong-host-key",
    "refuse-login",
)
NEEDS_LINE = ("refuse-line", "hang", "drop-line", "drop-reply", "drop-after")


@dataclass(frozen=True, slots=True)
class LineFault:
    """A fault by a name of FAULTS; `match` limits it to lines that contain that text.

    `times` limits how often it strikes; 0 means always, but `*0` in text is refused. Raises
    BadInput for an unknown name, a missing line, and seconds that are not a number.
    """

    name: str
    match: str = ""
    times: int = 0

    def __post_init__(self) -> None:
        if self.name not in FAULTS:
            raise BadInput(f"no fault is called {self.name!r}", how=nearest(self.name, FAULTS))
        if self.name in NEEDS_LINE and not self.match:
            raise BadInput(f"{self.name} needs a part of a line", how="add it behind @")
        if self.name in WITHOUT and self.match:
            raise BadInput(f"{self.name} takes no line", how="remove @ and the text behind it")
        if self.name == "expire-early" and self.match and not self.match.isdecimal():
            raise BadInput(
                f"expire-early takes seconds, not {self.match!r}", how="as in expire-early@5"
            )

    def strikes(self, line: str) -> bool:
        """Whether the fault applies to a line."""
        return self.name in ANYWHERE or self.match in line


def read_fault(text: str) -> tuple[str, LineFault]:
    """Parse `HOST:FAULT`, `HOST:FAULT@LINE`, `HOST:FAULT@LINE*TIMES`. Raises BadInput."""
    match = FORM.fullmatch(text)
    if match is None:
        raise BadInput(
            f"{text!r} is no fault",
            how="write HOST:FAULT or HOST:FAULT@LINE, as leaf03:hang@commit",
        )
    times = None if match["times"] is None else int(match["times"])
    if times == 0:
        what = "a fault that strikes 0 times is none"
        raise BadInput(what, how="write *1 or more, or no * for one that strikes always")
    return match["host"], LineFault(match["name"], match["match"] or "", times or 0)


# session-only: the trial outlives its session, and no other session may confirm or abort it.
TrialMode = Literal["session-only", "dies-with-session", "survives"]
Persist = Literal["present", "absent"]
# after-confirmation: the list of commits shows a commit once its trial is confirmed.
CommitList = Literal["shown", "after-confirmation", "absent"]
# no-time: without the seconds left; state-only: without them and without the persist id.
TrialStatus = Literal["whole", "no-time", "state-only"]
TrialPrompt = Literal["~", "*"]
ForeignEdits = Literal["refused", "taken"]


@dataclass(frozen=True)
class Personality:
    """Behaviour of one release during a trial; the first value of each field is the default.

    trial_mode: fate of a plain trial when its session ends. persist: whether the release has the
    word. commit_list: whether `display configuration commit list` shows a commit on trial.
    trial_status: content of `display configuration trial status` besides the state. trial_prompt:
    mark of the prompt of the session that has a trial and no uncommitted lines. foreign_edits:
    whether other sessions may enter configuration during a trial.
    """

    trial_mode: TrialMode = "session-only"
    persist: Persist = "present"
    commit_list: CommitList = "shown"
    trial_status: TrialStatus = "whole"
    trial_prompt: TrialPrompt = "~"
    foreign_edits: ForeignEdits = "refused"

    def __str__(self) -> str:
        return " ".join(f"{name}={getattr(self, name)}" for name in axes())


@dataclass(frozen=True)
class OpenPoint:
    """A field of a Personality as a question, and the commands that answer it on a real switch."""

    question: str
    ask: str


STATUS = "display configuration trial status"
OPEN_POINTS = {
    "trial_mode": OpenPoint(
        "whether a plain trial outlives its session, and which sessions may end it then",
        f"commit trial 60, end the session, {STATUS} and abort trial from another",
    ),
    "persist": OpenPoint(
        "whether a trial can carry an id, by which any session ends it", "commit trial 60 persist ?"
    ),
    "commit_list": OpenPoint(
        "whether a commit on trial is in the list of commits",
        "commit trial 60, then display configuration commit list verbose 1",
    ),
    "trial_status": OpenPoint(
        "whether the status of a trial shows its time and its id, and the state while it is "
        "cancelled",
        f"commit trial 60 persist x, then {STATUS}",
    ),
    "trial_prompt": OpenPoint(
        "the mark of the prompt during the session's own trial, ~ or *",
        "commit trial 60, and the prompt",
    ),
    "foreign_edits": OpenPoint(
        "whether other sessions may enter lines during a trial",
        "commit trial 60, then a line and commit in another session",
    ),
}
DEFAULT = Personality()


def axes() -> dict[str, tuple[str, ...]]:
    """Return the values of each field, the default first."""
    hints = get_type_hints(Personality)
    return {each.name: get_args(hints[each.name]) for each in fields(Personality)}
