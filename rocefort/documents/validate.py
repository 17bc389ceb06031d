"""Check a YAML document against a model: all problems together, each with its place."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rocefort.documents.nearest import nearest
from rocefort.documents.read import Document, YamlPath, path_text
from rocefort.errors import BadInput, Problem

M = TypeVar("M", bound=BaseModel)

LONGEST_SHOWN = 60  # characters of a wrong value that an error repeats
WHOLE_NUMBER = ("int_parsing", "int_type", "int_from_float", "int_parsing_size")
NUMBER = ("float_parsing", "float_type", "finite_number")
UNITS = {"kbytes": "kbytes", "ms": "milliseconds", "s": "seconds", "us": "microseconds"}
UNITS |= {"m": "metres", "gbps": "Gb/s"}  # by the last word of a key
EXPECTED = {  # pydantic's words name Python's types
    "model_type": "write keys and values, indented below it",
    "dict_type": "write keys and values, indented below it",
    "tuple_type": "write a list: [first, second], or lines that begin with `- `",
    "ip_v4_network": "write a network, such as 10.1.0.0/22: no bit set behind its length",
    "string_type": "write text; in quotes if it looks like a number",
}


def validate(model: type[M], document: Document) -> M:
    """Check a document against a model; problems carry file, line, column and path."""
    try:
        valid = model.model_validate(document.data)
    except ValidationError as error:
        details = sorted(
            error.errors(include_url=False),
            key=lambda detail: document.key_at(_yaml_path(detail["loc"])).line,
        )
        raise BadInput(problems=[_problem(document, model, d) for d in details]) from None
    if problems := [_no_number(document, path) for path in _booleans(document.data, valid)]:
        raise BadInput(problems=problems)
    return valid


def _booleans(data: object, valid: object, path: YamlPath = ()) -> Iterator[YamlPath]:
    """Paths of `true` and `false` that the model has taken for 1 and 0, as Python would."""
    if isinstance(data, bool) and not isinstance(valid, bool):
        yield path
    elif isinstance(data, list) and isinstance(valid, tuple):
        for index, (item, one) in enumerate(zip(data, valid, strict=False)):
            yield from _booleans(item, one, (*path, index))
    elif isinstance(data, dict) and isinstance(valid, BaseModel | dict):
        values = valid if isinstance(valid, dict) else vars(valid)
        for key, item in data.items():
            yield from _booleans(item, values.get(key), (*path, key))


def _no_number(document: Document, path: YamlPath) -> Problem:
    where = f"{document.at(path)}: {path_text(path)}"
    return Problem(where, "true and false are no numbers", "write a number")


def _problem(document: Document, model: type[BaseModel], detail: ErrorDetails) -> Problem:
    path = _yaml_path(detail["loc"])
    kind = detail["type"]
    if kind == "extra_forbidden":
        how = nearest(str(path[-1]), _fields_at(model, path[:-1]))
        where = f"{document.key_at(path)}: {path_text(path)}"
        return Problem(where, f"unknown key {str(path[-1])!r}", how)
    where = f"{document.at(path)}: {path_text(path)}"
    if kind == "missing":
        return Problem(where, f"{str(path[-1])!r} is missing", "add it")
    if kind == "value_error":
        what, _, how = str(detail["ctx"]["error"]).partition("; ")
        return Problem(where, what, how)
    shown = _shown(detail["input"])
    if kind == "too_short" and not detail["input"]:
        return Problem(where, f"{str(path[-1])!r} is empty", "give at least one")
    if kind in WHOLE_NUMBER or kind in NUMBER:
        number = "whole number" if kind in WHOLE_NUMBER else "number"
        return Problem(where, f"{shown} is not a {number}", f"write the number alone{_unit(path)}")
    return Problem(where, f"{shown} cannot be used", EXPECTED.get(kind) or _plain(detail["msg"]))


def _shown(value: object) -> str:
    """A value as one reads it in a sentence: whole lists and mappings only by their kind."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    text = str(value)
    return repr(value if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..")


def _unit(path: YamlPath) -> str:
    """`, in kbytes` where the key says so."""
    unit = UNITS.get(str(path[-1]).rpartition("_")[2]) if path and "_" in str(path[-1]) else None
    return f", in {unit}" if unit else ""


def _plain(message: str) -> str:
    return message[:1].lower() + message[1:]


def _yaml_path(loc: Iterable[str | int]) -> YamlPath:
    """Pydantic's location without the word that names no place in the file."""
    return tuple(part for part in loc if part != "[key]")


def _fields_at(model: Any, path: YamlPath) -> list[str]:  # noqa: ANN401 - walks annotations
    for part in path:
        if isinstance(part, str) and isinstance(model, type) and issubclass(model, BaseModel):
            model = model.model_fields[part].annotation
        model = _inner(model)
    return list(model.model_fields) if hasattr(model, "model_fields") else []


def _inner(annotation: Any) -> Any:  # noqa: ANN401
    """The model inside tuple[M, ...], dict[str, M], M | None, Annotated[M, ..]."""
    arguments = typing.get_args(annotation)
    if not arguments:
        return annotation
    models = [_inner(a) for a in arguments if a not in (type(None), Ellipsis, types.NoneType)]
    found = [m for m in models if isinstance(m, type) and issubclass(m, BaseModel)]
    return found[-1] if found else annotation
