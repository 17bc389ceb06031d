"""Order of runs, changes of pairs, `improved: N of M`, and the signed-rank test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.experiment.comparison import (
    compared,
    drift_sentence,
    least_p,
    level_pairs,
    ordered_runs,
    p_values,
)
from rocefort.experiment.model import CellValue, End, ExperimentRun, Level, PlannedRun
from rocefort.experiment.page import effect_chart

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = st.lists(st.floats(1, 1e6), min_size=1, max_size=8)


def runs_of(values: Mapping[str, Sequence[Sequence[float | None]]]) -> list[ExperimentRun]:
    """Runs by level: a list of cells for each repetition."""
    return [
        ExperimentRun(
            run=PlannedRun(number=n, level=level, repetition=n),
            id=str(n),
            began=NOW,
            ended=NOW,
            values=tuple(
                CellValue(cell=f"cell {k}", value=value, unit="us", counters={"marks": n})
                for k, value in enumerate(cells)
            ),
        )
        for level, repetitions in values.items()
        for n, cells in enumerate(repetitions, 1)
    ]


@pytest.mark.parametrize(
    ("levels", "repeat", "order"),
    [
        ("AB", 1, "AB"),
        ("AB", 3, "ABBAAB"),
        ("ABC", 2, "ABCCBA"),
    ],
)
def test_the_order_is_turned_after_each_repetition(levels: str, repeat: int, order: str) -> None:
    runs = ordered_runs(levels, repeat)
    assert "".join(level for _, level in runs) == order
    assert sorted(runs) == sorted(product(range(1, repeat + 1), levels))


def test_five_pairs_on_one_side_have_the_least_p() -> None:
    rows = [[100.0 + n] for n in range(5)]
    better = [[90.0 + n] for n in range(5)]
    result = compared(runs_of({"A": rows, "B": better}), "A", "B")
    (cell,) = result.cells
    assert (cell.first.minimum, cell.first.mean, cell.first.maximum) == (100, 102, 104)
    assert cell.change_percent == pytest.approx(-1000 / 102)
    assert (cell.p_one_sided, cell.p_two_sided) == (1 / 32, 1 / 16)
    assert cell.improved
    assert result.sentence == (
        "B against A: improved: 1 of 1; signed-rank test over the tests, two-sided, exact: p = 1"
    )
    assert least_p(5) == ("5 pairs: the smallest p of one test is 0.031 one-sided, 0.062 two-sided")


def test_a_cell_that_a_run_did_not_measure_is_not_compared() -> None:
    values: Mapping[str, Sequence[Sequence[float | None]]] = {
        "A": [[1.0, 2.0], [1.0, 2.0]],
        "B": [[1.0, None], [1.0, 2.0]],
    }
    result = compared(runs_of(values), "A", "B")
    assert [cell.cell for cell in result.cells] == ["cell 0"]
    assert result.sentence == "B against A: improved: 0 of 1; no test differs"
    assert result.cells[0].p_two_sided is None


def test_a_pair_without_its_other_run_is_left_out() -> None:
    values = {"A": [[4.0], [4.0], [400.0]], "B": [[2.0], [2.0]]}
    (cell,) = compared(runs_of(values), "A", "B").cells
    assert cell.first.values == (4.0, 4.0)


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=1, max_size=8))
def test_exchanged_levels_have_the_opposite_change_and_the_same_p(
    pairs: list[tuple[float, float]],
) -> None:
    runs = runs_of({"A": [[a] for a, _ in pairs], "B": [[b] for _, b in pairs]})
    (one,), (other,) = (compared(runs, *names).cells for names in ("AB", "BA"))
    assert not (one.improved and other.improved)
    assert one.p_two_sided == other.p_two_sided
    assert (1 + one.change_percent / 100) * (1 + other.change_percent / 100) == pytest.approx(1)


@given(st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=8))
def test_p_is_the_share_of_all_signs(changes: list[int]) -> None:
    """All 2^n assignments of signs are as likely, by the definition of the test."""
    ranks = [
        sum(abs(y) < abs(x) for y in changes) + (1 + sum(abs(y) == abs(x) for y in changes)) / 2
        for x in changes
    ]
    seen = sum(rank for rank, x in zip(ranks, changes, strict=True) if x > 0)
    sums = [
        sum(rank for rank, up in zip(ranks, signs, strict=True) if up)
        for signs in product((True, False), repeat=len(changes))
    ]
    share = min(
        sum(each >= seen for each in sums) / len(sums),
        sum(each <= seen for each in sums) / len(sums),
    )
    one_sided, two_sided = p_values([float(x) for x in changes])
    assert one_sided == pytest.approx(share)
    assert two_sided == pytest.approx(min(1, 2 * share))


def test_one_change_out_of_all_proportion_does_not_hide_the_others() -> None:
    rows = [[100.0, 100.0] for _ in range(10)]
    other = [[101.0 + n / 10, 101.0] for n in range(9)] + [[5000.0, 101.0]]
    chart = effect_chart(compared(runs_of({"A": rows, "B": other}), "A", "B"))
    assert chart is not None
    assert chart.title == "B against A, %; 1 test beyond an end, drawn at it"
    assert chart.rows[0].high == 100
    assert chart.rows[1].words == (
        "100.0 us with A, 101.0 with B: +1 %, pairs +1 % to +1 % (lower is better), p 0.002"
    )
    assert [row.kind for row in chart.rows] == ["worse", "worse"]


def level(word: str, end: End = "") -> Level:
    name = f"{word}-{end}" if end else word
    return Level(name=name, text="", fabric="", file="", end=end)


LOW_AND_HIGH: tuple[End, End] = ("low", "high")
PAIRS: list[tuple[list[Level], list[str]]] = [
    ([level("600"), level("700"), level("800")], ["600 700", "600 800"]),
    (
        [level("static"), *(level("ai", e) for e in LOW_AND_HIGH)],
        ["static ai-low", "static ai-high"],
    ),
    (
        [*(level("ai", e) for e in LOW_AND_HIGH), level("static")],
        ["ai-low static", "ai-high static"],
    ),
    (
        [level(word, end) for word in ("600", "700", "800") for end in LOW_AND_HIGH],
        ["600-low 700-low", "600-high 700-high", "600-low 800-low", "600-high 800-high"],
    ),
    ([level("static-low"), level("ai-low")], ["static-low ai-low"]),
]


@pytest.mark.parametrize(("levels", "pairs"), PAIRS, ids=[str(pairs) for _, pairs in PAIRS])
def test_only_the_factor_differs_between_compared_levels(
    levels: list[Level], pairs: list[str]
) -> None:
    assert [" ".join(pair) for pair in level_pairs(levels)] == pairs


def test_the_sentence_names_the_method_by_the_tests_that_differ() -> None:
    rows = [[100.0] * 60]
    for differing, kind in ((1, "exact"), (50, "exact"), (51, "normal approximation")):
        other = [[99.0] * differing + [100.0] * (60 - differing)]
        sentence = compared(runs_of({"A": rows, "B": other}), "A", "B").sentence
        assert f"two-sided, {kind}: p = " in sentence, differing


@pytest.mark.parametrize(
    ("repeat", "sentence"),
    [
        (
            4,
            "order AB BA: a slow drift meets all levels alike; a change from run to run does not",
        ),
        (
            5,
            "order AB BA: 5 repetitions, an odd number, so a slow drift does not meet all levels alike; of an even number it does",
        ),
    ],
)
def test_the_order_balances_a_drift_only_for_an_even_number(repeat: int, sentence: str) -> None:
    """A drift is in proportion to the number of the run."""
    order = [level for _, level in ordered_runs("AB", repeat)]
    sums = {level: sum(n for n, each in enumerate(order) if each == level) for level in "AB"}
    assert (sums["A"] == sums["B"]) == (repeat % 2 == 0)
    assert drift_sentence(repeat) == sentence
