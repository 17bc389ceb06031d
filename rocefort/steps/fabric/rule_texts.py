"""What each rule asks for, why, and how to mend it: for `explain`, docs/rules.md and SARIF."""

from __future__ import annotations

import textwrap

from rocefort.dialects.words import in_words
from rocefort.reports.rule_text import RuleText
from rocefort.validators import every_rule, titles
from rocefort.validators.answers import ANSWERED_FAMILIES, ANSWERS
from rocefort.validators.live import LIVE_FAMILIES
from rocefort.validators.rules import FAMILIES

# In the order in which rules are told: the state of switches is last.
RULE_FAMILIES = FAMILIES | ANSWERED_FAMILIES | LIVE_FAMILIES
WIDTH = 96  # characters of a line, as in a docstring


def rule_texts() -> tuple[RuleText, ...]:
    """Words of all rules, those of verification among them."""
    told = {
        rule.id: RuleText(
            id=rule.id,
            title=rule.title,
            severity=rule.severity,
            explanation=_worded(rule.explanation),
            source=in_words(rule.source),
        )
        for rule in every_rule()
    }
    others = [
        RuleText(
            id=name,
            title=title,
            severity=ANSWERS[name].severity,
            explanation=_worded(ANSWERS[name].explanation),
            source=in_words(ANSWERS[name].source),
        )
        for name, title in titles().items()
        if name not in told
    ]
    return tuple(sorted((*told.values(), *others), key=_by_family))


def _worded(explanation: str) -> str:
    """The explanation in the vendor's words, which need lines of their own."""
    return "\n\n".join(map(_paragraph, explanation.split("\n\n")))


def _paragraph(text: str) -> str:
    worded = in_words(text)
    return text if worded == text else textwrap.fill(worded, WIDTH, break_on_hyphens=False)


def _by_family(rule: RuleText) -> tuple[int, str]:
    return list(RULE_FAMILIES).index(rule.id[:3]), rule.id
