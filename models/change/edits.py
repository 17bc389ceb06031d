"""Edit: one difference between two Devices, with the path of a field and its typed values.

A path names a field as the Device has it, `interfaces[100GE1/0/1].mtu`. A field at its model's
default has no line in the text and counts as absent. So an Edit without `before` adds lines only.
Fields whose Effect is `stated` are the exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pydantic import JsonValue

from rocefort.models.base import Frozen

# A key may contain brackets, as in a sampling path of telemetry.
END_OF_KEY = re.compile(r"\](?=\.[a-z]\w*(?:[.\[]|$)|$)")
OF_INTERFACE = re.compile(r"interfaces\[([^]]+)\]\.?(.*)")


class Edit(Frozen):
    """One semantic difference; None: no line states the value.

    before, after: a number, a word, a boolean, a row as a mapping of its fields, or a list.
    """

    path: str
    before: JsonValue = None
    after: JsonValue = None

    @property
    def field(self) -> str:
        """Path without keys: `interfaces[].mtu`."""
        return field_of(self.path)

    @property
    def keys(self) -> list[str]:
        """Keys of the path in their order."""
        return [self.path[start:end] for start, end in _keys(self.path)]

    @property
    def port_and_rest(self) -> tuple[str, str]:
        """Interface of the path, and the path within it; without an interface "" and the path."""
        match = OF_INTERFACE.fullmatch(self.path)
        return (match[1], match[2]) if match else ("", self.path)

    @property
    def before_text(self) -> str | None:
        """Value before, as text."""
        return None if self.before is None else text_of(self.before)

    @property
    def after_text(self) -> str | None:
        """Value after, as text."""
        return None if self.after is None else text_of(self.after)


@cache
def field_of(path: str) -> str:
    """Return a path without its keys."""
    parts, at = [], 0
    for start, end in _keys(path):
        parts.append(path[at:start])
        at = end
    return "".join((*parts, path[at:]))


def _keys(path: str) -> Iterator[tuple[int, int]]:
    """Return start and end of each key of a path, once through it."""
    at = 0
    while (at := path.find("[", at) + 1) and (end := END_OF_KEY.search(path, at)):
        yield at, end.start()
        at = end.end()


def plain(value: object) -> JsonValue:
    """Convert a value of a Device to JSON; a row is a mapping of fields without its defaults."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if not isinstance(value, Frozen):
        return str(value)
    return {
        name: plain(getattr(value, name))
        for name, field in type(value).model_fields.items()
        if field.is_required()
        or getattr(value, name) != field.get_default(call_default_factory=True)
    }


def text_of(value: JsonValue) -> str:
    """Convert a JSON value to text: words and numbers as they are, a row as `field=value`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(
            f"({text_of(item)})" if isinstance(item, dict) else text_of(item) for item in value
        )
    if isinstance(value, dict):
        fields = (f"{name}={text_of(item)}" for name, item in value.items())
        return ", ".join(fields) or "as by default"
    return str(value)
