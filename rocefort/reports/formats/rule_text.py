"""Documentation of rules for reports, which do not import validators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocefort.models.base import Frozen
from rocefort.models.finding import Report, Severity
from rocefort.reports.blocks import Block, Note, Section, Table, TableColumn


class RuleText(Frozen):
    """Documentation of a rule. explanation: its requirement and the reason; example: a message of
    its findings; source: standard, paper or vendor document; file: its module in the repository."""

    id: str
    title: str
    severity: Severity
    explanation: str = ""
    example: str = ""
    fix: str = ""
    source: str = ""
    file: str = ""

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """Explanation, example and fix, each paragraph in one line."""
        sections = (("Example", self.example), ("Fix", self.fix))
        told = (f"{name}: {text}" for name, text in sections if text)
        return tuple(" ".join(t.split()) for t in (*self.explanation.split("\n\n"), *told) if t)


def rules_report(rules: Iterable[RuleText]) -> Table:
    """One row a rule."""
    rows = tuple((rule.id, rule.severity.value, rule.title) for rule in rules)
    return Table((TableColumn(), TableColumn(), TableColumn(wraps=True)), rows)


def rule_report(rule: RuleText) -> Iterator[Block]:
    """All words of a rule."""
    yield Note(f"{rule.id} ({rule.severity.value}): {rule.title}")
    for paragraph in (*rule.paragraphs, f"Source: {rule.source}", f"File: {rule.file}"):
        yield Section("", (Note(paragraph),))


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
