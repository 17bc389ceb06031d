"""Blocks as GitHub's Markdown, for a comment on a pull request: escaped, folded, never too long."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import NamedTuple

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
)

LIMIT = 60_000  # characters; a comment on GitHub holds 65,536
RESERVE = 160  # characters of a section for the sentence about a cut
OPEN_ITEMS = 12  # longer lists are folded
FOLDED_ITEMS = 50  # of one fold
CODE_LINES = 120  # of one patch
END = "\n</details>\n"
# What could be markup, a mention or the number of an issue, and what could begin a list.
ESCAPED = re.compile(r"[\\*_\[\]()!~|$^{}<>&@#`]|^[-+=]|(?<=\d)\.(?=\s)")


class _ShortenedText(NamedTuple):
    """Text that fits, and how many parts are left out of it."""

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

    Where they are longer, the longest sections are cut first, between their parts and with what is
    folded before what is open, and the text states how much is left out. level: first heading.
    whole: a sentence about where everything is; page: its address. head: Markdown before all else.
    ValueError for too low a limit.
    """
    if limit < 2000:
        raise ValueError(f"a limit of {limit} characters leaves no room; give 2000 or more")
    room = limit - len(head)
    if len(blocks) == 1 and isinstance(blocks[0], Section):  # the document with its title
        title, blocks = _opening(blocks[0], level), blocks[0].blocks
        title += f'\n<a href="{escape(page)}">The whole as a page</a>\n' if page else ""
        head, room, level = head + title, room - len(title), level + 1
    texts = [_block(block, level) for block in blocks]
    cap = _cap([len(text) for text in texts], room)
    sections = zip(blocks, texts, strict=True)
    body = "".join(
        t if len(t) <= cap else _shortened_block(b, level, cap, whole) for b, t in sections
    )
    return (head + body).lstrip("\n")


def _cap(sizes: Sequence[int], room: int) -> int:
    """The most that a section may have, so that all fit: short ones leave room to long ones."""
    left, rest = sorted(sizes), room
    while left and left[0] * len(left) <= rest:
        rest -= left.pop(0)
    return rest // len(left) if left else max(sizes, default=0)


def _shortened_block(block: Block, level: int, cap: int, whole: str) -> str:
    """Return the part of a block that fits, and a sentence with the size of the rest."""
    where = f" {prose(whole)}" if whole else ""
    text, left = _short(block, level, cap - RESERVE - len(where))
    more = f"{count_of(left, 'part')} more would make this comment too long"
    return f"{text}\n**Cut here: {more}.**{where}\n"


def _short(block: Block, level: int, room: int) -> _ShortenedText:
    """As much of a block as fits: what is open first, then folds; or nothing, not even its head."""
    opening, closing = _opening(block, level), END if isinstance(block, CollapsibleSection) else ""
    room -= len(opening) + len(closing)
    if isinstance(block, Items):
        return _first_lines(block, level, room)
    if not isinstance(block, (Section, CollapsibleSection)):
        return _ShortenedText("", 1)
    level = _level_below(block, level)
    kept, left = _inner(block, level), 0
    for number, inner in sorted(
        enumerate(block.blocks), key=lambda b: isinstance(b[1], CollapsibleSection)
    ):
        if len(kept[number]) > room:
            kept[number], more = _short(inner, level, room)
            left += more
        room -= len(kept[number])
    text = "".join(kept)
    return _ShortenedText(opening + text + closing if text else "", left)


def _first_lines(items: Items, level: int, room: int) -> _ShortenedText:
    def written(number: int) -> str:
        return _block(replace(items, lines=items.lines[:number]), level)

    size = range(len(items.lines) + 1)
    number = bisect_right(size, room, key=lambda number: len(written(number))) - 1
    return _ShortenedText(written(number) if number > 0 else "", len(items.lines) - max(number, 0))


