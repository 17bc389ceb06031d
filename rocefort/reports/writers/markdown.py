"""Blocks as Markdown of GitHub and GitLab, for a comment: escaped, folded, never too long.

It is also read as plain text, in mail or a terminal: an escape is written only where Markdown would
take a character for markup.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import zip_longest
from typing import NamedTuple

from napalm_cloudengine.text import visible
from rocefort.models.wording import count_of
from rocefort.reports.blocks import (
    Block,
    Code,
    CollapsibleSection,
    Items,
    Note,
    Picture,
    Section,
    Table,
    Tone,
    plain,
    visible_blocks,
)

LIMIT = 60_000  # characters; a comment on GitHub holds 65,536
LEAST = 2000  # characters of a comment that shows anything
RESERVE = 40  # characters of the sentence about what is left out, without its address
LEAST_SHARE = 400  # characters of each block, where blocks share the room
OPEN_ITEMS = 12  # longer lists are folded
FOLDED_ITEMS = 50  # of one fold
CODE_LINES = 120  # of one patch
ALIGNED = 60  # characters of the widest cell that the others of its column are padded to
END = "\n</details>\n"
# Markup inside of a sentence: emphasis, links, HTML, entities, cells of a table.
INLINE = re.compile(r"[\\*`\[|~<]|(?<![^\W_])_|_(?![^\W_])")
# A quick action, `/close`: GitLab executes it with the rights of the comment's author. What
# is code there depends on the version (lib/gitlab/quick_actions/extractor.rb): code has none, too.
QUICK_ACTION = re.compile(r"^[ \t]{0,3}/(?=\w)", re.MULTILINE)
# Markup at the start of a line: lists, quotes, headings, underlines of headings, quick actions.
START = re.compile(r"^(?:[-+](?=\s|$)|[-=](?=[-=]*$)|>|#(?=#*(?:\s|$))|/(?=\w))")
NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
# A mention, a number of an issue, a formula, a link or an emoji: a code span prevents it, and a
# backslash would not.
REFERENCE = re.compile(r"[@#!%&^~]\w|\$|:\w+:|://|www\.|GH-\d", re.IGNORECASE)


class _Fitted(NamedTuple):
    """Text that fits, and how many items are left out of it without a word."""

    text: str
    left: int


def markdown_of(
    *blocks: Block,
    level: int = 3,
    limit: int = LIMIT,
    whole: str = "",
    page: str = "",
    head: str = "",
) -> str:
    """Blocks in at most `limit` characters, ending in a newline.

    Where they are longer, the longest sections are cut between their parts, and the text states how
    much is left out. level: first heading. whole: a sentence about where everything is; page: its
    address. head: Markdown before all else. ValueError for too low a limit.
    """
    if limit < LEAST:
        raise ValueError(f"a limit of {limit} characters leaves no room; give {LEAST} or more")
    blocks, head = visible_blocks(blocks), visible(head)
    writer = _Writer(f": {prose(whole)}" if whole else ": see the page" if page else "")
    room = limit - len(head)
    if len(blocks) == 1 and isinstance(blocks[0], Section):  # the document with its title
        title, blocks = writer.opening(blocks[0], level), blocks[0].blocks
        head, room, level = head + title, room - len(title), level + 1
    link = f"\n[The whole as a page]({_address(page)})\n" if page else ""
    body, left = writer.fitted(blocks, level, room - len(link))
    if left and not body:
        if any(isinstance(block, Section) and block.uncut for block in blocks):
            raise ValueError(f"a limit of {limit} characters leaves no room for the verdict")
        body = writer.left_out(left)
    return (head + body + link).lstrip("\n")


@dataclass(frozen=True)
class _Writer:
    """Writer of blocks; rest: where the parts are that a short report leaves out."""

    rest: str

    def fitted(
        self, blocks: Sequence[Block], level: int, room: int, parent: Block | None = None
    ) -> _Fitted:
        """As many blocks as fit, each whole or cut inside, and a sentence about the others.

        Blocks of one kind, and very many, are taken in order; others share the room.
        """
        texts = self.inner(blocks, level, parent)
        if sum(map(len, texts)) <= room:
            return _Fitted("".join(texts), 0)
        noun = parent.noun if isinstance(parent, (Section, CollapsibleSection)) else ""
        uncut = [isinstance(block, Section) and block.uncut for block in blocks]
        room -= RESERVE + len(self.rest)
        room -= sum(len(text) for text, kept in zip(texts, uncut, strict=True) if kept)
        if room < 0:
            return _Fitted("", sum(map(_size, blocks)))
        sizes = [len(text) for text, kept in zip(texts, uncut, strict=True) if not kept]
        share, left = _cap(sizes, room), 0
        in_order = noun or share < LEAST_SHARE
        for number, block in enumerate(blocks):
            most = room if in_order else share
            if uncut[number] or len(texts[number]) <= most:
                room -= 0 if uncut[number] else len(texts[number])
                continue
            if in_order and any(texts[:number]):
                room = most = 0  # nothing after the first that does not fit
            texts[number], more = self.short(block, level, most)
            room, left = room - len(texts[number]), left + more
        text = "".join(texts)
        start = "" if text.startswith("\n") else "\n"
        return _Fitted(start + text + self.left_out(left, noun or "part") if text else "", left)

    def left_out(self, number: int, noun: str = "part") -> str:
        """Sentence about parts that are not shown."""
        return f"\nand {count_of(number, f'more {noun}')}{self.rest}\n" if number else ""

    def short(self, block: Block, level: int, room: int) -> _Fitted:
        """As much of a block as fits; or nothing, not even its head."""
        if isinstance(block, Items):
            return self._first_lines(block, level, room)
        if not isinstance(block, (Section, CollapsibleSection)):
            return _Fitted("", 1)
        opening = self.opening(block, level)
        closing = END if isinstance(block, CollapsibleSection) else ""
        left = room - len(opening) - len(closing)
        inner = self.fitted(block.blocks, _below(block, level), left, block)
        if not inner.text:
            return _Fitted("", _size(block))
        return _Fitted(opening + inner.text + closing, 0)

    def _first_lines(self, items: Items, level: int, room: int) -> _Fitted:
        room -= RESERVE + len(self.rest)
        low, high = 0, len(items.lines)
        while low < high:  # the most lines that fit
            middle = (low + high + 1) // 2
            text = self.block(replace(items, lines=items.lines[:middle]), level)
            low, high = (middle, high) if len(text) <= room else (low, middle - 1)
        if not low:
            return _Fitted("", len(items.lines))
        text = self.block(replace(items, lines=items.lines[:low]), level)
        return _Fitted(text + self.left_out(len(items.lines) - low, "line"), 0)

    def block(self, block: Block, level: int) -> str:
        """A block as Markdown, whatever its length."""
        match block:
            case Section() | CollapsibleSection():
                inner = "".join(self.inner(block.blocks, _below(block, level), block))
                end = END if isinstance(block, CollapsibleSection) else ""
                return self.opening(block, level) + inner + end
            case Note(text, tone):
                quote = "> " if tone is Tone.WARNING else ""
                return f"\n{quote}{prose(text)}\n"
            case Items():
                return _items(block, OPEN_ITEMS)
            case Code(lines):
                more = len(lines) - CODE_LINES
                return f"\n{fenced(lines[:CODE_LINES])}{self.left_out(max(more, 0), 'line')}"
            case Table():
                return _table(block)
            case Picture(_, sentence):
                return f"\n{prose(sentence)}\n" if sentence else ""

    def opening(self, block: Block, level: int) -> str:
        """Title and lead of a section; summary of a fold."""
        if isinstance(block, CollapsibleSection):
            return f"\n<details><summary>{_summary(block.summary)}</summary>\n"
        if not isinstance(block, Section):
            return ""
        badge = f" ({block.badge})" if block.badge else ""
        title = f"\n{'#' * min(level, 6)} {prose(block.title)}{badge}\n" if block.title else ""
        return title + (f"\n{prose(block.lead)}\n" if block.lead else "")

    def inner(self, blocks: Sequence[Block], level: int, parent: Block | None = None) -> list[str]:
        """Blocks of another, lists with details as one; a list in a fold is not folded again."""
        texts: list[str] = []
        for number, block in enumerate(blocks):
            if isinstance(parent, CollapsibleSection) and isinstance(block, Items):
                text = _items(block, len(block.lines))
            else:
                text = self.block(block, level)
            joined = number and _is_entry(blocks[number - 1]) and _is_entry(block)
            texts.append(text.removeprefix("\n") if joined else text)
        return texts


def _cap(sizes: Sequence[int], room: int) -> int:
    """The most that a section may have, so that all fit: short ones leave room to long ones."""
    left, rest = sorted(sizes), room
    while left and left[0] * len(left) <= rest:
        rest -= left.pop(0)
    return rest // len(left) if left else max(sizes, default=0)


def _size(block: Block) -> int:
    return block.size if isinstance(block, Section) else 1


def _below(block: Section | CollapsibleSection, level: int) -> int:
    return level + 1 if isinstance(block, CollapsibleSection) or block.title else level


def _is_entry(block: Block) -> bool:
    return isinstance(block, Items) and bool(block.details) and len(block.lines) == 1


def _items(items: Items, most: int) -> str:
    # A list behind another would be one with it, and loose: the other bullet begins a new one.
    bullet, mark = ("*", "**") if items.strong else ("-", "")
    form = code_span if items.code else prose
    lines = [f"{bullet} {mark}{form(line)}{mark}\n" for line in items.lines]
    if len(lines) == 1:
        lines += [f"  - {prose(detail)}\n" for detail in items.details]
        return "".join(("\n", *lines))
    below = [f"* {prose(detail)}\n" for detail in items.details]
    if len(lines) <= most or below:
        return "".join(("\n", *lines, "\n" if below else "", *below)) if lines else ""
    return "".join(
        f"\n<details><summary>{start + 1} to {min(start + FOLDED_ITEMS, len(lines))} of "
        f"{len(lines)}</summary>\n\n{''.join(lines[start : start + FOLDED_ITEMS])}{END}"
        for start in range(0, len(lines), FOLDED_ITEMS)
    )


def _table(table: Table) -> str:
    heads = [prose(column.title) for column in table.columns]
    rows = [[prose(plain(cell)).replace("\\|", "|").replace("|", "\\|") for cell in row]
            for row in table.rows]  # fmt: skip
    widths = [max(3, *map(len, column)) for column in zip_longest(heads, *rows, fillvalue="")]
    cells = [
        [cell.rjust(width) if right else cell.ljust(width) for cell, width, right in padded]
        for padded in (
            zip(row, (w if w <= ALIGNED else 0 for w in widths), table.right, strict=True)
            for row in (heads, *rows)
        )
    ]
    rule = [
        "-" * (width - 1) + ":" if right else "-" * width
        for width, right in zip((min(w, ALIGNED) for w in widths), table.right, strict=True)
    ]
    lines = (f"| {' | '.join(row)} |" for row in [cells[0], rule, *cells[1:]])
    return "\n" + "\n".join(lines) + "\n" if rows else ""


def fenced(lines: Sequence[str]) -> str:
    """Lines as they are, between fences that none of them can close; `/word` is indented."""
    lines = [QUICK_ACTION.sub("    /", line) for line in lines]
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return "\n".join([fence, *lines, fence, ""])


def code_span(text: str) -> str:
    """Text as code, between more backquotes than it has in a row."""
    text = " ".join(text.split())
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if not text or text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


def prose(text: str) -> str:
    """A sentence in which `commands` stay code: pairs of backquotes do, all else is plain."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        parts = ["`".join(parts)]
    shown = ""
    for number, part in enumerate(parts):
        if not part.strip():
            shown += part if shown else ""
            continue
        piece = code_span(part) if number % 2 else _escaped(part, start=not shown)
        apart = " " if shown.endswith("`") and piece.startswith("`") else ""
        shown += apart + piece
    return shown


def _escaped(text: str, *, start: bool) -> str:
    """Text of one line that Markdown shows as it is; start: it begins a line."""
    words = [
        code_span(word) if REFERENCE.search(word) else INLINE.sub(r"\\\g<0>", word)
        for word in (text.lstrip() if start else text).split(" ")
    ]
    line = " ".join(words)
    return NUMBERED.sub(r"\1\\\2", START.sub(r"\\\g<0>", line)) if start else line


def _summary(text: str) -> str:
    """A sentence in HTML, because Markdown is not read on the line of a summary."""
    parts = " ".join(text.split()).split("`")
    marked = len(parts) % 2 == 1
    return "".join(
        f"<code>{escape(part, quote=False)}</code>"
        if marked and number % 2
        else " ".join(map(_summary_word, part.split(" ")))
        for number, part in enumerate(parts if marked else ["`".join(parts)])
    )


def _summary_word(word: str) -> str:
    shown = escape(word, quote=False).replace("&gt;", ">")
    return f"<code>{shown}</code>" if REFERENCE.search(word) else shown


def _address(page: str) -> str:
    """Address of a link; no character of it ends the link."""
    return re.sub(r"[\s()<>\[\]\\]", lambda match: f"%{ord(match[0]):02X}", page)
