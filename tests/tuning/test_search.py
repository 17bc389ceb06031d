"""Searches: their space and limits, objectives, methods, and `tune search` as a user types it."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from outputs import fields_of
from simulators import run_scenario, scenario_of
from typer.testing import CliRunner, Result

from rocefort.base.errors import BadInput
from rocefort.tasks import cli
from rocefort.tune.fabric_search import fabric_search
from rocefort.tune.model import SearchResult, Settings
from rocefort.tune.run import SearchRequest, plan_of
from rocefort.tune.scenario import Marking
from rocefort.tune.search.limits import BUDGET, ECN_AFTER_PFC, HEADROOM, scenario_refusal
from rocefort.tune.search.methods import OptunaOptions, annealing, neighbor, optuna_search
from rocefort.tune.search.objectives import WORST, front, ratios, score
from rocefort.tune.search.points import Axis, Point, Space, axes_of, published_space, settings_of
from rocefort.tune.simulator.layout import ground_of

SCENARIO = """\
scenario: small
flows: {count: 2, bytes: 200000}
ecn: {kmin_kbytes: 100, kmax_kbytes: 400, pmax_percent: 20}
seeds: [7, 8]
search:
  kmin_kbytes: [5, 50, 200]
  pmax_percent: [1, 50]
"""
Tune = Callable[..., Result]


@pytest.fixture
def tune(tmp_path: Path) -> Tune:
    """Run `tune search` on a text, with results in a folder of the test."""

    def run(text: str, *options: str) -> Result:
        path = tmp_path / "scenario.yaml"
        path.write_text(text, encoding="utf-8")
        folder = ("--results", str(tmp_path / "results"), "--workers", "2")
        return CliRunner().invoke(
            cli, ["tune", "search", "--scenario", str(path), *folder, *options]
        )

    return run


# --- space and limits -----------------------------------------------------------------------------


def test_the_published_grid_has_all_its_combinations() -> None:
    """The smallest headroom, 100 cells, is above the formula's 21,114 bytes for its cables of 1 us."""
    scenario = scenario_of(flows={"count": 24}, packet_bytes=1500)
    space = Space(
        axes_of(published_space(25, static=False)),
        lambda values: settings_of(values, scenario),
        scenario_refusal(scenario, ground_of(scenario)),
    )
    assert (space.combinations, space.size) == (3300, 3300)
    assert space.refused == {}
    assert space.at(next(space.points())).ecn == Marking(
        kmin_kbytes=0, kmax_kbytes=128, pmax_percent=1
    )


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (Settings(headroom_kbytes=21.1), HEADROOM),
        (Settings(headroom_kbytes=21.2), ""),
        (Settings(xoff_kbytes=2774, xon_kbytes=0, headroom_kbytes=22), ""),
        (Settings(xoff_kbytes=2775, xon_kbytes=0, headroom_kbytes=22), BUDGET),
        (
            Settings(
                xoff_kbytes=60,
                xon_kbytes=0,
                ecn=Marking(kmin_kbytes=121, kmax_kbytes=130, pmax_percent=1),
            ),
            ECN_AFTER_PFC,
        ),
        (
            Settings(
                xoff_kbytes=60,
                xon_kbytes=0,
                ecn=Marking(kmin_kbytes=20, kmax_kbytes=59, pmax_percent=1),
            ),
            "",
        ),
    ],
)
def test_limits_of_a_scenario(settings: Settings, reason: str) -> None:
    """Three ports of 25 Gb/s: the formula gives 21,114 bytes, the buffer is 8 MiB."""
    scenario = scenario_of(flows={"count": 2}, packet_bytes=1500)
    assert scenario_refusal(scenario, ground_of(scenario))(settings) == reason


def test_candidates_of_a_fabric_are_within_what_its_rules_allow() -> None:
    own = fabric_search(Path("heps"), None, nic=False)
    assert own.speeds == (25, 100)
    assert own.space.size == own.space.combinations - sum(own.space.refused.values())
    assert own.space.refused == {ECN_AFTER_PFC: 630}
    names = [base.scenario.scenario for base in own.bases]
    assert names == [
        "incast 11:1 at 25G",
        "incast 11:1 at 100G",
        "all-to-all of 12",
        "detector bursts 4:1, duty 50 %, beside 2 writers",
        "reads 5:2 at 100G",
        "reads 1:3 at 25G",
        "incast 9:1 at 25G beside a victim",
        "incast 7:1 at 25G beside TCP 4:1",
    ]
    refused = {reference.name: reference.refused for reference in own.references}
    assert refused["as it is (ai-ecn-hpc)"] == refused["huawei-throughput"] == ""
    assert refused["sonic-lossless"] == ECN_AFTER_PFC
    marking = own.space.at(next(own.space.points())).ecn
    assert marking is not None
    slow, fast = (marking.of_port(gbps, own.base_gbps) for gbps in own.speeds)
    assert fast.kmin_kbytes == 4 * slow.kmin_kbytes


