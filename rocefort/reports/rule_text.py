"""What a report says about a rule beside its verdicts: reports know no validators."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rocefort.models.base import Frozen
from rocefort.models.finding import Report, Severity

WIDTH = 96  # characters of a line, as in a docstring


class RuleText(Frozen):
    """A rule's words. explanation: what it asks for and why; example: a message of its findings;
    source: who says so."""

    id: str
    title: str
    severity: Severity
    explanation: str = ""
    example: str = ""
    fix: str = ""
    source: str = ""

    @property
    def help(self) -> str:
        """Explanation, example and fix, in paragraphs."""
        sections = (("Example", self.example), ("Fix", self.fix))
        lines = (
            textwrap.fill(f"{name}: {text}", WIDTH, break_on_hyphens=False)
            for name, text in sections
            if text
        )
        return "\n\n".join(filter(None, (self.explanation, *lines)))


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
