"""Rehearsal of a plan on a twin: its result in a sealed file, bound by the plan's digest.

The report is separate from the plan, so the plan's digest does not change. As with the journal, the
file's name comes from the plan's. A new plan under the same name has no report.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, Refused
from rocefort.models.base import Frozen
from rocefort.models.change.plan import Plan, digest_of
from rocefort.rollout.journal.run_directory import RunDirectory, write_whole

REHEARSAL_FORMAT: Final = 1


class RehearsedWave(Frozen):
    """Result of one wave: its end, the verdict of its gate, and its duration."""

    name: str
    devices: tuple[str, ...]
    ended: str
    gate: str = ""
    seconds: float = 0.0


class RehearsedCheck(Frozen):
    """Check after the last wave, with its result."""

    what: str
    passed: bool
    found: str


class Loss(Frozen):
    """Packets between servers during the rehearsal; worst: the pair that lost most."""

    streams: int
    sent: int
    lost: int
    longest_ms: int
    worst: str = ""


class PlanRehearsal(Frozen):
    """Plan on a twin. `digest` is SHA-256 over everything else; plan: the digest of the plan.

    guests: servers that ran real RDMA; the other servers exchanged packets. not_judged: what a
    twin cannot show. failure: the first problem, as a sentence; empty: it passed.
    """

    format: Literal[1] = REHEARSAL_FORMAT
    plan: str
    fabric: str
    tool: str
    by: str
    host: str
    began: datetime
    ended: datetime
    frr: str
    kernel: str
    guests: tuple[str, ...] = ()
    waves: tuple[RehearsedWave, ...] = ()
    checks: tuple[RehearsedCheck, ...] = ()
    loss: Loss | None = None
    not_judged: tuple[str, ...] = ()
    failure: str = ""
    digest: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing went wrong."""
        return not self.failure


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
