"""Comparison of two runs: the exact test over the pairs, and its sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.base.signed_rank import MOST_EXACT_PAIRS, signed_rank
from rocefort.rdma.judge.regression import paired


def by_pair(values: Sequence[float]) -> dict[str, list[float]]:
    return {f"a{number} -> b{number}": [value] for number, value in enumerate(values)}


def said(before: Sequence[float], now: Sequence[float], *, higher: bool = True) -> str:
    return paired(by_pair(before), by_pair(now), higher_is_better=higher).sentence


@pytest.mark.parametrize(
    ("before", "now", "higher", "sentence"),
    [
        ([92] * 7, [88, 87, 86, 85, 84, 83, 82], True, "7 pairs, the median pair 7.6% slower: a regression (signed-rank test, exact, p = 0.0078; 7 of them changed)"),
        ([92] * 7, [88, 87, 86, 85, 84, 83, 93], True, "7 pairs, the median pair 6.5% slower: no regression (signed-rank test, exact, p = 0.016; 7 of them changed)"),
        ([92] * 6, [80] * 6, True, "6 pairs, the median pair 13.0% slower: not judged: 6 of them changed, 7 are needed"),
        ([92] * 9, [91] * 9, True, "9 pairs, the median pair 1.1% slower: no regression (under 3%; signed-rank test, exact, p = 0.002; 9 of them changed)"),
        ([85] * 8, [92] * 8, True, "8 pairs, the median pair 8.2% faster: an improvement (signed-rank test, exact, p = 0.0039; 8 of them changed)"),
        ([3.7] * 8, [4.2] * 8, False, "8 pairs, the median pair 13.5% slower: a regression (signed-rank test, exact, p = 0.0039; 8 of them changed)"),
        ([90, 92] * 4, [92, 90] * 4, True, "8 pairs, the median pair as before: no regression (signed-rank test, exact, p = 0.64; 8 of them changed)"),
        ([92] * 20, [92] * 20, True, "20 pairs, the median pair as before: no regression (every pair as before)"),
        ([92] * 20, [92] * 19 + [40], True, "20 pairs, the median pair as before: not judged: 1 of them changed, 7 are needed"),
        ([92], [80], True, "1 pair, the median pair 13.0% slower: not judged: 1 of them changed, 7 are needed"),
        ([92] * 60, [85] * 60, True, "60 pairs, the median pair 7.6% slower: a regression (signed-rank test, normal approximation, p < 0.001; 60 of them changed)"),
    ],
)  # fmt: skip
def test_what_is_said_of_two_runs(
    before: list[float], now: list[float], higher: bool, sentence: str
) -> None:
    assert said(before, now, higher=higher) == sentence


def test_pairs_that_share_a_server_are_no_independent_evidence() -> None:
    before = {f"a -> b{number}": [92.0] for number in range(8)}
    found = paired(before, {pair: [80.0] for pair in before}, higher_is_better=True)
    assert found.sentence == (
        "8 pairs, the median pair 13.0% slower: a regression (signed-rank test, exact, p = 0.0039, "
        "too low as pairs share servers; 8 of them changed)"
    )


def test_sizes_that_moved_apart_are_no_change() -> None:
    found = paired({"a -> b": [83, 94]}, {"a -> b": [94, 83]}, higher_is_better=True)
    assert (
        found.sentence == "1 pair, the median pair as before: no regression (every pair as before)"
    )


def test_several_sizes_of_one_pair_are_one_piece_of_evidence() -> None:
    before = {"a -> b": [92.0] * 23, "a -> c": [92.0] * 23}
    now = {"a -> b": [80.0] * 23, "a -> c": [80.0] * 23}
    found = paired(before, now, higher_is_better=True)
    assert (found.pairs, found.slower) == (2, None)


def test_pairs_of_one_run_alone_do_not_count() -> None:
    before, now = by_pair([92] * 8), by_pair([80] * 7)
    assert paired(before, now | {"x -> y": [1.0]}, higher_is_better=True).pairs == 7
    with pytest.raises(ValueError, match="no pair was measured in both runs"):
        paired(before, {}, higher_is_better=True)


def test_the_published_example_of_the_signed_rank_test() -> None:
    """Wilcoxon 1945 on Darwin's maize: one-sided 0.0206 (two-sided 0.0413, as in R)."""
    differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert signed_rank(differences) == pytest.approx(0.0206, abs=0.0001)


@given(st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=9))
def test_exact_means_all_ways_to_choose_the_signs(changes: list[int]) -> None:
    sizes = sorted(map(abs, changes))
    rank = {s: sizes.index(s) + (sizes.count(s) + 1) / 2 for s in sizes}
    seen = sum(rank[abs(c)] for c in changes if c > 0)
    sums = [
        sum(rank[abs(c)] for c, up in zip(changes, signs, strict=True) if up)
        for signs in product((False, True), repeat=len(changes))
    ]
    assert signed_rank(changes) == pytest.approx(sum(s >= seen for s in sums) / len(sums))


@given(st.lists(st.floats(0.9, 1.1), min_size=7, max_size=12), st.floats(1, 400))
def test_neither_units_nor_the_order_of_pairs_matter(factors: list[float], scale: float) -> None:
    before = [90.0 + number for number in range(len(factors))]
    now = [b * f for b, f in zip(before, factors, strict=True)]
    first = paired(by_pair(before), by_pair(now), higher_is_better=True)
    turned = dict(reversed(by_pair([b * scale for b in before]).items()))
    again = paired(turned, by_pair([n * scale for n in now]), higher_is_better=True)
    assert math.isclose(first.change, again.change, abs_tol=1e-9)


def test_the_approximation_meets_the_exact_test_where_it_takes_over() -> None:
    changes = [(-1) ** number * (number + 1) + number % 3 for number in range(MOST_EXACT_PAIRS)]
    changes = [change or 1 for change in changes]
    more = [*changes, 7.5]
    assert signed_rank(changes) == pytest.approx(signed_rank(more), abs=0.05)
