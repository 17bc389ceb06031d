"""Check JSON against a JSON Schema with the keywords that Rocefort's schemas use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

# Keywords that do not constrain data.
NOTES = {
    "$defs",
    "$id",
    "$schema",
    "discriminator",
    "title",
    "description",
    "default",
    "examples",
    "format",
    "x-value",
    "x-why",
}
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def is_a(kind: str, data: object) -> bool:
    """Return whether a value has a JSON type; Python's true is a number, JSON's is not."""
    return isinstance(data, TYPES[kind]) and (kind == "boolean" or not isinstance(data, bool))


# In the order of the checks; the type is first, because the others rely on it.
KEYWORDS: dict[str, Callable[[Any, Any], bool]] = {
    "type": lambda data, kind: is_a(kind, data),
    "enum": lambda data, words: data in words,
    "const": lambda data, word: data == word,
    "pattern": lambda data, pattern: re.search(pattern, data) is not None,
    "minLength": lambda data, least: len(data) >= least,
    "maxLength": lambda data, most: len(data) <= most,
    "minItems": lambda data, least: len(data) >= least,
    "maxItems": lambda data, most: len(data) <= most,
    "minProperties": lambda data, least: len(data) >= least,
    "minimum": lambda data, least: data >= least,
    "maximum": lambda data, most: data <= most,
    "exclusiveMinimum": lambda data, bound: data > bound,
    "required": lambda data, names: set(names) <= data.keys(),
}


def refused(schema: Any, data: Any) -> Iterator[str]:
    """Yield paths of values that the schema refuses; raises ValueError for an unknown keyword."""
    yield from _refused(schema, data, schema.get("$defs", {}), "")


def _refused(schema: Any, data: Any, defined: dict[str, Any], at: str) -> Iterator[str]:
    if "$ref" in schema:
        yield from _refused(defined[schema["$ref"].rsplit("/", 1)[1]], data, defined, at)
    if "anyOf" in schema and all(list(_refused(s, data, defined, "")) for s in schema["anyOf"]):
        yield f"{at} anyOf"
    if "oneOf" in schema:
        fitting = [s for s in schema["oneOf"] if not list(_refused(s, data, defined, ""))]
        if len(fitting) != 1:
            yield f"{at} oneOf"
    structure = {"$ref", "anyOf", "oneOf", "items", "prefixItems", "properties"} | {
        "patternProperties",
        "propertyNames",
        "additionalProperties",
    }
    for word in sorted(schema.keys() - NOTES - structure, key=list(KEYWORDS).index):
        if not KEYWORDS[word](data, schema[word]):
            yield f"{at} {word}"
            return
    if isinstance(data, list):
        first = schema.get("prefixItems", [])
        for index, item in enumerate(data):
            own = first[index] if index < len(first) else schema.get("items", {})
            yield from _refused(own, item, defined, f"{at}[{index}]")
    if isinstance(data, dict):
        yield from _refused_keys(schema, data, defined, at)


def _refused_keys(
    schema: Any, data: dict[str, Any], defined: dict[str, Any], at: str
) -> Iterator[str]:
    for key, value in data.items():
        here = f"{at}.{key}".lstrip(".")
        if "propertyNames" in schema:
            yield from _refused(schema["propertyNames"], key, defined, here)
        own = schema.get("properties", {}).get(key)
        matched = [
            part
            for pattern, part in schema.get("patternProperties", {}).items()
            if re.search(pattern, key)
        ]
        if own is None and not matched:
            other = schema.get("additionalProperties", {})
            own = {"enum": []} if other is False else other
        for part in [*matched, *([own] if own is not None else [])]:
            yield from _refused(part, value, defined, here)
