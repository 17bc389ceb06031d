"""The capacity picture of the report page: demand against capacity, whole and after a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocefort.reports.wording import name_ranges
from rocefort.validators.capacity.capacity_results import CapacityReport, Use
from rocefort.verification.capacity import (
    MOST_ROWS,
    demand_words,
    equal_uses,
    number,
    percent,
    verdicts,
)
from rocefort.verification.page.utilisation import level

LABELS = {"leaf": "uplinks", "spine": "links", "bisection": "half of the leaves to the others"}
BAR, GAP = 11, 2  # heights in the drawing
AFTER_Y = BAR + GAP
HEIGHT = AFTER_Y + BAR


@dataclass(frozen=True, slots=True)
class CapacityBar:
    """Two bars of parts that are alike, x in percent of the drawing; `end` is where 100 % is."""

    name: str
    kind: str
    whole: float
    whole_level: str
    after: float
    after_level: str
    words: str
    after_words: str


@dataclass(frozen=True, slots=True)
class CapacityPicture:
    """All bars on one scale; more: how many rows less full are not drawn."""

    bars: tuple[CapacityBar, ...]
    end: float
    demand: str
    verdicts: tuple[str, ...]
    fits: bool
    height: int = HEIGHT
    bar: int = BAR
    after_y: int = AFTER_Y
    more: int = 0


def picture(capacity: CapacityReport | None) -> CapacityPicture | None:
    """The picture; None where there is no demand."""
    if capacity is None or capacity.asked is None:
        return None
    rows = [row for kind in LABELS for row in _rows(capacity, kind)]
    scale = max([1.0, *(max(row[0].utilisation, row[0].after or 0) for row in rows)])
    shown = [row for kind in LABELS for row in _rows(capacity, kind)[:MOST_ROWS]]
    return CapacityPicture(
        bars=tuple(_bar(row, scale) for row in shown),
        end=100 / scale,
        demand=demand_words(capacity.asked),
        verdicts=(*verdicts(capacity), *filter(None, [capacity.failures_note])),
        fits=capacity.fits,
        more=len(rows) - len(shown),
    )


def _rows(capacity: CapacityReport, kind: str) -> list[list[Use]]:
    return list(equal_uses([use for use in capacity.uses if use.kind == kind]))


def _bar(row: Sequence[Use], scale: float) -> CapacityBar:
    use = row[0]
    load = max(use.out_gbps, use.in_gbps)
    return CapacityBar(
        name=", ".join(name_ranges(one.name for one in row)),
        kind=LABELS[use.kind],
        whole=100 * use.utilisation / scale,
        whole_level=level(use.utilisation),
        after=100 * (use.after or 0) / scale,
        after_level=level(use.after or 0),
        words=f"{number(load)} of {number(use.capacity_gbps)} Gb/s, {percent(use.utilisation)}",
        after_words=" ".join(_after(use)),
    )


def _after(use: Use) -> Iterator[str]:
    if use.after is None or use.left_gbps is None:
        yield "no failure studied"
        return
    yield f"{percent(use.after)} after the loss of {use.failure};" if use.failure else "no fuller;"
    yield f"at least {number(use.left_gbps)} Gb/s left"
