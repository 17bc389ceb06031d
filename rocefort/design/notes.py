"""Where the values of a Device came from, as paths: they are looked up in YAML when asked for.

A row is named, not counted, so the notes of a switch stay true for another version of the fabric
in which other rows come, go or change places.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping
from enum import StrEnum, auto

from rocefort.documents.read import YamlPath
from rocefort.models.network import Position
from rocefort.models.side_table import Places


class Origin(StrEnum):
    """What a path begins in."""

    FABRIC = auto()  # `("leaves", NAME, ..)` where the row of a list has a name
    LOSSLESS = auto()  # the lossless profile that the fabric names
    ECN = auto()  # the ECN profile that the lossless profile names


Note = tuple[Origin, YamlPath]
Notes = Mapping[str, Note]  # of one switch or server, by the path of the field


class Noted(Places):
    """`device/field.path` -> place, of what was placed at once and of what is looked up."""

    def __init__(
        self,
        placed: Mapping[str, Position],
        notes: Mapping[str, Notes],
        position: Callable[[Note], Position],
    ) -> None:
        """Placed: by whole key. notes: by device. position: where a note's path stands."""
        self._placed, self._notes, self._position = placed, notes, position

    def place(self, key: str) -> Position | None:
        """The place of a key."""
        device, _, path = key.partition("/")
        note = self._notes[device].get(path) if device in self._notes else None
        return self._placed.get(key) if note is None else self._position(note)

    def __iter__(self) -> Iterator[str]:
        """Every key once."""
        yield from self._placed
        for device, notes in self._notes.items():
            yield from (f"{device}/{path}" for path in notes)

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._placed) + sum(map(len, self._notes.values()))

    def items(self) -> ItemsView[str, Position]:
        """All keys with their places; what many fields share is looked up once."""
        found: dict[Note, Position] = {}
        out = dict(self._placed)
        for device, notes in self._notes.items():
            for path, note in notes.items():
                if note not in found:
                    found[note] = self._position(note)
                out[f"{device}/{path}"] = found[note]
        return out.items()
