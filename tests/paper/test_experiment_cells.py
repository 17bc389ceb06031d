"""Cells of EANTC's test: of simulated and measured experiments on ECN, and figures that are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import BadInput
from rocefort.experiment.collectives import (
    EXCHANGE,
    LEAF_MARKS,
    SPINE_GBPS,
    SPINES_GBPS,
    TCP_DROPS,
    divided,
)
from rocefort.experiment.comparison import compared
from rocefort.experiment.model import (
    CellValue,
    ExperimentPlan,
    ExperimentResult,
    ExperimentRun,
    Level,
    PlannedRun,
)
from rocefort.models.network.network import SwitchRole
from rocefort.models.network.observed import CpuSeen, DeviceSeen, MarkedSeen, MemorySeen
from rocefort.paper.experiments import (
    StoredExperiment,
    measured_cell,
    series_of,
    simulated_cell,
    stored_experiments,
)
from rocefort.paper.stored_runs import StoredRuns, drawn_figures
from rocefort.rdma.publications import Publication, PublishedFigure, load_reference
from rocefort.rdma.rdma_plan import RdmaPlan, RdmaRun, Round, StorageJob, Suite
from rocefort.rdma.results import Figures, Measurement, MpiPoint, RdmaResult
from rocefort.rdma.run_record import (
    CounterReading,
    EcnSetting,
    FabricState,
    RunRecord,
    SwitchSettings,
)

NOW = datetime(2026, 11, 1, tzinfo=UTC)
HPC, STORAGE = load_reference("eantc-ai-fabric"), load_reference("eantc-storage")


def figure(publication: Publication, name: str) -> PublishedFigure:
    return next(each for each in publication.figures if each.name == name)


def experiment(
    values: Mapping[str, Mapping[str, float]],
    *,
    simulated: bool = True,
    options: Mapping[str, str] | None = None,
    counters: Mapping[str, float] | None = None,
) -> ExperimentResult:
    """An experiment with one run of each level; values: by level, by cell."""
    levels = tuple(
        Level(
            name=name, text="", fabric="", file="",
            end="low" if name.endswith("-low") else "high" if name.endswith("-high") else "",
        )
        for name in values
    )  # fmt: skip
    runs = tuple(PlannedRun(number=n, level=name, repetition=1) for n, name in enumerate(values, 1))
    plan = ExperimentPlan(
        fabric="eantc-hpc", source="", fabric_digest="", version="", factor="ecn", suite="mpi",
        simulated=simulated, repeat=1, levels=levels, runs=runs,
        options={"servers": "a, b", **(options or {})},
    )  # fmt: skip
    done = tuple(
        ExperimentRun(
            run=run, id=f"r{run.number}", began=NOW, ended=NOW,
            values=tuple(
                CellValue(cell=cell, value=value, unit="us", counters=dict(counters or {}))
                for cell, value in values[run.level].items()
            ),
        )
        for run in runs
    )  # fmt: skip
    first, *others = values
    return ExperimentResult(
        plan=plan, directory="x", state="complete", runs=done, not_compared="", unmeasured=(),
        comparisons=tuple(compared(done, first, other) for other in others),
        assumptions=(), not_modelled=(), page="",
    )  # fmt: skip


CELLS = {f"{EXCHANGE} 256 B, 1 process": 2.0, f"{EXCHANGE} 512 KiB, 1 process": 300.0}
SIMULATED = {
    "static": CELLS,
    "ai-low": {name: value * 2 for name, value in CELLS.items()},
    "ai-high": {name: value / 2 for name, value in CELLS.items()},
}
COUNTERS = {LEAF_MARKS: 7, SPINE_GBPS: 40, SPINES_GBPS: 90, TCP_DROPS: 3, "drops": 0}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AllGather 256 B, static ECN", "2.00 us (1 process)"),
        ("AllToAll 512 KiB, dynamic ECN", "150.0 to 600.0 us (1 process)"),
        ("ECN marks of a leaf, 512 KiB", "7.00 (static), 7.00 (ai-low), 7.00 (ai-high) marks"),
        ("rate of a spine, 512 KiB", "40.00 (static), 40.00 (ai-low), 40.00 (ai-high) Gb/s"),
        ("runs without background", "2 tests"),
        ("runs that dynamic ECN improves", "improved: 0 of 2 (ai-low), improved: 2 of 2 (ai-high)"),
        ("AllReduce 512 KiB, static ECN", None),
        ("ECN marks of a leaf, 16 B", None),
        ("AllGather 1 MiB beside TCP, static ECN", None),
        ("CPU of a spine", None),
    ],
)
def test_a_simulated_experiment_fills_its_cells(name: str, text: str | None) -> None:
    stored = StoredExperiment(Path("x"), experiment(SIMULATED, counters=COUNTERS))
    cell = simulated_cell(stored, figure(HPC, name))
    assert (cell.text if cell else None) == text


def test_cells_beside_tcp_are_of_an_experiment_with_tcp() -> None:
    values = {level: {f"{EXCHANGE} 1 MiB, 1 process": 5.0} for level in SIMULATED}
    beside = {"beside": "16 TCP senders at 20 Gb/s"}
    stored = StoredExperiment(Path("x"), experiment(values, options=beside, counters=COUNTERS))
    texts = [
        cell.text if (cell := simulated_cell(stored, figure(HPC, name))) else None
        for name in (
            "AllToAll 1 MiB beside TCP, static ECN",
            "peak of the uplinks beside TCP",
            "packets dropped beside TCP",
            "runs that dynamic ECN improves",
        )
    ]
    assert texts == [
        "5.00 us (1 process)",
        "90.00 Gb/s, mean of a test",
        "RoCE 0.00, TCP 3.00 packets a test",
        None,
    ]
    assert not list(series_of([stored]))


def test_figures_2_and_4_have_the_means_of_the_tests() -> None:
    stored = StoredExperiment(Path("x"), experiment(SIMULATED))
    drawn = list(series_of([stored]))
    assert [each.name for each in drawn] == ["Figure 2", "Figure 4"] * 2
    assert drawn[0].rows[1] == (f"{EXCHANGE} 512 KiB, 1 process (us)", "300.0", "600.0", "+100 %")


def test_every_second_server_sends_tcp_half_a_list_away() -> None:
    servers, load = divided(list("abcdefgh"), 20)
    assert servers == ("a", "c", "e", "g")
    assert load is not None and load.text == "4 TCP senders at 20 Gb/s"
    assert load.pairs == (("b", "f"), ("d", "h"), ("f", "b"), ("h", "d"))
    assert divided(list("ab"), None) == (("a", "b"), None)
    with pytest.raises(BadInput) as caught:
        divided(list("ab"), 20)
    assert str(caught.value) == (
        "--tcp-gbps: 2 servers, and half of them send TCP; name four servers or more: --servers"
    )


# --- measured -------------------------------------------------------------------------------------


def reading(seconds: int, marks: int) -> CounterReading:
    at = NOW + timedelta(seconds=seconds)
    memory = MemorySeen(total_kbytes=100, used_kbytes=27)
    switches = tuple(
        DeviceSeen(
            name=name, at=at, cpu=CpuSeen(five_seconds=1, one_minute=cpu, five_minutes=1),
            memory=memory, ecn_marks=(MarkedSeen(interface="p", marked_packets=marks),),
        )
        for name, cpu in (("spine01", 13), ("leaf01", 9))
    )  # fmt: skip
    return CounterReading(at=at, switches=switches)


def run_of(ecn: str, run: dict[str, Any], **measured: Any) -> RdmaResult:
    """A run between real servers with a record of its ECN."""
    own = RdmaRun.model_validate({"id": "x", "client": "a", "switches": 3, **run})
    settings = SwitchSettings(device="leaf01", ecn=(EcnSetting(mode=ecn, ports=1),))
    record = RunRecord(
        fabric=FabricState(source="", digest="0" * 64), before=reading(0, 5),
        after=reading(10, 12), switches=(settings,),
    )  # fmt: skip
    measurement = Measurement(run=own, outcome="measured", sentence="", **measured)
    plan = RdmaPlan(fabric="x", suite=Suite.MPI, hosts=(), rounds=(Round(number=1, runs=(own,)),))
    return RdmaResult(
        id="r", plan=plan, began=NOW, measurements=(measurement,), record=record,
        conditions={"ecn": ecn},
    )  # fmt: skip


def stored(static: RdmaResult, dynamic: RdmaResult) -> StoredExperiment:
    result = experiment({"static": {"a": 4.0}, "ai": {"a": 3.0}}, simulated=False)
    roles = {"spine01": SwitchRole.SPINE, "leaf01": SwitchRole.LEAF}
    return StoredExperiment(Path("x"), result, {"static": [static], "ai": [dynamic]}, roles)


def test_a_measured_experiment_fills_the_cells_of_collectives_and_counters() -> None:
    ranks = [f"s{n}" for n in range(32)]
    run = {"program": "IMB-MPI1", "collective": "alltoall", "ranks": ranks, "server": "s1",
           "reach_gbps": 100}  # fmt: skip
    runs = (
        run_of(ecn, run, sizes=(MpiPoint(size_bytes=524288, average_us=us),))
        for ecn, us in (("static", 4000.0), ("dynamic", 3000.0))
    )
    own = stored(*runs)
    cells = {
        name: cell.text if (cell := measured_cell(own, HPC, figure(HPC, name))) else None
        for name in (
            "AllToAll 512 KiB, static ECN",
            "AllToAll 512 KiB, dynamic ECN",
            "runs that dynamic ECN improves",
            "ECN marks of a leaf, 512 KiB",
            "ECN marks of a leaf, 16 B",
            "CPU of a spine",
            "memory of a leaf",
            "packets dropped beside TCP",
        )
    }
    assert cells == {
        "AllToAll 512 KiB, static ECN": "4,000 us",
        "AllToAll 512 KiB, dynamic ECN": "3,000 us",
        "runs that dynamic ECN improves": "improved: 1 of 1 (ai)",
        "ECN marks of a leaf, 512 KiB": "7.00 marks",
        "ECN marks of a leaf, 16 B": None,
        "CPU of a spine": "13.00 %",
        "memory of a leaf": "27.00 %",
        "packets dropped beside TCP": None,
    }


def test_a_measured_experiment_fills_the_cells_of_storage() -> None:
    job = StorageJob(directory="/a:/b:/c:/d", block_bytes=4194304, depth=32, targets=4)
    run = {"program": "fio", "size_bytes": 4194304, "storage": job, "reach_gbps": 25}
    own = stored(*(
        run_of(ecn, run, figures=Figures(iops=iops, latency_us=us, p99_us=2 * us))
        for ecn, iops, us in (("static", 200, 100.0), ("dynamic", 250, 80.0))
    ))  # fmt: skip
    names = [
        "IOPS of random writes, 4 MB, depth 32, 4 targets, dynamic ECN",
        "less average delay by dynamic ECN, 4 MB, depth 32, 4 targets",
        "less tail delay by dynamic ECN, 4 MB, depth 32, 4 targets",
        "less tail delay by dynamic ECN, 4 MB, depth 1, 4 targets",
    ]
    cells = [measured_cell(own, STORAGE, figure(STORAGE, name)) for name in names]
    assert [cell.text if cell else None for cell in cells] == [
        "250 IOPS",
        "20.0 %",
        "20.0 %, 99th percentile",
        None,
    ]
    runs = StoredRuns("rdma.db", experiments=(own,))
    assert runs.of_site(STORAGE, figure(STORAGE, names[1])).text == "20.0 %"
    gone = StoredRuns("rdma.db").of_site(STORAGE, figure(STORAGE, names[1]))
    assert (gone.text, gone.origin) == (
        "",
        "no measured experiment of ECN has it (docs/how-to/papers.md)",
    )


def test_experiments_are_read_from_their_folders(tmp_path: Path) -> None:
    for name, change in (("a", {}), ("b", {"state": "stopped"})):
        (tmp_path / name).mkdir()
        result = experiment(SIMULATED).model_copy(update=change)
        (tmp_path / name / "result.json").write_text(result.model_dump_json(), "utf-8")
    assert [each.folder.name for each in stored_experiments(tmp_path)] == ["a"]


def test_drawn_figures_have_points_of_stored_runs_or_a_reason() -> None:
    heps = load_reference("heps-paper")
    bandwidth = {"program": "ib_write_bw", "server": "b", "size_bytes": 65536}
    result = run_of("static", bandwidth, figures=Figures(gbps=91.5, peak_gbps=92.0))
    figures = {
        (each.name, each.origin.partition(":")[0]): each.rows
        for each in drawn_figures(heps, StoredRuns("rdma.db", site=(result,)))
    }
    assert figures["Figure 5", "run r between real servers on x"] == (
        ("ib_write_bw a -> b, 64 KiB", "91.5", "92"),
    )
    assert figures["Figure 6", "site"] == ()


def test_figure_7_sets_a_collective_beside_itself_while_cables_are_away() -> None:
    run = {"program": "IMB-MPI1", "collective": "alltoall", "ranks": ["a", "b"], "server": "b"}
    own = [RdmaRun.model_validate({"client": "a", **run, "id": each}) for each in "xy"]
    measurements = tuple(
        Measurement(
            run=each, outcome="measured", sentence="",
            sizes=(MpiPoint(size_bytes=1024, average_us=us),),
        )
        for each, us in zip(own, (10.0, 25.0), strict=True)
    )  # fmt: skip
    rounds = (
        Round(number=1, runs=(own[0],)),
        Round(number=2, runs=(own[1],), fault="leaf01 without its cables to spine01"),
    )
    plan = RdmaPlan(fabric="x", suite=Suite.MPI, hosts=(), rounds=rounds)
    result = RdmaResult(id="r", plan=plan, began=NOW, measurements=measurements)
    first, *_ = drawn_figures(HPC, StoredRuns("rdma.db", site=(result,)))
    assert first.columns == ("test", "us, all cables", "cables away")
    assert first.rows == (("alltoall 1 KiB", "10", "25"),)
