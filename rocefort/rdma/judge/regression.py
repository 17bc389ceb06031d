"""Tests whether a run is slower: a pair against its earlier runs, and all pairs of two runs.

One fresh value: its distance from the median of the good values, in scaled MADs (median absolute
deviations). The same test is used if the runs are too few for a permutation test. Three or more
fresh values: the rank-sum test (Mann-Whitney), one-sided, over all arrangements or a random sample
of them. (The difference of medians would be weak: two slow runs of three have the same median as
all three.) Both tests also require a difference of at least MATTERS, because a long history makes
ever smaller differences significant. Neither assumes a distribution; both need five good runs.

False alarms for one fresh value, simulated with normal noise: at 1 % noise at most 2 in 1000; at
2 to 5 % noise up to 3 in 100 with five good runs, 1 in 100 with eight, 2 in 1000 with twelve. If
one pair of a large mesh raises an alarm after few runs, measure it again.

The test uses the relative change of each pair: the logarithm of the ratio of both values, positive
if the later run is slower. Several sizes of one pair count as their median, because they are no
independent evidence. The test is Wilcoxon's signed-rank test, one-sided. Its p is the probability
that chance alone moves the changes so far to one side. Pairs without a change are left out, as in
Wilcoxon's paper. The test assumes that the changes are symmetric about their median; it assumes no
distribution. It is exact up to 50 pairs; for more it uses the normal approximation with the
correction for ties. The effect is the median change of all pairs. An effect under MATTERS is no
regression, whatever its p.

Limits: the test cannot separate a change of the fabric from a change of the day. Pairs that share
a server change together with it, so p is too low in a mesh. With eight servers whose own speed
varies by 2 % from run to run, 7 in 100 comparisons raise an alarm (simulated); with 1 %, none. The
sentence then contains this reservation. For one pair alone see its history
(`rocefort.rdma.judge.regression`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from statistics import median

from rocefort.base.signed_rank import MOST_EXACT_PAIRS, ranks, signed_rank
from rocefort.models.base import Frozen
from rocefort.models.wording import count_of
from rocefort.rdma.rdma_plan import ARROW

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


LEAST_PAIRS = 7  # changed pairs; chance puts all of six on one side in 1 of 64 cases
LEAST_SHOWN = 0.001  # a smaller p is no stronger evidence
DIGITS = 12  # further digits are rounding noise, which would separate equal changes


class PairedComparison(Frozen):
    """Result of the paired test.

    slower: None if not judged. change: of the median pair, above 0 if slower. p: of the side that
    the sentence reports.
    """

    slower: bool | None
    change: float
    pairs: int
    changed: int
    p: float | None
    sentence: str


def paired(
    before: Mapping[str, Sequence[float]],
    now: Mapping[str, Sequence[float]],
    *,
    higher_is_better: bool,
) -> PairedComparison:
    """Compare the pairs that are in both runs; values in the same order, all above zero.

    Raises ValueError if no pair has a value in both runs.
    """
    sign = -1 if higher_is_better else 1
    changes_by_pair = {
        pair: round(
            sign * median(math.log(b / a) for a, b in zip(then, now[pair], strict=False)), DIGITS
        )
        for pair, then in before.items()
        if then and now.get(pair)
    }
    if not changes_by_pair:
        raise ValueError("no pair was measured in both runs")
    changes = list(changes_by_pair.values())
    middle = math.expm1(sign * median(changes)) * sign
    differing = [change for change in changes if change != 0]
    p = signed_rank(differing if middle >= 0 else [-change for change in differing])
    return _paired_verdict(len(changes), len(differing), middle, p, _share_servers(changes_by_pair))


def _share_servers(pairs: Iterable[str]) -> bool:
    ends = [name for pair in pairs for name in pair.split(ARROW)]
    return len(set(ends)) < len(ends)


def _paired_verdict(
    pairs: int, changed: int, change: float, p: float, shared: bool
) -> PairedComparison:
    compared = count_of(pairs, "pair")
    side = "slower" if change > 0 else "faster"
    amount = f"the median pair {abs(change):.1%} {side}" if change else "the median pair as before"
    slower: bool | None = None
    if not changed:
        slower, verdict = False, "no regression (every pair as before)"
    elif changed < LEAST_PAIRS:
        verdict = f"not judged: {changed} of them changed, {LEAST_PAIRS} are needed"
    else:
        sure = p < P_VALUE and abs(change) >= MATTERS
        slower = sure and change > 0
        word = "a regression" if slower else "an improvement" if sure else "no regression"
        kind = "exact" if changed <= MOST_EXACT_PAIRS else "normal approximation"
        small = f"under {MATTERS:.0%}; " if p < P_VALUE and not sure else ""
        chance = f"p = {p:.2g}" if p >= LEAST_SHOWN else f"p < {LEAST_SHOWN:g}"
        chance += ", too low as pairs share servers" if shared else ""
        verdict = f"{word} ({small}signed-rank test, {kind}, {chance}; {changed} of them changed)"
    return PairedComparison(
        slower=slower,
        change=change,
        pairs=pairs,
        changed=changed,
        p=p if changed else None,
        sentence=f"{compared}, {amount}: {verdict}",
    )
