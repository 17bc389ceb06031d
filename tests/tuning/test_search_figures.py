"""Figures of a search as a person reads them: the same in text, CSV, JSON and page, and right."""

from __future__ import annotations

import csv
import html
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulators import run_scenario
from typer.testing import CliRunner

from rocefort import __version__
from rocefort.reports.blocks import Block, Section, Table
from rocefort.reports.page_parts import LinearScale
from rocefort.reports.writers.terminal import text_of
from rocefort.tasks import cli
from rocefort.tune.charts import effect_charts
from rocefort.tune.model import (
    ConfidenceInterval,
    FlowsUse,
    MeasureEffect,
    Measures,
    QueueUse,
    SearchResult,
    Simulation,
)
from rocefort.tune.report import against, change_words, search_report, short
from rocefort.tune.search.comparison import ratios_to
from rocefort.tune.verdict_sentence import key_name, number

KEYS = {
    "flows": {"count": 6, "bytes": 200000},
    "ecn": {"kmin_kbytes": 100, "kmax_kbytes": 400, "pmax_percent": 20},
    "seeds": [7, 8, 9],
}
SCENARIO = """\
scenario: small
flows: {count: 6, bytes: 200000}
ecn: {kmin_kbytes: 100, kmax_kbytes: 400, pmax_percent: 20}
seeds: [7, 8, 9]
search:
  kmin_kbytes: [5, 50, 500]
  pmax_percent: [1, 50]
"""
KMIN, PMAX = (5, 50, 500), (1, 50)
GOALS = ("goodput", "completion p50", "completion p99", "queue")


@dataclass(frozen=True)
class Written:
    """Outputs of a search: its result, its rows, its page and its text."""

    result: SearchResult
    rows: list[dict[str, str]]
    page: str
    text: str


Tune = Callable[..., Written]


