"""Latency and rate through a switch less those back to back, for each size, with an interval.

It is REDIGO's method: configuration B less configuration A. The interval is a percentile bootstrap:
the repetitions of each configuration are drawn again with replacement, independently, and the
difference of their means is taken. It shows how much repetitions differ, and nothing that all of
them share, such as a slower cable in one configuration. It is too narrow for few repetitions.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from rocefort.models.base import Frozen
from rocefort.models.wording import count_of
from rocefort.rdma.plan.site import DIRECT, NEAR
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.results import RdmaResult

RESAMPLES = 2000
LEAST_REPETITIONS = 2
SEED = 4791  # the same runs have the same interval
TAIL = 0.025  # at each side of 95 %


class PathDifference(Frozen):
    """Mean of one size through a switch less that back to back, us or Gb/s.

    low, high: 95 % interval of the difference; None: one configuration has one repetition only.
    """

    program: Program
    size_bytes: int
    direct: float
    switched: float
    low: float | None = None
    high: float | None = None
    repetitions: tuple[int, int]  # back to back, through the switch

    @property
    def difference(self) -> float:
        """Through the switch less back to back."""
        return self.switched - self.direct

    @property
    def unit(self) -> str:
        """Unit of all its figures."""
        return "us" if self.program.measures_latency else "Gb/s"

    @property
    def interval(self) -> str:
        """Interval as text: `1.9 to 2.1`; empty without one."""
        if self.low is None or self.high is None:
            return ""
        return f"{amount(self.low, self.unit)} to {amount(self.high, self.unit)}"

    @property
    def sentence(self) -> str:
        """The difference with its parts."""
        within = f"95 %: {self.interval}" if self.interval else "no interval of one repetition"
        less, direct, switched = (
            amount(value, self.unit) for value in (self.difference, self.direct, self.switched)
        )
        return (
            f"{self.program}, {count_of(self.size_bytes, 'byte')}: {less} {self.unit} ({within}): "
            f"{direct} back to back, {switched} through the switch"
        )


def amount(value: float, unit: str) -> str:
    """Return a latency with 2, a rate with 3 decimals: `1,024.50`."""
    return f"{value:,.3f}" if unit == "Gb/s" else f"{value:,.2f}"


def path_of(result: RdmaResult) -> int | None:
    """Return the number of switches between all pairs of a run; None: they differ."""
    numbers = {each.run.switches for each in result.measurements}
    return numbers.pop() if len(numbers) == 1 else None


def direct_and_switched(one: RdmaResult, other: RdmaResult) -> tuple[RdmaResult, RdmaResult] | None:
    """Return two runs as one back to back and one through a switch; None: they are not."""
    by_path = {path_of(one): one, path_of(other): other}
    if by_path.keys() == {DIRECT, NEAR}:
        return by_path[DIRECT], by_path[NEAR]
    return None


def path_differences(direct: RdmaResult, switched: RdmaResult) -> tuple[PathDifference, ...]:
    """Return the difference of each program and size that both runs have measured."""
    ours, theirs = (_values(result) for result in (direct, switched))
    return tuple(_difference(*key, ours[key], theirs[key]) for key in ours if key in theirs)


def _values(result: RdmaResult) -> dict[tuple[Program, int], list[float]]:
    values: dict[tuple[Program, int], list[float]] = defaultdict(list)
    for each in result.measurements:
        if each.value is not None and each.run.size_bytes is not None:
            values[each.run.program, each.run.size_bytes].append(each.value)
    return values


def _difference(
    program: Program, size_bytes: int, direct: Sequence[float], switched: Sequence[float]
) -> PathDifference:
    low, high = bootstrap(direct, switched) or (None, None)
    return PathDifference(
        program=program,
        size_bytes=size_bytes,
        direct=fmean(direct),
        switched=fmean(switched),
        low=low,
        high=high,
        repetitions=(len(direct), len(switched)),
    )


def bootstrap(direct: Sequence[float], switched: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of the second mean less the first; None for too few values."""
    if min(len(direct), len(switched)) < LEAST_REPETITIONS:
        return None
    source = random.Random(SEED)  # noqa: S311 - no secret
    drawn = sorted(
        fmean(source.choices(switched, k=len(switched)))
        - fmean(source.choices(direct, k=len(direct)))
        for _ in range(RESAMPLES)
    )
    return drawn[round(TAIL * (RESAMPLES - 1))], drawn[round((1 - TAIL) * (RESAMPLES - 1))]
