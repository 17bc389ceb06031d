"""Validate a YAML document by a model, with all problems at once, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from napalm_cloudengine.masking import mask_logins
from rocefort.base.documents.read import Document, YamlPath, path_text
from rocefort.base.documents.repair import related, remove, renamed, repair, value_at
from rocefort.base.documents.schema import (
    bounds_of,
    fields_at,
    items_of,
    keys_at,
    name_of_values,
    types_at,
)
from rocefort.base.documents.secret_lines import sounds_secret
from rocefort.base.documents.suggest import near, nearest
from rocefort.base.errors import BadInput, Problem
from rocefort.models.wording import BOUND_WORDS, in_range

M = TypeVar("M", bound=BaseModel)

ROUNDS = 4  # of repairs: a check of an item follows those of its values
LONGEST_SHOWN = 60  # characters of a wrong value that an error shows
WHOLE_NUMBER = ("int_parsing", "int_type", "int_from_float", "int_parsing_size")
NUMBER = ("float_parsing", "float_type", "finite_number")
UNITS = {"kbytes": "kbytes", "ms": "milliseconds", "s": "seconds", "us": "microseconds"}
UNITS |= {"m": "metres", "gbps": "Gb/s"}  # by the last word of a key
BOUNDS = ("greater_than_equal", "greater_than", "less_than_equal", "less_than")
ADDRESS = ("ip_v4_address", "ip_v4_interface")
COMMA = re.compile(r"\d+,\d+", re.ASCII)
CHOICES = re.compile(r"'([^']*)'")
LONGEST_PREFIX, HIGHEST_OCTET = 32, 255  # of IPv4
EXPECTED = {  # pydantic's messages name Python's types
    "model_type": "write keys and values, indented below it",
    "dict_type": "write keys and values, indented below it",
    "tuple_type": "write a list: [first, second], or lines that begin with `- `",
    "ip_v4_address": "write an address without a length, such as 10.0.0.1",
    "ip_v4_interface": "write an address with its length, such as 10.65.1.1/24",
    "string_type": "write text; in quotes if it looks like a number",
    "path_type": "write the path of a file",
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
}


@dataclass(frozen=True)
class Examined(Generic[M]):
    """Problems of a document, and the rest of it.

    copies: the model and its document. A document with problems has two copies with other values
    in place of the wrong ones, or none if that is not possible. replaced: paths of these values.
    """

    problems: tuple[Problem, ...]
    copies: tuple[tuple[M, Document], ...]
    replaced: frozenset[YamlPath] = frozenset()


@dataclass(frozen=True)
class _Fault:
    """Problem of a document with its path; of an unknown key, the key that it should be."""

    path: YamlPath
    problem: Problem
    unknown: bool = False
    rename: str | None = None


def validate(model: type[M], document: Document) -> M:
    """Validate a document by a model; raises BadInput with all its problems."""
    examined = examine(model, document)
    if examined.problems:
        raise BadInput(problems=examined.problems)
    return examined.copies[0][0]


def examine(model: type[M], document: Document) -> Examined[M]:
    """Validate a document; one wrong value does not hide the problems of others."""
    valid, _ = _attempt(model, document)
    if valid is not None:
        return Examined((), ((valid, document),))
    problems: dict[Problem, int] = {}
    replaced: set[YamlPath] = set()
    sides = [replace(document, data=deepcopy(document.data)) for _ in range(2)]
    for _ in range(ROUNDS):
        attempts = [_attempt(model, side) for side in sides]
        both = {fault.problem for fault in attempts[1][1]}
        for fault in attempts[0][1]:
            if fault.problem in both and not related(fault.path, replaced):
                problems.setdefault(fault.problem, fault.problem.line)
        first, second = (attempt[0] for attempt in attempts)
        if first is not None and second is not None:
            break
        every = {fault.path: fault for _, faults in attempts for fault in faults}
        keys = {path: fault.rename for path, fault in every.items() if fault.rename}
        wrong = sorted(every.keys() - keys.keys(), key=len)
        for number, side in enumerate(sides):
            for path in wrong:
                _remove_fault(side, model, every[path], number)
        sides = [renamed(side, keys) for side in sides] if keys else sides
        replaced.update(wrong)
    copies = ((first, sides[0]), (second, sides[1])) if first and second else ()
    ordered = sorted(problems, key=problems.__getitem__)
    return Examined(tuple(ordered), copies, frozenset(replaced))


def _attempt(model: type[M], document: Document) -> tuple[M | None, list[_Fault]]:
    """Return the valid model, or the faults of a document in the order of the file."""
    try:
        valid = model.model_validate(document.data)
    except ValidationError as error:
        details = list(_without_echoes(error.errors(include_url=False)))
        faults = [_fault(document, model, detail) for detail in details]
        renamed_to = {(*f.path[:-1], f.rename) for f in faults if f.rename}
        faults = [f for f in faults if f.unknown or f.path not in renamed_to]
        return None, sorted(faults, key=lambda fault: document.key_at(fault.path).line)
    misread = _misread(document.data, valid)
    faults = [_Fault(path, document.problem(path, what, how)) for path, what, how in misread]
    return (None if faults else valid), faults


def _fault(document: Document, model: type[BaseModel], detail: ErrorDetails) -> _Fault:
    path = _yaml_path(detail, document.data)
    unknown = detail["type"] == "extra_forbidden"
    rename = None
    if unknown:
        rename = near(str(path[-1]), _absent_keys(document, model, path))
    return _Fault(path, _problem(document, model, detail), unknown, rename)


def _absent_keys(document: Document, model: type[BaseModel], path: YamlPath) -> list[str]:
    """Return valid keys beside a path that the document does not have."""
    given = value_at(document.data, path[:-1])
    keys = keys_at(model, path[:-1])
    return [key for key in keys if isinstance(given, dict) and key not in given]


def _remove_fault(document: Document, model: type[BaseModel], fault: _Fault, copy: int) -> None:
    """Remove an unknown key from a copy of a document, or replace a wrong value."""
    if fault.unknown:
        remove(document.data, fault.path)
    elif fault.path:
        repair(document.data, model, fault.path, copy)


def _without_echoes(details: Sequence[ErrorDetails]) -> Iterator[ErrorDetails]:
    """Leave out lists that are too short only because one of their items is a problem."""
    for detail in details:
        location = detail["loc"]
        inside = (d["loc"] for d in details if len(d["loc"]) > len(location))
        if detail["type"] != "too_short" or all(loc[: len(location)] != location for loc in inside):
            yield detail


def _misread(
    data: object, valid: object, path: YamlPath = ()
) -> Iterator[tuple[YamlPath, str, str]]:
    """Yield values that the model read as another type, as Python does: path, what, how."""
    if isinstance(data, list) and isinstance(valid, tuple):
        for index, (item, one) in enumerate(zip(data, valid, strict=False)):
            yield from _misread(item, one, (*path, index))
    elif isinstance(data, dict) and isinstance(valid, BaseModel | dict):
        values = valid if isinstance(valid, dict) else vars(valid)
        for key, item in data.items():
            yield from _misread(item, values.get(key), (*path, key))
    elif isinstance(data, bool) and not isinstance(valid, bool):
        yield path, "true and false are no numbers", "write a number"
    elif isinstance(data, int) and isinstance(valid, IPv4Address | IPv4Network):
        yield (
            path,
            f"{_value_text(data)} is not an address",
            "write its four numbers, as in 10.0.0.1",
        )
    elif (
        isinstance(data, str) and "/" not in data and isinstance(valid, IPv4Interface | IPv4Network)
    ):
        what = f"{_value_text(data)} has no prefix length"
        yield path, what, "write it behind the address: /24, say; /32 is one address"


def _problem(document: Document, model: type[BaseModel], detail: ErrorDetails) -> Problem:
    path = _yaml_path(detail, document.data)
    kind = detail["type"]
    if problem := _key_problem(document, model, path, detail):
        return problem
    if kind == "value_error":
        what, _, how = str(detail["ctx"]["error"]).partition("; ")
        return document.problem(path, what, how)
    return document.problem(path, *_value_problem(model, path, detail))


def _value_problem(model: type[BaseModel], path: YamlPath, detail: ErrorDetails) -> tuple[str, str]:
    """Return what is wrong with a value, and its fix."""
    kind, given = detail["type"], detail["input"]
    shown = "this value" if sounds_secret(path_text(path)) else _value_text(given)
    what, how = f"{shown} cannot be used", EXPECTED.get(kind) or _plain(detail["msg"])
    if kind == "too_short" and not given:
        what, how = f"{str(path[-1])!r} is empty", "give at least one"
    elif kind == "too_long":
        count, most = detail["ctx"]["actual_length"], detail["ctx"]["max_length"]
        what, how = f"{str(path[-1])!r} has {count} items", f"give at most {most}"
    elif kind in WHOLE_NUMBER or kind in NUMBER:
        number = "whole number" if kind in WHOLE_NUMBER else "number"
        what, how = f"{shown} is not a {number}", f"write the number alone{_unit(path)}"
        if kind in NUMBER and COMMA.fullmatch(str(given)):
            how = f"write {str(given).replace(',', '.')}, with a point"
    elif kind in BOUNDS:
        what, how = f"{shown} is out of range", _range(model, path, detail)
    elif kind == "ip_v4_network":
        what, how = _network_problem(given, shown)
    elif kind in ADDRESS and any(map(_is_no_octet, str(given).partition("/")[0].split("."))):
        what = f"{shown} has a number above {HIGHEST_OCTET}"
    elif kind == "string_type" and isinstance(given, list):
        how = "write one value, without brackets"
    elif kind in ("literal_error", "enum"):
        how = nearest(str(given), CHOICES.findall(str(detail["ctx"]["expected"])))
    return what, how


def _range(model: type[BaseModel], path: YamlPath, detail: ErrorDetails) -> str:
    """Return the fix of a number that is out of range: both bounds of its field, with the unit."""
    fields: list[Any] = [*fields_at(model, path)]
    if not fields:  # of a list or a mapping
        of_key = detail["loc"][-1:] == ("[key]",)
        fields = [*items_of(types_at(model, path[:-1]), of_key=of_key)]
    bounds = {name: bound for field in fields for name, bound in bounds_of(field).items()}
    bounds |= {name: bound for name, bound in detail["ctx"].items() if name in BOUND_WORDS}
    value, why = next((name for name in map(name_of_values, fields) if name[0]), ("", ""))
    return f"write {in_range(value, why, bounds, _unit(path).removeprefix(', in '))}"


def _network_problem(value: object, shown: str) -> tuple[str, str]:
    """Return what is wrong with a network, and its fix."""
    example = "write a network, such as 10.1.0.0/22"
    if not isinstance(value, str):
        return f"{shown} cannot be used", example
    address, _, length = value.partition("/")
    if length.isdecimal() and int(length) > LONGEST_PREFIX:
        return f"{shown} has a length above {LONGEST_PREFIX}", example
    parts = address.split(".")
    if any(map(_is_no_octet, parts)):
        return f"{shown} has a number above {HIGHEST_OCTET}", example
    try:
        network = IPv4Network(value, strict=False)
    except ValueError:
        return f"{shown} is not a network", example
    return f"{shown} has bits set behind its length", f"its network is {network}"


def _is_no_octet(part: str) -> bool:
    return part.isdecimal() and int(part) > HIGHEST_OCTET


def _key_problem(
    document: Document, model: type[BaseModel], path: YamlPath, detail: ErrorDetails
) -> Problem | None:
    """Return the problem of an unknown or missing key or `kind`; None for other problems."""
    if detail["type"] == "extra_forbidden":
        key, keys = str(path[-1]), keys_at(model, path[:-1])
        absent = _absent_keys(document, model, path)
        how = nearest(key, absent if near(key, absent) else keys)
        return document.problem(path, f"unknown key {str(path[-1])!r}", how, of_key=True)
    if detail["type"] == "missing":
        fields = (field for field in fields_at(model, path) if field.examples)
        example = next((_example(path, field.examples) for field in fields), "")
        return document.problem(path, f"{str(path[-1])!r} is missing", f"add it{example}")
    if detail["type"] not in ("union_tag_invalid", "union_tag_not_found"):
        return None
    key = str(detail["ctx"]["discriminator"]).strip("'")
    path = (*path, key)
    if detail["type"] == "union_tag_not_found":
        return document.problem(path, f"{key!r} is missing", "add it")
    tags = [name.strip(" '") for name in detail["ctx"]["expected_tags"].split(",")]
    tag = str(detail["ctx"]["tag"])
    return document.problem(path, f"there is no {key} {_value_text(tag)}", nearest(tag, tags))


def _example(path: YamlPath, examples: list[Any] | None) -> str:
    """Return an example of a key, if it is one word: `, for example mtu: 9000`."""
    one = examples[0] if examples else {}
    return "" if isinstance(one, dict | list) else f", for example {path[-1]}: {one}"


def _value_text(value: object) -> str:
    """Return a value as text; lists and mappings only by their type."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    value = mask_logins(value) if isinstance(value, str) else value  # a cut could hide its end
    text = str(value)
    return repr(value if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..")


def _unit(path: YamlPath) -> str:
    """Return the unit in a key: `, in kbytes`; else nothing."""
    unit = UNITS.get(str(path[-1]).rpartition("_")[2]) if path and "_" in str(path[-1]) else None
    return f", in {unit}" if unit else ""


def _plain(message: str) -> str:
    return message[:1].lower() + message[1:]


def _yaml_path(detail: ErrorDetails, data: object) -> YamlPath:
    """Return pydantic's location without the words that are not in the file.

    Those are the mark of a mapping's key, and the member of a union.
    """
    out: list[str | int] = []
    *inner, last = detail["loc"] or ("",)
    for part in inner:
        if isinstance(data, dict) and part not in data:
            continue
        out.append(part)
        data = _item(data, part)
    is_place = not isinstance(data, dict) or last in data or detail["type"] == "missing"
    return (*out, last) if detail["loc"] and last != "[key]" and is_place else tuple(out)


def _item(data: object, part: str | int) -> object:
    """Return the value at one part of a path; None if there is none."""
    if isinstance(data, dict):
        return data.get(part)
    inside = isinstance(data, list) and isinstance(part, int) and part < len(data)
    return data[part] if isinstance(data, list) and isinstance(part, int) and inside else None
