"""Schema of a document: types and bounds at a path of its model, and JSON Schema for editors."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from rocefort import __version__
from rocefort.base.documents.read import YamlPath
from rocefort.models.wording import VALUE, WHY, in_range

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


_ADDRESS = r"\d{1,3}(\.\d{1,3}){3}"
# Formats that JSON Schema does not have.
_PATTERNS = {
    "ipv4network": f"^{_ADDRESS}/[0-9]{{1,2}}$",
    "ipv4interface": f"^{_ADDRESS}/[0-9]{{1,2}}$",
}
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def schema_of(model: type[BaseModel], name: str) -> str:
    """Return the schema as JSON (draft 2020-12), with a final newline; it is deterministic.

    It requires addresses with a length in the usual form, 10.0.0.0/24. The loader also accepts
    other forms.
    """
    head = schema_head(name, f"Rocefort {name}")
    schema = model.model_json_schema(schema_generator=_Schema)
    return json.dumps(_closed(head | {**schema, **head}), indent=2) + "\n"


def schema_head(name: str, title: str) -> dict[str, str]:
    """Return the first keys of a schema: its draft, its id with the version of Rocefort, a title.

    The id is a URN (RFC 8141): it identifies a schema, and nothing is downloaded.
    """
    identity = f"urn:rocefort:schema:{name}:{__version__}"
    return {"$schema": GenerateJsonSchema.schema_dialect, "$id": identity, "title": title}


class _Schema(GenerateJsonSchema):
    """Pydantic's schema without parts that a user of an editor does not need."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - pydantic's hook
        """Leave out titles that repeat the key."""
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Keep defaults that a person could write: words and numbers."""
        generated = super().default_schema(schema)
        if not isinstance(generated.get("default"), (str, int, float)):
            generated.pop("default", None)
        return generated


def _closed(node: Any) -> Any:  # noqa: ANN401 - walks JSON
    """Give address formats a pattern, close maps whose keys have one, and describe ranges."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: _closed(value) for key, value in node.items()}
    if isinstance(out.get("format"), str) and out["format"] in _PATTERNS:
        out["pattern"] = _PATTERNS[out.pop("format")]
    if value := out.pop(VALUE, None):
        every = (out, *out.get("anyOf", ()))
        bounds = {name: one[key] for one in every for name, key in _BOUNDS.items() if key in one}
        range_ = in_range(value, out.pop(WHY, ""), bounds)
        sentence = f"{range_[:1].upper()}{range_[1:]}."
        out["description"] = " ".join(filter(None, (out.get("description"), sentence)))
    if "patternProperties" in out:
        out["additionalProperties"] = False
    return out