def test_a_space_with_the_nics_is_too_large_for_a_grid() -> None:
    own = fabric_search(Path("heps"), None, nic=True)
    assert own.space.size == 2610 * 162
    drawn = own.space.at(tuple(len(axis.values) - 1 for axis in own.space.axes))
    assert drawn.nic["additive_increase_mbps"] == 40
    applied = drawn.applied(own.bases[0].scenario)
    assert applied.nic.additive_increase_mbps == 40


# --- objectives -----------------------------------------------------------------------------------


def test_a_front_has_what_nothing_dominates_and_no_noise() -> None:
    scored = {
        "fast": {"goodput": 0.9, "queue": 2.0},
        "fast again": {"goodput": 0.9001, "queue": 2.001},
        "worse": {"goodput": 0.95, "queue": 2.5},
        "short": {"goodput": 1.1, "queue": 0.5},
        "drops": {"goodput": WORST, "queue": WORST},
    }
    assert front(scored, 0.01) == ["fast", "short"]
    assert front({"drops": scored["drops"]}, 0.01) == []


def test_scores_prefer_what_their_names_say() -> None:
    fast, short = {"goodput": 0.9, "queue": 2.0}, {"goodput": 1.04, "queue": 0.5}
    slow = {"goodput": 1.5, "queue": 0.4}
    best = {
        name: min((fast, short, slow), key=lambda ratio: score(ratio, name))
        for name in ("throughput", "latency", "both")
    }
    assert best == {"throughput": fast, "latency": short, "both": short}


# --- methods --------------------------------------------------------------------------------------


def bowl() -> tuple[Space, list[Point], Callable[..., list[dict[str, float]]]]:
    """A space of 400 points, 91 of them refused, with its best at (13, 4)."""
    axes = (Axis("kmin_kbytes", tuple(range(20))), Axis("xoff_kbytes", tuple(range(20))))

    def refusal(settings: Settings) -> str:
        assert settings.headroom_kbytes is not None
        return "far" if settings.headroom_kbytes > 25 else ""

    space = Space(
        axes,
        lambda v: Settings(headroom_kbytes=v["kmin_kbytes"] + v["xoff_kbytes"]),
        refusal,
    )
    asked: list[Point] = []

    def ask(points: list[Point]) -> list[dict[str, float]]:
        asked.extend(points)
        squares = [(x - 13) ** 2 + (y - 4) ** 2 for x, y in points]
        return [{"goodput": 1 + square / 100, "queue": 1.0} for square in squares]

    return space, asked, ask


def test_annealing_steps_to_neighbors_that_are_allowed() -> None:
    space, asked, ask = bowl()
    assert space.refused == {"far": 91}
    annealing(space, ask, 60, 3, "throughput")
    assert all(map(space.allowed, asked))
    assert len(set(asked)) <= 60
    assert min(abs(x - 13) + abs(y - 4) for x, y in asked) <= 2
    assert {neighbor(space, (6, 19), Random(n)) for n in range(50)} == {(5, 19), (6, 18)}


@pytest.mark.parametrize("kind", ["nsga2", "tpe"])
def test_optuna_spends_nothing_on_refused_points_and_continues(kind: str, tmp_path: Path) -> None:
    space, asked, ask = bowl()
    options = OptunaOptions(kind, "throughput", 50, 3, 10, tmp_path / "study.log")
    optuna_search(space, ask, options)
    assert all(map(space.allowed, asked))
    first = set(asked)
    assert len(first) == 50, "no point more than the budget"
    asked.clear()
    optuna_search(space, ask, options)
    assert first == set(asked), "a finished study evaluates nothing new"
    asked.clear()
    optuna_search(space, ask, replace(options, budget=20))
    assert len(set(asked)) == 20, "a larger study does not go beyond the budget"
    assert set(asked) < first


@pytest.mark.thorough
def test_a_study_whose_points_are_refused_now_is_continued_without_them(tmp_path: Path) -> None:
    space, asked, ask = bowl()
    options = OptunaOptions("tpe", "throughput", 40, 3, 10, tmp_path / "study.log")
    optuna_search(space, ask, options)
    smaller = replace(space, refusal=lambda s: "far" if (s.headroom_kbytes or 0) > 12 else "")
    assert not all(map(smaller.allowed, asked))
    asked.clear()
    optuna_search(smaller, ask, options)
    assert asked
    assert all(map(smaller.allowed, asked))


# --- the command ----------------------------------------------------------------------------------


