"""Output of stored runs: tables of every suite, comparisons of runs, a missing history."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from outputs import fields_of

from rocefort import __version__, tasks
from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.rdma.compare import compare, compare_with
from rocefort.rdma.judge import run_store
from rocefort.rdma.judge.measurement import expectation, judged_measurement, not_measured
from rocefort.rdma.judge.run_store import RdmaHistory, open_history
from rocefort.rdma.judge.verdicts import verdicts
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.plan.site import RdmaPlanOptions
from rocefort.rdma.plan.suites import PLANNERS, plan_suite
from rocefort.rdma.publications import load_reference
from rocefort.rdma.rdma_plan import RdmaHost, RdmaRun, Suite
from rocefort.rdma.rdma_report import history_report, pair_report, plan_report, result_report
from rocefort.rdma.results import (
    Figures,
    Measurement,
    MeasurementVerdict,
    MpiPoint,
    Point,
    RdmaResult,
    RunList,
)
from rocefort.rdma.show import exported, pair_history, write_page
from rocefort.reports.writers.terminal import text_of

BEGAN = datetime(2026, 11, 20, 22, 5, tzinfo=UTC)
SEVEN = ["transfer01", "k8sgn08", "k8sgn09", "k8sgn12", "daisycn01", "daisygn02", "daisygn01"]
Value = Callable[[RdmaRun], float]
Make = Callable[..., RdmaResult]


def usual(run: RdmaRun) -> float:
    if run.program.measures_latency:
        return 1.1 + 0.86 * (run.switches or 3)
    return (run.reach_gbps or 10) * 0.945


@pytest.fixture
def make(heps: DerivedNetwork) -> Make:
    """Store a run of the seven servers, some days after the first."""
    network, rdma = heps.network, heps.fabric.rdma
    hosts = [RdmaHost(name=n, device="mlx5_0", gid_index=3, perftest="6.06") for n in SEVEN]

    def measured(run: RdmaRun, value: float) -> Measurement:
        times = run.program.measures_latency
        figures = Figures(latency_us=value) if times else Figures(gbps=value)
        if run.storage:
            figures = figures.model_copy(update={"iops": 9000.0, "latency_us": 35.5})
        found = judged_measurement(run, figures, expectation(run, rdma))
        if run.ranks:
            sizes = [MpiPoint(size_bytes=s, average_us=value + s / 999) for s in (0, 1, 256, 2**20)]
            return found.model_copy(update={"sizes": tuple(sizes)})
        if run.every_s:
            points = tuple(Point(at_s=s, gbps=30.0 if s == 9 else 94.0) for s in range(1, 31))
            return found.model_copy(update={"series": points})
        return found

    def run(
        suite: Suite, value: Value = usual, day: int = 0, past: RdmaHistory | None = None
    ) -> Any:
        options = RdmaPlanOptions(storage_directory="/mnt/data")
        plan = plan_suite(network, rdma, suite, hosts, options)
        found = tuple(measured(each, value(each)) for each in plan.runs)
        began = BEGAN + timedelta(days=day)
        result = RdmaResult(
            id=f"{began:%Y%m%d-%H%M%S}-c0de", plan=plan, began=began, measurements=found,
            conditions={"nic": "ConnectX-5"},
        )  # fmt: skip
        good = past.good(result) if past else {}
        result = result.model_copy(update={"judged": verdicts(network, rdma, result, good)})
        if past:
            past.keep(result, ())
        return result

    return run


@pytest.fixture
def past(tmp_path: Path) -> Iterator[RdmaHistory]:
    with open_history(tmp_path / "rdma.db", make=True) as found:
        yield found


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("suite", list(PLANNERS))
def test_every_suite_fits_a_terminal(make: Make, suite: Suite) -> None:
    result = make(suite)
    for text in (
        text_of(*result_report(result), width=80),
        text_of(*plan_report(result.plan), width=80),
    ):
        assert [line for line in text.splitlines() if len(line) > 80] == []


def rows(text: str) -> list[str]:
    return [re.sub(r" +", " ", line).strip() for line in text.splitlines()]


def test_a_sweep_shows_all_sizes_of_both_ways(make: Make) -> None:
    lines = rows(text_of(*result_report(make(Suite.SWEEP)), width=80))
    assert "bytes ib_write_lat ib_write_bw ib_write_lat ib_write_bw over" in lines
    assert "within leaf within leaf over spines spines" in lines
    assert "2 1.96 us 94.50 Gb/s 3.68 us 94.50 Gb/s" in lines
    assert "8388608 1.96 us 94.50 Gb/s 3.68 us 94.50 Gb/s" in lines
    assert "within leaf: k8sgn09 -> daisycn01; over spines: k8sgn09 -> k8sgn08" in lines


def test_collectives_stand_beside_each_other(make: Make) -> None:
    lines = rows(text_of(*result_report(make(Suite.MPI)), width=80))
    assert "bytes alltoall allgather allreduce gather reduce" in lines
    assert "256 3.94 us 3.94 us 3.94 us 3.94 us 3.94 us" in lines


def test_storage_says_depth_and_operations(make: Make) -> None:
    lines = rows(text_of(*result_report(make(Suite.STORAGE)), width=80))
    assert "pair program bytes figure verdict IOPS average" in lines
    assert "k8sgn08 fio depth 128 4194304 9.45 Gb/s not judged 9000 35.50 us" in lines


def test_what_happened_several_times_says_how_often(make: Make) -> None:
    result = make(Suite.STORAGE)
    full = [not_measured(m.run, Outcome.DISK_FULL) for m in result.measurements[:6]]
    result = result.model_copy(update={"measurements": (*full, *full, *result.measurements[12:])})
    lines = rows(text_of(*result_report(result), width=80))
    assert "transfer01 fio: no space is left on the server (2 times)" in lines


def test_one_pair_under_other_load_stands_under_its_round(make: Make) -> None:
    lines = rows(text_of(*result_report(make(Suite.INCAST)), width=80))
    at = lines.index("round 2: 6 to transfer01")
    assert lines[at - 3] == "round 1: one to transfer01"
    assert lines[at + 2].startswith("k8sgn08 -> transfer01 ib_write_bw 65536 15.75 Gb/s")


def test_more_than_a_port_lets_through_is_no_sum(make: Make) -> None:
    (told,) = [j for j in make(Suite.INCAST, lambda _: 60.0).judged if j.subject.startswith("6 to")]
    assert (told.ok, told.sentence) == (
        None,
        "6 to transfer01: 360.00 Gb/s together is more than the 100 Gb/s that they share: they did "
        "not all send at the same time, so no sum is judged",
    )


def test_pairs_that_are_alike_say_so(make: Make) -> None:
    found = [j.sentence for j in make(Suite.MESH).judged if "pairs of" in j.sentence]
    assert found[0] == (
        "5 pairs of ib_write_bw, 65536 bytes, across the spines, up to 100 Gb/s, differ by 0.0% of "
        "their median 94.50 Gb/s (all alike), no bound is given"
    )


def test_what_was_not_judged_has_not_passed(make: Make, past: RdmaHistory) -> None:
    make(Suite.FAILOVER, past=past)
    make(Suite.MESH, past=past, day=1)
    make(Suite.MESH, lambda _: 1.0, past=past, day=2)
    words = [
        line.split()[-1]
        for line in text_of(
            history_report(RunList(runs=tuple(past.runs()))), width=80
        ).splitlines()[1:]
    ]
    assert words == ["failed", "passed", "measured"]


def test_the_values_of_a_pair_say_of_which_suite(make: Make, past: RdmaHistory) -> None:
    make(Suite.INCAST, past=past)
    make(Suite.MPI, past=past, day=1)
    lines = rows(text_of(pair_report(pair_history(past, "transfer01,k8sgn08")), width=80))
    assert lines == [
        "run (UTC) suite what figure",
        "20261120-220500-c0de incast ib_write_bw 65536 94.50 Gb/s",
        "20261120-220500-c0de incast ib_write_bw 65536 15.75 Gb/s",
    ]


# --- history --------------------------------------------------------------------------------------


@pytest.mark.parametrize("suite", [Suite.INCAST, Suite.MPI, Suite.STORAGE])
def test_only_runs_under_the_same_load_are_held_against_each_other(
    make: Make, past: RdmaHistory, suite: Suite
) -> None:
    def value(run: RdmaRun) -> float:  # of each round another
        return usual(run) * (1 + int(run.id.split(".")[0]))

    for day in range(5):
        make(suite, value, day, past)
    found = [j for j in make(suite, value, 6, past).judged if j.subject.startswith("history of")]
    assert len(found) == len(make(suite).measurements)
    assert {j.ok for j in found} == {True}
    assert all("0.0% faster" in j.sentence for j in found)


def test_a_run_through_a_failure_is_held_against_nothing(make: Make, past: RdmaHistory) -> None:
    for day in range(6):
        make(Suite.FAILOVER, past=past, day=day)
    assert [j.subject for j in past.load("last").judged if "history" in j.subject] == []


def test_a_short_history_is_one_line(make: Make, past: RdmaHistory) -> None:
    make(Suite.MESH, past=past)
    told = [j.sentence for j in make(Suite.MESH, day=1, past=past).judged if j.subject == "history"]
    assert told == [
        "21 measurements not compared with earlier runs: fewer than 5 good runs of the same pair, "
        "program, size and load"
    ]


def test_the_page_draws_what_was_before_it_under_the_same_load(
    make: Make, past: RdmaHistory, tmp_path: Path
) -> None:
    make(Suite.WRITE, past=past)
    make(Suite.WRITE, past=past, day=1)
    make(Suite.FAILOVER, lambda _: 50.0, past=past, day=2)
    make(Suite.WRITE, lambda _: 20.0, past=past, day=3)
    write_page(past, past.load("20261121-220500-c0de"), tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    assert page.count('aria-label="2 runs, median 94.50 Gb/s, last 94.50 Gb/s"') == 2
    assert "20.00" not in page
    for words in (
        "its share of the rate that the pair can reach",
        "100 % and more",
        "90 %",
        "x: not measured",
        "not planned",
    ):
        assert words in page


def test_a_page_of_collectives_has_a_curve_of_each(
    make: Make, past: RdmaHistory, tmp_path: Path
) -> None:
    write_page(past, make(Suite.MPI, past=past), tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    assert page.count('<div class="plot">') == 1
    made = f"<dd>{utc_now():%Y-%m-%d} [0-9:]{{5}} UTC by Rocefort {re.escape(__version__)}</dd>"
    assert re.search(made, page)
    assert f"of {past.path}</dd>" in page
    assert [f'<polyline class="c{n}"' in page for n in range(1, 7)] == [True] * 5 + [False]
    assert "<td>IMB-MPI1 alltoall</td>" in page


def test_export_loses_nothing(make: Make, past: RdmaHistory) -> None:
    for day, suite in enumerate(PLANNERS):
        result = make(suite, past=past, day=day)
        text = exported(past, result, "json", raw=False)
        assert RdmaResult.model_validate(fields_of(text)) == result == past.load("last")
        table = list(csv.DictReader(io.StringIO(exported(past, result, "csv", raw=False))))
        assert len(table) == sum(len(m.sizes) or 1 for m in result.measurements)
        for row, each in zip(table, result.measurements, strict=False):
            if each.sizes:
                break
            assert (row["pair"], row["detail"]) == (each.run.pair, each.run.detail)
            assert each.figures is not None
            assert (row["gbps"], row["round"]) == (
                str(each.figures.gbps) if each.figures.gbps is not None else "",
                str(int(each.run.id.split(".")[0])),
            )
    mpi = csv.DictReader(io.StringIO(exported(past, make(Suite.MPI), "csv", raw=False)))
    assert [(r["detail"], r["size_bytes"]) for r in mpi][:5] == [
        ("alltoall", "0"), ("alltoall", "1"), ("alltoall", "256"), ("alltoall", "1048576"), ("allgather", "0"),
    ]  # fmt: skip


def test_a_full_disk_keeps_nothing_of_a_run(make: Make, tmp_path: Path) -> None:
    with open_history(tmp_path / "rdma.db", make=True):
        pass
    database = sqlite3.connect(tmp_path / "rdma.db")
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")
    full = RdmaHistory(database, tmp_path / "rdma.db")
    with pytest.raises(ServiceFailed) as caught:
        full.keep(make(Suite.SWEEP), ())
    database.close()
    assert str(caught.value) == (
        f"{tmp_path}/rdma.db: cannot be written: database or disk is full; free disk space there"
    )
    with open_history(tmp_path / "rdma.db") as found:
        assert found.runs() == ()


def test_a_run_that_cannot_be_kept_is_shown_all_the_same(
    open_lab: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    lab = open_lab(("k8sgn08", "k8sgn12"))
    with open_history(lab.history, make=True):
        pass
    monkeypatch.setattr(run_store, "BUSY_S", 0.1)
    other = sqlite3.connect(lab.history, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    words = ["rdma", "run", lab.fabric, "--connections", lab.file, "--history", lab.history]
    words += ["--servers", "k8sgn08,k8sgn12", "--no-switches", "--out", tmp_path / "run.json"]
    words += ["--duration", "4", "--iterations", "100"]
    monkeypatch.setattr(sys, "argv", ["rocefort", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        tasks.app()
    other.close()
    said = capsys.readouterr()
    assert ended.value.code == 3
    assert "k8sgn08 -> k8sgn12 ib_write_bw 65536 94.00 Gb/s passed" in rows(said.out)
    assert said.err == (
        f"rocefort: {lab.history}: cannot be written: database is locked; another process has locked "
        "it for 10 s: end that process, then retry\n"
    )
    assert len(json.loads((tmp_path / "run.json").read_text())["measurements"]) == 2


# --- beside another run, and beside published figures ---------------------------------------------


def test_a_mesh_beside_another(make: Make, past: RdmaHistory) -> None:
    def slower(run: RdmaRun) -> float:
        return usual(run) * (0.9 - 0.001 * int(run.id.split(".")[0]))

    for day in range(5):
        make(Suite.MESH, past=past, day=day)
    now = make(Suite.MESH, slower, past=past, day=6)
    found = compare_with(past, now.id, "20261120-220500-c0de")
    assert (
        found.title
        == "run 20261126-220500-c0de beside run 20261120-220500-c0de of 2026-11-20 22:05 UTC"
    )
    assert found.lines[0] == (
        "ib_write_bw, 21 pairs, the median pair 10.4% slower: a regression (signed-rank test, "
        "exact, p < 0.001, too low as pairs share servers; 21 of them changed)"
    )
    assert found.slower
    assert found.lines[1] == (
        "k8sgn08 -> daisygn01 ib_write_bw of 65536 bytes: 94.50 Gb/s, now 84.96 (-10.1%); own "
        "history: 84.96, 10.1% slower than 94.50: a regression (all good runs agree; 1 fresh "
        "against 5 good runs)"
    )
    assert len(found.lines) == 22


def test_a_slower_run_ends_with_1_where_that_is_asked(
    make: Make, past: RdmaHistory, rocefort: Callable[..., Any], tmp_path: Path
) -> None:
    first = make(Suite.MESH, past=past)
    slow = make(Suite.MESH, lambda run: usual(run) * 0.9, past=past, day=1)
    kept = ("--history", tmp_path / "rdma.db")

    def code(run: RdmaResult, other: RdmaResult, *more: str) -> int:
        ended: int = rocefort("rdma", "compare", run.id, "--with", other.id, *kept, *more)[0]
        return ended

    assert code(slow, first) == 0
    assert code(slow, first, "--exit-code") == 1
    assert code(first, slow, "--exit-code") == 0
    published = ("rdma", "compare", slow.id, "--with", "heps-paper", *kept)
    assert rocefort(*published)[0] == 0
    assert rocefort(*published, "--exit-code") == (
        2,
        "",
        "rocefort: --exit-code: heps-paper holds published figures, which cannot judge a "
        "regression; compare with an earlier run\n",
    )


def test_too_few_pairs_and_too_short_a_history_are_said(make: Make, past: RdmaHistory) -> None:
    make(Suite.WRITE, past=past)
    now = make(Suite.WRITE, lambda run: usual(run) * 1.02, past=past, day=1)
    found = compare_with(past, now.id, "20261120-220500-c0de")
    assert not found.slower
    assert found.lines == (
        "ib_write_bw, 2 pairs, the median pair 2.0% faster: not judged: 2 of them changed, 7 are "
        "needed",
        "ib_write_lat, 2 pairs, the median pair 2.0% slower: not judged: 2 of them changed, 7 are "
        "needed",
        "k8sgn08 -> k8sgn09 ib_write_bw of 65536 bytes: 94.50 Gb/s, now 96.39 (+2.0%)",
        "k8sgn12 -> daisygn01 ib_write_bw of 65536 bytes: 94.50 Gb/s, now 96.39 (+2.0%)",
        "k8sgn08 -> k8sgn09 ib_write_lat of 2 bytes: 3.68 us, now 3.75 (+2.0%)",
        "k8sgn12 -> daisygn01 ib_write_lat of 2 bytes: 3.68 us, now 3.75 (+2.0%)",
        "too short a history: 4 of 4 kinds of runs, 5 earlier good ones are needed",
    )


def test_runs_of_two_suites_have_nothing_in_common(make: Make, past: RdmaHistory) -> None:
    make(Suite.FAILOVER, past=past)
    now = make(Suite.WRITE, past=past, day=1)
    assert compare_with(past, now.id, "20261120-220500-c0de").lines == (
        "no pair was measured in both runs under the same load",
        "not compared: 4 runs only in the first, 2 only in the other",
    )


def published(result: RdmaResult, reference: str, name: str) -> str:
    rows = compare(result, load_reference(reference))
    return next(row.sentence for row in rows if row.figure.name == name)


def test_of_a_sweep_the_nearest_runs_stand_beside_the_paper(make: Make) -> None:
    """It is not the median over all sizes and both paths."""
    found = published(make(Suite.SWEEP), "heps-paper", "ib_write_lat average")
    assert found.startswith("ib_write_lat average: 3.72 us, here 3.68 (99%, median of 1); ")
    assert "within a leaf" not in found


def test_a_failure_is_beside_no_published_figure(make: Make) -> None:
    found = published(make(Suite.FAILOVER), "heps-paper", "ib_write_bw average")
    assert found == (
        "ib_write_bw average: 92 Gb/s; not measured here (the run has no measurement of this kind)"
    )


def test_depth_and_processes_are_those_of_the_run(make: Make) -> None:
    name = "IOPS of random writes, 4 KB, depth 32, 1 target, static ECN"
    storage = make(Suite.STORAGE)
    found = published(storage, "eantc-storage", name)
    assert found == f"{name}: 54276 IOPS; not measured here (ecn: theirs static, ours not known)"
    static = storage.model_copy(update={"conditions": storage.conditions | {"ecn": "static"}})
    found = published(static, "eantc-storage", name)
    assert found.startswith(f"{name}: 54276 IOPS, here 9000 (17%, median of 7); ")
    assert "not known here: switches, servers, tool, repetitions, speed of the ports;" in found
    found = published(make(Suite.MPI), "eantc-ai-fabric", "AllToAll 1 MiB beside TCP, static ECN")
    assert found == (
        "AllToAll 1 MiB beside TCP, static ECN: 2119000 us; not measured here "
        "(processes: theirs 16 servers, ours 7 servers; ecn: theirs static, ours not known; "
        "background: theirs 16 servers iperf at 20 Gb/s each, ours none)"
    )


def test_a_switch_by_subtraction_is_beside_the_nominal_one(make: Make) -> None:
    found = published(make(Suite.SWEEP), "redigo", "nominal latency of the switch")
    assert "here 0.61 (31%, median of 1); conditions differ: theirs is nominal, ours by" in found


def test_a_figure_whose_unit_is_not_confirmed_says_so(make: Make) -> None:
    found = published(make(Suite.MPI), "eantc-ai-fabric", "Gather 1 MiB beside TCP, static ECN")
    assert found.startswith(
        "Gather 1 MiB beside TCP, static ECN: 5181000 us (printed in ms, which is longer than "
        "AllToAll of this size; it may be us); not measured here "
    )


def test_what_keeps_figures_apart_is_said_once(make: Make, past: RdmaHistory) -> None:
    now = make(Suite.MPI, past=past)
    lines = compare_with(past, now.id, "eantc-ai-fabric").lines
    assert lines[0].startswith(
        "not measured here (processes: theirs 32 servers, ours 7 servers; ecn: theirs static, ours "
        "not known): AllGather 256 B, static ECN: "
    )
    assert any(line.startswith("not measured here (the run has no measu") for line in lines)


def test_emulated_runs_are_compared_with_none(
    make: Make, past: RdmaHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = {"servers": "emulated servers, figures of a model: correctness is judged, speed is not"}
    first = make(Suite.WRITE).model_copy(update={"id": "first", "conditions": note})
    second = make(Suite.WRITE, day=1).model_copy(update={"id": "second", "conditions": note})
    for each in (first, second):
        past.keep(each, ())
    assert past.good(second) == {}
    what = "the figures of second and first are constants of an emulator"
    assert compare_with(past, "second", "first").lines == (f"not compared: {what}",)
    with pytest.raises(BadInput, match=f"{what}, which cannot judge a regression"):
        compare_with(past, "second", "first", judged=True)
    monkeypatch.setattr(run_store, "_stored_shape", lambda result, run: result.plan.shapes[run])
    past.keep(first.model_copy(update={"id": "of an early version"}), ())
    real = make(Suite.WRITE, past=past, day=2)
    assert set(map(len, past.good(real).values())) == {0}, "nothing of an emulator is its history"


@pytest.mark.parametrize("verdict", [MeasurementVerdict.TOO_SLOW, MeasurementVerdict.PASSED])
def test_too_slow_is_marked_in_a_sweep(make: Make, verdict: MeasurementVerdict) -> None:
    factor = 0.5 if verdict is MeasurementVerdict.TOO_SLOW else 1.0
    text = text_of(*result_report(make(Suite.SWEEP, lambda run: usual(run) * factor)), width=80)
    assert (
        ("47.25 Gb/s !" in text)
        == ("!: too slow" in text)
        == (verdict is MeasurementVerdict.TOO_SLOW)
    )
