"""Edit: one difference between two Devices, by the path of a field and its typed values.

A path names a field as the Device has it, `interfaces[100GE1/0/1].mtu`. A field at its model's
default has no line in the text and counts as absent, so an Edit without `before` adds lines only.
The fields that an Effect calls stated are the exception.
"""

from __future__ import annotations

import re
from functools import cache

from pydantic import JsonValue

from rocefort.models.base import Frozen

# A key may hold brackets of its own, as a sampling path of telemetry does.
KEYS = re.compile(r"\[(.*?)\](?=\.[a-z]\w*(?:[.\[]|$)|$)", re.DOTALL)
OF_INTERFACE = re.compile(r"interfaces\[([^]]+)\]\.?(.*)")


class Edit(Frozen):
    """One semantic difference; None: no line says the value.

    before, after: a number, a word, whether it is so, a row as what it says by field, or a list.
    """

    path: str
    before: JsonValue = None
    after: JsonValue = None

    @property
    def field(self) -> str:
        """The path without keys: `interfaces[].mtu`."""
        return field_of(self.path)

    @property
    def keys(self) -> list[str]:
        """The keys of the path in their order."""
        return KEYS.findall(self.path)

    @property
    def port_and_rest(self) -> tuple[str, str]:
        """The interface that the path is of, and the path within it; without one "" and all."""
        match = OF_INTERFACE.fullmatch(self.path)
        return (match[1], match[2]) if match else ("", self.path)

    @property
    def before_text(self) -> str | None:
        """The value before, for a reader."""
        return None if self.before is None else text_of(self.before)

    @property
    def after_text(self) -> str | None:
        """The value after, for a reader."""
        return None if self.after is None else text_of(self.after)


@cache
def field_of(path: str) -> str:
    """A path without its keys."""
    return KEYS.sub("[]", path)


def plain(value: object) -> JsonValue:
    """A value of a Device as JSON has it; a row as what it says beside its defaults, by field."""
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
    """A value for a reader: words and numbers as they are, a row as what it says."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(
            f"({text_of(item)})" if isinstance(item, dict) else text_of(item) for item in value
        )
    if isinstance(value, dict):
        said = (f"{name}={text_of(item)}" for name, item in value.items())
        return ", ".join(said) or "as by default"
    return str(value)