@pytest.fixture(scope="module")
def tune(tmp_path_factory: pytest.TempPathFactory) -> Tune:
    """Run `tune search` on texts of scenarios, and read all that it writes."""

    def run(*texts: str, options: tuple[str, ...] = ()) -> Written:
        folder = tmp_path_factory.mktemp("search")
        paths = [folder / f"scenario{n}.yaml" for n, _ in enumerate(texts)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        words = ["tune", "search", *(f"--scenario={path}" for path in paths), "--workers=2"]
        words += [f"--results={folder / 'results'}", f"--report={folder / 'report'}", *options]
        done = CliRunner().invoke(cli, words, env={"COLUMNS": "80"})
        assert done.exit_code == 0, done.exception
        report = folder / "report"
        return Written(
            SearchResult.model_validate_json((report / "search.json").read_bytes()),
            list(csv.DictReader((report / "candidates.csv").read_text("utf-8").splitlines())),
            (report / "index.html").read_text("utf-8"),
            done.stdout,
        )

    return run


@pytest.fixture(scope="module")
def small(tune: Tune) -> Written:
    return tune(SCENARIO)


def figure(run: Simulation, goal: str) -> float:
    """Figure of a goal of a simulation."""
    times = run.completion_us
    assert times is not None
    return {
        "goodput": run.goodput_gbps,
        "completion p50": times.p50,
        "completion p99": times.p99,
        "queue": run.queue_kbytes.mean,
    }[goal]


def simulated(kmin: float, pmax: float, *seeds: int) -> Simulation:
    """Candidate of the search, simulated without it."""
    ecn = {"kmin_kbytes": kmin, "kmax_kbytes": kmin + 300, "pmax_percent": pmax}
    return run_scenario(**{**KEYS, "seeds": list(seeds), "ecn": ecn})


def test_all_outputs_have_the_ratio_of_a_direct_simulation(small: Written) -> None:
    """A cell of the map is one candidate here; candidates are compared with the first seed."""
    start = run_scenario(**{**KEYS, "seeds": [7]})
    titles = [html.unescape(title) for title in re.findall(r'title="([^"]*)"', small.page)]
    by_values = {(float(r["kmin_kbytes"]), float(r["pmax_percent"])): r for r in small.rows}
    maps = {each.goal: each for each in small.result.heat_maps}
    assert len(by_values) == 6
    assert {"goodput", "queue"} <= set(drawn(small))
    for kmin in KMIN:
        for pmax in PMAX:
            own, row = simulated(kmin, pmax, 7), by_values[kmin, pmax]
            for goal, better in zip(GOALS, ("higher", *["lower"] * 3), strict=True):
                ratio = figure(own, goal) / figure(start, goal)
                shown = float(row[f"{goal} ratio ({better} is better)"])
                assert shown == pytest.approx(ratio, rel=1e-5)
                cell = maps[goal].rows[PMAX.index(pmax)][KMIN.index(kmin)]
                assert cell == pytest.approx(ratio)
                words = f"Kmin {kmin}, Pmax, % {pmax}: {change_words(goal, ratio)}"
                assert any(title.startswith(words) for title in titles) or goal not in drawn(small)
            unit = {"goodput": "Gb/s", "queue": "kbytes"}
            for goal in GOALS:
                value = float(row[f"small {goal}, {unit.get(goal, 'us')}"])
                assert value == pytest.approx(figure(own, goal), rel=1e-5)
            assert row["seeds"] == "1"


def drawn(written: Written) -> list[str]:
    """Goals with a map on the page."""
    return re.findall(r"<figcaption>(.+?) against today, % ", written.page)


def test_text_and_front_have_the_ratios_over_all_seeds(small: Written) -> None:
    start = run_scenario(**KEYS)
    assert small.result.front
    for option in small.result.front:
        own = simulated(option.values["kmin_kbytes"], option.values["pmax_percent"], 7, 8, 9)
        for goal in GOALS:
            ratio = figure(own, goal) / figure(start, goal)
            assert option.ratios[goal] == pytest.approx(ratio)
        (row,) = (
            line.split()
            for line in small.text.split("\nFront\n")[1].splitlines()
            if re.match(rf" +{option.name} +[-+0]", line) and "." in line
        )
        assert row[2:6] == [against(option.ratios[goal]) for goal in GOALS]
        cells = '</td><td class="number">'.join(row[2:])
        assert f'<td>{option.name}</td><td class="number">{cells}</td>' in small.page


def test_a_candidate_with_less_goodput_is_nowhere_shown_as_more(small: Written) -> None:
    start = run_scenario(**{**KEYS, "seeds": [7]}).goodput_gbps
    worse = [(k, p) for k in KMIN for p in PMAX if simulated(k, p, 7).goodput_gbps < start]
    assert 0 < len(worse) < 6
    for kmin, pmax in worse:
        (row,) = (
            r
            for r in small.rows
            if (float(r["kmin_kbytes"]), float(r["pmax_percent"])) == (kmin, pmax)
        )
        assert float(row["goodput ratio (higher is better)"]) < 1
        at = f"Kmin {kmin}, Pmax, % {pmax}: goodput "
        words = [w for w in re.findall(r"(?:title=\"|<title>)([^\"<]*)", small.page) if at in w]
        assert words
        assert not any(" more than today" in w.split(at)[1].split(",")[0] for w in words)


def measures(goodput: float, pauses: float = 0) -> Measures:
    return Measures(
        goodput_gbps=goodput,
        fairness=1,
        completion_us=None,
        unfinished=0,
        groups={},
        queue_kbytes=QueueUse(mean=0, p50=0, p95=0, p99=0, max=0),
        marks=0,
        pauses=pauses,
        paused_us=0,
        paused_ports={},
        drops=0,
        tcp_drops=0,
        resent_kbytes=0,
        switches=(),
        flows=FlowsUse(
            count=1,
            mean_gbps=goodput,
            highest_gbps=goodput,
            spread_gbps=0,
            queue_kbytes=1,
            harmonic_queue_kbytes=1,
            least_queue_kbytes=1,
        ),
    )


@given(own=st.floats(0.01, 400), start=st.floats(0.01, 400))
def test_words_and_numbers_of_a_change_have_its_sign(own: float, start: float) -> None:
    ratio = ratios_to([measures(own)], [measures(start)])["goodput"]
    assert ratio == pytest.approx(own / start)
    words, shown = change_words("goodput", ratio), against(ratio)
    if words == "goodput as today":
        assert own == pytest.approx(start, rel=0.0006)
        assert shown == "0.0"
    else:
        assert (" less than " in words) == (own < start) == shown.startswith("-")
        assert (" more than " in words or " times " in words) == (own > start)


def test_ratios_are_means_over_scenarios_and_none_from_0() -> None:
    own, start = [measures(20, 3), measures(5)], [measures(10), measures(10, 2)]
    assert ratios_to(own, start) == {"goodput": pytest.approx(1), "queue": 1, "pauses": 1.5}
    some = ratios_to([measures(1, 3)], [measures(1)])
    assert some["pauses"] is None
    assert (against(None), change_words("pauses", None)) == (
        "from 0",
        "pauses more than today's 0",
    )
    assert ratios_to([measures(1)], [measures(1, 3)])["pauses"] == 0


def test_noise_is_twice_the_deviation_of_the_start_point(small: Written) -> None:
    seeds, noise = small.result.verdict.seeds, small.result.noise_percent
    runs = run_scenario(**{**KEYS, "seeds": list(seeds)}).runs
    goodput = [run.goodput_gbps for run in runs]
    expected = 200 * stdev(goodput) / (sum(goodput) / len(goodput))
    assert noise["goodput"] == pytest.approx(expected, rel=0.01)
    queue = sum(run.queue_kbytes.mean for run in runs) / len(runs)
    assert noise["queue"] >= 100 * 1.048 / queue
    pauses = sum(run.pauses for run in runs) / len(runs)
    assert noise["pauses"] >= (100 / pauses if pauses else 100)  # one frame


def test_colors_are_of_differences_above_the_noise(small: Written) -> None:
    colored = 0
    for title, kind in cells(small.page):
        found = re.search(
            r": (goodput|completion p50|completion p99|p50|p99|queue) ([\d.]+) %", title
        )
        if found is None:
            continue
        goal = {"p50": "completion p50", "p99": "completion p99"}.get(found[1], found[1])
        if goal not in small.result.noise_percent or kind == "":
            continue
        above = float(found[2]) > small.result.noise_percent[goal]
        if abs(float(found[2]) - small.result.noise_percent[goal]) > 0.06:
            assert (kind in ("better", "worse")) == above
        more = " more than " in title
        if above and kind != "equal":
            assert kind == ("better" if more == (goal == "goodput") else "worse")
            colored += 1
    assert colored > 3


def cells(page: str) -> list[tuple[str, str]]:
    """Titles and kinds of the cells of all maps."""
    found = re.findall(r'<td class="(\w*)" style="[^"]*" title="([^"]*)"', page)
    return [(html.unescape(title), kind) for kind, title in found]


def test_equal_figures_give_no_colors_and_no_chart_of_noise(tune: Tune) -> None:
    """One flow fills no queue, so all candidates are equal."""
    written = tune(SCENARIO.replace("count: 6, bytes: 200000", "count: 1, bytes: 2000"))
    assert {row["goodput ratio (higher is better)"] for row in written.rows} == {"1"}
    assert all(kind == "equal" for title, kind in cells(written.page))
    assert "No candidate differs from today by more than the noise of the seeds in" in written.page
    assert drawn(written) == []
    for chart in written.page.split('<div class="xs"')[1:4]:
        ticks = [
            float(tick) for tick in re.findall(r"%\">([-\d.,]+)</span>", chart.split("</div>")[0])
        ]
        assert min(ticks) <= -1 < 1 <= max(ticks)
    assert all(share is None for p in written.result.parameters for share in p.shares.values())


@given(values=st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=9), least=st.floats(0.01, 1e3))
def test_a_scale_has_its_least_range_all_values_and_ticks_within(
    values: list[float], least: float
) -> None:
    scale = LinearScale.over(values, least)
    assert scale.high - scale.low >= least * 0.999
    assert scale.low <= min(values) <= max(values) <= scale.high
    assert 2 <= len(scale.ticks) <= 8
    for place, words in scale.ticks:
        assert -0.001 <= place <= 100.001
        number = float(words.replace(",", ""))
        assert scale.percent(number) == pytest.approx(place, abs=0.01)


