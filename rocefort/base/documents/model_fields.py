"""Fields, types and bounds of a pydantic model at a path of its document."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rocefort.base.documents.read import YamlPath
from rocefort.models.wording import VALUE, WHY

BOUND_NAMES = ("ge", "gt", "le", "lt")


def keys_at(model: object, path: YamlPath) -> list[str]:
    """Return valid keys at a path; of a union those of all its members."""
    return [name for one in types_at(model, path) if is_model(one) for name in one.model_fields]


def fields_at(model: object, path: YamlPath) -> list[FieldInfo]:
    """Return the field of the value at a path; of a union those of all its members."""
    owners = filter(is_model, types_at(model, path[:-1])) if path else ()
    return [field for owner in owners if (field := owner.model_fields.get(str(path[-1])))]


def types_at(model: object, path: YamlPath) -> list[Any]:
    """Return the types of the value at a path; of a union its members."""
    annotations = [model]
    for part in path:
        annotations = [below for one in annotations for below in _below(one, part)]
    return [one for kind in annotations for one in members(kind)]


def items_of(kinds: Iterable[object], *, of_key: bool = False) -> Iterator[object]:
    """Yield the types of the items of lists and mappings, or of the keys."""
    for kind in kinds:
        if arguments := typing.get_args(kind):
            is_dict = typing.get_origin(kind) is dict
            yield arguments[0 if of_key or not is_dict else 1]


def marks(annotation: object) -> Iterator[object]:
    """Yield the constraints and notes in Annotated[..] and in the members of a union."""
    if isinstance(annotation, FieldInfo):
        yield from annotation.metadata
        yield from marks(annotation.annotation)
    elif typing.get_origin(annotation) is typing.Annotated:
        for mark in typing.get_args(annotation)[1:]:
            yield from marks(mark) if isinstance(mark, FieldInfo) else (mark,)
    else:
        for member in typing.get_args(annotation):
            yield from marks(member)


def bounds_of(annotation: object) -> dict[str, Any]:
    """Return bounds of a number: `ge`, `le`, `gt` and `lt` with their values."""
    return {
        n: getattr(mark, n) for mark in marks(annotation) for n in BOUND_NAMES if hasattr(mark, n)
    }


def name_of_values(annotation: object) -> tuple[str, str]:
    """Return the name of a bounded value and its reason: `a VLAN`; "" without one."""
    extra = annotation.json_schema_extra if isinstance(annotation, FieldInfo) else None
    if isinstance(extra, dict) and VALUE in extra:
        return str(extra[VALUE]), str(extra[WHY])
    below = annotation.annotation if isinstance(annotation, FieldInfo) else None
    inner = map(name_of_values, (below,) if below else typing.get_args(annotation))
    return next((named for named in inner if named[0]), ("", ""))


def members(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 - annotations have no type
    """Yield the types in Annotated[M, ..] and unions."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        yield from members(typing.get_args(annotation)[0])
    elif origin in (typing.Union, types.UnionType):
        for one in typing.get_args(annotation):
            yield from members(one)
    else:
        yield annotation


def is_model(annotation: object) -> typing.TypeGuard[type[BaseModel]]:
    """Whether a type is a model."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _below(annotation: object, part: str | int) -> Iterator[object]:
    """Yield annotations one part of a path below another."""
    for one in members(annotation):
        arguments = typing.get_args(one)
        if is_model(one):
            field = one.model_fields.get(str(part))
            yield from (field.annotation,) if field else ()
        elif arguments:  # dict[key, M], tuple[M, ...]
            yield arguments[1 if typing.get_origin(one) is dict else 0]
