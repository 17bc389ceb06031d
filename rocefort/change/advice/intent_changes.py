"""Difference of two YAML documents, value by value, each with its line on both sides.

Items of a list are identified by their name or id, not by their index. So a new item in the middle
is one change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rocefort.base.documents.read import Document, YamlPath
from rocefort.change.results import IntentChange
from rocefort.models.device.secret import REFERENCE, SECRET_KEYS
from rocefort.models.network.network import Position

# Keys that identify an item of a list: the first one that all items have with unique values.
KEYS = ("name", "id", "rule", "port", "queue", "dscp", "prefix")
LONGEST = 200  # characters of a value that a change shows
HIDDEN = "(hidden: no reference)"
_ABSENT = object()


@dataclass(frozen=True)
class _Side:
    """Value of one side with its YAML path; renamed: as of `document_changes`."""

    document: Document | None
    value: object
    path: YamlPath
    renamed: Mapping[str, str]

    def below(self, key: str | int, value: object) -> _Side:
        """Return the value of a key, or of an item."""
        return replace(self, value=value, path=(*self.path, key))

    @property
    def position(self) -> Position | None:
        """Position of the value; None if it is absent."""
        if self.document is None or self.value is _ABSENT:
            return None
        return self.document.key_at(self.path)


def document_changes(
    before: Document | None, after: Document | None, renamed: Mapping[str, str] | None = None
) -> Iterator[IntentChange]:
    """Yield differences in the order of the second document, then those of the first only.

    None: there is no such document. A mapping or an item that only one side has is one change.
    renamed: name in the second document by path in the first, such as `servers[gpu02]`.
    """
    sides = (_Side(d, d.data if d else _ABSENT, (), renamed or {}) for d in (before, after))
    yield from _changes("", *sides)


def _changes(path: str, old: _Side, new: _Side) -> Iterator[IntentChange]:
    if old.value == new.value and type(old.value) is type(new.value):
        return
    if isinstance(old.value, dict) and isinstance(new.value, dict):
        yield from _mappings(path, old, new)
        return
    if isinstance(old.value, list) and isinstance(new.value, list):
        key = _key_of(old.value + new.value, old.value, new.value)
        if key is not None:
            was = {
                old.renamed.get(f"{path}[{name}]", name): item
                for name, item in _by_key(old.value, key).items()
            }
            will = _by_key(new.value, key)
            for name in (*will, *(name for name in was if name not in will)):
                (i, a), (j, b) = was.get(name, (0, _ABSENT)), will.get(name, (0, _ABSENT))
                yield from _changes(f"{path}[{name}]", old.below(i, a), new.below(j, b))
            return
    yield IntentChange(
        path=path or ".",
        before=_yaml_line(path, old.value),
        after=_yaml_line(path, new.value),
        before_at=_position_text(old.position),
        after_at=_position_text(new.position),
    )


def _mappings(path: str, old: _Side, new: _Side) -> Iterator[IntentChange]:
    was, will = _mapping(old.value), _mapping(new.value)
    for key in (*will, *(key for key in was if key not in will)):
        yield from _changes(
            f"{path}.{key}" if path else str(key),
            old.below(key, was.get(key, _ABSENT)),
            new.below(key, will.get(key, _ABSENT)),
        )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _by_key(value: object, key: str) -> dict[str, tuple[int, object]]:
    items = value if isinstance(value, list) else []
    return {str(item[key]): (index, item) for index, item in enumerate(items)}


def _key_of(items: list[object], *sides: list[object]) -> str | None:
    """Key that identifies items of both lists; None for lists of plain values."""
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    for key in KEYS:
        values = [[str(_mapping(item).get(key)) for item in side] for side in sides]
        has_all = all(key in _mapping(item) for item in items)
        if has_all and all(len(set(names)) == len(names) for names in values):
            return key
    return None


def _yaml_line(path: str, value: object) -> str | None:
    """Return a value as one line of YAML; a path ends with its key."""
    if value is _ABSENT:
        return None
    line = _flow(value, path.rpartition(".")[2])
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}\u2026"


def _flow(value: object, key: str) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_flow(item, str(k))}" for k, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, key) for item in value) + "]"
    if key in SECRET_KEYS and value is not None and not re.fullmatch(REFERENCE, str(value)):
        return HIDDEN
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _position_text(position: Position | None) -> str:
    return f"{position.file}:{position.line}" if position else ""
