"""Content of every report as frozen data; `writers` align, wrap, escape and colour it.

A report is a function from a result to blocks. The modules of `writers` turn blocks into text for a
terminal, Markdown and HTML; JSON is the result itself. CONTRIBUTING explains how to add a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, ClassVar, Literal

from napalm_cloudengine.text import visible, visible_line

Cell = str | int | float | None  # None: unknown or missing
MOST = 40  # names of one list


class Tone(StrEnum):
    """Severity of a sentence or a title: its colour, and its CSS class."""

    PLAIN = "plain"
    GOOD = "good"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    QUIET = "quiet"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence; a part between backquotes is code."""

    kind: ClassVar[str] = "note"
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Items:
    """List of sentences; details: sentences about all of them, once below.

    code: each line is code instead of a sentence. targets: for HTML, the id of the section that
    each line leads to, empty for none.
    """

    kind: ClassVar[str] = "items"
    lines: tuple[str, ...]
    details: tuple[str, ...] = ()
    strong: bool = False
    code: bool = False
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of code, never wrapped."""

    kind: ClassVar[str] = "code"
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """Column of a table: its title, its alignment, and whether its cells may wrap.

    align: "" sets a column of numbers to the right and any other to the left.
    """

    title: str = ""
    align: Literal["", "left", "right"] = ""
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of plain cells, one cell per column.

    by_first: rows with the same first cell form a group with its own heading.
    """

    kind: ClassVar[str] = "table"
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    by_first: bool = False

    @property
    def right(self) -> tuple[bool, ...]:
        """Return for each column whether it is aligned to the right."""
        cells = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        pairs = zip(self.columns, cells, strict=True)
        return tuple(c.align == "right" or (not c.align and _numeric(own)) for c, own in pairs)


def _numeric(cells: Iterable[Cell]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, (int, float)) for cell in known)


@dataclass(frozen=True, slots=True)
class Picture:
    """Drawing for HTML; other formats have the sentence, or nothing."""

    kind: ClassVar[str] = "picture"
    svg: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class CollapsibleSection:
    """Blocks that Markdown and HTML show after a click on the summary; noun: as of a Section."""

    kind: ClassVar[str] = "fold"
    summary: str
    blocks: tuple[Block, ...]
    noun: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a title; without a title, blocks without blank lines between them.

    lead: the section in one sentence. badge: a few words next to the title. noun: of its blocks, if
    they are of one kind, for the number of those that a short report leaves out; size: number of
    such items that the section is one of. uncut: a short report has all of it.
    """

    kind: ClassVar[str] = "section"
    title: str
    blocks: tuple[Block, ...] = ()
    lead: str = ""
    id: str = ""
    tone: Tone = Tone.PLAIN
    badge: str = ""
    noun: str = ""
    size: int = 1
    uncut: bool = False


Block = Note | Items | Code | Table | Picture | CollapsibleSection | Section


def visible_blocks(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks whose texts have no unseen character; a cell or a line of code is one line."""
    return tuple(_visible(block, visible) for block in blocks)


def _visible(value: Any, spelled: Callable[[str], str]) -> Any:  # noqa: ANN401 - any field
    if isinstance(value, str):
        return value if isinstance(value, StrEnum) else spelled(value)
    if isinstance(value, tuple):
        return tuple(_visible(each, spelled) for each in value)
    if isinstance(value, Block | TableColumn):
        spelled = visible_line if isinstance(value, (Code, Table, TableColumn)) else visible
        own = {each.name: getattr(value, each.name) for each in fields(value)}
        return replace(value, **{name: _visible(inner, spelled) for name, inner in own.items()})
    return value


def columns(*titles: str, wraps: Iterable[str] = ()) -> tuple[TableColumn, ...]:
    """Return columns with these titles; the cells of those in `wraps` may wrap."""
    return tuple(TableColumn(title, wraps=title in set(wraps)) for title in titles)


def plain(cell: Cell) -> str:
    """Return the text of a cell: 50 instead of 50.0, empty for None."""
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def code(text: object) -> str:
    """Return text as code between backquotes."""
    return "`" + " ".join(str(text).replace("`", "'").split()) + "`"


def first_words(words: Iterable[str], most: int = MOST) -> str:
    """Return the first words of a list, and the number of the others."""
    listed = list(words)
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")
