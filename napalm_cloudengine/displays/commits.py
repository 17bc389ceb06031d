"""Commits: rollback points, and the status of a trial."""

import re
from dataclasses import dataclass
from typing import Literal, cast, get_args

from napalm_cloudengine.displays.block import LabelledDisplay
from napalm_cloudengine.displays.lines import DisplayAnswer
from napalm_cloudengine.displays.table import DisplayTable, Form

_RULE = "-" * 131
_ID = re.compile(r"\b\d{10}\b", re.ASCII)  # command reference, "display configuration commit list"
LIST = DisplayTable(
    "display configuration commit list",
    {
        "": Form(
            source="an output of a CloudEngine switch that a public collector is tested with",
            confirmed=False,  # the reference shows no sample; other releases have narrower labels
            head=f"""\
{_RULE}
No.  CommitId     Label                                                            User\
            TimeStamp
{_RULE}""",
            row="{number:<4d} {commit:<12} {label:<64} {user:<15} {at:*}",
            foot=_RULE,
        )
    },
    cells={"commit": _ID, "at": re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*", re.ASCII)},
)
VERBOSE = LabelledDisplay(
    """\
{number:d}) CommitId: {commit}
        Label: {label}
        User: {user}
        User-Intf: {interface:*}
        Type: {kind}
        TimeStamp: {at:*}
        Description: {description:*}""",
    source='command reference V300R023C00, "commit", last example but one',
)
_ROW = re.compile(r"^[^\S\n]*\d", re.MULTILINE | re.ASCII)


@dataclass(frozen=True)
class CommitEntry:
    """One commit in the switch's list; entry: its full text, empty for no commit."""

    entry: str
    description: str


def commit(text: str) -> CommitEntry:
    """Read an entry of the verbose list; empty where there is none."""
    rows = map(VERBOSE.match, DisplayAnswer(f"{LIST.command} verbose", text).lines)
    descriptions = (row["description"] for row in rows if "description" in row)
    return CommitEntry(text.strip(), next(descriptions, ""))


def newest_commit(text: str) -> str | None:
    """Return the id of the newest rollback point; "" if there is none, None if it is not known.

    The id is found by its digits alone: columns differ between releases, and a log line may be
    mixed in.
    """
    if match := _ID.search(text):
        return match[0]
    return None if _ROW.search(text) else ""


TrialState = Literal["INACTIVE", "ACTIVE", "CANCELING", "WAITCANCEL"]
COMMAND = "display configuration trial status"
STATUS = LabelledDisplay(
    """\
Trial status: {state}
Persist id: {persist_id}
Trial time left (sec): {seconds_left:d}""",
    source='command reference V300R023C00, "display configuration trial status"',
)


@dataclass(frozen=True)
class TrialStatus:
    """State of a trial commit.

    seconds_left: 0 without a trial, None where the switch does not show the time: it is not known
    then.
    """

    state: TrialState
    seconds_left: int | None
    persist_id: str = ""

    @property
    def ending(self) -> bool:
        """Whether the switch is cancelling it, or about to: it no longer runs, but is not over."""
        return self.state in ("CANCELING", "WAITCANCEL")

    @property
    def time_left(self) -> str:
        """Return the remaining time as text."""
        return "an unknown time" if self.seconds_left is None else f"{self.seconds_left} s"


def read_trial(shown: DisplayAnswer) -> TrialStatus:
    """Read the status of the trial; raises UnreadableError for any other text."""
    values: dict[str, str] = {}
    for line in shown.lines:
        if pair := STATUS.value(line):
            values.setdefault(*pair)
    state = values.get("state", "").partition(" ")[0]  # a remark may follow it
    if state not in get_args(TrialState):
        raise shown.wrong(1, f"not a trial status: {shown.text.strip()!r}")
    time_left = values.get("seconds_left", "")
    without = 0 if state == "INACTIVE" else None
    seconds = int(time_left) if time_left.isdecimal() and time_left.isascii() else without
    return TrialStatus(cast("TrialState", state), seconds, values.get("persist_id", ""))
