"""docs/reference/rules.md agrees with the registry of rules (`make golden` rewrites it)."""

from __future__ import annotations

import re

from rocefort.base.repository import ROOT
from rocefort.reports.formats.rule_text import rule_page
from rocefort.verification.findings import rule_texts

PAGE = ROOT / "docs" / "reference/rules.md"


def test_the_page_is_that_of_the_registry(golden_update: bool) -> None:
    text = rule_page(rule_texts())
    if golden_update:
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def test_the_page_has_every_rule_with_all_that_belongs_to_it() -> None:
    sections = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    listed = re.findall(r"^- \[([A-Z]{3}\d{3})\]\(#\w+\) \S", sections[0], flags=re.MULTILINE)
    assert listed == [rule.id for rule in rule_texts()]
    for section, rule in zip(sections[1:], rule_texts(), strict=True):
        name, _, body = section.partition("\n")
        assert name == rule.id
        assert rule.title in body
        words = " ".join(body.split())
        assert all(paragraph in words for paragraph in rule.paragraphs)
        assert rule.explanation and rule.source
        for fact in (f"- Severity: {rule.severity}", f"- Source: {rule.source}", "- Needs: "):
            assert fact in body
        path, target = re.findall(
            r"^- File: \[(.+)\]\((?:\.\./){2}(.+)\)$", body, flags=re.MULTILINE
        )[0]
        assert path == target
        assert f'"{rule.id}"' in (ROOT / path).read_text(encoding="utf-8")
