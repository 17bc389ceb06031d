"""Is one run slower than another? One value a pair on both sides, so the test is over the pairs.

Each pair of servers is its own yardstick: what counts is its relative change (the logarithm of now
by then, on the slow side positive), and of several sizes of one pair their median, for they are no
further evidence. Wilcoxon's signed-rank test, one-sided, asks whether chance alone would turn the
changes so far to one side; pairs that did not change are left out of it, as Wilcoxon did. It takes
the changes to be symmetric about their middle, no distribution. Exact up to 50 pairs, beyond that
by the normal approximation with its correction for ties. The effect is the median change of all
pairs; under MATTERS it is no regression, however sure it is.

What it cannot tell: whether the fabric changed, or the day. Pairs that share a server turn together
with it, so in a mesh p is too low: of eight servers whose own speed varies by 2 % from run to run,
7 in 100 comparisons alarm (simulated), by 1 % none; it is said then. For one pair alone there is
its history (`rocefort.rdma.judge.regression`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist, median

from rocefort.models.base import Frozen
from rocefort.models.results.rdma_plan import ARROW
from rocefort.models.wording import count_of
from rocefort.rdma.judge.regression import MATTERS, P_VALUE, ranks

LEAST_PAIRS = 7  # that changed: of six, all on one side, chance makes 1 in 64
MOST_EXACT = 50
LEAST_SHOWN = 0.001  # a smaller p says no more
DIGITS = 12  # beyond them is noise of the arithmetic, which would part equal changes


class PairedComparison(Frozen):
    """slower None: not judged. change: of the median pair, above 0 slower. p: of the shown side."""

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
    """Compare the pairs that both runs have, their values in the same order; all above zero.

    Raises ValueError where no pair has a value on both sides.
    """
    sign = -1 if higher_is_better else 1
    found = {
        pair: round(
            sign * median(math.log(b / a) for a, b in zip(then, now[pair], strict=False)), DIGITS
        )
        for pair, then in before.items()
        if then and now.get(pair)
    }
    if not found:
        raise ValueError("no pair was measured in both runs")
    changes = list(found.values())
    middle = math.expm1(sign * median(changes)) * sign
    differing = [change for change in changes if change != 0]
    p = signed_rank(differing if middle >= 0 else [-change for change in differing])
    return _paired_verdict(len(changes), len(differing), middle, p, _share_servers(found))


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
        slower, said = False, "no regression (every pair as before)"
    elif changed < LEAST_PAIRS:
        said = f"not judged: {changed} of them changed, {LEAST_PAIRS} are needed"
    else:
        sure = p < P_VALUE and abs(change) >= MATTERS
        slower = sure and change > 0
        word = "a regression" if slower else "an improvement" if sure else "no regression"
        kind = "exact" if changed <= MOST_EXACT else "normal approximation"
        small = f"under {MATTERS:.0%}; " if p < P_VALUE and not sure else ""
        chance = f"p = {p:.2g}" if p >= LEAST_SHOWN else f"p < {LEAST_SHOWN:g}"
        chance += ", too low as pairs share servers" if shared else ""
        said = f"{word} ({small}signed-rank test, {kind}, {chance}; {changed} of them changed)"
    return PairedComparison(
        slower=slower,
        change=change,
        pairs=pairs,
        changed=changed,
        p=p if changed else None,
        sentence=f"{compared}, {amount}: {said}",
    )


def signed_rank(changes: Sequence[float]) -> float:
    """How often chance alone gives as high a sum of positive ranks; changes without zeros."""
    doubled = [round(2 * (rank + 1)) for rank in ranks([abs(change) for change in changes])]
    seen = sum(rank for rank, change in zip(doubled, changes, strict=True) if change > 0)
    if len(changes) > MOST_EXACT:
        return _approximate(doubled, seen)
    counts = [1] + [0] * sum(doubled)  # of the ways to each sum, one rank after the other
    for rank in doubled:
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    return float(sum(counts[seen:]) / (1 << len(doubled)))


def _approximate(doubled: Sequence[int], seen: int) -> float:
    """Ties need no formula of their own: the variance is that of the ranks as they are."""
    deviation = math.sqrt(sum(rank * rank for rank in doubled)) / 2
    return 1 - NormalDist().cdf((seen - 1 - sum(doubled) / 2) / deviation)  # 1: continuity
