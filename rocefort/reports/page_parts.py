"""Parts of pages as data: tables that are sorted and filtered, and plots as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Cell = str | int | float | None  # None: not known
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class PageColumn:
    """A column; cells of kind `switch` lead to the configuration of that switch."""

    name: str
    kind: Literal["text", "number", "switch", "prose"] = "text"


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table; note: why it is empty or not whole."""

    id: str
    title: str
    columns: tuple[PageColumn, ...]
    rows: tuple[Row, ...]
    note: str = ""


def as_json_value(tables: Sequence[PageTable]) -> dict[str, object]:
    """The tables for the page's script, by id."""
    return {
        table.id: {
            "columns": [[column.name, column.kind] for column in table.columns],
            "packed": [packed_column(column) for column in zip(*table.rows, strict=True)],
        }
        for table in tables
    }


def packed_column(cells: Sequence[object]) -> dict[str, object]:
    """A column as its cells, or as runs of equal ones and their lengths where that is shorter."""
    runs = [(cell, len(list(alike))) for cell, alike in groupby(cells)]
    if 2 * len(runs) >= len(cells):
        return {"cells": cells}
    return {"runs": [cell for cell, _ in runs], "lengths": [length for _, length in runs]}


@dataclass(frozen=True, slots=True)
class LinearScale:
    """Scale of an axis; places are in percent of it."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float], least: float) -> LinearScale:
        """Return a scale with all values and a margin.

        least: its range at least, so that noise of equal values does not fill it.
        """
        known = list(values)
        low, high = min(known), max(known)
        margin = max((least - (high - low)) / 2, (high - low) * 0.05)
        return cls(low - margin, high + margin)

    def percent(self, value: float) -> float:
        """Return the place of a value; values beyond an end are at it."""
        share = (value - self.low) / (self.high - self.low)
        return 100 * min(1.0, max(0.0, share))

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Places and words of round numbers, about five."""
        raw = (self.high - self.low) / 5
        power = 10 ** math.floor(math.log10(raw))
        step = next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= raw * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        digits = next(n for n in range(20) if math.isclose(round(step, n), step))
        return tuple(
            (self.percent(n * step), f"{n * step + 0.0:,.{digits}f}")
            for n in range(first, last + 1)
        )


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot: points of an SVG polyline, and dots with words."""

    name: str
    style: str
    points: str
    dots: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True, slots=True)
class PlotAxis:
    """Axis of a plot: its quantity with the unit; ticks: place in percent, and words."""

    title: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class PlotLevel:
    """Value of y that a plot marks; end: side of its words."""

    name: str
    style: str
    place: float
    end: Literal["left", "right"] = "right"


@dataclass(frozen=True, slots=True)
class Plot:
    """Plot as wide as its box; notes: sentences below it. Places are in percent."""

    title: str
    x: PlotAxis
    y: PlotAxis
    curves: tuple[Curve, ...]
    words: str
    levels: tuple[PlotLevel, ...] = ()
    notes: tuple[str, ...] = ()


def curve_of(name: str, style: str, points: Sequence[tuple[float, float, str]]) -> Curve:
    """Return a line through points, with words for each; places in percent, y upwards."""
    down = [(round(x, 2), round(100 - y, 2), words) for x, y, words in points]
    return Curve(name, style, " ".join(f"{x:g},{y:g}" for x, y, _ in down), tuple(down))


@dataclass(frozen=True, slots=True)
class EffectRow:
    """Change of a measure in a scenario; places in percent; kind: its CSS class."""

    scenario: str
    low: float
    mean: float
    high: float
    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class EffectChart:
    """Changes of a measure, a row for each scenario; zero: place of no change."""

    title: str
    zero: float
    ticks: tuple[tuple[float, str], ...]
    rows: tuple[EffectRow, ...]