LOSSY = """\
scenario: lossy
flows: {count: 4, bytes: 300000}
ecn: {kmin_kbytes: 2, kmax_kbytes: 4, pmax_percent: 100}
buffer: {pfc: false, total_kbytes: 100, alpha: 8}
seeds: [7]
search:
  kmin_kbytes: [2, 1000]
  width_kbytes: [2, 2000]
"""


def test_a_candidate_that_drops_packets_is_named_so(tune: Tune) -> None:
    written = tune(LOSSY)
    drops = {float(row["kmin_kbytes"]): float(row["lossy drops, packets"]) for row in written.rows}
    start = next(f.mean for f in written.result.start.scenarios[0].figures if f.goal == "drops")
    assert drops[1000] > start
    kinds = {kind for each in written.result.heat_maps for row in each.kinds for kind in row}
    assert "lossy" in kinds
    assert (f"{'Kmin 1000, Kmax - Kmin 2'}: drops packets, or flows do not end", "lost") in cells(
        written.page
    )


def test_the_queue_has_the_thresholds_of_both(tune: Tune) -> None:
    text = SCENARIO.replace("seeds:", "buffer: {xoff_kbytes: 700, xon_kbytes: 650}\nseeds:")
    text = text.replace("count: 6, bytes: 200000", "count: 4, bytes: 200000")
    written = tune(text)
    today, choice = written.result.queues
    assert today.port == choice.port == "switch>receiver"
    assert today.thresholds == {"Kmin": 100, "Kmax": 400, "xoff": 700, "xon": 650}
    ecn = written.result.chosen.settings.ecn
    assert ecn is not None
    assert (choice.thresholds["Kmin"], choice.thresholds["Kmax"]) == (
        ecn.kmin_kbytes,
        ecn.kmax_kbytes,
    )
    levels = re.findall(r'<span class="level c([23]) \w+" style="[^"]*">([^<]+)<', written.page)
    notes = re.findall(
        r"Above the chart, kbytes: ([^<(]+) \((today|best candidate)\)", written.page
    )
    for style, word, series in (("2", "today", today), ("3", "best candidate", choice)):
        words = ", ".join(
            [w for s, w in levels if s == style] + [w for w, who in notes if who == word]
        )
        assert sorted(words.split(", ")) == sorted(
            f"{name} {kbytes:g}" for name, kbytes in series.thresholds.items()
        )


