"""Lines of a `display` output as data: the printed line, with its values named.

A line is a Python format with a kind of value after its width (`table.py`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from string import Formatter

BLANKS = r"[ \t]*+"  # possessive: a run of blanks takes linear time
_KINDS = "id?*"


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell of a line: its field, its format, its kind, and the text before it."""

    before: str
    name: str
    spec: str
    kind: str


@dataclass(frozen=True)
class PrintedLine:
    """One line of a form."""

    cells: tuple[TableCell, ...]
    after: str

    @classmethod
    def of(cls, text: str) -> "PrintedLine":
        """Read a format."""
        cells, after = [], ""
        for before, name, spec, _ in Formatter().parse(text):
            if name is None:
                after = before
                continue
            kind = spec[-1] if spec and spec[-1] in _KINDS else ""
            cells.append(TableCell(before, name, (spec or "").removesuffix(kind), kind))
        return cls(tuple(cells), after)

    @cached_property
    def own(self) -> str:
        """Return the literal text of the line."""
        return "".join(cell.before for cell in self.cells) + self.after

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """Return a pattern of such lines, a group for each cell; the number of blanks may vary.

        The group of a text with blanks also has the blanks after the text.
        """
        kinds = {"d": r"(\d[\d,]*)", "*": "(.*?)"}
        texts = (*(cell.before for cell in self.cells), self.after)
        blanks = ("", *("" if cell.kind == "*" else BLANKS for cell in self.cells))
        groups = (*(kinds.get(cell.kind, r"(\S+?)") for cell in self.cells), "")
        rows = zip(blanks, map(_blanks, texts), groups, strict=True)
        return re.compile(BLANKS + "".join(map("".join, rows)), re.ASCII)

    def text_after(self, number: int) -> str:
        """Return the text after a cell."""
        return self.cells[number + 1].before if number + 1 < len(self.cells) else self.after

    def format_of(self, item: int | None = None) -> str:
        """Return the line as a Python format; item: index into the first cell's list of values."""
        names = [cell.name for cell in self.cells]
        if item is not None:
            names[0] += f"[{item}]"
        pairs = zip(names, self.cells, strict=True)
        return "".join(f"{x.before}{{{name}:{x.spec}}}" for name, x in pairs) + self.after

    def split(self, words: Sequence[str], *, carried: bool) -> list[str] | None:
        """Return the text of each cell; None for a wrong number. carried: without the first."""
        cells = self.cells[carried:]
        spare = len(words) - len(cells)
        wide = next((index for index, cell in enumerate(cells) if cell.kind == "*"), None)
        if wide is None:
            return list(words) if spare == 0 else None
        end = wide + spare + 1
        return [*words[:wide], " ".join(words[wide:end]), *words[end:]] if spare >= -1 else None


def _blanks(text: str) -> str:
    """Return a pattern of a text in which any number of blanks matches, also after it."""
    return "".join(re.escape(word) + BLANKS for word in text.split())
