"""What sections of a review are made of; Markdown and the page write each in its way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

MOST = 40  # names of one list


@dataclass(frozen=True)
class Items:
    """A list of sentences; what stands between backquotes is code."""

    kind: ClassVar[str] = "items"
    lines: tuple[str, ...]
    strong: bool = False


@dataclass(frozen=True)
class Code:
    """Lines as they are."""

    kind: ClassVar[str] = "code"
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Fold:
    """What is shown when it is opened."""

    kind: ClassVar[str] = "fold"
    summary: str
    blocks: tuple[Items | Code, ...]


@dataclass(frozen=True)
class Heading:
    """A title within a section."""

    kind: ClassVar[str] = "heading"
    text: str
    affects: bool = False  # traffic feels it


Block = Items | Code | Fold | Heading


@dataclass(frozen=True)
class Section:
    """One part of a review; lead: its sum in a sentence."""

    id: str
    title: str
    lead: str
    blocks: tuple[Block, ...] = ()


def code(text: object) -> str:
    """Text as code of a sentence."""
    return "`" + " ".join(str(text).replace("`", "'").split()) + "`"


def some(words: Iterable[str], most: int = MOST) -> str:
    """The first few of a list, and how many more there are."""
    listed = list(words)
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")
