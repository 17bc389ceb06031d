"""Lists of intent in which nothing may stand twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from pydantic import AfterValidator

Row = TypeVar("Row")


def once(named: Callable[[Row], Hashable]) -> AfterValidator:
    """Refuse a list with two rows of one name; named: what tells rows apart."""

    def check(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        seen: set[Hashable] = set()
        for name in map(named, rows):
            if name in seen:
                raise ValueError(f"{name} is given twice; remove one")
            seen.add(name)
        return rows

    return AfterValidator(check)
