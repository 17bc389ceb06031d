"""What a report says about a rule beside its verdicts: reports know no validators."""

from __future__ import annotations

from collections.abc import Sequence

from rocefort.models.base import Frozen
from rocefort.models.finding import Report, Severity


class RuleText(Frozen):
    """A rule's words. explanation: what it asks for, why, how to mend; source: who says so."""

    id: str
    title: str
    severity: Severity
    explanation: str = ""
    source: str = ""


def rules_of(report: Report, rules: Sequence[RuleText]) -> tuple[RuleText, ...]:
    """Words of every rule that ran or spoke, in the report's order; its id where none are given."""
    known = {rule.id: rule for rule in rules}
    found = (*report.findings, *(w.finding for w in report.waived))
    spoke = (*(f.rule for f in found), *(n.rule for n in report.not_judged))
    ids = dict.fromkeys((*report.rules, *spoke))
    worst: dict[str, Severity] = {}
    order = list(Severity)
    for finding in found:
        before = worst.get(finding.rule, Severity.INFO)
        worst[finding.rule] = min(before, finding.severity, key=order.index)
    return tuple(
        known.get(name) or RuleText(id=name, title=name, severity=worst.get(name, Severity.INFO))
        for name in ids
    )
