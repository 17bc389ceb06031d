"""Rollback points: the commits that a switch remembers, the newest first."""

import re
from dataclasses import dataclass

from napalm_cloudengine.displays.block import LabelledDisplay
from napalm_cloudengine.displays.shown import DisplayAnswer
from napalm_cloudengine.displays.table import DisplayTable, Form

_RULE = "-" * 131
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
_ID = re.compile(r"\b\d{10}\b", re.ASCII)  # command reference, "display configuration commit list"
_ROW = re.compile(r"^\s*\d", re.MULTILINE | re.ASCII)


@dataclass(frozen=True)
class CommitEntry:
    """A commit as the switch lists it; entry: all that is listed, empty for no commit."""

    entry: str
    description: str


def commit(text: str) -> CommitEntry:
    """Read an entry of the verbose list; empty where there is none."""
    rows = map(VERBOSE.match, DisplayAnswer(f"{LIST.command} verbose", text).lines)
    found = (row["description"] for row in rows if "description" in row)
    return CommitEntry(text.strip(), next(found, ""))


def newest_commit(text: str) -> str | None:
    """The id of the newest rollback point; "" where there is none, None where it is not known.

    By its digits alone: releases differ in their columns, and a log line may be among them.
    """
    if found := _ID.search(text):
        return found[0]
    return None if _ROW.search(text) else ""