# --- 80 columns, and the origin of a page ---------------------------------------------------------


def tables(*blocks: Block, indent: int = 0) -> Iterator[tuple[Table, int]]:
    """Tables of a report with their indentation."""
    for block in blocks:
        if isinstance(block, Table):
            yield block, indent
        elif isinstance(block, Section):
            yield from tables(*block.blocks, indent=indent + 4 * bool(block.title))


@pytest.mark.parametrize("options", [(), ("--nic", "--method=tpe", "--evaluations=12")])
def test_no_row_of_the_text_is_folded_at_80_columns(tune: Tune, options: tuple[str, ...]) -> None:
    other = SCENARIO.replace("scenario: small", "scenario: a-rather-long-name-of-a-scenario")
    heavy = other.replace("count: 6, bytes: 200000", "count: 24, bytes: 400000")
    written = tune(SCENARIO, heavy, options=options)
    assert [line for line in written.text.splitlines() if len(line) > 80] == []
    seen = 0
    for table, indent in tables(*search_report(written.result)):
        if not table.rows:
            continue
        head = text_of(table, width=80 - indent).splitlines()[0]
        titles = [column.title for column in table.columns if column.title]
        assert len(re.split(r" {2,}", head.strip())) == len(titles)
        seen += 1
    assert seen > 5


