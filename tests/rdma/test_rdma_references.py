"""Published figures have sources, and are compared with ours under the conditions that differ."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput
from rocefort.rdma.compare import Comparison, compare
from rocefort.rdma.publications import load_reference, reference_names
from rocefort.rdma.rdma_plan import Program, RdmaPlan, RdmaRun, Round, Suite
from rocefort.rdma.results import Figures, Measurement, MpiPoint, RdmaResult

HERE = {"nic": "ConnectX-5", "driver": "mlx5_core 24.10-1.1.4", "system": "AlmaLinux 9.3"}
SAME = {**HERE, "congestion_control": "DCQCN", "repetitions": "10000"}


def measured(program: str, figures: Figures, **more: object) -> Measurement:
    values: dict[str, object] = {
        "id": "x", "program": program, "client": "a", "server": "b", "switches": 3,
        "size_bytes": 65536,
    }  # fmt: skip
    run = RdmaRun.model_validate(values | more)
    return Measurement(run=run, outcome="measured", sentence="", figures=figures)


def result(conditions: dict[str, str], *measurements: Measurement) -> RdmaResult:
    plan = RdmaPlan(fabric="heps", suite=Suite.WRITE, hosts=(), rounds=())
    return RdmaResult(
        id="r1", plan=plan, began=datetime(2026, 11, 1, tzinfo=UTC), measurements=measurements,
        conditions=conditions,
    )  # fmt: skip


BW = [measured("ib_write_bw", Figures(gbps=g), reach_gbps=100) for g in (91.0, 93.0, 92.0)]


def test_the_references_that_ship() -> None:
    assert reference_names() == (
        "bytetuning", "eantc-ai-fabric", "eantc-storage", "heps-paper", "lanl-400g", "redigo",
    )  # fmt: skip
    for name in reference_names():
        reference = load_reference(name)
        assert all(figure.source for figure in reference.figures)
        assert len({figure.name for figure in reference.figures}) == len(reference.figures)


@pytest.mark.parametrize(
    ("algorithm", "gbps", "us"),
    [("DCQCN", 92.1, 3.72), ("HPCC", 88.5, 4.85), ("DCTCP", 82.3, 6.21)],
)
def test_table_2_of_the_paper(algorithm: str, gbps: float, us: float) -> None:
    figures = {figure.name: figure for figure in load_reference("heps-paper").figures}
    bandwidth, latency = (
        figures[f"bandwidth with {algorithm}"],
        figures[f"latency with {algorithm}"],
    )
    assert (bandwidth.value, bandwidth.unit, bandwidth.source) == (gbps, "Gb/s", "Table 2")
    assert (latency.value, latency.unit) == (us, "us")


@pytest.mark.parametrize(
    ("name", "ratio"),
    [
        ("AllGather 256 B", 24.6), ("AllReduce 512 KiB", 31.6), ("AllToAll 256 KiB", 35.1),
        ("AllToAll 512 KiB", 44.3), ("AllToAll 1 MiB beside TCP", 21.3),
        ("AllReduce 4 MiB beside TCP", 14.3), ("AllGather 1 MiB beside TCP", 26.1),
        ("Gather 1 MiB beside TCP", 0.3), ("Reduce 256 KiB beside TCP", 0.2),
    ],
)  # fmt: skip
def test_eantc_s_own_percentages_follow_from_the_figures(name: str, ratio: float) -> None:
    figures = {figure.name: figure.value for figure in load_reference("eantc-ai-fabric").figures}
    static, dynamic = figures[f"{name}, static ECN"], figures[f"{name}, dynamic ECN"]
    assert 100 * (1 - dynamic / static) == pytest.approx(ratio, abs=0.15)


@pytest.mark.parametrize(
    ("name", "us", "processes"),
    [
        ("AllToAll 256 KiB, static ECN", 1416474.8, "32 servers"),
        ("AllToAll 512 KiB, dynamic ECN", 1_730_000, "32 servers"),
        ("AllToAll 1 MiB beside TCP, static ECN", 2_119_000, "16 servers"),
        ("AllReduce 4 MiB beside TCP, dynamic ECN", 103_000, "16 servers"),
        ("Gather 1 MiB beside TCP, static ECN", 5_181_000, "16 servers"),
        ("Reduce 256 KiB beside TCP, static ECN", 194.0, "16 servers"),
    ],
)
def test_eantc_s_collectives_have_its_units_and_processes(
    name: str, us: float, processes: str
) -> None:
    reference = load_reference("eantc-ai-fabric")
    figure = next(figure for figure in reference.figures if figure.name == name)
    assert (figure.value, figure.unit) == (us, "us")
    assert reference.conditions_of(figure)["processes"] == processes


def test_what_is_said_of_the_hpc_bed_is_not_said_of_the_storage_bed() -> None:
    reference = load_reference("eantc-storage")
    for figure in reference.figures:
        assert figure.rate_gbps == 25
        conditions = reference.conditions_of(figure)
        assert conditions["tool"] == "fio 2.1.10, 100 s"
        assert not conditions.keys() & {"nic", "system", "processes", "pfc"}


def row(conditions: dict[str, str], name: str, *measurements: Measurement) -> str:
    found = compare(result(conditions, *measurements), load_reference("heps-paper"))
    return next(c.sentence for c in found if c.figure.name == name)


def test_a_run_beside_the_paper() -> None:
    name = "bandwidth with DCQCN"
    assert row(SAME, name, *BW) == (
        "bandwidth with DCQCN: 92.1 Gb/s, here 92.00 (100%, median of 3); conditions not known:"
        " not published: message size"
    )
    assert row(HERE, name, *BW) == (
        "bandwidth with DCQCN: 92.1 Gb/s; not measured here"
        " (congestion control: theirs DCQCN, ours not known)"
    )
    assert row({**SAME, "congestion_control": "DCTCP"}, name, *BW) == (
        "bandwidth with DCQCN: 92.1 Gb/s; not measured here"
        " (congestion control: theirs DCQCN, ours DCTCP)"
    )
    assert row({**SAME, "system": "Debian 12"}, name, *BW) == (
        "bandwidth with DCQCN: 92.1 Gb/s, here 92.00 (100%, median of 3); conditions differ:"
        " system: theirs AlmaLinux 9.3, ours Debian 12; not published: message size"
    )


def test_constants_of_an_emulator_are_beside_no_figure() -> None:
    note = "emulated servers, figures of a model: correctness is judged, speed is not"
    for reference in ("heps-paper", "redigo"):
        found = compare(result({**SAME, "servers": note}, *BW), load_reference(reference))
        assert {c.sentence.partition("; ")[2] for c in found} == {
            "not measured here (the figures of this run are constants of an emulator)"
        }


def test_algorithms_of_one_paper_are_kept_apart() -> None:
    """One run of DCQCN is beside the figures of DCQCN alone."""
    found = compare(result(SAME, *BW), load_reference("heps-paper"))
    by_algorithm = {
        c.figure.conditions["congestion_control"]: c
        for c in found
        if c.figure.conditions.get("congestion_control") and c.figure.unit == "Gb/s"
    }
    assert by_algorithm["DCQCN"].ours == 92
    others = {name: c for name, c in by_algorithm.items() if name != "DCQCN"}
    assert {name: (c.ours, c.why) for name, c in others.items()} == {
        name: (None, (f"congestion control: theirs {name}, ours DCQCN",))
        for name in ("HPCC", "DCTCP")
    }


def test_another_place_and_another_speed_keep_figures_apart() -> None:
    near = measured("ib_write_bw", Figures(gbps=23), reach_gbps=25, switches=1)
    said = row(SAME, "ib_write_bw average", near)
    assert said == (
        "ib_write_bw average: 92 Gb/s; not measured here (theirs is across the spines, ours within "
        "a leaf; theirs is on 100 Gb/s, ours 25)"
    )


def test_what_was_not_measured_has_no_ratio() -> None:
    failed = Measurement(run=BW[0].run, outcome="timed-out", sentence="")
    assert row(SAME, "latency with DCQCN", *BW, failed) == (
        "latency with DCQCN: 3.72 us; not measured here (the run has no measurement of this kind)"
    )


def test_a_collective_is_compared_at_its_size() -> None:
    sizes = (MpiPoint(size_bytes=256, average_us=500), MpiPoint(size_bytes=512, average_us=900))
    run = RdmaRun(
        id="x",
        program=Program.IMB,
        client="a",
        ranks=("a", "b"),
        collective="allgather",
        switches=3,
    )
    ours = Measurement(run=run, outcome="measured", sentence="", sizes=sizes)
    found = compare(result({"ecn": "static"}, ours), load_reference("eantc-ai-fabric"))
    at_size = {c.figure.name: c for c in found if "AllGather 256 B" in c.figure.name}
    assert {name: c.why for name, c in at_size.items()} == {
        "AllGather 256 B, static ECN": ("processes: theirs 32 servers, ours 2 servers",),
        "AllGather 256 B, dynamic ECN": (
            *("processes: theirs 32 servers, ours 2 servers", "ecn: theirs dynamic, ours static"),
        ),
    }
    many = ours.model_copy(
        update={"run": run.model_copy(update={"ranks": tuple(f"n{i}" for i in range(32))})}
    )
    found = compare(result({"ecn": "static"}, many), load_reference("eantc-ai-fabric"))
    hits = {c.figure.name: (c.ours, c.why[-1]) for c in found if c.ours is not None}
    unpublished = "not published: processes a server (here 1)"
    assert hits == {"AllGather 256 B, static ECN": (500, unpublished)}


def collective(run: str, name: str, average_us: float, **more: object) -> Measurement:
    """A collective of 32 servers at the sizes of EANTC's Table 3."""
    ours = RdmaRun.model_validate(
        {"id": run, "program": Program.IMB, "client": "a", "collective": name, "switches": 3}
        | {"ranks": tuple(f"n{i}" for i in range(32))}
        | more
    )
    sizes = tuple(MpiPoint(size_bytes=size, average_us=average_us) for size in (256, 524288))
    return Measurement(run=ours, outcome="measured", sentence="", sizes=sizes)


