"""Bandwidth over time from perftest's periodic rows, and the loss caused by a failure.

`--run_infinitely -D N` prints a row every N seconds until it is ended. Only in this mode no rule
ends the table, and a row of zeros is a measurement: no data arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from rocefort.models.base import Frozen
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import TableError
from rocefort.rdma.parse.text_table import read_growing
from rocefort.rdma.results import Point

BASE_POINTS = 3  # before the failure
DOWN = 0.5  # a rate below this fraction of the usual rate is an outage
WHOLE = 0.95  # a rate of at least this fraction of the usual rate has recovered


class Outage(Frozen):
    """Loss caused by a failure.

    usual_gbps: before the failure. down_s: time below DOWN. lost_gbit: data not sent. recovered_s:
    from the first point below WHOLE to the first point after which the rate stays above it; None
    if the rate did not recover.
    """

    usual_gbps: float
    worst_gbps: float
    down_s: float
    lost_gbit: float
    recovered_s: float | None

    @property
    def sentence(self) -> str:
        """The outage as a sentence."""
        if self.recovered_s == 0:
            return f"{self.usual_gbps:.2f} Gb/s throughout, at worst {self.worst_gbps:.2f}"
        back = (
            "did not recover"
            if self.recovered_s is None
            else f"recovered after {self.recovered_s:g} s"
        )
        return (
            f"{self.usual_gbps:.2f} Gb/s before, at worst {self.worst_gbps:.2f}, below half of it "
            f"for {self.down_s:g} s, {self.lost_gbit:.1f} Gbit less sent; the rate {back}"
        )


def read_series(text: str, every_s: float) -> tuple[Point, ...]:
    """Read the rows of a run that was ended; raises TableError for a faulty row or none."""
    rows = read_growing(text)
    if not rows:
        raise TableError(Outcome.MISSING_ROW, "no row below the header")
    sizes = {row.size_bytes for row in rows if row.figures.gbps is not None}
    if len(sizes) > 1:
        raise TableError(Outcome.DAMAGED_ROW, f"sizes {', '.join(map(str, sorted(sizes)))}")
    return tuple(
        Point(at_s=every_s * number, gbps=row.figures.gbps)
        for number, row in enumerate(rows, 1)
        if row.figures.gbps is not None
    )


def outage(series: Sequence[Point], failed_at_s: float | None = None) -> Outage:
    """Compute the loss, compared with the median before the failure.

    failed_at_s: time of the failure; None: the first three points are taken as before it. Raises
    TableError for too few points.
    """
    before = [p for p in series if failed_at_s is not None and p.at_s <= failed_at_s]
    before = before if failed_at_s is not None else list(series[:BASE_POINTS])
    after = series[len(before) :]
    if len(before) < BASE_POINTS or not after:
        counts = f"{len(before)} points before the failure, {len(after)} after it"
        raise TableError(Outcome.MISSING_ROW, counts)
    usual = median(point.gbps for point in before)
    if usual <= 0:
        raise TableError(Outcome.ZERO_BANDWIDTH, "no data arrived before the failure")
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
