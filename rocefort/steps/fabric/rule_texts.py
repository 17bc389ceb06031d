"""Texts of the rules (requirement, reason, fix) for `explain`, docs/rules.md and SARIF."""

from __future__ import annotations

from rocefort.dialects.words import in_words
from rocefort.reports.formats.rule_text import RuleText
from rocefort.validators.rules.registry import SubjectKind, registered


def rule_texts(*judges: type[SubjectKind]) -> tuple[RuleText, ...]:
    """Texts of the rules for these kinds of subject, by default all, by family and number."""
    return tuple(
        RuleText(
            id=rule.id,
            title=rule.title,
            severity=rule.severity,
            explanation=in_words(rule.explanation),
            example=in_words(rule.example),
            fix=in_words(rule.fix),
            source=in_words(rule.source),
            file=rule.file,
        )
        for rule in registered(*judges)
    )
