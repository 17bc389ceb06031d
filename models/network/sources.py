"""Side table of a derived fabric, with one entry for values that all lossless ports share."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from rocefort.models.network.network import Position, Sources

T = TypeVar("T")


class SideTable(Mapping[str, Position]):
    """Mapping of `device/field.path` to a position, for Sources.

    Half of all rows of a large fabric are the same dozen for every lossless port. So paths below
    those ports are stored once for each lossless profile: `.pfc`, `.thresholds[4].xon_kbytes`.
    """

    def __init__(
        self, own: Mapping[str, Position], ports: Mapping[str, Mapping[str, Position]]
    ) -> None:
        """Take rows by whole key, and rows below each port, a `device/interfaces[NAME]`."""
        self._own, self._ports = own, ports

    def __getitem__(self, key: str) -> Position:
        """Return the position of a key."""
        position = self.get(key)
        if position is None:
            raise KeyError(key)
        return position

    def get(self, key: str, default: T | None = None) -> Position | T | None:  # type: ignore[override]  # no overloads
        """Return the position of a key, faster than `Mapping.get`, which catches an exception."""
        position = self._own.get(key)
        if position is None:
            end = key.find("]") + 1
            below = self._ports.get(key[:end])
            position = below.get(key[end:]) if below else None
        return default if position is None else position

    def __iter__(self) -> Iterator[str]:
        """Yield every key once."""
        yield from self._own
        yield from self._shared(lambda below: below)

    def __len__(self) -> int:
        """Return the number of keys."""
        return sum(1 for _ in self)

    def on_lines(self, lines: Container[int]) -> Iterator[str]:
        """Yield keys as the function of that name, with one lookup for shared paths."""
        for key, position in self._own.items():
            if position.line in lines:
                yield key
        yield from self._shared(
            lambda below: [path for path, at in below.items() if at.line in lines]
        )

    def with_rows(self, rows: Mapping[str, Position]) -> SideTable:
        """Return the table with more rows."""
        return SideTable({**self._own, **rows}, self._ports)

    def _shared(self, paths_of: Callable[[Mapping[str, Position]], Iterable[str]]) -> Iterator[str]:
        """Yield keys of paths below every port, except those with a position of their own."""
        paths: dict[int, Sequence[str]] = {}  # by identity of the rows that ports share
        for port, below in self._ports.items():
            if id(below) not in paths:
                paths[id(below)] = tuple(paths_of(below))
            keys = (f"{port}{path}" for path in paths[id(below)])
            yield from (key for key in keys if key not in self._own)


def with_rows(sources: Sources, rows: Mapping[str, Position]) -> Sources:
    """Return sources with more rows in their table."""
    if not rows:
        return sources
    table = sources.table
    if isinstance(table, SideTable):
        return replace(sources, table=table.with_rows(rows))
    return replace(sources, table={**table, **rows})


def on_lines(table: Mapping[str, Position], lines: Container[int]) -> Iterator[str]:
    """Yield keys of a side table whose positions are on some lines, of any file."""
    if isinstance(table, SideTable):
        yield from table.on_lines(lines)
    else:
        yield from (key for key, position in table.items() if position.line in lines)