def test_the_page_names_its_origin(tune: Tune, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        person = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", "-C", tmp_path, *person, *words], check=True, capture_output=True)

    path = tmp_path / "two.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    path.write_text(SCENARIO + "# a comment\n", encoding="utf-8")
    commands = ["tune", "search", f"--scenario={path}", "--workers=2"]
    report = tmp_path / "report"
    done = CliRunner().invoke(
        cli, [*commands, f"--results={tmp_path / 'results'}", f"--report={report}"]
    )
    assert done.exit_code == 0, done.exception
    page = (report / "index.html").read_text("utf-8")
    made = rf"<dt>Made</dt><dd>\d{{4}}-\d\d-\d\d \d\d:\d\d UTC by Rocefort {re.escape(__version__)}</dd>"
    assert re.search(made, page)
    assert re.search(r"<dd>two.yaml, commit [0-9a-f]{12} with uncommitted changes</dd>", page)
    assert "<dt>Scenario</dt><dd>small</dd>" in page
    assert "<dt>Seeds</dt><dd>7, 8, 9</dd>" in page


# --- effects --------------------------------------------------------------------------------------


def test_the_effects_have_the_means_and_intervals_of_a_direct_simulation(small: Written) -> None:
    verdict = small.result.verdict
    ecn = small.result.chosen.settings.ecn
    assert ecn is not None
    keys = {**KEYS, "seeds": list(verdict.seeds)}
    today, own = run_scenario(**keys), run_scenario(**{**keys, "ecn": ecn.model_dump()})
    charts = {chart.title.split(" against ")[0]: chart for chart in effect_charts(verdict)}
    for goal in ("goodput", "queue"):
        before, after = figure(today, goal), figure(own, goal)
        (row,) = charts[goal].rows
        assert row.words.startswith(f"{short(before)} today, {short(after)} ")
        assert f": {100 * (after / before - 1):+.3g} %, " in row.words
        assert (row.mean > charts[goal].zero) == (after > before)
        assert row.low < row.mean < row.high
        assert f'aria-label="small: {row.words}"' in small.page
        better = (after > before) == (goal == "goodput")
        assert row.kind in ("equal", "better" if better else "worse")


def test_the_page_begins_with_the_verdict_in_the_units_of_the_switch(small: Written) -> None:
    verdict = small.result.verdict
    main = small.page.split("<main")[1]
    assert html.unescape(main.split("<p ")[1].split(">")[1]).startswith(verdict.sentence[:9])
    assert html.escape(verdict.sentence, quote=False) in html.unescape(main).split("<ul")[0]
    assert small.text.replace("\n  ", " ").startswith(verdict.sentence)
    for change in verdict.changes:
        assert change.unit in ("kbytes", "%")
        cells = ("25 Gb/s", key_name(change.key), number(change.today), number(change.new))
        assert f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}" in main


def effect(mean: float, half: float, today: float = 10) -> MeasureEffect:
    ends = ConfidenceInterval(mean=mean, low=mean - half, high=mean + half)
    noise = abs(mean) <= half
    return MeasureEffect(
        scenario="a",
        measure="pauses",
        unit="frames",
        today=today,
        new=today + mean,
        difference=ends,
        higher_is_better=False,
        judgement="within noise" if noise else "worse" if mean > 0 else "better",
    )


def test_a_small_effect_does_not_fill_its_chart_and_none_is_no_chart(small: Written) -> None:
    verdict = small.result.verdict
    tiny = verdict.model_copy(update={"effects": (effect(0.001, 0.0005),)})
    (chart,) = effect_charts(tiny)
    (row,) = chart.rows
    assert row.kind == "worse"
    assert row.high - row.low < 1
    assert effect_charts(verdict.model_copy(update={"effects": (effect(0, 0),)})) == []
    (chart,) = effect_charts(verdict.model_copy(update={"effects": (effect(3, 1, today=0),)}))
    assert chart.title == "pauses against today, frames (lower is better)"
    assert chart.rows[0].words == (
        "0 today, 3 frames with the best candidate: +3 frames, +2 to +4, worse"
    )
