"""Choice of single failures for a capacity study: all kinds if that is fast, or by a scope."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from rocefort.base.errors import BadInput
from rocefort.validators.failures.study import SEED, SINGLE, SOME
from rocefort.validators.routing_results import Failure

NONE = "none"
QUICK = 250_000  # cables over all failures without a scope: about six seconds
ASK = f"use `rocefort capacity --failures {SINGLE}`, or {SOME}100 for a sample"


@dataclass(frozen=True)
class FailureSample:
    """Groups of equivalent failures to study; note: the selection, if it is not all."""

    groups: tuple[tuple[Failure, ...], ...]
    note: str = ""
    seed: int | None = None


def chosen_groups(
    groups: Sequence[tuple[Failure, ...]], scope: str | None, cables: int
) -> FailureSample:
    """Groups of a scope; None: all, if that is fast. cables: number in the fabric.

    single:N draws N failures, and includes all failures equivalent to them. Raises BadInput for an
    unknown scope.
    """
    total = sum(map(len, groups))
    if scope is None and len(groups) * cables > QUICK:
        return FailureSample(
            (), f"{total:,} single failures of {len(groups):,} kinds not studied: {ASK}"
        )
    if scope in (None, SINGLE):
        return FailureSample(tuple(groups))
    if scope == NONE:
        return FailureSample((), f"{total:,} single failures not studied")
    kind, _, number = scope.partition(":")
    if f"{kind}:" != SOME or not number.isdecimal() or not int(number):
        raise BadInput(
            f"--failures {scope!r} is not one of: none, single, single:N",
            how=f"for example --failures {SOME}100",
        )
    singles = [failure for group in groups for failure in group]
    drawn = random.Random(SEED).sample(singles, min(int(number), total))  # noqa: S311
    picked = set(drawn)
    some = tuple(group for group in groups if not picked.isdisjoint(group))
    if len(some) == len(groups):
        return FailureSample(some)
    studied = sum(map(len, some))
    note = f"{studied:,} of {total:,} single failures studied: {len(drawn):,} drawn with seed "
    return FailureSample(some, f"{note}{SEED}, and equivalent ones", SEED)
