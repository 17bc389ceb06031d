"""Effect of a command-table row on a Device: `drr[{0-7}].weight={1-100}`, compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.command import SYSTEM, Row
from rocefort.models.base import Frozen
from rocefort.models.device.device import Device
from rocefort.models.effect import content_of, key_field_of

HERE = "."  # a view that fills the same part as its outer view
UNDO = "undo"  # as a word, it begins the line
CHANGES = {"=": "set", "+=": "add", "-=": "take", None: ""}
BOOLEANS = {"yes": True, "no": False}
BINDING = re.compile(r"(?:(?P<negated>!?)(?P<word>\S+)\? )?(?P<assignments>.+)")
ASSIGNMENT = re.compile(r"(?P<path>[^=+]+?)(?:(?P<sign>[-+]?=)(?P<value>.+))?")
KEY = re.compile(r"\[[^][]+\]")
STEP = re.compile(r"(?<!\w)(?P<name>\w+)(?:\[(?P<key>[^][]+)\])?(?:\.|$)")


@dataclass(frozen=True, slots=True)
class Value:
    """An argument of the line, by name, or a constant, which also replaces an omitted argument."""

    argument: str
    constant: object
    type: object  # of the field


@dataclass(frozen=True, slots=True)
class FieldStep:
    """A step to a nested field: a nested model, or a row of a collection by its key."""

    name: str
    key: Value | None
    key_field: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """A line's value for one field; without a value, the line creates the last row."""

    steps: tuple[FieldStep, ...]
    field: str
    change: str  # set, add or take
    value: Value


@dataclass(frozen=True, slots=True)
class FieldBinding:
    """Assignments; `word`: only where the line's choice is that word, or, negated, is not.

    A binding of the word `undo` applies to the undo of the command, where a switch saves it.
    """

    word: str
    negated: bool
    assignments: tuple[Assignment, ...]


@cache
def models_of_views() -> Mapping[str, type[Frozen]]:
    """Return the model that the commands of each view fill."""
    models: dict[str, type[Frozen]] = {SYSTEM: Device}
    openers = [row for rows in rows_by_view().values() for row in rows if row.opens and row.sets]
    while some := [row for row in openers if row.view in models and row.opens not in models]:
        for row in some:
            models[row.opens] = _opened_model(models[row.view], row.sets[0])
    return models


def bindings_of(row: Row) -> tuple[FieldBinding, ...]:
    """Return a row's bindings, by the model of its view; raises TypeError for an unknown field."""
    return tuple(_binding(models_of_views()[row.view], text) for text in row.sets)


def fields_of(row: Row) -> Iterator[str]:
    """Yield Device fields that a row fills, relative to its view: `drr[].weight`, `vlans[]`."""
    for match in _assignments_of(row):
        rows = "[]" if CHANGES[match["sign"]] in ("add", "take") else ""
        yield KEY.sub("[]", match["path"]) + rows


def opened_by(row: Row) -> str:
    """Return the field that an opened view fills, relative to its own: `interfaces[]`, or empty."""
    for match in _assignments_of(row):
        path = KEY.sub("[]", match["path"])
        return path.rpartition(".")[0] if match["sign"] else path
    return ""


def _assignments_of(row: Row) -> Iterator[re.Match[str]]:
    for binding in row.sets:
        for assignment in binding.split("? ")[-1].split(" "):
            if assignment != HERE:
                yield _matched(ASSIGNMENT, assignment)


def _opened_model(model: type[Frozen], binding: str) -> type[Frozen]:
    """Return the model that contains the first field of a binding."""
    first = binding.rsplit("? ", maxsplit=1)[-1].split(" ", maxsplit=1)[0]
    for match in STEP.finditer(first.partition("=")[0] if first != HERE else ""):
        inner = _field_type(model, match["name"])
        model = inner if isinstance(inner, type) and issubclass(inner, Frozen) else model
    return model


def _binding(model: type[Frozen], text: str) -> FieldBinding:
    match = _matched(BINDING, text)
    some = () if match["assignments"] == HERE else match["assignments"].split(" ")
    return FieldBinding(
        match["word"] or "",
        bool(match["negated"]),
        tuple(_assignment(model, assignment) for assignment in some),
    )


def _assignment(model: type[Frozen], text: str) -> Assignment:
    match = _matched(ASSIGNMENT, text)
    names = list(STEP.finditer(match["path"]))
    field = names.pop()["name"] if match["sign"] else ""
    steps = []
    for step in names:
        inner = _field_type(model, step["name"])
        if not isinstance(inner, type) or not issubclass(inner, Frozen):
            raise TypeError(f"{text!r}: {step['name']} holds no fields")
        model, key, key_field = inner, None, ""
        if step["key"]:
            key_field = key_field_of(model)
            key = _value(step["key"], _field_type(model, key_field))
        steps.append(FieldStep(step["name"], key, key_field))
    value = _value(match["value"] or "", _field_type(model, field) if field else None)
    return Assignment(tuple(steps), field, CHANGES[match["sign"]], value)


def _matched(expression: re.Pattern[str], text: str) -> re.Match[str]:
    match = expression.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no binding; see rocefort/dialects/vrp/commands/command.py")
    return match


def _field_type(model: type[Frozen], name: str) -> object:
    """Return the type of a field, or of the rows of a collection."""
    if name not in model.model_fields:
        raise TypeError(f"{model.__name__} has no field {name}")
    return content_of(model.model_fields[name].annotation)[0]


def _value(text: str, kind: object) -> Value:
    argument, constant = "", text
    if text.startswith("{"):
        argument, _, constant = text[1:-1].partition("|")
    return Value(argument, BOOLEANS.get(constant, constant or None), kind)
