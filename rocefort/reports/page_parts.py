"""Parts of pages as data: tables that are sorted and filtered, and plots as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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


WIDTH, HEIGHT = 640, 250  # of a plot, with its margins
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 30


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot: points of an SVG polyline, and dots with words."""

    name: str
    style: str
    points: str
    dots: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of `WIDTH` by `HEIGHT`; ticks: place and words."""

    title: str
    unit: str
    curves: tuple[Curve, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    words: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    bottom: int = HEIGHT - BOTTOM
    right: int = WIDTH - RIGHT
    top: int = TOP


def curve_of(name: str, style: str, points: Sequence[tuple[float, float, str]]) -> Curve:
    """Return a line through points, with words for each."""
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    return Curve(name, style, line, tuple((round(x, 1), round(y, 1), w) for x, y, w in points))


def round_numbers(top: float) -> Iterator[float]:
    """Round numbers from 0 to top, about five."""
    raw = top / 5
    power = 10 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= raw)
    return (step * n for n in range(int(top / step) + 1))
