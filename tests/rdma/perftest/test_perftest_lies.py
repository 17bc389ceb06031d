"""A good table with one cell changed is never a measurement."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocefort.emulator.servers.ssh_hosts import PERFTEST_RUNS
from rocefort.fleet.ssh_exec import CommandResult
from rocefort.rdma.parse.benchmarks import read_fio, read_iperf
from rocefort.rdma.parse.outcome import Outcome, TableError
from rocefort.rdma.parse.perftest import judge
from rocefort.rdma.rdma_plan import Program

SAMPLES = Path(__file__).parents[2] / "samples"
DEVIATIONS = (6, 7, 8)  # columns of a latency table
BANDWIDTH, LATENCY = "ib_write_bw.gbits", "ib_write_lat.iters"
WORDS = (
    "nan",
    "-nan",
    "inf",
    "",
    "-1.00",
    "1e3",
    "1,50",
    "1.5",
    "\u0669\u0662.\u0661\u0660",
    "0x10",
    "92.10Gb",
    "0",
)


def ends(name: str) -> tuple[str, str]:
    paths = (PERFTEST_RUNS / "4.5" / f"{name}.{side}.txt" for side in ("client", "server"))
    client, server = (path.read_text(encoding="utf-8") for path in paths)
    return client, server


def outcome(tool: Program, client: str, server: str) -> Outcome:
    return judge(tool, CommandResult(client, "", 0), CommandResult(server, "", 0)).outcome


def changed(text: str, cell: int, word: str) -> str:
    """Return the table with another word in one cell of its row."""
    lines = text.splitlines(keepends=True)
    at = 1 + next(n for n, line in enumerate(lines) if "#bytes" in line)
    cells = lines[at].split()
    cells[cell] = word
    return "".join([*lines[:at], f" {'   '.join(cells)}\n", *lines[at + 1 :]])


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    ("tool", "name", "cells"), [(Program.WRITE_BW, BANDWIDTH, 5), (Program.WRITE_LAT, LATENCY, 9)]
)
def test_a_cell_that_is_no_figure_of_perftest(
    tool: Program, name: str, cells: int, word: str
) -> None:
    client, server = ends(name)
    assert outcome(tool, client, server) is Outcome.MEASURED
    for cell in range(cells):
        if cell in DEVIATIONS and word in ("nan", "-nan", "inf"):
            continue  # the average does not depend on it
        if (cell, word) != (0, "0"):  # a size is compared with the requested one
            assert outcome(tool, changed(client, cell, word), server) is not Outcome.MEASURED, cell


@pytest.mark.parametrize(
    ("tool", "name", "cell", "word", "found"),
    [
        (Program.WRITE_BW, BANDWIDTH, 3, "0.00", Outcome.ZERO_BANDWIDTH),
        (Program.WRITE_BW, BANDWIDTH, 4, "0.000000", Outcome.ZERO_BANDWIDTH),
        (Program.WRITE_BW, BANDWIDTH, 4, "0.0", Outcome.DAMAGED_ROW),
        (Program.WRITE_LAT, LATENCY, 2, "0.00", Outcome.ZERO_LATENCY),
        (Program.WRITE_LAT, LATENCY, 4, "0.00", Outcome.ZERO_LATENCY),
        (Program.WRITE_LAT, LATENCY, 5, "0.00", Outcome.ZERO_LATENCY),
        (Program.WRITE_LAT, LATENCY, 7, "0.00", Outcome.SUMS),
        (Program.WRITE_LAT, LATENCY, 8, "0.00", Outcome.SUMS),
    ],
)
def test_a_figure_that_cannot_be(
    tool: Program, name: str, cell: int, word: str, found: Outcome
) -> None:
    """With fewer decimals than perftest prints, rounding alone would cover any bandwidth."""
    client, server = ends(name)
    assert outcome(tool, changed(client, cell, word), server) is found


# --- JSON of other programs -----------------------------------------------------------------------


def places(report: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of a report with each of its keys."""
    for key in list(report if isinstance(report, dict) else range(len(report))):
        yield report, key
        if isinstance(report[key], dict | list):
            yield from places(report[key])


@pytest.mark.parametrize(
    "word", [None, "x", [], {}, True, -1, float("nan"), float("inf"), 10**400], ids=str
)
@pytest.mark.parametrize(
    ("file", "reader"), [("iperf3.tcp2.client.json", read_iperf), ("fio.randwrite.json", read_fio)]
)
def test_a_broken_report_is_a_flaw_and_never_a_crash(file: str, reader: Any, word: object) -> None:
    text = (SAMPLES / "tools" / file).read_text(encoding="utf-8")
    report = json.loads(text[text.index("{") :])
    good = reader(text)
    for container, key in places(report):
        kept, container[key] = container[key], word
        try:
            found = reader(json.dumps(report))
        except TableError:
            found = None
        container[key] = kept
        if found is not None:
            assert vars_of(found) == vars_of(good), key


def vars_of(found: Any) -> list[tuple[float, ...]]:
    """Return the figures that are used."""
    results = found if isinstance(found, tuple) else (found,)
    names = ("received_gbps", "sent_gbps", "seconds", "iops", "gbps", "mean_us")
    return [tuple(getattr(r, name) for name in names if hasattr(r, name)) for r in results]


def test_intervals_follow_each_other() -> None:
    text = (SAMPLES / "tools/iperf3.tcp2.client.json").read_text(encoding="utf-8")
    report = json.loads(text)
    report["intervals"].reverse()
    with pytest.raises(TableError, match="intervals do not follow each other"):
        read_iperf(json.dumps(report))


def test_what_the_rate_limiter_says_of_its_bursts_is_no_failure() -> None:
    out = (PERFTEST_RUNS / "4.5/ib_write_bw.gbits.client.txt").read_text(encoding="utf-8")
    client = CommandResult(out, " Setting burst size to tx depth = 128\n", 0)
    server = CommandResult(out, "", 0)
    assert judge(Program.WRITE_BW, client, server).outcome is Outcome.MEASURED
