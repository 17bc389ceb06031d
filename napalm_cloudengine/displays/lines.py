"""Lines of a `display` output as data: numbered, with their values named, or unread.

A line is a Python format with a kind of value after its width (`table.py`).

A line that is no row of its table is left out and noted: it changes no other row. An answer that
is cut off, or that contradicts itself, is an error.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import Formatter
from typing import TypeVar

from napalm_cloudengine.text import lines_of, words_of

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


T = TypeVar("T")
_RULER = re.compile(r"\s*[-=]{4,}\s*")
_INTERFACE = re.compile(
    r"(?:\d+GE|[A-Za-z]+(?:-[A-Za-z]+)*)\d+(?:/\d+)*(?::\d+)?(?:\.\d+)?", re.ASCII
)


class UnreadableError(ValueError):
    """An answer not in the documented form: `command`, `line` (from 1) and `what` is wrong."""

    def __init__(self, command: str, line: int, what: str) -> None:
        self.command, self.line, self.what = command, line, what
        super().__init__(f"'{command}', line {line}: {what}")


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line of an answer that was not read, and the reason.

    key: interface, address or prefix of the row that it may be; "" where it may be any row.
    """

    command: str
    line: int
    text: str
    why: str
    key: str = ""

    def __str__(self) -> str:
        return f"'{self.command}', line {self.line}: {self.why}"


class Rows(list[T]):
    """The rows of an answer; `unread`: its lines that are no rows, in their order."""

    def __init__(self, rows: Iterable[T] = (), unread: Iterable[UnreadLine] = ()) -> None:
        super().__init__(rows)
        self.unread = tuple(sorted(unread, key=lambda each: each.line))


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """A line of an answer that is neither blank nor a ruler; number counts from 1."""

    number: int
    text: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class DisplayAnswer:
    """The answer of a switch to a command."""

    command: str
    text: str

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Return all lines: a control character ends none, it is a character of its line."""
        return tuple(lines_of(self.text))

    @cached_property
    def lines(self) -> tuple[DisplayLine, ...]:
        """Return the lines that are not empty."""
        return tuple(
            DisplayLine(number, line.rstrip(" \t"), tuple(words_of(line)))
            for number, line in enumerate(self.rows, 1)
            if line.strip() and not _is_ruler(line)
        )

    def rulers_after(self, number: int) -> int:
        """Return the number of rulers below a line."""
        return sum(map(_is_ruler, self.rows[number:]))

    def wrong(self, number: int, what: str) -> UnreadableError:
        """Return the error about a line of this answer."""
        return UnreadableError(self.command, number, what)

    def unread(self, line: DisplayLine, why: str, key: str = "") -> UnreadLine:
        """Return the note on a line that is no row."""
        return UnreadLine(self.command, line.number, line.text.strip(), why, key)

    def require_all(self, number: int, what: str, total: int, rows: int, unread: int) -> None:
        """Raise UnreadableError where rows of an announced total are missing, or are too many.

        number: line of the total. Each line that was not read may be one of the rows.
        """
        if not rows <= total <= rows + unread:
            raise self.wrong(number, f"{total} {what} announced, {rows} read")


def _is_ruler(line: str) -> bool:
    return _RULER.fullmatch(line) is not None


def is_interface(word: str) -> bool:
    """Whether a word has the form of an interface's name, `100GE1/0/1:2` or `Eth-Trunk10`."""
    return _INTERFACE.fullmatch(word) is not None
