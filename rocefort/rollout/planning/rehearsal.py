"""Report of a rehearsal in a file beside its plan: bound by the plan's digest, and sealed.

The report is separate from the plan, so the plan's digest does not change. As with the journal, the
file's name comes from the plan's. A new plan under the same name has no report.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, Refused
from rocefort.models.rollout.plan import Plan, digest_of
from rocefort.models.rollout.rehearsal import PlanRehearsal
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.text_store import write_whole

REHEARSE = "`rocefort rehearse PLAN` makes one"


def attach(report: PlanRehearsal, sealed: Path) -> PlanRehearsal:
    """Seal a report and write it atomically beside its plan, readable by its owner only."""
    report = report.model_copy(update={"digest": _digest(report)})
    path = RunDirectory.of(sealed).rehearsal
    try:
        write_whole(path, report.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from None
    return report


def attached(sealed: Path, plan: Plan) -> PlanRehearsal:
    """Return the report of exactly this plan; raises Refused without a valid one."""
    path = RunDirectory.of(sealed).rehearsal
    try:
        report = PlanRehearsal.model_validate_json(regular_file.read_text(path))
    except FileNotFoundError:
        raise Refused("was not rehearsed", file=str(sealed), how=REHEARSE) from None
    except (OSError, UnicodeDecodeError, ValidationError):
        raise Refused("is not a report of a rehearsal", file=str(path), how=REHEARSE) from None
    if report.digest != _digest(report):
        raise Refused("was changed after it was sealed", file=str(path), how=REHEARSE)
    if report.plan != plan.digest:
        what = f"is of plan {report.plan[:12]}, and this is plan {plan.digest[:12]}"
        raise Refused(what, file=str(path), how=REHEARSE)
    return report


@dataclass(frozen=True, slots=True)
class RehearsalRecord:
    """Result of a plan's rehearsal, and a sentence on it."""

    passed: bool
    sentence: str


def rehearsal_record(sealed: Path, plan: Plan) -> RehearsalRecord:
    """Result of a plan's rehearsal, also without a valid report."""
    try:
        report = attached(sealed, plan)
    except Refused as error:
        path = RunDirectory.of(sealed).rehearsal
        why = f": {path.name} {error.problem.what}" if path.exists() else ""
        return RehearsalRecord(passed=False, sentence=f"none{why}; {REHEARSE}")
    when = f"{report.ended:%Y-%m-%d %H:%M:%S} UTC by {report.by} on a twin"
    if report.passed:
        return RehearsalRecord(passed=True, sentence=f"passed {when}")
    return RehearsalRecord(passed=False, sentence=f"FAILED {when}: {report.failure}")


def require_rehearsal(sealed: Path, plan: Plan) -> None:
    """Raise Refused if a plan has no rehearsal that passed."""
    report = attached(sealed, plan)
    if not report.passed:
        how = "correct the fabric and plan again"
        raise Refused(f"failed its rehearsal: {report.failure}", file=str(sealed), how=how)


def _digest(report: PlanRehearsal) -> str:
    return digest_of(report.model_dump(mode="json", exclude={"digest"}))
