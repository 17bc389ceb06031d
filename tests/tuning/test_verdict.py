"""Verdict of a search: its statistics, its race, what it never recommends, and its sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from random import Random

import pytest
from outputs import fields_of
from typer.testing import CliRunner, Result
from verdict_study import StudyRow, figure_of, studied, summary

from rocefort.reports.writers.terminal import text_of
from rocefort.tasks import cli
from rocefort.tune.model import ConfidenceInterval, MeasureEffect, SearchResult, SwitchValue
from rocefort.tune.search.paired import interval_of, t_quantile
from rocefort.tune.search.verdict import (
    LOOKS,
    changes,
    decided,
    dominated,
    further_seeds,
    worthwhile,
)
from rocefort.tune.verdict_report import verdict_report
from rocefort.tune.verdict_sentence import costs

Search = Callable[..., SearchResult]
GAIN = """\
scenario: eight-to-one
flows: {count: 8, bytes: 500000}
packet_bytes: 1500
nic: {profile: connectx-dcqcn, min_rate_mbps: 100}
ecn: {kmin_kbytes: 7, kmax_kbytes: 150, pmax_percent: 30}
buffer: {xoff_kbytes: 614.4, xon_kbytes: 563.2}
seeds: [3, 4]
search: {kmin_kbytes: [7, 200], width_kbytes: [143, 400], pmax_percent: [1, 30]}
"""


@pytest.fixture
def found(tmp_path: Path) -> Search:
    """Search scenarios, and return the result."""

    def run(*texts: str, options: tuple[str, ...] = ()) -> SearchResult:
        done = invoked(tmp_path, *texts, options=(*options, "--format", "json"))
        assert done.exit_code == 0, done.exception
        return SearchResult.model_validate(fields_of(done.stdout))

    return run


def invoked(folder: Path, *texts: str, options: tuple[str, ...] = ()) -> Result:
    command = ["tune", "search", "--results", str(folder / "results"), "--workers", "1"]
    for number, text in enumerate(texts):
        path = folder / f"{number}.yaml"
        path.write_text(text, encoding="utf-8")
        command += ["--scenario", str(path)]
    return CliRunner().invoke(cli, [*command, *options])


# --- statistics -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "freedom", "printed"),  # NIST/SEMATECH e-Handbook, 1.3.6.7.2
    [
        (0.975, 7, 2.365),
        (0.975, 19, 2.093),
        (0.99, 7, 2.998),
        (0.99, 15, 2.602),
        (0.975, 59, 2.001),
        (0.99, 3, 4.541),
    ],
)
def test_quantiles_are_those_of_the_printed_table(
    share: float, freedom: int, printed: float
) -> None:
    assert t_quantile(share, freedom) == pytest.approx(printed, rel=0.005)


def test_an_interval_contains_the_true_mean_as_often_as_it_says() -> None:
    random = Random(1)
    missed = 0
    for _ in range(2000):
        own = interval_of([random.gauss(3, 2) for _ in range(LOOKS[0])], 0.975)
        missed += not own.low <= 3 <= own.high
    assert 30 <= missed <= 70, "2.5 % of 2,000 are 50"


def test_equal_differences_have_an_interval_without_width() -> None:
    assert interval_of([0.0] * 20, 0.975) == ConfidenceInterval(mean=0, low=0, high=0)


def test_further_seeds_are_never_among_those_used() -> None:
    assert further_seeds((7, 8), 3) == (9, 10, 11)
    assert further_seeds((7, 8), 2, 1000) == (1008, 1009)
    assert further_seeds((2**63 - 1, 0), 3) == (1, 2, 3)


@pytest.mark.parametrize(
    ("low", "mean", "high", "real", "decides"),
    [
        (0.2, 1.5, 3, True, True),
        (0.2, 0.8, 1.4, False, False),
        (-0.1, 4, 8, False, False),
        (0.1, 0.5, 0.9, False, True),
        (-9, -5, -1, False, True),
    ],
)
def test_a_gain_is_worth_a_change_if_it_is_sure_and_one_percent(
    low: float, mean: float, high: float, real: bool, decides: bool
) -> None:
    gain = ConfidenceInterval(mean=mean, low=low, high=high)
    assert (worthwhile(gain), decided(gain)) == (real, decides)


def test_another_is_better_on_every_measure_only_if_it_is_worse_on_none() -> None:
    assert dominated({"goodput": 0.1, "queue": 0.0})
    assert not dominated({"goodput": 0.1, "queue": -0.001})
    assert not dominated({"goodput": 0.0, "queue": 0.0})


def test_only_keys_with_another_value_are_changes() -> None:
    def rows(kmin: float, xoff: float | None) -> list[SwitchValue]:
        own = [SwitchValue(gbps=25, key="kmin_kbytes", value=kmin, unit="kbytes")]
        both = [SwitchValue(key="xoff_kbytes", value=xoff, unit="kbytes")] if xoff else []
        return [*own, *both]

    assert list(changes(rows(8, 600), rows(8, 600))) == []
    (kmin, xoff) = changes(rows(8, None), rows(16, 512))
    assert (kmin.gbps, kmin.today, kmin.new) == (25, 8, 16)
    assert (xoff.gbps, xoff.key, xoff.today, xoff.new) == (None, "xoff_kbytes", None, 512)


def effect(scenario: str, measure: str, today: float, new: float) -> MeasureEffect:
    interval = ConfidenceInterval(mean=new - today, low=new - today, high=new - today)
    return MeasureEffect(
        scenario=scenario,
        measure=measure,
        unit="kbytes",
        today=today,
        new=new,
        difference=interval,
        higher_is_better=False,
        judgement="better" if new < today else "worse",
    )


@pytest.mark.parametrize(
    ("worse", "sentence"),
    [
        ([], []),
        ([("reads", 200)], ["queue 100 to 200 kbytes (+100 %) in reads"]),
        (
            [("reads", 150), ("incast", 200)],
            ["queue 100 to 200 kbytes (+100 %) in incast and reads"],
        ),
        (
            [("reads", 150), ("incast", 200), ("bursts", 120)],
            ["queue 100 to 200 kbytes (+100 %) in incast and 2 more scenarios"],
        ),
    ],
)
def test_a_cost_names_the_worst_scenario_and_counts_the_others(
    worse: list[tuple[str, float]], sentence: list[str]
) -> None:
    effects = [effect("all-to-all", "queue", 100, 90)]
    effects += [effect(scenario, "queue", 100, new) for scenario, new in worse]
    assert list(costs(effects)) == sentence


# --- verdicts -------------------------------------------------------------------------------------


def test_a_real_gain_is_recommended_with_its_keys_interval_and_cost(found: Search) -> None:
    result = found(GAIN)
    verdict = result.verdict
    assert verdict.decision == "change"
    assert verdict.sentence.startswith("Change K")
    assert re.search(
        r"Pmax from 30 to 1 % at 25 Gb/s: this is better for goodput and", verdict.sentence
    )
    assert "20 fresh seeds of eight-to-one" in verdict.sentence
    assert "at the cost of queue " in verdict.sentence
    assert len(verdict.seeds) == 20
    assert not {*verdict.seeds} & {*result.seeds, *range(3, 3 + verdict.race[-1].seeds)}
    assert 3 < verdict.gain_percent.low < verdict.gain_percent.mean < verdict.gain_percent.high
    today = {"kmin_kbytes": 7 / 1.024, "kmax_kbytes": 150 / 1.024, "pmax_percent": 30}
    assert {c.key: c.new for c in verdict.changes} == {
        row.key: row.value
        for row in result.chosen.switch_values
        if row.key in today and abs(row.value - today[row.key]) > 0.01
    }
    queue = next(e for e in verdict.effects if e.measure == "queue")
    assert (queue.judgement, queue.higher_is_better) == ("worse", False)
    assert queue.difference.low <= queue.new - queue.today <= queue.difference.high
    assert all(each.source or not each.drops for each in verdict.references)
    assert {hit.parameter: hit.end for hit in verdict.border}["pmax_percent"] == "lowest"


def test_a_race_gives_more_seeds_to_fewer_candidates(found: Search) -> None:
    """48 candidates with one seed; of the equal ones, one runs on."""
    text = GAIN.replace("[7, 200]", "[7, 60, 100, 200]").replace("[1, 30]", "[1, 10, 30]")
    race = found(text.replace("[143, 400]", "[50, 143, 250, 400]")).verdict.race
    assert (race[0].candidates, race[0].seeds) == (48, 1)
    for before, after in pairwise(race):
        assert after.seeds == 2 * before.seeds
        assert after.candidates <= before.candidates
    assert race[1].candidates == 12


def test_a_candidate_that_drops_is_never_recommended(found: Search) -> None:
    """Without PFC all candidates lose packets, and marks gain much."""
    text = GAIN.replace(
        "buffer: {xoff_kbytes: 614.4, xon_kbytes: 563.2}", "buffer: {pfc: false, total_kbytes: 60}"
    )
    verdict = found(text).verdict
    assert verdict.decision == "keep"
    assert "the best drops packets in eight-to-one" in verdict.reason


def test_one_that_a_shipped_reference_beats_on_every_measure_is_not_recommended(
    found: Search,
) -> None:
    """DCTCP fills the line with a short queue: a step at 110 kbytes is worse than one at 75."""
    text = """\
