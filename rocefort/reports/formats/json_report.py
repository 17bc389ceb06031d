"""A Report as JSON, for programs: every finding on its own, nothing grouped."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.finding import Finding, NotJudged, Report, Severity, Waived
from rocefort.validators.routing_results import FailureStudy, RoutingChange, Timing


def _is_empty(some: tuple[object, ...]) -> bool:
    return not some


class FindingsOutput(Frozen):
    """A Report for programs; `verify` adds what it studied.

    summary: findings by severity, and how many are not judged and waived.
    """

    failed: bool
    summary: dict[str, int]
    network: str
    rules: tuple[str, ...]
    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]
    waived: tuple[Waived, ...]
    failures: tuple[FailureStudy, ...] = Field(default=(), exclude_if=_is_empty)
    changes: tuple[RoutingChange, ...] = Field(default=(), exclude_if=_is_empty)
    timings: tuple[Timing, ...] = Field(default=(), exclude_if=_is_empty)


def findings_output(
    report: Report,
    failures: Sequence[FailureStudy] = (),
    changes: Sequence[RoutingChange] = (),
    timings: Sequence[Timing] = (),
) -> FindingsOutput:
    """The report for programs; same report, same bytes.

    What a verification studied beside is left out where it is empty.
    """
    counts = {s.value: sum(f.severity is s for f in report.findings) for s in Severity}
    return FindingsOutput(
        failed=report.failed,
        summary=counts | {"not_judged": len(report.not_judged), "waived": len(report.waived)},
        **dict(report),
        failures=tuple(failures),
        changes=tuple(changes),
        timings=tuple(timings),
    )
