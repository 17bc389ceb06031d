"""Bandwidth over time: rows that perftest prints as it goes, and what a failure cost of them.

`--run_infinitely -D N` prints a row every N seconds until it is ended, so that here, and only
here, no rule ends the table, and a row of zeros is a measurement: nothing came through.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from rocefort.models.base import Frozen
from rocefort.models.results.rdma_result import Point
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import TableError
from rocefort.rdma.parse.text_table import HEADER, read_growing

BASE_POINTS = 3  # before the failure
DOWN = 0.5  # below this part of the usual rate it is an outage
WHOLE = 0.95  # from here on it is as before


class Outage(Frozen):
    """What a failure cost: Gb/s before it, the worst, time below, data not sent.

    recovered_s: from the first point below WHOLE to the first of those that stay above it; None
    where it did not come back.
    """

    usual_gbps: float
    worst_gbps: float
    down_s: float
    lost_gbit: float
    recovered_s: float | None

    @property
    def sentence(self) -> str:
        """The outage in words."""
        if self.recovered_s == 0:
            return f"{self.usual_gbps:.2f} Gb/s throughout, at worst {self.worst_gbps:.2f}"
        back = (
            "did not come back"
            if self.recovered_s is None
            else f"was back after {self.recovered_s:g} s"
        )
        return (
            f"{self.usual_gbps:.2f} Gb/s before, at worst {self.worst_gbps:.2f}, below half of it "
            f"for {self.down_s:g} s, {self.lost_gbit:.1f} Gbit less sent; the rate {back}"
        )


def read_series(text: str, every_s: float) -> tuple[Point, ...]:
    """Rows of a run that was ended; raises TableError where one is off, or none is there."""
    rows = read_growing(text)
    if not rows:
        header = next((line for line in text.splitlines() if HEADER.fullmatch(line)), "")
        raise TableError(Outcome.MISSING_ROW if header else Outcome.NO_TABLE, header)
    sizes = {row.size_bytes for row in rows if row.figures.gbps is not None}
    if len(sizes) > 1:
        raise TableError(Outcome.UNKNOWN_LINE, f"sizes {', '.join(map(str, sorted(sizes)))}")
    return tuple(
        Point(at_s=every_s * number, gbps=row.figures.gbps)
        for number, row in enumerate(rows, 1)
        if row.figures.gbps is not None
    )


def outage(series: Sequence[Point], failed_at_s: float | None = None) -> Outage:
    """What was lost against the median before the failure; raises TableError for too few points.

    failed_at_s: when the failure was made; None: the first three points are taken as before it.
    """
    before = [p for p in series if failed_at_s is not None and p.at_s <= failed_at_s]
    before = before if failed_at_s is not None else list(series[:BASE_POINTS])
    after = series[len(before) :]
    if len(before) < BASE_POINTS or not after:
        said = f"{len(before)} points before the failure, {len(after)} after it"
        raise TableError(Outcome.MISSING_ROW, said)
    usual = median(point.gbps for point in before)
    if usual <= 0:
        raise TableError(Outcome.ZERO_BANDWIDTH, "nothing came through before the failure")
    steps = [(p, p.at_s - q.at_s) for q, p in pairwise((before[-1], *after))]
    return Outage(
        usual_gbps=usual,
        worst_gbps=min(point.gbps for point in after),
        down_s=sum(step for point, step in steps if point.gbps < DOWN * usual),
        lost_gbit=sum(max(0.0, usual - point.gbps) * step for point, step in steps),
        recovered_s=_recovery_time(steps, usual),
    )


def _recovery_time(steps: Sequence[tuple[Point, float]], usual: float) -> float | None:
    low = [index for index, (point, _) in enumerate(steps) if point.gbps < WHOLE * usual]
    if not low:
        return 0
    if low[-1] == len(steps) - 1:
        return None
    return sum(step for _, step in steps[low[0] : low[-1] + 1])
