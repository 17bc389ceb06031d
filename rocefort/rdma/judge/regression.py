"""Regression test of one pair against its earlier good runs, by robust statistics.

One fresh value: its distance from the median of the good values, in scaled MADs (median absolute
deviations). The same test is used if the runs are too few for a permutation test. Three or more
fresh values: the rank-sum test (Mann-Whitney), one-sided, over all arrangements or a random sample
of them. (The difference of medians would be weak: two slow runs of three have the same median as
all three.) Both tests also require a difference of at least MATTERS, because a long history makes
ever smaller differences significant. Neither assumes a distribution; both need five good runs.

False alarms for one fresh value, simulated with normal noise: at 1 % noise at most 2 in 1000; at
2 to 5 % noise up to 3 in 100 with five good runs, 1 in 100 with eight, 2 in 1000 with twelve. If
one pair of a large mesh raises an alarm after few runs, measure it again.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import combinations
from math import comb
from statistics import median

from rocefort.models.base import Frozen

LEAST_HISTORY = 5
LEAST_FRESH = 3  # for the rank-sum test
MADS = 5.0  # 3.5 is usual for outliers
SCALE = 1.4826  # standard deviation of a normal distribution, in MADs
MATTERS = 0.03  # smallest relevant change, as a fraction of the median of the good runs
P_VALUE = 0.01
MOST_EXACT = 20_000  # arrangements
SAMPLED = 10_000
SEED = 4791  # same input, same verdict


class Regression(Frozen):
    """Result of the test. slower: None if not judged. drop: loss, in parts of the good median."""

    slower: bool | None
    drop: float | None
    sentence: str


def regression(
    good: Sequence[float], fresh: Sequence[float], *, higher_is_better: bool
) -> Regression:
    """Compare fresh values of one pair, program and size with those of its last good runs."""
    if not fresh:
        return _not_judged("nothing was measured")
    if len(good) < LEAST_HISTORY:
        return _not_judged(f"{len(good)} good runs, {LEAST_HISTORY} are needed")
    sign = 1 if higher_is_better else -1
    usual, now = median(good), median(fresh)
    drop = sign * (usual - now) / usual
    arrangements = comb(len(good) + len(fresh), len(fresh))
    if len(fresh) < LEAST_FRESH or 1 / arrangements >= P_VALUE:
        beyond, how = _by_mad(good, fresh, sign)
    else:
        beyond, how = _by_ranks(good, fresh, sign)
    slower = beyond and drop >= MATTERS
    word = "slower" if drop > 0 else "faster"
    counts = f"{len(fresh)} fresh against {len(good)} good runs"
    verdict = "a regression" if slower else "no regression"
    sentence = f"{now:.2f}, {abs(drop):.1%} {word} than {usual:.2f}: {verdict} ({how}; {counts})"
    return Regression(slower=slower, drop=drop, sentence=sentence)


def _not_judged(why: str) -> Regression:
    return Regression(slower=None, drop=None, sentence=f"not judged: {why}")


def _by_mad(good: Sequence[float], fresh: Sequence[float], sign: int) -> tuple[bool, str]:
    usual = median(good)
    deviation = SCALE * median(abs(value - usual) for value in good)
    distance = sign * (usual - median(fresh))
    if deviation == 0:
        return distance > 0, "all good runs agree"
    mads = distance / deviation
    return mads > MADS, f"{mads:.1f} scaled MADs on the slow side, more than {MADS:g} count"


def _by_ranks(good: Sequence[float], fresh: Sequence[float], sign: int) -> tuple[bool, str]:
    """Return whether chance alone is unlikely to rank the fresh runs this low, and the test."""
    ranked = ranks([sign * value for value in (*good, *fresh)])
    seen = sum(ranked[len(good) :])
    if comb(len(ranked), len(fresh)) <= MOST_EXACT:
        sums = [sum(chosen) for chosen in combinations(ranked, len(fresh))]
        p, kind = sum(one <= seen for one in sums) / len(sums), "exact"
    else:
        chance = random.Random(SEED)  # noqa: S311 - a statistic, no secret
        sums = [sum(chance.sample(ranked, len(fresh))) for _ in range(SAMPLED)]
        p = (1 + sum(one <= seen for one in sums)) / (1 + SAMPLED)
        kind = f"{SAMPLED} draws"
    return p < P_VALUE, f"rank-sum test, {kind}, p = {p:.2g}"


def ranks(values: Sequence[float]) -> list[float]:
    """Rank of each value; the lowest has rank 0, equal values share the mean of their ranks."""
    ordered = sorted(values)
    return [(bisect_left(ordered, v) + bisect_right(ordered, v) - 1) / 2 for v in values]