def _block(block: Block, level: int) -> str:
    opening = _opening(block, level)
    match block:
        case Section() | CollapsibleSection():
            inner = "".join(_inner(block, _level_below(block, level)))
            return opening + inner + (END if isinstance(block, CollapsibleSection) else "")
        case Note(text, tone):
            quote = "> " if tone is Tone.WARNING else ""
            return f"\n{quote}{prose(text)}\n"
        case Items():
            return _items(block, OPEN_ITEMS)
        case Code(lines):
            more = len(lines) - CODE_LINES
            rest = f"\nand {count_of(more, 'line')} more, in the page\n" if more > 0 else ""
            return f"\n{fenced(lines[:CODE_LINES])}{rest}"
        case Table():
            return _table(block)
        case Picture(_, sentence):
            return f"\n{prose(sentence)}\n" if sentence else ""


def _opening(block: Block, level: int) -> str:
    if isinstance(block, CollapsibleSection):
        return f"\n<details><summary>{prose(block.summary)}</summary>\n"
    if not isinstance(block, Section):
        return ""
    badge = f" ({block.badge})" if block.badge else ""
    title = f"\n{'#' * min(level, 6)} {prose(block.title)}{badge}\n" if block.title else ""
    return title + (f"\n{prose(block.lead)}\n" if block.lead else "")


def _level_below(block: Section | CollapsibleSection, level: int) -> int:
    return level + 1 if isinstance(block, CollapsibleSection) or block.title else level


def _inner(block: Section | CollapsibleSection, level: int) -> list[str]:
    """Blocks of another, lists with details as one; a list that is folded is not folded again."""
    texts: list[str] = []
    for number, inner in enumerate(block.blocks):
        if isinstance(block, CollapsibleSection) and isinstance(inner, Items):
            text = _items(inner, len(inner.lines))
        else:
            text = _block(inner, level)
        joined = number and _is_entry(block.blocks[number - 1]) and _is_entry(inner)
        texts.append(text.removeprefix("\n") if joined else text)
    return texts


def _is_entry(block: Block) -> bool:
    return isinstance(block, Items) and bool(block.details) and len(block.lines) == 1


def _items(items: Items, most: int) -> str:
    # A list behind another would be one with it, and loose: the other bullet begins a new one.
    bullet, mark = ("*", "**") if items.strong else ("-", "")
    form = _code if items.code else prose
    lines = [f"{mark}{form(line)}{mark}" for line in items.lines]
    details = [prose(detail) for detail in items.details]
    if len(lines) == 1:
        lines, details = ["<br>\n  ".join((*lines, *details))], []
    listed = [f"{bullet} {line}\n" for line in lines]
    below = "\n" + "<br>\n".join(details) + "\n" if details else ""
    if len(listed) <= most or items.details:
        return "".join(("\n", *listed, below)) if listed else ""
    return "".join(
        f"\n<details><summary>{start + 1} to {min(start + FOLDED_ITEMS, len(listed))} of "
        f"{len(listed)}</summary>\n\n{''.join(listed[start : start + FOLDED_ITEMS])}{END}"
        for start in range(0, len(listed), FOLDED_ITEMS)
    )


def _table(table: Table) -> str:
    heads = [plain_text(column.title) for column in table.columns]
    rule = ["---:" if right else "---" for right in table.right]
    rows = [[prose(plain(cell)) for cell in row] for row in table.rows]
    lines = (f"| {' | '.join(cells)} |" for cells in [heads, rule, *rows])
    return "\n" + "\n".join(lines) + "\n" if rows else ""


def _code(text: str) -> str:
    return f"<code>{plain_text(text)}</code>"


def plain_text(text: str) -> str:
    """Text of one line without any markup."""
    return entities(" ".join(text.split()))


def fenced(lines: Sequence[str]) -> str:
    """Lines as they are, between fences that none of them can close."""
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return "\n".join([fence, *lines, fence, ""])


def entities(text: str) -> str:
    """Write characters that GitHub would interpret as character references."""
    return ESCAPED.sub(lambda match: f"&#{ord(match[0])};", text)


def prose(text: str) -> str:
    """A sentence in which `commands` stay code: pairs of backquotes do, all else is plain."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return entities("`".join(parts))
    return "".join(
        f"<code>{entities(part)}</code>" if number % 2 else entities(part)
        for number, part in enumerate(parts)
    )
