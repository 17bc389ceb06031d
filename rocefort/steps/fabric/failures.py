"""Failure study of `verify`: choose the failures, simulate them, report the findings."""

from __future__ import annotations

from dataclasses import dataclass

from rocefort.models.finding import Report
from rocefort.models.results.routing import FailureStudy
from rocefort.steps.fabric.subject import ReadNetwork
from rocefort.validators.failures.study import SINGLE, count_singles, study
from rocefort.validators.routing.engine import Solution
from rocefort.validators.rules.verification.subject import verify_failures

NONE = "none"
QUICK = 2_000  # single failures studied by default: some seconds with 8 spines


@dataclass(frozen=True)
class FailureReport:
    """A failure study with its findings, or a note why there is none."""

    study: FailureStudy | None = None
    report: Report | None = None
    note: str = ""


def study_failures(
    subject: ReadNetwork, scope: str | None, solution: Solution | None
) -> FailureReport:
    """Study a scope of failures; by default every single failure, if there is a solution.

    solution: of the embedded engine, None if that engine did not run. Raises as `study` does.
    """
    if scope == NONE or (scope is None and solution is None):
        return FailureReport()
    if scope is None and solution is not None:
        count = count_singles(subject.network, solution)
        if count > QUICK:
            note = f"{count:,} single failures not studied: run `rocefort verify --failures single`"
            return FailureReport(note=note)
    done = study(subject.network, scope or SINGLE, subject.sources, solution)
    return FailureReport(done, verify_failures(subject.network, done, subject.sources))
