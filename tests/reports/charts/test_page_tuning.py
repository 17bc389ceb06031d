"""The page of a search in a browser: no width over its frame, charts that fill it, no complaint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from page_contents import LOOKS
from typer.testing import CliRunner

from rocefort.tasks import cli

Violations = Callable[..., list[list[str]]]
Browse = Callable[..., dict[str, Any]]
SCENARIO = """\
scenario: a-name-of-a-scenario-that-is-rather-long
flows: {count: 6, bytes: 200000}
ecn: {kmin_kbytes: 100, kmax_kbytes: 400, pmax_percent: 20}
buffer: {xoff_kbytes: 300, xon_kbytes: 250}
seeds: [7, 8, 9]
search:
  kmin_kbytes: [1, 2, 3, 5, 8, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 150, 200, 250, 300, 350]
  pmax_percent: [1, 50]
"""
PROBE = """
addEventListener("load", () => {
  const width = (one) => one.getBoundingClientRect().width;
  const root = document.documentElement;
  const size = (one) => parseFloat(getComputedStyle(one).fontSize);
  parent.postMessage(JSON.stringify({
    overflow: root.scrollWidth - root.clientWidth,
    main: width(document.querySelector("main")),
    plots: [...document.querySelectorAll(".plot, figure .bars")].map(width),
    area: [...document.querySelectorAll(".plot .area")].map(width),
    smallest: Math.min(...[...document.querySelectorAll(".plot span, .plot p")].map(size)),
    tables: [...document.querySelectorAll("table")].filter((one) => !one.closest(".scroll")).length,
    levels: document.querySelectorAll(".plot span.level").length,
  }), "*");
});
"""


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Page of a search."""
    folder = tmp_path_factory.mktemp("tuned")
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    words = ["tune", "search", f"--scenario={path}", "--workers=2"]
    words += [f"--results={folder / 'results'}", f"--report={folder / 'report'}"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.exception
    return (folder / "report/index.html").read_text("utf-8")


@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_fits_its_frame_and_charts_fill_it(browse: Browse, tuned: str, width: int) -> None:
    seen = browse(tuned, PROBE, width, dark=False)
    assert seen["overflow"] <= 0
    assert seen["tables"] == 0
    assert len(seen["plots"]) >= 4
    assert min(seen["plots"]) > 0.99 * seen["main"]
    assert min(seen["area"]) > 0.72 * seen["main"]
    assert seen["smallest"] > 11
    assert seen["levels"] >= 4


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing_on_the_page_of_a_search(
    violations: Violations, tuned: str, dark: bool, width: int
) -> None:
    assert violations(tuned, width, dark=dark) == []