def beside_eantc(*rounds: tuple[str, tuple[Measurement, ...]]) -> dict[str, Comparison]:
    """Compare rounds, each with its failure and its measurements, with EANTC's static ECN."""
    planned = tuple(
        Round(number=number, fault=fault, runs=tuple(each.run for each in runs))
        for number, (fault, runs) in enumerate(rounds, 1)
    )
    ours = result({"ecn": "static"}, *(each for _, runs in rounds for each in runs))
    ours = ours.model_copy(
        update={"plan": RdmaPlan(fabric="x", suite=Suite.MPI, hosts=(), rounds=planned)}
    )
    rows = compare(ours, load_reference("eantc-ai-fabric"))
    return {row.figure.name: row for row in rows}


def test_a_round_with_a_failure_is_compared_with_nothing() -> None:
    name = "AllGather 256 B, static ECN"
    usual, failed = (collective(run, "allgather", us) for run, us in (("1", 500), ("2", 9000)))
    both = beside_eantc(("", (usual,)), ("leaf01 loses its cables to spine01", (failed,)))[name]
    assert (both.ours, both.runs) == (500, 1)
    alone = beside_eantc(("one uplink of leaf01 goes down", (failed,)))[name]
    assert alone.why == ("the run has no measurement of this kind",)


def test_other_runs_of_a_round_are_its_background() -> None:
    name = "AllGather 256 B, static ECN"
    groups = tuple(collective(each, each, 500) for each in ("allgather", "allreduce"))
    assert beside_eantc(("", groups))[name].why == (
        "background: theirs none, ours 1 run of IMB-MPI1 allreduce over 32 servers",
    )
    tcp = measured("iperf3", Figures(gbps=20), id="t", limit_gbps=20)
    assert beside_eantc(("", (groups[0], tcp)))[name].why == (
        "background: theirs none, ours 1 server iperf at 20 Gb/s each",
    )


