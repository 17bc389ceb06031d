"""axe-core has no complaint about the page: names, roles, keyboard order, contrast of colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from page_contents import clos, content_of, error_at

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.validators.failures.study import study
from rocefort.validators.routing.engine import solve
from rocefort.verification.page.fabric_page import PageContent, page

Violations = Callable[..., list[list[str]]]
# A configuration, a path, and suggestions are open, and a table is sorted.
FIRST = """
  document.querySelectorAll(".config")[2].open = true;
  const type = (input, words) => { input.value = words; input.dispatchEvent(new Event("input", { bubbles: true })); };
  const form = document.getElementById("trace");
  if (form) { type(form.elements.source, "leaf01"); type(form.elements.destination, "leaf02"); }
  document.querySelector("th button").click();
  document.getElementById("by-use").checked = USE;
  type(document.getElementById("find"), "l");
  document.getElementById("find").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown" }));
"""


@pytest.fixture(scope="module")
def whole(heps_content: PageContent, heps: DerivedNetwork) -> PageContent:
    """HEPS with routing and failures: every section of the page but capacity."""
    network = heps.network
    return replace(heps_content, routing=solve(network), failures=study(network))


@pytest.mark.parametrize(
    ("width", "dark", "use"),
    [(1400, False, "false"), (1400, True, "true"), (400, False, "true"), (400, True, "false")],
)
def test_axe_finds_nothing(
    violations: Violations, whole: PageContent, width: int, dark: bool, use: str
) -> None:
    assert violations(page(whole), width, dark=dark, first=FIRST.replace("USE", use)) == []


def test_axe_finds_nothing_on_a_large_failed_fabric(violations: Violations) -> None:
    errors = [error_at(f"l{n}", "100GE1/0/1") for n in range(1, 40)]
    network = clos(8, 120, 4)
    texts = {node.name: "#\ndcb pfc\n" for node in network.nodes}
    text = page(content_of(network, *errors, texts=texts))
    assert violations(text, 1280, dark=False, first=FIRST.replace("USE", "false")) == []


def test_axe_finds_a_pale_color_and_a_button_without_a_name(
    violations: Violations, whole: PageContent
) -> None:
    text = page(whole).replace("--quiet: #5d6670", "--quiet: #c5c9cd")
    text = text.replace('aria-label="Zoom in">+<', "><")
    seen = violations(text, 1280, dark=False)
    assert {rule for rule, *_ in seen} == {"color-contrast", "button-name"}
