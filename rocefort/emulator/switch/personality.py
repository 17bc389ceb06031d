"""Behaviour of a trial that no source defines: one value for each open point.

    EmulatedSwitch(.., personality=Personality(trial_mode="survives", persist="absent"))

The default of a plain trial is what users of real switches report twice: it outlives its session,
and no other session may end it. The other defaults are the vendor's wording (V300R023C00): during a
trial "other users cannot modify the configuration".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

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
