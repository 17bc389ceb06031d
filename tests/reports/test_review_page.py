"""Page of a review: one changed value that meets all switches is at the top, once."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from page_contents import LOOKS

from rocefort.validators.checks import titles
from rocefort.validators.engine_choice import Engine
from rocefort.verification.review.results import Reviews
from rocefort.verification.review.review import ReviewRequest, make_reviews
from rocefort.verification.review.review_page import review_page, reviews_page

Violations = Callable[..., list[list[str]]]
Drawn = Callable[..., Reviews]
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; });"
MADE = "2026-11-23 20:29 UTC by Rocefort 0.2.0"


@pytest.fixture
def reviewed(tmp_path: Path, heps_file: Path) -> Drawn:
    """Review an edit of HEPS in a git repository."""

    def run(old: str, new: str) -> Reviews:
        site = tmp_path / "site"
        shutil.copytree(heps_file.parent, site / "heps")
        fabric = site / "heps" / "fabric.yaml"
        by = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
        for words in (("init", "-q"), ("add", "."), (*by, "commit", "-qm", "base")):
            subprocess.run(["git", *words], cwd=site, check=True)
        text = fabric.read_text(encoding="utf-8")
        assert text.count(old) == 1
        fabric.write_text(text.replace(old, new), encoding="utf-8")
        return make_reviews(ReviewRequest(fabric, "HEAD", "worktree", Engine.EMBEDDED, None))

    return run


def page_of(found: Reviews) -> str:
    assert found.only is not None
    return review_page(found.only, titles(), MADE)


def text_of(page: str) -> str:
    body = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_one_value_with_errors_on_many_switches_is_at_the_top_once(reviewed: Drawn) -> None:
    page = page_of(reviewed("xoff_kbytes: 600 ", "xoff_kbytes: 12000 "))
    head = text_of(page.partition("</header>")[0])
    change = "profiles.lossless.heps.xoff_kbytes : 600 -> 12000 at heps/fabric.yaml:51"
    assert f"Changed {change}" in head
    assert "Meets all 10 switches" in head
    assert head.count("queue 4: xoff 12000 KB cannot be set on v300-g1 (1 to 6144 KB)") == 1
    assert f"6 switches: leaf03 to leaf08, from {change}" in head
    assert "Fix: choose an xoff in that range" in head
    assert "Made 2026-11-23 20:29 UTC by Rocefort 0.2.0" in head
    assert 'href="#new-error-PFC001"' in page
    assert page.count('id="new-error-PFC001"') == 1


def test_sections_without_content_are_together_at_the_end(reviewed: Drawn) -> None:
    page = page_of(reviewed("xoff_kbytes: 600 ", "xoff_kbytes: 640 "))
    last = text_of(page[page.index("Nothing further to show") :])
    assert "Servers that lose service None." in last
    assert "Growth and removal No switch and no server pair is new." in last
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    links = re.findall(r'href="#([^"]+)"', page)
    assert set(links) <= set(ids)


def test_the_page_of_several_fabrics_has_the_errors_of_each(reviewed: Drawn) -> None:
    found = reviewed("xoff_kbytes: 600 ", "xoff_kbytes: 12000 ")
    page = reviews_page(found, {found.reviews[0].file: "heps"}, titles(), MADE)
    assert 'href="heps/review.html#new-error-PFC001"' in page
    assert "22 new errors" in text_of(page)


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing(violations: Violations, reviewed: Drawn, width: int, dark: bool) -> None:
    found = reviewed("xoff_kbytes: 600 ", "xoff_kbytes: 12000 ")
    assert violations(page_of(found), width, dark=dark, first=OPEN) == []
    several = reviews_page(found, {found.reviews[0].file: "heps"}, titles(), MADE)
    assert violations(several, width, dark=dark) == []
