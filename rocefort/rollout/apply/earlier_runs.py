"""Earlier end of a plan: it was rolled back by another plan, or its last run failed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from rocefort.base.errors import Refused, RocefortError
from rocefort.models.change.plan import Plan
from rocefort.models.wording import count_of
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import Run, contents_of
from rocefort.rollout.planning.sealed_files import read_plan

AGAIN = "--again"


def note_of_earlier_end(plan: Plan, run: RunDirectory, *, again: bool) -> str:
    """Note on the end of the last run of a plan; empty if it finished, or if there is none.

    again: apply it although it was rolled back. Raises Refused for a rolled-back plan otherwise.
    """
    runs = contents_of(run.journal, plan.digest).runs if run.journal.is_file() else ()
    last = runs[-1] if runs else None
    for back, undone in _rollbacks(plan, run.plan):
        if last and _began(undone) < _began(last):
            continue
        devices = count_of(sum(not change.empty for change in back.changes), "switch")
        what = f"this plan was rolled back on {devices}, {_end_of(undone)}"
        if again:
            return what
        raise Refused(what, where=str(run.plan), how=f"to apply it again: {AGAIN}")
    if last and last.ended and last.code:
        return f"the last run of this plan stopped {_end_of(last)}: {last.ended}"
    return ""


def _rollbacks(plan: Plan, file: Path) -> Iterator[tuple[Plan, Run]]:
    """Rollback plans in the folder of a plan that undo it, each with its last run."""
    for path in sorted(file.parent.glob("*.json")):
        back = _rollback_plan(path)
        journal = RunDirectory.of(path).journal
        if back is None or not _undoes(back, plan) or not journal.is_file():
            continue
        contents = contents_of(journal, back.digest)
        if contents.confirmed:
            yield back, contents.runs[-1]


def _rollback_plan(path: Path) -> Plan | None:
    """Rollback plan of a file; None for any other file."""
    try:
        if b'"undoes": "/' not in path.read_bytes():  # most files are large
            return None
        return read_plan(path)
    except (OSError, RocefortError):
        return None


def _undoes(back: Plan, plan: Plan) -> bool:
    """Whether a plan leads back from the targets of another; its file may have moved."""
    ways = {
        change.device: (change.intended_digest, change.running_digest) for change in plan.changes
    }
    return all(
        ways.get(change.device) == (change.running_digest, change.intended_digest)
        for change in back.changes
        if not change.empty
    )


def _began(run: Run) -> datetime:
    return datetime.fromisoformat(run.lives[0].at)


def _end_of(run: Run) -> str:
    """Time and user of a run's end."""
    by, at = run.lives[-1], run.ended_at or run.lives[-1].at
    return f"{at[:10]} {at[11:19]} UTC by {by.user or 'an unknown user'} on {by.host}"
