"""docs/reference/first-switch.md lists the open facts of the data (`make golden` rewrites it)."""

from __future__ import annotations

from rocefort.base.repository import ROOT
from rocefort.dialects.words import in_words
from rocefort.rollout.facts.open_facts import every_open_fact, facts_page

PAGE = ROOT / "docs" / "reference/first-switch.md"


def test_the_page_is_that_of_the_data(golden_update: bool) -> None:
    text = facts_page(every_open_fact(), in_words)
    if golden_update:
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text
