"""Paired test of two runs: is the later one slower over all pairs of servers?

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
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist, median

from rocefort.models.base import Frozen
from rocefort.models.wording import count_of
from rocefort.rdma.judge.regression import MATTERS, P_VALUE, ranks
from rocefort.rdma.rdma_plan import ARROW

LEAST_PAIRS = 7  # changed pairs; chance puts all of six on one side in 1 of 64 cases
MOST_EXACT = 50
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
        kind = "exact" if changed <= MOST_EXACT else "normal approximation"
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


def signed_rank(changes: Sequence[float]) -> float:
    """Probability that chance alone gives as high a sum of positive ranks; no zeros in changes."""
    doubled = [round(2 * (rank + 1)) for rank in ranks([abs(change) for change in changes])]
    seen = sum(rank for rank, change in zip(doubled, changes, strict=True) if change > 0)
    if len(changes) > MOST_EXACT:
        return _approximate(doubled, seen)
    counts = [1] + [0] * sum(doubled)  # number of sign patterns for each sum
    for rank in doubled:
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    return float(sum(counts[seen:]) / (1 << len(doubled)))


def _approximate(doubled: Sequence[int], seen: int) -> float:
    """Normal approximation; the variance comes from the tied ranks, so ties need no correction."""
    deviation = math.sqrt(sum(rank * rank for rank in doubled)) / 2
    return 1 - NormalDist().cdf((seen - 1 - sum(doubled) / 2) / deviation)  # 1: continuity
