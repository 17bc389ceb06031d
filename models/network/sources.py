"""The side table of a derived fabric: what all lossless ports say alike stands in it once."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TypeVar

from rocefort.models.network.network import Position

T = TypeVar("T")


class SideTable(Mapping[str, Position]):
    """`device/field.path` -> place, as Sources wants it.

    Half of all rows of a large fabric are the same dozen for every lossless port, so what is below
    those ports is there once: `.pfc`, `.thresholds[4].xon_kbytes`.
    """

    def __init__(
        self, own: Mapping[str, Position], ports: Iterable[str], below: Mapping[str, Position]
    ) -> None:
        """Own: by whole key. ports: `device/interfaces[NAME]`. below: what they all have."""
        self._own, self._ports, self._below = own, dict.fromkeys(ports), below

    def __getitem__(self, key: str) -> Position:
        """The place of a key."""
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def get(self, key: str, default: T | None = None) -> Position | T | None:  # type: ignore[override]  # no overloads
        """The place of a key; without the exception that Mapping's own would raise and catch."""
        found = self._own.get(key)
        if found is None:
            end = key.find("]") + 1
            found = self._below.get(key[end:]) if key[:end] in self._ports else None
        return default if found is None else found

    def __iter__(self) -> Iterator[str]:
        """Every key once."""
        yield from self._own
        yield from self._shared(self._below)

    def __len__(self) -> int:
        """How many keys there are."""
        return sum(1 for _ in self)

    def on_lines(self, lines: Container[int]) -> Iterator[str]:
        """As the function of that name, with one look at what many ports share."""
        for key, position in self._own.items():
            if position.line in lines:
                yield key
        yield from self._shared([path for path, at in self._below.items() if at.line in lines])

    def _shared(self, paths: Iterable[str]) -> Iterator[str]:
        """Keys of paths below every port, but for those that have a place of their own."""
        keys = (f"{port}{path}" for port in self._ports for path in paths)
        return (key for key in keys if key not in self._own)


def on_lines(table: Mapping[str, Position], lines: Container[int]) -> Iterator[str]:
    """Keys of a side table whose places stand on some lines, of any file."""
    if isinstance(table, SideTable):
        yield from table.on_lines(lines)
    else:
        yield from (key for key, position in table.items() if position.line in lines)