scenario: steps
congestion_control: dctcp
flows: {count: 12}
duration_ms: 2
measure_from_ms: 0.5
packet_bytes: 1500
ecn: {kmin_kbytes: 150, kmax_kbytes: 150, pmax_percent: 100}
buffer: {xoff_kbytes: 200, xon_kbytes: 150}
search: {kmin_kbytes: [110], width_kbytes: [0]}
"""
    verdict = found(text).verdict
    assert verdict.gain_percent.low > 1, "without the rule it would be recommended"
    assert verdict.decision == "keep"
    better = [each.reference for each in verdict.references if each.dominates]
    assert "hpcc-dctcp" in better
    sentence = f"the best is beaten on every measure by the shipped reference {better[0]}"
    assert verdict.reason == sentence
    assert sentence in verdict.sentence


def test_scenarios_that_depend_on_nothing_are_named_and_keep_today(found: Search) -> None:
    """One flow fills no queue."""
    alone = GAIN.replace("count: 8, bytes: 500000", "count: 1, bytes: 5000")
    verdict = found(alone).verdict
    (only,) = verdict.independent
    assert only.every
    assert only.parameters == ("kmin_kbytes", "width_kbytes", "pmax_percent")
    assert verdict.border == ()
    assert verdict.decision == "keep"
    assert verdict.reason == "no searched value changes the objective"
    both = found(alone.replace("eight-to-one", "alone"), GAIN).verdict
    assert [each.scenario for each in both.independent] == ["alone"]
    assert both.scenarios == ("alone", "eight-to-one")
    assert {effect.scenario for effect in both.effects} == {*both.scenarios}


def test_a_key_that_moves_nothing_keeps_todays_value(found: Search) -> None:
    """No queue comes near xoff, and today's value is none of those that are tried."""
    text = GAIN.replace("[7, 200]", "[7]").replace("[143, 400]", "[400]")
    result = found(text.replace("search: {", "search: {xoff_kbytes: [700, 800], "))
    assert result.verdict.independent[0].parameters == ("xoff_kbytes",)
    assert result.verdict.decision == "change"
    assert [change.key for change in result.verdict.changes] == ["kmax_kbytes", "pmax_percent"]
    assert "xoff_kbytes" not in result.chosen.values


