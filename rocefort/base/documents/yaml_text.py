"""YAML of new values: scalars in the quotes that they need, mappings in braces or as blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import yaml

from rocefort.base.documents.read import document_of
from rocefort.base.errors import BadInput

Item = Mapping[str, object]
LONGEST_FLOW = 100  # characters of a line with a new mapping in braces
NOTHING = object()  # equal to no value
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./+@*-]*", re.ASCII)  # needs no quotes anywhere


def data_of(copied: str, column: int) -> object:
    """Return the data of a piece of a document, by `documents.read`."""
    # The lines after the first keep their column, so a key is put above them.
    text = f"value:\n{' ' * max(column, 1)}{copied}\n" if "\n" in copied else f"value: {copied}\n"
    try:
        data = document_of(text, "").data
    except BadInput:  # it is valid only in its context
        return NOTHING
    return data["value"] if isinstance(data, dict) else NOTHING


def scalar_or_flow(value: object) -> str:
    """Return a value on one line: a scalar in the quotes that it needs, or braces."""
    if isinstance(value, Mapping):
        return flow_of(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(scalar_or_flow, value)) + "]"
    if isinstance(value, str):
        # Also for other readers: `no` or a date without quotes is no text in YAML 1.1.
        alike = PLAIN.fullmatch(value) and yaml.safe_load(value) == data_of(value, 0) == value
        return value if alike else double(value)
    return json.dumps(value)


def flow_of(item: Item) -> str:
    """Return a mapping in braces."""
    return "{" + ", ".join(f"{double_key(k)}: {scalar_or_flow(v)}" for k, v in item.items()) + "}"


def double_key(key: str) -> str:
    """Return a key, in double quotes if it needs them."""
    return key if PLAIN.fullmatch(key) else double(key)


def single(value: str) -> str:
    """Return text in single quotes."""
    return "'" + value.replace("'", "''") + "'"


def double(value: str) -> str:
    """Return text in double quotes."""
    return json.dumps(value, ensure_ascii=False)


def entry_lines(key: str, value: object, column: int) -> Iterator[str]:
    """Yield lines of an entry of a block; short mappings of scalars are in braces."""
    head = f"{' ' * column}{double_key(key)}:"
    if isinstance(value, Mapping) and not _fits(head, value):
        yield head
        for name, item in value.items():
            yield from entry_lines(str(name), item, column + 2)
    elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        yield head
        yield from (f"{' ' * column}  - {scalar_or_flow(item)}" for item in value)
    else:
        yield f"{head} {scalar_or_flow(value)}"


def _fits(head: str, value: Mapping[str, object]) -> bool:
    """Whether a mapping of scalars is short enough for one line."""
    scalars = all(not isinstance(item, Mapping | list | tuple) for item in value.values())
    return scalars and len(value) <= 3 and len(head) + len(flow_of(value)) < LONGEST_FLOW
