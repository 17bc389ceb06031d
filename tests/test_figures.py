"""Figures of `make soak`: a failed run is marked in the table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
def test_one(record_property):
    record_property("figure", "60 of 60 held")
    record_property("count", ("cases", 40))

def test_two(record_property):
    record_property("count", ("cases", 2))
    assert {fails}
"""


@pytest.mark.parametrize("fails", [False, True])
def test_figures_of_a_run_that_failed_say_so(fails: bool, tmp_path: Path) -> None:
    suite, table = tmp_path / "test_suite.py", tmp_path / "figures.md"
    suite.write_text(SUITE.format(fails=not fails))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a suite"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    if fails:
        suite.write_text(suite.read_text() + "\n")
    options = ["-q", "-p", "figures", "-p", "no:cacheprovider", "--figures", table.name]
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", *options, suite.name],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parent / "support")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == fails, done.stdout + done.stderr
    rows = [row.split(" | ") for row in table.read_text().splitlines()]
    assert [row[2] for row in rows] == [
        "cases: 42 |",
        "60 of 60 held |",
        *(["1 FAILED: the figures before this row are of a run that failed |"] * fails),
    ]
    assert all(row[1].endswith("-dirty`") is fails for row in rows)
