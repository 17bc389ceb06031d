"""Displays of labelled lines as data: a block is the display as printed, with its values named.

A value is a format of Python with a kind behind it, as in a table (`table.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from napalm_cloudengine.displays.shown import Line
from napalm_cloudengine.displays.table import Layout

_NONE = "--"  # for a value that there is not


@dataclass(frozen=True)
class Block:
    """Lines such as `Label :{field}`.

    source: where it is printed so. confirmed: False where that is not the vendor. aliases: labels
    of other releases, and the field of each.
    """

    text: str
    source: str
    confirmed: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def lines(self) -> tuple[Layout, ...]:
        """Its lines."""
        return tuple(map(Layout.of, self.text.split("\n")))

    @cached_property
    def _fields(self) -> Mapping[str, str]:
        firsts = (line.cells[0] for line in self.lines if line.cells)
        own = {cell.before.rstrip(" :"): cell.name for cell in firsts}
        return {**own, **self.aliases}

    def write(self, values: Mapping[str, object]) -> str:
        """The lines whose values there are, and those without any; a value of several has lines."""
        written: list[str] = []
        for line in self.lines:
            names = [cell.name for cell in line.cells]
            if not all(name in values for name in names):
                continue
            first = values[names[0]] if names else None
            for value in first if isinstance(first, list) else [first]:
                own = {name: _NONE if values[name] is None else values[name] for name in names}
                own |= {name: value for name in names[:1] if isinstance(first, list)}
                written.append(line.write(own).rstrip())
        return "\n".join(written)

    def value(self, line: Line) -> tuple[str, str] | None:
        """The field and the value of a line; None for a line without a known label."""
        label, colon, value = line.text.partition(":")
        name = self._fields.get(label.strip()) if colon else None
        return (name, value.strip()) if name else None
