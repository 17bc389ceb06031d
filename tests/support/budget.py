"""Table of test seconds by suite, with the budget of each: tests/budget.toml.

A suite is a folder of tests/. Its seconds are the sum of its tests on all workers. The table judges
nothing: a busy machine is slower than the machine of the budget.
"""

from __future__ import annotations

import time
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

BUDGET = Path(__file__).resolve().parents[1] / "budget.toml"
BEGAN = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    """Start the clock."""
    config.stash[BEGAN] = time.monotonic()


def suite_of(nodeid: str) -> str:
    """Return the folder of tests/ that contains a test."""
    parts = nodeid.split("::", maxsplit=1)[0].split("/")
    return parts[1] if len(parts) > 2 else "others"


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table if a whole target ran."""
    config = terminalreporter.config
    if not config.getoption("--budget"):
        return
    budget = tomllib.loads(BUDGET.read_text(encoding="utf-8")).get(config.getoption("--effort"))
    if not budget:
        return
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[suite_of(report.nodeid)] += report.duration
    terminalreporter.section("seconds by suite")
    for suite in sorted({*seconds, *budget["suites"]}, key=lambda name: -seconds[name]):
        row(terminalreporter, suite, seconds[suite], budget["suites"].get(suite, 0))
    row(terminalreporter, "all workers", sum(seconds.values()), sum(budget["suites"].values()))
    wall = time.monotonic() - config.stash[BEGAN]
    row(terminalreporter, "by the clock", wall, budget["wall"])


def row(reporter: pytest.TerminalReporter, name: str, seconds: float, allowed: float) -> None:
    """Return one row of the table."""
    over = "  over" if seconds > allowed else ""
    reporter.write_line(f"{name:<20} {seconds:7.0f} s  of {allowed:5.0f} s{over}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--budget", action="store_true", help="print seconds by suite and the budget")
