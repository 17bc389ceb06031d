"""Displays of labelled lines as data: a block is the printed display with its values named.

A value is a Python format with a kind after it, as in a table (`table.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from napalm_cloudengine.displays.lines import DisplayAnswer, DisplayLine, PrintedLine
from napalm_cloudengine.displays.table import Row

_NONE = "--"  # for a missing value


@dataclass(frozen=True)
class LabelledDisplay:
    """Lines such as `Label :{field}`.

    source: where it is printed in this form. confirmed: False if the source is not the vendor.
    also: lines of other releases, which are read and never written.
    """

    text: str
    source: str
    confirmed: bool = True
    also: str = ""

    @cached_property
    def lines(self) -> tuple[PrintedLine, ...]:
        """Return the lines of the block."""
        return tuple(map(PrintedLine.of, self.text.split("\n")))

    @cached_property
    def _read(self) -> tuple[PrintedLine, ...]:
        """Return lines with values, those with the longest literal text first."""
        others = map(PrintedLine.of, self.also.split("\n")) if self.also else ()
        lines = (line for line in (*self.lines, *others) if line.cells)
        return tuple(sorted(lines, key=lambda line: -len(line.own)))

    @cached_property
    def _unlabelled(self) -> frozenset[str]:
        """Return the fields of lines without literal text, which match any other line."""
        return frozenset(x.name for line in self._read if not line.own.strip() for x in line.cells)

    @cached_property
    def _labels(self) -> Mapping[str, str]:
        firsts = (line.cells[0] for line in self._read)
        return {cell.before.rstrip(" :"): cell.name for cell in firsts}

    def write(self, values: Mapping[str, object]) -> str:
        """Write the lines whose values are given, and those without values.

        A list gets a line each.
        """
        several = ((name, len(value)) for name, value in values.items() if isinstance(value, list))
        template = _template(self, frozenset(values), tuple(several))
        printed = {name: _NONE if value is None else value for name, value in values.items()}
        return "\n".join(map(str.rstrip, template.format_map(printed).split("\n")))

    def read(self, shown: DisplayAnswer) -> Row:
        """Read the values of the lines that match this block; values of other lines are missing.

        Raises UnreadableError where a labelled line occurs twice with different values.
        """
        values: Row = {}
        for line in shown.lines:
            for name, value in self.match(line).items():
                if values.setdefault(name, value) != value and name not in self._unlabelled:
                    what = f"{name.replace('_', ' ')} {value!r} here, {values[name]!r} above"
                    raise shown.wrong(line.number, what)
        return values

    def match(self, line: DisplayLine) -> Row:
        """Return the values of a line; none where it matches no line of the block."""
        for layout in self._read:
            if match := layout.expression.fullmatch(line.text.strip(" \t")):
                pairs = zip(layout.cells, match.groups(), strict=True)
                return {
                    cell.name: int(text.replace(",", "")) if cell.kind == "d" else text.strip(" \t")
                    for cell, text in pairs
                }
        return {}

    def value(self, line: DisplayLine) -> tuple[str, str] | None:
        """Return the field and the value of a line; None for a line without a known label."""
        label, colon, value = line.text.partition(":")
        name = self._labels.get(label.strip()) if colon else None
        return (name, value.strip(" \t")) if name else None


@lru_cache(maxsize=256)  # interfaces of a switch have few different sets of values
def _template(
    block: LabelledDisplay, names: frozenset[str], several: tuple[tuple[str, int], ...]
) -> str:
    """Return the format of those lines of a block whose values are given."""
    lengths = dict(several)
    lines: list[str] = []
    for line in block.lines:
        if names.issuperset(cell.name for cell in line.cells):
            times = lengths.get(line.cells[0].name) if line.cells else None
            lines += [line.format_of(n) for n in (range(times) if times is not None else [None])]
    return "\n".join(lines)
