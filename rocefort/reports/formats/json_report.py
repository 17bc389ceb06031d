"""A Report as JSON, for programs: every finding on its own, nothing grouped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rocefort.models.base import Frozen
from rocefort.models.finding import Finding, NotJudged, Report, Severity, Waived
from rocefort.models.results.routing import FailureStudy, Timing
from rocefort.models.results.routing_change import RoutingChange


class FindingsOutput(Frozen):
    """A Report for programs; `verify` adds what it studied.

    summary: findings by severity, and how many are not judged and waived.
    """

    format: Literal[1] = 1
    failed: bool
    summary: dict[str, int]
    network: str
    rules: tuple[str, ...]
    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]
    waived: tuple[Waived, ...]
    failures: tuple[FailureStudy, ...] = ()
    changes: tuple[RoutingChange, ...] = ()
    timings: tuple[Timing, ...] = ()


def as_json(
    report: Report,
    failures: Sequence[FailureStudy] = (),
    changes: Sequence[RoutingChange] = (),
    timings: Sequence[Timing] = (),
) -> str:
    """The report in JSON, ending in a newline; same report, same bytes.

    What a verification studied beside is left out where it is empty.
    """
    counts = {s.value: sum(f.severity is s for f in report.findings) for s in Severity}
    beside = {"failures": failures, "changes": changes, "timings": timings}
    content = FindingsOutput(
        failed=report.failed,
        summary=counts | {"not_judged": len(report.not_judged), "waived": len(report.waived)},
        **dict(report),
        **{name: tuple(some) for name, some in beside.items()},
    )
    empty = {name for name, some in beside.items() if not some}
    return content.model_dump_json(indent=2, exclude=empty) + "\n"
