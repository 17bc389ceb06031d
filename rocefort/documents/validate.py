"""Check a YAML document against a model: all problems together, each with its place."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rocefort.documents.nearest import nearest
from rocefort.documents.read import Document, YamlPath, path_text
from rocefort.errors import BadInput, Problem

M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], document: Document) -> M:
    """Check a document against a model; problems carry file, line, column and path."""
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        details = sorted(
            error.errors(include_url=False),
            key=lambda detail: document.key_at(_yaml_path(detail["loc"])).line,
        )
        raise BadInput(problems=[_problem(document, model, d) for d in details]) from None


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
    return Problem(where, f"{detail['input']!r} cannot be used", _plain(detail["msg"]))


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
