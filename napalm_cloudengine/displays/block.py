"""Displays of labelled lines as data: a block is the display as printed, with its values named."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from napalm_cloudengine.displays.shown import Line


@dataclass(frozen=True)
class Block:
    """Lines `Label :{field}`; aliases: labels of other releases, and the field of each."""

    text: str
    source: str
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _fields(self) -> Mapping[str, str]:
        pairs = (line.partition(":") for line in self.text.split("\n") if ":" in line)
        own = {label.strip(): value.strip(" {}") for label, _, value in pairs}
        return {**own, **self.aliases}

    def write(self, values: Mapping[str, object]) -> str:
        """The lines whose values there are, and blank lines as they are."""
        fields = ((line, line.rpartition("{")[2].rstrip("}")) for line in self.text.split("\n"))
        return "\n".join(
            line.format(**values) for line, name in fields if not line or name in values
        )

    def value(self, line: Line) -> tuple[str, str] | None:
        """The field and the value of a line; None for a line without a known label."""
        label, colon, value = line.text.partition(":")
        name = self._fields.get(label.strip()) if colon else None
        return (name, value.strip()) if name else None
