"""Table of perftest: version x tool x cause. Every recorded run has exactly one outcome.

`perftest_runs.tsv` has one row a recording. Its outcome follows from the cause that was provoked,
which the recording's meta file names.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import pytest
from recorded_perftest import command_line, ends, recordings

from rocefort.models.results.rdma_plan import RdmaRun
from rocefort.models.results.rdma_result import Expectation
from rocefort.rdma.judge.dispatch import read_run
from rocefort.rdma.parse.outcome import MEANING, Outcome
from rocefort.rdma.parse.perftest import judge

NOT_JUDGED = Expectation(min_gbps=None, max_latency_us=None, speed_judged=False)


class Row(NamedTuple):
    """Outcome of a recording: with the end and the line that decide, or with the figure."""

    run: str
    outcome: str
    side: str
    line: str


with Path(__file__).with_name("perftest_runs.tsv").open(encoding="utf-8", newline="") as _file:
    ROWS = [Row(*row) for row in csv.reader(_file, "excel-tab") if not row[0].startswith("#")]


def judged(name: str) -> tuple[str, float | None]:
    """Judge a recording as the executor judges a run; returns its sentence, and its figure."""
    tool, client, server = ends(name)
    if "--run_infinitely" not in command_line(name):
        judgement = judge(tool, client, server)
        return judgement.sentence, judgement.gbps or judgement.latency_us
    run = RdmaRun(id="1", program=tool, client="a", server="b", every_s=1)
    result = read_run(run, client, server, NOT_JUDGED)
    return str(result.outcome), result.figures and result.figures.gbps


def test_every_recording_stands_in_the_table() -> None:
    assert recordings() == sorted(row.run for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row.run for row in ROWS])
def test_recording(row: Row) -> None:
    sentence, figure = judged(row.run)
    if row.outcome == Outcome.MEASURED:
        assert (sentence, f"{figure:.6g}") == (MEANING[Outcome.MEASURED], row.line)
        return
    end = f"{row.side}: {row.line!r}" if row.line else row.side
    assert sentence == f"{row.outcome}: {MEANING[Outcome(row.outcome)]} ({end})"
    assert figure is None