def test_the_json_has_the_choice_and_a_second_run_simulates_nothing(tune: Tune) -> None:
    done = tune(SCENARIO, "--format", "json")
    assert done.exit_code == 0, done.exception
    result = SearchResult.model_validate(fields_of(done.stdout))
    assert (result.method, result.combinations, result.evaluated) == ("grid", 6, 6)
    assert result.seeds == (7, 8)
    assert (result.verdict.tried, result.verdict.candidates) == (6, 6)
    assert result.reused == 0 < result.simulated
    assert set(result.best) == {"latency", "throughput", "both"}
    assert result.chosen == result.best["both"]
    assert result.start.ratios["goodput"] == 1
    shares = {p.name: p.shares["queue"] for p in result.parameters}
    assert 0 <= (shares["kmin_kbytes"] or 0) + (shares["pmax_percent"] or 0) <= 1.0001
    (drawn,) = (m for m in result.heat_maps if m.goal == "queue")
    assert len(drawn.rows) == 2
    assert len(drawn.rows[0]) == 3
    assert len(result.queues) == 2
    names = [reference.name for reference in result.references]
    assert {"as the scenario is", "bytetuning-start", "huawei-throughput"} < set(names)
    again = SearchResult.model_validate(fields_of(tune(SCENARIO, "--format", "json").stdout))
    assert again.simulated == 0
    known = {"simulated", "reused"}
    assert again.model_dump(exclude=known) == result.model_dump(exclude=known)


FABRIC_SCENARIO = """\
scenario: small
flows: {{pattern: between, senders: [{a}], receivers: [{b}], bytes: 50000}}
topology: {{kind: fabric, fabric: {file}}}
port_gbps: 25
buffer: {{xoff_kbytes: 600, xon_kbytes: 500}}
ecn: {{kmin_kbytes: 100, kmax_kbytes: 400, pmax_percent: 20}}
seeds: [7]
search: {{kmin_kbytes: [5, 50, 200], pmax_percent: [1, 50]}}
"""


def test_a_study_is_continued_only_for_the_same_fabric(tune: Tune, tmp_path: Path) -> None:
    size = ("--spines", "1", "--leaves", "2", "--servers-per-leaf", "2")
    command = ["new", "tiny", *size, "--directory", str(tmp_path)]
    assert CliRunner().invoke(cli, command).exit_code == 0
    file = tmp_path / "tiny/fabric.yaml"
    text = FABRIC_SCENARIO.format(file=file, a="leaf001-s01", b="leaf002-s01")

    def studies() -> int:
        done = tune(text, "--method", "tpe", "--evaluations", "3", "--format", "json")
        assert done.exit_code == 0, done.exception
        assert fields_of(done.stdout)["evaluated"] == 3
        return len(list((tmp_path / "results").glob("study-*.log")))

    assert studies() == studies() == 1
    before = file.read_text(encoding="utf-8")
    assert "fabric_m: 50" in before
    file.write_text(before.replace("fabric_m: 50", "fabric_m: 2000"), encoding="utf-8")
    assert studies() == 2


def test_a_study_depends_on_what_the_rules_refuse() -> None:
    space, _, _ = bowl()
    assert space.digest == bowl()[0].digest
    smaller = replace(space, refusal=lambda s: "far" if (s.headroom_kbytes or 0) > 12 else "")
    assert smaller.digest != space.digest


def test_a_search_that_ends_early_says_so(tune: Tune, monkeypatch: pytest.MonkeyPatch) -> None:
    full = tune(SCENARIO, "--method", "tpe", "--evaluations", "4")
    assert "4 of 6 combinations tried by tpe" in full.stdout
    assert "2 not tried" in full.stdout
    assert "ended early" not in full.stdout
    monkeypatch.setattr("rocefort.tune.search.methods.TRIES", 0)
    done = tune(SCENARIO, "--method", "tpe", "--evaluations", "5", "--objective", "latency")
    assert done.exit_code == 0, done.exception
    assert "tpe ended early, at 1 of 5 candidates" in done.stdout


def test_of_equal_candidates_that_of_today_is_chosen(tune: Tune) -> None:
    """One flow fills no queue, so all candidates are equal."""
    text = SCENARIO.replace("count: 2, bytes: 200000", "count: 1, bytes: 2000")
    text = text.replace("[5, 50, 200]", "[5, 50, 100, 200]").replace("[1, 50]", "[1, 20, 50]")
    done = tune(text, "--format", "json")
    assert done.exit_code == 0, done.exception
    result = SearchResult.model_validate(fields_of(done.stdout))
    assert set(result.chosen.ratios.values()) == {1}
    assert result.best["latency"].values == {"kmin_kbytes": 100, "pmax_percent": 20}
    assert result.chosen.values == {}, "all keep today's value"
    assert result.verdict.changes == ()