@pytest.mark.parametrize("processes", [1, 36])
def test_processes_a_server_keep_a_collective_from_being_comparable(processes: int) -> None:
    run = collective("1", "allgather", 500, processes_per_server=processes)
    row = beside_eantc(("", (run,)))["AllGather 256 B, static ECN"]
    assert row.why[-1] == f"not published: processes a server (here {processes})"
    assert row.reasons.unpublished == (f"processes a server (here {processes})",)
    assert row.status != "comparable"


def test_a_program_of_their_own_is_never_comparable() -> None:
    small = measured("ib_send_lat", Figures(latency_us=2.4), size_bytes=64, switches=1)
    found = compare(result({}, small), load_reference("redigo"))
    at_64 = next(c for c in found if c.figure.size_bytes == 64 and c.figure.unit == "us")
    assert (at_64.ours, at_64.status) == (None, "not measured here")
    assert at_64.why == ("theirs is their own program, ours ib_send_lat",)


def test_bad_references(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        load_reference("heps")
    assert str(caught.value) == ("references: no reference 'heps'; did you mean 'heps-paper'?")
    (tmp_path / "ours.yaml").write_text("reference: other\ntitle: t\nsource: s\nfigures: []\n")
    with pytest.raises(BadInput, match=r"ours\.yaml:4:10: figures: "):
        load_reference("ours", tmp_path)
