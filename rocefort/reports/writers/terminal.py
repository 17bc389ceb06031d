"""Blocks as text for a terminal: wrapped to its width, and never folded in a pipe or a file.

A word is never broken, nor a command between backquotes. A table that is too wide first wraps the
columns that may, then continues each row on indented lines.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, zip_longest
from typing import NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from rocefort.base.streams import for_codes, is_terminal
from rocefort.reports.blocks import (
    Block,
    Code,
    CollapsibleSection,
    Items,
    Note,
    Picture,
    Section,
    Table,
    TableColumn,
    Tone,
    plain,
    visible_blocks,
)

GAP = "  "
STEP = 4  # columns of indentation
LEAST = 12  # columns that a column keeps however narrow the terminal is
WORD = re.compile(r"(?:[^\s`]|`[^`\n]*`|`)+")
STYLES = {
    Tone.PLAIN: "",
    Tone.GOOD: "bold green",
    Tone.ERROR: "bold red",
    Tone.WARNING: "yellow",
    Tone.INFO: "cyan",
    Tone.QUIET: "dim",
    Tone.UNKNOWN: "magenta",
}


class _TerminalLine(NamedTuple):
    text: str
    tone: Tone = Tone.PLAIN


def write(*blocks: Block, err: bool = False) -> None:
    """Write blocks to standard output or standard error: as wide and as coloured as it is."""
    console = Console(
        stderr=err, markup=False, highlight=False, emoji=False, force_terminal=_forced(err=err)
    )
    colour = console.is_terminal and not console.no_color and not console.is_dumb_terminal
    text = text_of(*blocks, width=width_of(err=err), colour=colour)
    stream = sys.stderr if err else sys.stdout
    if stream is not None:
        for_codes(stream).write(text)
        stream.flush()


def width_of(*, err: bool = False) -> int | None:
    """Columns of standard output or standard error; None for a pipe or a file, unless COLUMNS."""
    if is_terminal(_stream(err=err)) or os.environ.get("COLUMNS", "").isdigit():
        return Console(stderr=err).width
    return None


def _stream(*, err: bool) -> TextIO:
    return sys.stderr if err else sys.stdout


def _forced(*, err: bool) -> bool | None:
    """Value for rich, which takes an empty FORCE_COLOR for "no terminal"; elsewhere it is unset."""
    return is_terminal(_stream(err=err)) if os.environ.get("FORCE_COLOR") == "" else None


def text_of(*blocks: Block, width: int | None = None, colour: bool = False) -> str:
    """Blocks as text that ends in a newline; width: columns, None for lines of any length."""
    lines = _document(visible_blocks(blocks), width or sys.maxsize)
    if not colour:
        return "".join(f"{line.text}\n" for line in lines)
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=True, no_color=False, markup=False, highlight=False, emoji=False
    )
    for line in lines:
        console.print(Text(line.text, style=STYLES[line.tone]), soft_wrap=True)
    return file.getvalue()


def _document(blocks: Sequence[Block], width: int) -> Iterator[_TerminalLine]:
    """Blocks with a blank line between them; sentences that follow each other have none."""
    before: Block | None = None
    for block in blocks:
        lines = list(_lines(block, 0, width))
        if not lines:
            continue
        if before is not None and not (isinstance(before, Note) and isinstance(block, Note)):
            yield _TerminalLine("")
        yield from lines
        before = block


def _lines(block: Block, indent: int, width: int) -> Iterator[_TerminalLine]:
    match block:
        case Note(text, tone):
            yield from _sentence(text, indent, indent + 2, width, tone)
        case Items():
            yield from _items(block, indent, width)
        case Code(lines):
            yield from (_TerminalLine((" " * indent + line).rstrip()) for line in lines)
        case Table():
            yield from _table(block, indent, width)
        case Picture(_, sentence):
            yield from _sentence(sentence, indent, indent + 2, width)
        case CollapsibleSection(summary, blocks):
            yield from _sentence(f"{summary}:", indent, indent + 2, width)
            for inner in blocks:
                yield from _lines(inner, indent + 2, width)
        case Section():
            yield from _section(block, indent, width)


def _section(section: Section, indent: int, width: int) -> Iterator[_TerminalLine]:
    badge = f" ({section.badge})" if section.badge else ""
    yield from _sentence(f"{section.title}{badge}", indent, indent + 2, width, section.tone)
    inner = indent + STEP if section.title else indent
    yield from _sentence(section.lead, inner, inner + 2, width)
    for block in section.blocks:
        yield from _lines(block, inner, width)


def _items(items: Items, indent: int, width: int) -> Iterator[_TerminalLine]:
    tone = Tone.WARNING if items.strong else Tone.PLAIN
    bullet = items.details and len(items.lines) > 1  # so that the details are about all of them
    for line in items.lines:
        if bullet:
            yield from _sentence(f"- {line}", max(indent - 2, 0), max(indent, 2), width, tone)
        else:
            yield from _sentence(line, indent, indent if items.details else indent + 2, width, tone)
    for detail in items.details:
        label = re.match(r"\w+: ", detail)
        inner = indent + STEP
        yield from _sentence(detail, inner, inner + (len(label[0]) if label else 2), width)


def _sentence(
    text: str, first: int, rest: int, width: int, tone: Tone = Tone.PLAIN
) -> Iterator[_TerminalLine]:
    for number, line in enumerate(wrapped(text, width - first, width - rest)):
        yield _TerminalLine(" " * (rest if number else first) + line, tone)


def headed(head: str, text: str, width: int | None = None) -> Iterator[str]:
    """Lines of one text of a stream, beside its head; width: as of `text_of`."""
    room = (width or sys.maxsize) - len(head)
    for number, line in enumerate(list(wrapped(text, room, room)) or [""]):
        yield f"{' ' * len(head) if number else head}{line}".rstrip()


def wrapped(text: str, first: int, rest: int) -> Iterator[str]:
    """Lines of whole words: the first of at most `first` columns, others of at most `rest`.

    A command in quotation marks is one word, unless it is longer than a line.
    """
    line, room = "", first
    quoted = WORD.findall(text)
    for word in chain.from_iterable(w.split() if cell_len(w) > rest else (w,) for w in quoted):
        if line and cell_len(line) + 1 + cell_len(word) > room:
            yield line
            line, room = word, rest
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield line


def _table(table: Table, indent: int, width: int) -> Iterator[_TerminalLine]:
    """Heads and rows; nothing of a table without rows."""
    body = [["-" if cell is None else plain(cell) for cell in row] for row in table.rows]
    if not body:
        return
    heads = [column.title for column in table.columns]
    widths = _widths(table.columns, [heads, *body], width - indent)
    chunks = _chunks(widths, width - indent)
    groups = groupby(body, key=lambda row: row[0]) if table.by_first else [("", body)]
    for number, (_, rows) in enumerate(groups):
        if number:
            yield _TerminalLine("")
        for row in [heads, *rows] if any(heads) else rows:
            for line in _row(row, widths, table.right, chunks):
                yield _TerminalLine((" " * indent + line).rstrip())


def _widths(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Widths of columns: those that may wrap give way, the widest first, but break no word."""
    cells = list(zip(*rows, strict=True))
    widths = [max(map(cell_len, column)) for column in cells]
    least = {
        place: max([LEAST, *(cell_len(word) for cell in own for word in WORD.findall(cell))])
        for place, (column, own) in enumerate(zip(columns, cells, strict=True))
        if column.wraps
    }
    while sum(widths) + len(GAP) * (len(widths) - 1) > room:
        wide = [place for place in least if widths[place] > least[place]]
        if not wide:
            break
        widths[max(wide, key=lambda place: widths[place])] -= 1
    return widths


def _chunks(widths: Sequence[int], room: int) -> list[range]:
    """Columns of each line of a row: as many as fit, at least one."""
    lines, start, used = [], 0, 0
    for place, width in enumerate(widths):
        if place > start and used + len(GAP) + width > room:
            lines.append(range(start, place))
            start, used = place, STEP + width
        else:
            used += width + (len(GAP) if place > start else 0)
    return [*lines, range(start, len(widths))]


def _row(
    row: Sequence[str], widths: Sequence[int], right: Sequence[bool], chunks: Sequence[range]
) -> Iterator[str]:
    for number, places in enumerate(chunks):
        parts = [
            [row[p]]
            if cell_len(row[p]) <= widths[p]
            else list(wrapped(row[p], widths[p], widths[p]))
            for p in places
        ]
        for cells in zip_longest(*parts, fillvalue=""):
            padded = (_padded(c, widths[p], right[p]) for c, p in zip(cells, places, strict=True))
            yield " " * STEP * bool(number) + GAP.join(padded)


def _padded(cell: str, width: int, right: bool) -> str:
    blanks = " " * (width - cell_len(cell))
    return blanks + cell if right else cell + blanks
