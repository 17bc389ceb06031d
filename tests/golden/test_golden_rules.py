"""docs/rules.md says what the registry of rules says (`make golden` writes it anew)."""

from __future__ import annotations

import re

from rocefort.paths import ROOT
from rocefort.reports.rule_page import rule_page
from rocefort.steps.fabric.rule_texts import RULE_FAMILIES, rule_texts
from rocefort.validators import VERIFICATION_TITLES, every_rule
from rocefort.validators.answers import ANSWERS
from rocefort.validators.host_settings import HostRule
from rocefort.validators.live import LiveRule
from rocefort.validators.rules import Rule
from rocefort.validators.rules.additive import TITLES as GROWTH_TITLES

PAGE = ROOT / "docs" / "rules.md"


def _needs(rule: Rule) -> tuple[str, ...]:
    """What a rule needs to know, and of a live one how often the switches are read."""
    known = tuple(map(str, (*rule.needs, *rule.wants)))
    if isinstance(rule, HostRule):
        return (*known, "a reading of the servers")
    if not isinstance(rule, LiveRule):
        return known
    return (*known, f"{'two readings' if rule.reads.twice else 'a reading'} of the switches")


def test_the_page_is_that_of_the_registry(golden_update: bool) -> None:
    needs = {rule.id: _needs(rule) for rule in every_rule()}
    needs |= {name: words.needs for name, words in ANSWERS.items()}
    text = rule_page(rule_texts(), RULE_FAMILIES, needs)
    if golden_update:
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def test_the_page_has_every_rule_with_all_that_belongs_to_it() -> None:
    sections = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    listed = re.findall(r"^- \[([A-Z]{3}\d{3})\]\(#\w+\) \S", sections[0], flags=re.MULTILINE)
    assert listed == [rule.id for rule in rule_texts()]
    assert set(listed) == {rule.id for rule in every_rule()} | set(ANSWERS)
    for section, rule in zip(sections[1:], rule_texts(), strict=True):
        name, _, body = section.partition("\n")
        assert name == rule.id
        assert rule.title in body
        assert rule.explanation in body
        assert rule.explanation and rule.source
        for fact in (f"- Severity: {rule.severity}", f"- Source: {rule.source}", "- Needs: "):
            assert fact in body


def test_what_verification_and_growth_find_is_explained_and_nothing_else() -> None:
    assert ANSWERS.keys() == (VERIFICATION_TITLES | GROWTH_TITLES).keys()
    for name, words in ANSWERS.items():
        assert len(words.explanation) > 100, name
        assert max(map(len, words.explanation.splitlines())) <= 96, name
