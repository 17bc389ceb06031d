"""The page of the published figures has every one as it is in inventory/references."""

from __future__ import annotations

from publication_page import publications_page

from rocefort.base.repository import ROOT

PAGE = ROOT / "docs/reference/publications.md"


def test_the_page_of_published_figures(golden_update: bool) -> None:
    text = publications_page()
    if golden_update:
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, "run `make golden`"
