"""The side table of a derived fabric: what all lossless ports say alike stands in it once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping
from itertools import chain
from typing import TypeVar

from rocefort.models.network import Position

T = TypeVar("T")
_NOTHING: Mapping[str, Position] = {}


class Places(Mapping[str, Position], ABC):
    """`device/field.path` -> place; each kind tells how a place is found."""

    @abstractmethod
    def place(self, key: str) -> Position | None:
        """The place of a key; None where it has none."""

    def __getitem__(self, key: str) -> Position:
        """The place of a key."""
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def get(self, key: str, default: T | None = None) -> Position | T | None:  # type: ignore[override]  # no overloads
        """The place of a key; without the exception that Mapping's own would raise and catch."""
        found = self.place(key)
        return default if found is None else found


class SideTable(Places):
    """`device/field.path` -> place, as Sources wants it.

    Half of all rows of a large fabric are the same dozen for every lossless port, so each of those
    ports names one shared table of what is below it: `.pfc`, `.thresholds[4].xon_kbytes`.
    """

    def __init__(
        self, own: Mapping[str, Position], ports: Mapping[str, Mapping[str, Position]]
    ) -> None:
        """Own: by whole key. ports: what is below `device/interfaces[NAME]`, shared by many."""
        self._own, self._ports = own, ports

    def place(self, key: str) -> Position | None:
        """The place of a key."""
        found = self._own.get(key)
        if found is None:
            end = key.find("]") + 1
            found = self._ports.get(key[:end], _NOTHING).get(key[end:])
        return found

    def __iter__(self) -> Iterator[str]:
        """Every key once."""
        shared = (f"{port}{path}" for port, below in self._ports.items() for path in below)
        return chain(self._own, (key for key in shared if key not in self._own))

    def __len__(self) -> int:
        """How many keys there are."""
        return sum(1 for _ in self)

    def on_lines(self, lines: Container[int]) -> Iterator[str]:
        """As the function of that name, with one look at what many ports share."""
        for key, position in self._own.items():
            if position.line in lines:
                yield key
        found: dict[int, list[str]] = {}  # by shared table, of which there are few
        for port, below in self._ports.items():
            if id(below) not in found:
                found[id(below)] = [path for path, at in below.items() if at.line in lines]
            for path in found[id(below)]:
                if f"{port}{path}" not in self._own:
                    yield f"{port}{path}"


def on_lines(table: Mapping[str, Position], lines: Container[int]) -> Iterator[str]:
    """Keys of a side table whose places stand on some lines, of any file."""
    if isinstance(table, SideTable):
        yield from table.on_lines(lines)
    else:
        yield from (key for key, position in table.items() if position.line in lines)
