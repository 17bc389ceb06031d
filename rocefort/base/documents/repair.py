"""Two copies of a document whose wrong values are replaced by valid ones.

The rest of a document with problems is checked on both. A problem that both copies have does not
follow from a value that was replaced.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rocefort.base.documents.read import Document, YamlPath
from rocefort.base.documents.schema import bounds_of, fields_at, is_model, members, types_at

NOTHING = object()
FAR = 1000  # from one bound of a number without the other
OF_TYPE: Mapping[object, tuple[object, object]] = {
    bool: (True, False),
    str: ("a1", "a2"),
    Path: ("a1", "a2"),
    IPv4Address: ("192.0.2.1", "192.0.2.2"),
    IPv4Interface: ("192.0.2.1/28", "198.51.100.1/28"),
    IPv4Network: ("192.0.2.0/28", "198.51.100.0/28"),
}


def related(path: YamlPath, broken: set[YamlPath]) -> bool:
    """Whether a path is at or below one of a set."""
    return any(path[:length] in broken for length in range(1, len(path) + 1))


def repair(data: object, model: type[BaseModel], path: YamlPath, copy: int) -> None:
    """Replace the value at a path by a valid one; remove it if there is none.

    copy: 0 or 1; the values of the two copies differ.
    """
    owner = value_at(data, path[:-1])
    given = value_at(data, path)
    valid = _valid(model, path, copy)
    if isinstance(valid, list) and given is not NOTHING and _is_scalar(given):
        valid = [given]  # one item without its brackets
    elif isinstance(given, dict) and isinstance(valid, dict):
        valid |= {key: one for key, one in given.items() if key in valid and _is_scalar(one)}
    if isinstance(owner, dict) and valid is NOTHING:
        remove(data, path)
    elif isinstance(owner, dict) or (isinstance(owner, list) and given is not NOTHING):
        owner[path[-1]] = None if valid is NOTHING else valid  # type: ignore[index]


def remove(data: object, path: YamlPath) -> None:
    """Remove a key of a mapping."""
    owner = value_at(data, path[:-1])
    if isinstance(owner, dict):
        owner.pop(path[-1], None)


def renamed(document: Document, keys: Mapping[YamlPath, str]) -> Document:
    """Return a document whose data and positions are those after keys are renamed.

    keys: the new key by the path of the old one.
    """
    for path in sorted(keys, key=len, reverse=True):
        owner = value_at(document.data, path[:-1])
        if isinstance(owner, dict):
            items = [(keys[path] if name == path[-1] else name, owner[name]) for name in owner]
            owner.clear()
            owner.update(items)

    def moved(path: YamlPath) -> YamlPath:
        return tuple(keys.get(path[: end + 1], part) for end, part in enumerate(path))

    return replace(
        document,
        values={moved(path): mark for path, mark in document.values.items()},
        keys={moved(path): mark for path, mark in document.keys.items()},
    )


def value_at(data: object, path: YamlPath) -> object:
    """Return the value at a path; NOTHING if there is none."""
    for part in path:
        if not isinstance(data, dict | list):
            return NOTHING
        inside = part in data if isinstance(data, dict) else part in range(len(data))
        if not inside:
            return NOTHING
        data = data[part]  # type: ignore[index]
    return data


def _is_scalar(value: object) -> bool:
    return not isinstance(value, dict | list)


def _valid(model: type[BaseModel], path: YamlPath, copy: int) -> object:
    for field in fields_at(model, path):
        if (valid := _of_field(field, copy)) is not NOTHING:
            return valid
    every = (_of_type(one, copy) for one in types_at(model, path))
    return next((valid for valid in every if valid is not NOTHING), NOTHING)


def _of_field(field: FieldInfo, copy: int) -> object:
    """Return a value of a field: its example, or one within its bounds or of its type."""
    if field.examples and _is_scalar(example := field.examples[0]):
        return example if copy == 0 else _other(example)
    return _of_type(field.annotation, copy, bounds_of(field))


def _other(example: object) -> object:
    """Return a value like an example: a text with another number at its end."""
    if isinstance(example, bool) or not isinstance(example, str):
        return example + 1 if isinstance(example, int) else example
    number = re.search(r"\d+(?=\D*$)", example)
    if number is None:
        return f"{example}2"
    return f"{example[: number.start()]}{int(number[0]) + 1}{example[number.end() :]}"


def _of_type(
    annotation: Any,  # noqa: ANN401 - annotations have no type
    copy: int,
    bounds: Mapping[str, Any] | None = None,
) -> object:
    bounds = bounds or bounds_of(annotation)
    every = (_of_member(one, bounds, copy) for one in members(annotation) if one is not type(None))
    return next((value for value in every if value is not NOTHING), NOTHING)


def _of_member(kind: Any, bounds: Mapping[str, Any], copy: int) -> object:  # noqa: ANN401 - same
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    value: object = NOTHING
    if origin is typing.Literal:
        value = arguments[-copy]
    elif origin is dict:
        value = {}
    elif origin is tuple:
        item = _of_type(arguments[0], copy)
        value = [] if item is NOTHING else [item]
    elif is_model(kind):
        value = dict(_of_model(kind, copy))
    elif isinstance(kind, type) and issubclass(kind, Enum):
        value = list(kind)[-copy].value
    elif kind in (int, float):
        value = _number(kind, bounds, copy)
    elif kind in OF_TYPE:
        value = OF_TYPE[kind][copy]
    return value


def _of_model(model: type[BaseModel], copy: int) -> Iterator[tuple[str, object]]:
    """Yield required fields, and those with an example, of a model."""
    for name, field in model.model_fields.items():
        scalar = bool(field.examples) and _is_scalar(field.examples[0])  # type: ignore[index]
        if field.is_required() or scalar:
            yield name, _of_field(field, copy)


def _number(kind: type, bounds: Mapping[str, Any], copy: int) -> object:
    low = bounds.get("ge", bounds.get("gt", 0) + 1)
    high = bounds.get("le", low + FAR if "lt" not in bounds else bounds["lt"] - 1)
    return kind(high if copy else min(low, high))
