"""`tune compare`: tables of published systems, computed by the simulator."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path

import pytest
from outputs import fields_of
from typer.testing import CliRunner, Result

from rocefort.base.errors import BadInput
from rocefort.base.repository import ROOT
from rocefort.rdma.publications import load_reference
from rocefort.tasks import cli
from rocefort.tune import algorithm_table
from rocefort.tune.algorithm_table import ALGORITHMS, SENDERS, controls_of
from rocefort.tune.compare_command import ByteTuningObjectiveOption
from rocefort.tune.compare_model import (
    AlgorithmFigures,
    AlgorithmRow,
    AlgorithmTable,
    WatermarkTable,
)
from rocefort.tune.compare_report import with_half
from rocefort.tune.model import ConfidenceInterval
from rocefort.tune.search.byte_tuning import BYTE_TUNING
from rocefort.tune.search.paired import interval_of, t_quantile
from rocefort.tune.search.points import CELL_KBYTES
from rocefort.tune.watermark_table import bed, space_of

Compare = Callable[..., Result]


@pytest.fixture(scope="module")
def compare(tmp_path_factory: pytest.TempPathFactory) -> Compare:
    """Run `tune compare`; its simulations are in one folder of this module."""
    folder = str(tmp_path_factory.mktemp("results"))

    def run(*words: str) -> Result:
        shared = ("--results", folder, "--workers", "2", "--progress", "none")
        return CliRunner().invoke(cli, ["tune", "compare", *words, *shared])

    return run


# --- ByteTuning -----------------------------------------------------------------------------------

SHORT = ("bytetuning", "--seeds", "2", "--evaluations", "6")


def watermarks(done: Result) -> WatermarkTable:
    assert done.exit_code == 0, done.exception
    return WatermarkTable.model_validate(fields_of(done.stdout))


def test_the_space_is_the_published_one() -> None:
    base = bed("dcqcn")
    space = space_of(base)
    counts = {axis.name: len(axis.values) for axis in space.axes}
    assert counts == {
        "kmin_kbytes": 11,
        "width_kbytes": 1,
        "pmax_percent": 10,
        "alpha": 5,
        "headroom_kbytes": 6,
    }
    assert space.combinations == 3300
    assert space.size == 3300
    cells = {
        axis.name: [round(value / CELL_KBYTES, 6) for value in axis.values]
        for axis in space.axes
        if "kbytes" in axis.name
    }
    assert cells["kmin_kbytes"] == [500 * n for n in range(11)]
    assert cells["width_kbytes"] == [500]
    assert cells["headroom_kbytes"] == [100 * n for n in range(1, 7)]


def test_the_bed_has_the_published_servers_and_switches() -> None:
    ground = bed("dcqcn").ground
    servers = {cable.a for cable in ground.cables if cable.gbps == 25}
    assert len(servers) == 24
    assert [x.b for x in ground.cables if x.gbps == 25].count("access1") == 12
    uplinks = [(x.a, x.b) for x in ground.cables if x.gbps == 100]
    assert len(uplinks) == len(set(uplinks)) == 4
    assert {pair.receiver for pair in ground.pairs} == {"server01"}
    assert {pair.sender for pair in ground.pairs} == servers - {"server01"}


def test_the_table_has_its_columns_and_rows(compare: Compare) -> None:
    table = watermarks(compare(*SHORT, "--format", "json"))
    assert [column.name for column in table.columns] == [
        "DCTCP",
        "experience",
        "manufacturer",
        "ByteTuning",
    ]
    assert [column.control for column in table.columns] == ["dctcp", *["dcqcn"] * 3]
    dctcp, experience, manufacturer, tuned = (column.cells for column in table.columns)
    assert dctcp["kmin"] == dctcp["kmax"] == round(75 / CELL_KBYTES)
    assert experience == {"kmin": 200, "kmax": 1200, "headroom": 140}
    assert manufacturer == {"kmin": 100, "kmax": 1000, "headroom": 140}
    assert tuned["kmax"] == tuned["kmin"] + 500
    rows = {row.measure: row for row in table.rows}
    for goodput, iops in zip(rows["throughput"].values, rows["IOPS"].values, strict=True):
        assert iops.mean == pytest.approx(goodput.mean * 1e9 / 8 / 65_536 / 1000)
        assert 5 < goodput.mean < 25 * 1024 / 1086
    for value in rows["completion, mean"].values:
        assert value.mean < 3 * 23 * 2**20 * 8 / 25e6
    assert all(value.mean > 0 for value in rows["packets marked"].values)
    rates = [row.gbps.mean for row in table.losses]
    assert rates == sorted(rates, reverse=True) and rates[0] > 3 * rates[-1] > 0
    assert prod(len(axis.values) for axis in table.axes) == table.combinations == 3300
    assert table.columns[0].objectives == {}
    for column in table.columns[1:]:
        assert set(column.objectives) == set(BYTE_TUNING)
        assert all(0 < value <= 1 for value in column.objectives.values())
    assert not set(table.seeds) & {table.search_seed}
    assert table.evaluated == 6


def test_a_cell_moves_with_the_ecn_and_with_the_seeds(compare: Compare) -> None:
    """Experience and manufacturer differ in ECN alone."""
    two = watermarks(compare(*SHORT, "--format", "json"))
    three = watermarks(compare("bytetuning", "--seeds", "3", *SHORT[3:], "--format", "json"))
    for row, other in zip(two.rows, three.rows, strict=True):
        if row.measure in ("throughput", "queue, mean", "packets marked", "completion, mean"):
            _, experience, manufacturer, _ = row.values
            assert experience.mean != manufacturer.mean
            assert experience.mean != other.values[1].mean
            assert experience.low < experience.mean < experience.high


def test_a_second_run_simulates_nothing_and_has_the_same_table(compare: Compare) -> None:
    first, again = (watermarks(compare(*SHORT, "--format", "json")) for _ in range(2))
    assert (again.simulated, first.rows) == (0, again.rows)


@pytest.mark.thorough
def test_the_search_finds_a_better_value_of_its_objective(compare: Compare) -> None:
    for objective in BYTE_TUNING:
        words = ("--objective", objective, "--evaluations", "60", "--seeds", "3")
        table = watermarks(compare("bytetuning", *words, "--format", "json"))
        values = [column.objectives[objective] for column in table.columns[1:]]
        assert values[-1] > max(values[:-1])


def test_the_profile_of_the_nics_is_chosen(compare: Compare) -> None:
    words = ("bytetuning", "--seeds", "1", "--evaluations", "2")
    plain = watermarks(compare(*words, "--format", "json"))
    paper = watermarks(compare(*words, "--nic", "paper-dcqcn", "--format", "json"))
    own, other = (table.rows[0].values for table in (plain, paper))
    assert own[0] == other[0], "DCTCP has none"
    assert own[1] != other[1]
    assert any("profile paper-dcqcn;" in line for line in paper.assumptions)
    for name, message in (
        ("paper", "--nic: there is no congestion control profile 'paper'"),
        ("pfc-only", "--nic: 'pfc-only' is no profile of DCQCN; name one that is"),
    ):
        assert message in str(compare(*words, "--nic", name).exception)


def test_the_options_are_the_objectives() -> None:
    assert [str(each) for each in ByteTuningObjectiveOption] == [*BYTE_TUNING]


# --- HEPS -----------------------------------------------------------------------------------------


def algorithms(done: Result) -> AlgorithmTable:
    assert done.exit_code == 0, done.exception
    return AlgorithmTable.model_validate(fields_of(done.stdout))


def heps_with(folder: Path, ecn: str) -> str:
    """Write HEPS with another ECN profile; return its file."""
    text = (ROOT / "inventory/heps/fabric.yaml").read_text(encoding="utf-8")
    assert "ecn: ai-ecn-hpc" in text
    file = folder / "fabric.yaml"
    file.write_text(text.replace("ecn: ai-ecn-hpc", f"ecn: {ecn}"), encoding="utf-8")
    return str(file)


def test_the_published_figures_are_those_of_the_reference(
    compare: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = load_reference("heps-paper")
    raised = reference.like(
        figures=tuple(figure.like(value=figure.value + 1) for figure in reference.figures)
    )
    monkeypatch.setattr(algorithm_table, "load_reference", lambda _name: raised)
    table = algorithms(compare("heps", "--seeds", "1", "--format", "json"))
    shown = [value for row in table.rows for value in (row.published_gbps, row.published_us)]
    theirs = [f.value + 1 for f in reference.figures if f.source == "Table 2"]
    assert [row.control for row in table.rows] == list(ALGORITHMS)
    assert shown == theirs


def test_a_pair_alone_has_the_line_and_the_way(compare: Compare) -> None:
    table = algorithms(compare("heps", "--seeds", "2", "--format", "json"))
    assert len(table.senders) == SENDERS
    line = {"dcqcn": 4096 / 4158, "dctcp": 4096 / 4158, "hpcc": 0.95 * 4096 / 4200}
    cables = (5 + 50 + 50 + 5) * 5 / 1000  # us
    for row in table.rows:
        assert row.alone.gbps.mean == pytest.approx(100 * line[row.control], rel=0.01)
        assert cables < row.alone.latency_us.mean < cables + 0.1
        assert row.loaded.latency_us.mean > row.alone.latency_us.mean


def test_dcqcn_moves_with_seeds_and_ecn_and_hpcc_has_none(compare: Compare, tmp_path: Path) -> None:
    def rows(*words: str) -> list[AlgorithmFigures]:
        names = ("--algorithms", "dcqcn,hpcc", "--format", "json")
        return [row.loaded for row in algorithms(compare("heps", *names, *words)).rows]

    dcqcn, hpcc = rows("--seeds", "2")
    more, _ = rows("--seeds", "3")
    assert dcqcn.latency_us.mean != more.latency_us.mean
    other, same = rows("--seeds", "2", "--fabric", heps_with(tmp_path, "huawei-delay-sensitive"))
    assert other.latency_us.mean < dcqcn.latency_us.mean / 2, "Kmin is 7 kbytes instead of 200"
    assert other.gbps != dcqcn.gbps
    assert same == hpcc


def test_an_algorithm_without_published_figures_has_ours(compare: Compare) -> None:
    done = compare("heps", "--algorithms", "timely", "--seeds", "1")
    assert done.exit_code == 0, done.exception
    (line,) = re.findall(r"(?m)^ +TIMELY +Gb/s .*$", done.stdout)
    assert line.split()[2] == "-"
    assert "Means over 1 seed\n" in done.stdout
    assert "Order" not in done.stdout


def row(control: str, published: tuple[float, float], *ours: tuple[float, float]) -> AlgorithmRow:
    """A row with equal figures alone and loaded; ours: mean and half width of Gb/s and us."""
    gbps, latency_us = (
        ConfidenceInterval(mean=mean, low=mean - half, high=mean + half) for mean, half in ours
    )
    figures = AlgorithmFigures(gbps=gbps, latency_us=latency_us)
    return AlgorithmRow(
        control=control,
        published_gbps=published[0],
        published_us=published[1],
        alone=figures,
        loaded=figures,
    )


def test_the_order_is_a_sentence() -> None:
    rows = [
        row("dcqcn", (90, 3), (70, 1), (5, 1)),
        row("hpcc", (80, 4), (80, 1), (6, 1)),
        row("dctcp", (70, 5), (90, 1), (9, 1)),
    ]
    bandwidth, latency = algorithm_table._order(rows)
    assert bandwidth == (
        "bandwidth, highest first: published DCQCN, HPCC, DCTCP; here alone DCTCP, HPCC, DCQCN "
        "(reversed); loaded DCTCP, HPCC, DCQCN (reversed)"
    )
    assert latency == (
        "latency, lowest first: published DCQCN, HPCC, DCTCP; here alone DCQCN = HPCC, DCTCP; "
        "loaded DCQCN = HPCC, DCTCP"
    )
    same = algorithm_table._order([rows[0], row("hpcc", (80, 4), (60, 1), (9, 1))])
    assert next(iter(same)).endswith("loaded DCQCN, HPCC (the same)")
    assert not list(algorithm_table._order(rows[:1]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--algorithms", "dcqnc"), "--algorithms: no congestion control 'dcqnc'; did you mean"),
        (("--algorithms", ","), "--algorithms: no algorithm is named; name one"),
        (("--fabric", "TINY"), "4 servers of 100 Gb/s on other leaves than leaf001-s01 are needed"),
    ],
)
def test_a_bad_request_is_one_clear_error(
    compare: Compare, words: tuple[str, str], message: str, tmp_path: Path
) -> None:
    if words[1] == "TINY":
        size = ("--spines", "1", "--leaves", "2", "--servers-per-leaf", "2")
        made = CliRunner().invoke(cli, ["new", "tiny", *size, "--directory", str(tmp_path)])
        assert made.exit_code == 0
        words = (words[0], str(tmp_path / "tiny"))
    done = compare("heps", *words)
    assert isinstance(done.exception, BadInput)
    assert message in str(done.exception)
    assert len(done.exception.problems) == 1


def test_a_fabric_without_dcqcn_is_refused_for_it_alone(compare: Compare, tmp_path: Path) -> None:
    file = Path(heps_with(tmp_path, "huawei-throughput"))
    text = file.read_text(encoding="utf-8")
    profile = "congestion_control: connectx-dcqcn"
    assert profile in text
    file.write_text(text.replace(profile, "congestion_control: pfc-only"), encoding="utf-8")
    done = compare("heps", "--fabric", str(file))
    assert "the fabric's NICs have no DCQCN; set congestion_control" in str(done.exception)
    assert controls_of(["hpcc", "hpcc"]) == ("hpcc",)
    words = ("--algorithms", "hpcc", "--seeds", "1", "--format", "json")
    assert algorithms(compare("heps", "--fabric", str(file), *words)).rows[0].control == "hpcc"


# --- both -----------------------------------------------------------------------------------------


def test_texts_fit_80_columns(compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in (SHORT, ("heps", "--seeds", "2")):
        lines = compare(*words).stdout.splitlines()
        assert "Not modelled" in lines
        assert max(map(len, lines)) <= 80


def test_no_code_has_a_published_figure() -> None:
    """They are in inventory/references alone."""
    figures = {
        f"{figure.value:g}"
        for figure in load_reference("heps-paper").figures
        if figure.source == "Table 2"
    }
    pattern = re.compile(rf"(?<![\d.])(?:{'|'.join(map(re.escape, sorted(figures)))})(?![\d.])")

    def hits() -> Iterator[str]:
        for folder in ("rocefort/tune", "tests/tuning"):
            for path in (ROOT / folder).rglob("*.py"):
                text = path.read_text(encoding="utf-8")
                yield from (f"{path.name}: {found}" for found in pattern.findall(text))

    assert len(figures) == 6
    assert list(hits()) == []


def test_intervals_are_those_of_students_t() -> None:
    """0.975 of t with 9 and 19 degrees of freedom: 2.2622 and 2.0930."""
    assert t_quantile(0.975, 9) == pytest.approx(2.2622, rel=1e-3)
    assert t_quantile(0.975, 19) == pytest.approx(2.0930, rel=1e-3)
    values = [float(n) for n in range(1, 11)]  # standard deviation 3.0277
    found = interval_of(values, 0.95)
    assert found.mean == 5.5
    assert found.high - 5.5 == pytest.approx(2.2622 * 3.02765 / 10**0.5, rel=1e-3)
    assert interval_of([3.0], 0.95) == ConfidenceInterval(mean=3, low=3, high=3)


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [(23.567, 0.001, "23.57"), (7.4, 0.02, "7.40 ±0.02"), (614.5, 38.5, "614.5 ±38.5")],
)
def test_a_mean_has_its_half_interval(mean: float, half: float, text: str) -> None:
    assert with_half(ConfidenceInterval(mean=mean, low=mean - half, high=mean + half)) == text
