"""Tables of pages: sorted, filtered and exported by their script (`page_tables.js`)."""

from __future__ import annotations

from collections.abc import Sequence
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