def test_the_text_begins_with_the_verdict_and_fits_80_columns(
    found: Search, tmp_path: Path
) -> None:
    result = found(GAIN)
    text = text_of(*verdict_report(result), width=80)
    lines = text.splitlines()
    assert " ".join(text.split()).startswith(result.verdict.sentence)
    assert max(map(len, lines)) <= 80
    (head,) = (line for line in lines if line.split()[:3] == ["measure", "today", "new"])
    queue = next(line for line in lines if line.startswith("        queue, kbytes"))
    assert queue[head.index("today") - 2 : head.index("today")] == "  "
    assert queue[head.index("interval")] in "+-"
    done = invoked(tmp_path, GAIN)
    assert " ".join(done.stdout.split()).startswith(result.verdict.sentence)


# --- the law of docs/reference/figures.md ---------------------------------------------------------


def check(rows: list[StudyRow], least: float) -> None:
    """Verdicts are better than a vendor's default or keep it, and find what there is to gain."""
    counts = summary(rows)
    assert counts["honest"] >= least * len(rows), rows
    assert counts["share of the gain"] >= 0.8, rows


@pytest.mark.soak
def test_verdicts_on_a_hundred_random_scenarios_are_true(
    pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    if pytestconfig.getoption("effort") != "soak":
        pytest.skip("a hundred searches with the whole grid beside each; make soak runs them")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        rows = list(pool.map(studied, range(1, 101)))
    record_property("figure", figure_of(summary(rows)))
    check(rows, 0.95)


def test_verdicts_on_a_few_random_scenarios_are_true() -> None:
    rows = [studied(seed) for seed in (2, 4, 5)]
    check(rows, 1)
    assert summary(rows)["with a gain"] >= 2, "keeping today's values always would fail"
