"""axe-core has no complaint about the page: names, roles, keyboard order, contrast of colours."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest
from page_contents import clos, content_of, error_at

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.models.finding import Report
from rocefort.reports.page.page import PageContent, page
from rocefort.validators.failures.study import study
from rocefort.validators.routing.engine import solve

Browse = Callable[..., dict[str, Any]]
AXE = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
# Everything is opened first: findings, a configuration, a path, and suggestions.
PROBE = """
window.addEventListener("load", async () => {
  document.querySelectorAll("details:not(.config), .config:nth-of-type(3)").forEach((one) => { one.open = true; });
  const type = (input, words) => { input.value = words; input.dispatchEvent(new Event("input", { bubbles: true })); };
  const form = document.getElementById("trace");
  if (form) { type(form.elements.source, "leaf01"); type(form.elements.destination, "leaf02"); }
  document.querySelector("th button")?.click();
  document.getElementById("by-use").checked = USE;
  type(document.getElementById("find"), "leaf");
  document.getElementById("find").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown" }));
  await new Promise((done) => setTimeout(done, 50));
  const { violations, passes } = await axe.run(document, { resultTypes: ["violations"] });
  parent.postMessage(JSON.stringify({
    passes: passes.length,
    violations: violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => [id, node.html.slice(0, 200), node.failureSummary])),
  }), "*");
});
"""


@pytest.fixture(scope="module")
def whole(heps_content: PageContent, heps: DerivedNetwork) -> PageContent:
    """HEPS with routing and failures: every section of the page but capacity."""
    fields = {name: getattr(heps_content, name) for name in heps_content.__dataclass_fields__}
    network = heps.network
    return PageContent(**fields | {"routing": solve(network), "failures": study(network)})


@pytest.mark.parametrize(
    ("width", "dark", "use"), [(1280, False, "false"), (1280, True, "true"), (400, True, "false")]
)
def test_axe_finds_nothing(
    browse: Browse, whole: PageContent, width: int, dark: bool, use: str
) -> None:
    seen = browse(page(whole), AXE + PROBE.replace("USE", use), width, dark=dark)
    assert seen["violations"] == []
    assert seen["passes"] > 20


def test_axe_finds_nothing_on_a_large_failed_fabric(browse: Browse) -> None:
    errors = [error_at(f"l{n}", "100GE1/0/1") for n in range(1, 40)]
    content = content_of(clos(8, 120, 4), *errors)
    assert isinstance(content.report, Report)
    seen = browse(page(content), AXE + PROBE.replace("USE", "false"), 1280, dark=False)
    assert seen["violations"] == []


def test_axe_finds_a_pale_color_and_a_button_without_a_name(
    browse: Browse, whole: PageContent
) -> None:
    text = page(whole).replace("--quiet: #5d6670", "--quiet: #c5c9cd")
    text = text.replace('aria-label="Zoom in">+<', "><")
    seen = browse(text, AXE + PROBE.replace("USE", "false"), 1280, dark=False)
    assert {rule for rule, *_ in seen["violations"]} == {"color-contrast", "button-name"}
