"""What each rule asks for, why, and how to mend it: for `explain`, docs/rules.md and SARIF."""

from __future__ import annotations

import textwrap

from rocefort.dialects.words import in_words
from rocefort.reports.rule_text import WIDTH, RuleText
from rocefort.validators.rules import registered


def rule_texts() -> tuple[RuleText, ...]:
    """Words of all rules, by family and number."""
    return tuple(
        RuleText(
            id=rule.id,
            title=rule.title,
            severity=rule.severity,
            explanation="\n\n".join(map(_paragraph, rule.explanation.split("\n\n"))),
            example=in_words(rule.example),
            fix=in_words(rule.fix),
            source=in_words(rule.source),
        )
        for rule in registered()
    )


def _paragraph(text: str) -> str:
    worded = in_words(text)
    return text if worded == text else textwrap.fill(worded, WIDTH, break_on_hyphens=False)
