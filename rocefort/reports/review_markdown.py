"""A Review as Markdown for the one comment of a pull request: folded, and never too long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from rocefort.models.review import Review
from rocefort.models.wording import counted
from rocefort.reports.markdown import LIMIT, entities, fenced, prose
from rocefort.reports.review_blocks import Block, Code, Fold, Heading, Items, Section
from rocefort.reports.review_content import notes_of, sections_of, verdict_of

MARK = "<!-- rocefort review -->"  # by which the comment of an earlier run is found
RESERVE = 160  # characters of a section for what it says of a cut
OPEN_ITEMS = 12  # longer lists are folded
FOLDED_ITEMS = 50  # of one fold
CODE_LINES = 120  # of one patch


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    folded: bool = False


def review_markdown(
    review: Review, titles: Mapping[str, str], *, page: str = "", limit: int = LIMIT
) -> str:
    """The review in GitHub's Markdown, of at most `limit` characters (at least 10,000).

    titles: a rule's title by its id; page: where the whole is. Sections that are too long are cut
    between their parts, the longest first, and say how much is left out.
    """
    if limit < 10_000:
        raise ValueError(f"a limit of {limit} characters leaves no room; give 10000 or more")
    head = _head(review, page)
    sections = sections_of(review, titles)
    parts = [list(_parts(section)) for section in sections]
    sizes = [_size(section, own) for section, own in zip(sections, parts, strict=True)]
    cap = _cap(sizes, limit - len(head))
    body = "".join(_cut(section, own, cap) for section, own in zip(sections, parts, strict=True))
    return head + body


def _head(review: Review, page: str) -> str:
    title = f"## Rocefort: {entities(review.fabric)}: {verdict_of(review)}\n\n"
    link = f'<a href="{escape(page)}">The whole review as a page</a>\n\n' if page else ""
    notes = "".join(f"> {prose(note)}\n>\n" for note in notes_of(review)[:20])
    sides = f"From {entities(review.base)} to {entities(review.head)}, {entities(review.file)}."
    return f"{MARK}\n{title}{sides} {link}{notes}".rstrip() + "\n"


def _size(section: Section, parts: Sequence[_Part]) -> int:
    return len(_opening(section)) + sum(len(part.text) for part in parts) + RESERVE


def _cap(sizes: Sequence[int], room: int) -> int:
    """The most that a section may have, so that all fit: short ones leave room to long ones."""
    left, rest = sorted(sizes), room
    while left and left[0] * len(left) <= rest:
        rest -= left.pop(0)
    return rest // len(left) if left else max(sizes, default=0)


def _opening(section: Section) -> str:
    return f"\n### {section.title}\n\n{prose(section.lead)}\n"


def _cut(section: Section, parts: Sequence[_Part], cap: int) -> str:
    """A section as far as it fits: what is open first, then folds, each whole and in its place."""
    opening = _opening(section)
    room, kept = cap - len(opening) - RESERVE, set()
    for folded in (False, True):
        for number, part in enumerate(parts):
            if part.folded is folded and len(part.text) <= room:
                kept.add(number)
                room -= len(part.text)
    text = opening + "".join(part.text for number, part in enumerate(parts) if number in kept)
    if left := len(parts) - len(kept):
        text += f"\n**Cut here: {counted(left, 'part')} more would make this comment too long.**\n"
    return text


def _parts(section: Section) -> Iterator[_Part]:
    """What is shown whole or not at all, each with its folds closed."""
    for block in section.blocks:
        if isinstance(block, Items) and len(block.lines) > OPEN_ITEMS:
            yield from _long_list(block)
        else:
            yield _Part(_block(block), isinstance(block, Fold))


def _long_list(items: Items) -> Iterator[_Part]:
    """A long list as folds of a size that a cut can fall between."""
    for start in range(0, len(items.lines), FOLDED_ITEMS):
        some = items.lines[start : start + FOLDED_ITEMS]
        summary = f"{start + 1} to {start + len(some)} of {len(items.lines)}"
        yield _Part(_block(Fold(summary, (Items(some, items.strong),))), folded=True)


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        mark = " (affects service)" if block.affects else ""
        return f"\n#### {prose(block.text)}{mark}\n"
    if isinstance(block, Items):
        # A list behind another would be one with it, and loose: the other bullet begins a new one.
        bullet, mark = ("*", "**") if block.strong else ("-", "")
        lines = "".join(f"{bullet} {mark}{prose(line)}{mark}\n" for line in block.lines)
        return f"\n{lines}" if lines else ""
    if isinstance(block, Code):
        more = len(block.lines) - CODE_LINES
        rest = f"\nand {counted(more, 'line')} more, in the page\n" if more > 0 else ""
        return f"\n{fenced(block.lines[:CODE_LINES])}{rest}"
    below = "".join(map(_block, block.blocks))
    return f"\n<details><summary>{prose(block.summary)}</summary>\n{below}\n</details>\n"