DISTANCES = """\
from rocefort.tune.scenario import Marking
from rocefort.tune.model import Settings
from rocefort.tune.search.objectives import distance
from simulators import scenario_of

base = scenario_of(flows={"count": 2}, nic={"additive_increase_mbps": 10})
for pmax in range(1, 40):
    ecn = Marking(kmin_kbytes=7, kmax_kbytes=190 + pmax, pmax_percent=pmax)
    own = Settings(ecn=ecn, xoff_kbytes=61.3, xon_kbytes=11.7, headroom_kbytes=31.9)
    print(distance(own, Settings(), base).hex())
"""


def test_the_distance_that_chooses_of_equal_candidates_is_the_same_in_every_process() -> None:
    """Python orders a set of texts by a seed of the process."""
    printed = {
        subprocess.run(
            [sys.executable, "-c", DISTANCES],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "012"
    }
    assert len(printed) == 1


def test_the_page_has_its_pictures_and_data(tune: Tune, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    done = tune(SCENARIO, "--report", str(folder))
    assert done.exit_code == 0, done.exception
    assert sorted(path.name for path in folder.iterdir()) == [
        "candidates.csv",
        "index.html",
        "search.json",
    ]
    text = (folder / "candidates.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 6
    assert {row["kmin_kbytes"] for row in rows} == {"5.0", "50.0", "200.0"}
    result = SearchResult.model_validate_json((folder / "search.json").read_bytes())
    chosen = {name: str(value) for name, value in result.chosen.values.items()}
    (row,) = (row for row in rows if chosen.items() <= row.items())
    assert float(row["queue ratio (lower is better)"]) > 0
    page = (folder / "index.html").read_text(encoding="utf-8")
    for title in (
        "Verdict",
        "Effects of the best candidate",
        "Front",
        "Heat maps",
        "Sensitivity",
        "Queues over time",
    ):
        assert f"<h2>{title}</h2>" in page
    assert page.count('<div class="plot">') == 4  # three fronts, one queue
    named = re.search(r"by more than the noise of the seeds in ([^<]+)\.</p>", page)
    equal = len(re.split(", | and ", named[1])) if named else 0
    assert page.count('<table class="heat">') == 6 - equal  # five goals, and the sensitivity
    assert "<script" not in page
    assert "http" not in page.split("</style>")[1]


@pytest.mark.parametrize(
    ("old", "new", "options", "message"),
    [
        ("", "", ("--executor", "ray"), "no executor 'ray'; write one of processes, dask"),
        ("", "", ("--executor", "processes=9"), "processes has no place '9'"),
        ("", "", ("--executor", "dask="), "dask= names no place; write --executor dask, or dask=P"),
        (
            "",
            "",
            ("--executor", "submitit="),
            "submitit= names no place; write --executor submitit",
        ),
        ("", "", ("heps",), "--scenario searches no fabric; remove --scenario"),
        ("[5, 50, 200]", "[]", (), "the space has no values"),
        ("[5, 50, 200]", "[-1]", (), "search.kmin_kbytes[0]: -1 is out of range"),
        (
            "seeds: [7, 8]",
            "buffer: {headroom_kbytes: 1}",
            (),
            "small: no combination is allowed: headroom below the formula",
        ),
    ],
)
def test_a_bad_request_is_one_clear_error(
    tune: Tune, old: str, new: str, options: tuple[str, ...], message: str
) -> None:
    text = SCENARIO.replace(old, new) if old else SCENARIO
    if "[]" in new:
        text = text.replace("  pmax_percent: [1, 50]\n", "")
    done = tune(text, *options)
    assert isinstance(done.exception, BadInput)
    assert message in str(done.exception)
    assert len(done.exception.problems) == 1


def test_scenarios_of_other_speeds_are_not_searched_together(tmp_path: Path) -> None:
    paths = []
    for gbps in (25, 100):
        paths.append(tmp_path / f"{gbps}.yaml")
        paths[-1].write_text(f"{SCENARIO}port_gbps: {gbps}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="port_gbps is 100, that of the first scenario 25"):
        plan_of(SearchRequest(scenarios=tuple(paths)))


def test_drops_and_flows_without_an_end_are_worst() -> None:
    keys = {"flows": {"count": 4, "bytes": 300_000}, "seeds": [1]}
    start = run_scenario(**keys)
    dropping = run_scenario(**keys, buffer={"pfc": False, "total_kbytes": 60, "alpha": 8})
    assert dropping.drops > 0
    assert set(ratios([dropping], [start]).values()) == {WORST}
    assert set(ratios([start], [start]).values()) == {1.0}
