"""Counts and figures that tests record, printed at the end of a run and kept by `make soak`.

A test records `record_property("count", (name, number))`, which is summed over all tests, or
`record_property("figure", text)`. `--figures FILE` adds them to a Markdown table with the commit. The
commit has the suffix `-dirty` if files differ from it. A row reports failed tests.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--figures", metavar="FILE", help="add the run's figures to this table")


def recorded(reporter: pytest.TerminalReporter) -> Iterator[str]:
    """Return counts by name, then figures."""
    counts: Counter[str] = Counter()
    figures: list[str] = []
    laws = "laws that held for values drawn at random"
    for reports in reporter.stats.values():
        for report in reports:
            if not isinstance(report, pytest.TestReport) or report.when != "call":
                continue
            if report.passed and "hypothesis" in report.keywords and "soak" in report.keywords:
                counts[laws] += 1
            for kind, value in report.user_properties:
                if kind == "count":
                    name, number = cast("tuple[str, int]", value)
                    counts[name] += number
                elif kind == "figure":
                    figures.append(str(value))
    yield from (f"{name}: {number:,}" for name, number in counts.items())
    yield from sorted(figures)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures, and store them if the option is set."""
    lines = list(recorded(terminalreporter))
    if not lines:
        return
    if failed := sum(len(terminalreporter.stats.get(kind, ())) for kind in ("failed", "error")):
        lines.append(f"{failed} FAILED: the figures before this row are of a run that failed")
    terminalreporter.section("figures")
    for line in lines:
        terminalreporter.write_line(line)
    file = terminalreporter.config.getoption("--figures")
    if file and not hasattr(
        terminalreporter.config, "workerinput"
    ):  # a worker has only its own tests
        commit = _git("rev-parse", "--short", "HEAD")
        # the table itself is there to be changed
        commit += "-dirty" * bool(_git("status", "--porcelain", "--", ".", f":!{file}"))
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        with Path(file).open("a", encoding="utf-8") as table:
            table.writelines(f"| {today} | `{commit}` | {line} |\n" for line in lines)


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()
