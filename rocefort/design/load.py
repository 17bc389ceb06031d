"""From YAML files to a Fabric and the hardware facts it names; every error has its place."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rocefort.design.document import Document, YamlPath, path_text, read_document
from rocefort.design.nearest import nearest
from rocefort.errors import BadInput, Problem
from rocefort.models.fabric import Fabric
from rocefort.models.hardware import Family, FamilyFile, Hardware, SyntaxFamily
from rocefort.paths import HARDWARE, INVENTORY

M = TypeVar("M", bound=BaseModel)
FABRIC_FILE = "fabric.yaml"
FAMILY_FILE = "families.yaml"


@dataclass(frozen=True)
class Loaded:
    """A Fabric with the document that it was read from, for positions."""

    fabric: Fabric
    document: Document

    def problem(self, path: YamlPath, what: str, how: str = "") -> Problem:
        """One problem at a YAML path."""
        position = self.document.at(path)
        return Problem(f"{position}: {path_text(path)}", what, how, position.line)


@dataclass(frozen=True)
class Catalogue:
    """Hardware by model and syntax families by name."""

    hardware: Mapping[str, Hardware]
    families: Mapping[SyntaxFamily, Family]


def find_fabric(name: Path) -> Path:
    """Accept a file, a directory with fabric.yaml in it, or a name under inventory/."""
    for candidate in (name, INVENTORY / name):
        if candidate.is_dir():
            return shortest(candidate / FABRIC_FILE)
        if candidate.is_file():
            return shortest(candidate)
    known = sorted(path.parent.name for path in INVENTORY.glob(f"*/{FABRIC_FILE}"))
    raise BadInput(
        "no such fabric",
        where=str(name),
        how=f"name a {FABRIC_FILE}, its directory, or one of: {', '.join(known)}",
    )


def shortest(path: Path) -> Path:
    """The path as a person in the current directory would type it."""
    absolute = path.absolute()
    here = Path.cwd()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else path


def load_fabric(name: Path) -> Loaded:
    """Read a fabric; raises BadInput with all problems of its shape and types together."""
    document = read_document(find_fabric(name))
    return Loaded(validate(Fabric, document), document)


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


@cache
def load_catalogue(directory: Path = HARDWARE) -> Catalogue:
    """Read hardware facts and syntax families; a site adds a switch by adding a file."""
    file = directory / FAMILY_FILE
    families = {f.name: f for f in validate(FamilyFile, read_document(file)).families}
    hardware = {}
    for path in sorted(directory.glob("*.yaml")):
        if path.name != FAMILY_FILE:
            one = validate(Hardware, read_document(path))
            hardware[one.model] = one
    return Catalogue(hardware, families)


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
