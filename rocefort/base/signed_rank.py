"""Wilcoxon's signed-rank test, exact up to 50 pairs.

The test assumes that the differences are symmetric about their median, and no distribution. Pairs
without a difference are left out, as in Wilcoxon's paper (Biometrics Bulletin 1, 1945).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from statistics import NormalDist

MOST_EXACT_PAIRS = 50


def ranks(values: Sequence[float]) -> list[float]:
    """Rank of each value; the lowest has rank 0, equal values share the mean of their ranks."""
    ordered = sorted(values)
    return [(bisect_left(ordered, v) + bisect_right(ordered, v) - 1) / 2 for v in values]


def signed_rank(changes: Sequence[float]) -> float:
    """Probability that chance alone gives as high a sum of positive ranks; no zeros in changes."""
    doubled = [round(2 * (rank + 1)) for rank in ranks([abs(change) for change in changes])]
    seen = sum(rank for rank, change in zip(doubled, changes, strict=True) if change > 0)
    if len(changes) > MOST_EXACT_PAIRS:
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
