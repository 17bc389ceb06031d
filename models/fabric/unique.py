"""Check of lists in a Fabric: no row has the name of another."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from pydantic import AfterValidator

Row = TypeVar("Row")


def unique_by(name_of: Callable[[Row], Hashable]) -> AfterValidator:
    """Refuse a list with two rows of one name; name_of: the name of a row."""

    def check(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        seen: set[Hashable] = set()
        for name in map(name_of, rows):
            if name in seen:
                raise ValueError(f"{name} is given twice; remove one")
            seen.add(name)
        return rows

    return AfterValidator(check)
