"""Identification of a line's command in a view, and of its position, also in a long view.

A configuration is tuples of lines, and a spine has thousands of lines in one view. Code that writes
into such a view stores an index of its lines, which moves to the resulting tuple.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rocefort.dialects.vrp.commands.catalogue import Row, Syntax, rows_by_view, rows_with
from rocefort.dialects.vrp.commands.format import FormatMatch, MatchFailure, read_all, words_of
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.models.base import natural


@dataclass(frozen=True, slots=True)
class Identity:
    """The command of a saved line: two lines of one key cannot be in one view."""

    row: Row | None
    key: Tokens
    value: Tokens
    order: tuple[Any, ...]


@lru_cache(maxsize=16384)  # 100 switches of a lab start in 2.9 s CPU; without, in 6.1 s
def identify(kind: str, text: str, family: Syntax) -> Identity:
    """Return the row and the key of a line of a view; an unknown line is its own key."""
    tokens = words_of(text)
    undone = tokens[0] == "undo"
    rest = tokens[1:] if undone else tokens
    # A saved line has its words in lower case; any other line is not in the table.
    matches = readings(kind, rest, family) if rest and rest[0] == rest[0].casefold() else ()
    if not matches:
        return Identity(None, tokens, (), (10**9, 0, (), 0, natural(text)))
    row, reading = max(matches, key=lambda pair: pair[1].words)
    key = reading.key
    if undone and row.kind in ("list", "each"):
        key = ("undo", *key)
    return Identity(row, key, reading.value, _order(row, reading.key, text))


def _order(row: Row, key: Tokens, text: str) -> tuple[Any, ...]:
    if not row.block:
        return (row.rank, 0, (), 0, natural(text))
    return (row.block, key[1][:1].isdigit(), natural(key[1]), row.rank, natural(text))


@lru_cache(maxsize=8192)  # same lab: 2.9 s; without, 3.9 s
def readings(kind: str, tokens: Tokens, family: Syntax) -> tuple[tuple[Row, FormatMatch], ...]:
    """Return every match of words with a command of a view, on any kind of interface."""
    words = frozenset(token.casefold() for token in tokens)
    return tuple(
        (row, reading)
        for row in rows_of(kind, tokens[0], family)
        if row.literals <= words
        for reading in read_all(row.nodes, tokens, MatchFailure())
    )


def rows_of(kind: str, first: str, family: Syntax | None = None) -> tuple[Row, ...]:
    """Return rows of a view that a family, or any, has and that can begin with a word."""
    return _by_first_word(kind, family).get(first.casefold(), ())


@lru_cache(maxsize=4096)
def _by_first_word(kind: str, family: Syntax | None) -> Mapping[str, tuple[Row, ...]]:
    rows_by_word: dict[str, list[Row]] = {}
    views = rows_by_view() if family is None else rows_with(family)
    for row in views.get(kind, ()):
        for word in row.first_words:
            rows_by_word.setdefault(word, []).append(row)
    return {word: tuple(rows) for word, rows in rows_by_word.items()}


Lines = tuple[ConfigLine, ...]
LONG = 24  # lines; a shorter view is read faster than its index is built
MOST = 8  # indexes per thread: more than the depth of nested views


@dataclass(slots=True)
class Index:
    """Positions of the lines of one view without duplicate lines."""

    lines: Lines
    texts: dict[str, int]
    heads: dict[str, list[str]]  # lines by their first two words
    kind: str = ""
    family: Syntax | None = None
    keys: dict[Tokens, int] = field(default_factory=dict)  # for that kind of view and that family

    def move(self, lines: Lines, begin: int) -> None:
        """Move the index to lines that differ from position `begin` on."""
        self.lines = lines
        for position in range(begin, len(lines)):
            self.texts[lines[position].text] = position
            if self.family is not None:
                self.keys[identify(self.kind, lines[position].text, self.family).key] = position

    def is_new(self, line: ConfigLine) -> bool:
        """Whether neither the line nor its key is in the view."""
        if line.text in self.texts:
            return False
        return self.family is None or (
            identify(self.kind, line.text, self.family).key not in self.keys
        )


class _IndexCache(threading.local):
    """Indexes by the identity of their lines: one cache per thread, because they are mutable.

    A spine of 2,110 lines starts in 82 ms CPU; without, in 250 ms, and it grows with the square.
    """

    def __init__(self) -> None:
        self.indexes: dict[int, Index] = {}


_kept = _IndexCache()


def cached_index(lines: Lines) -> Index | None:
    """Return the index of exactly these lines, if it is cached."""
    if len(lines) < LONG:
        return None
    index = _kept.indexes.get(id(lines))
    return index if index is not None and index.lines is lines else None


def place_of(lines: Lines, text: str) -> int | None:
    """Return the position of the first line with a text."""
    index = cached_index(lines)
    if index is not None:
        return index.texts.get(text)
    for position, line in enumerate(lines):
        if line.text == text:
            return position
    return None


def begins(lines: Lines, words: str) -> str | None:
    """Return the first line that begins with these words, the last of them whole."""
    index = cached_index(lines)
    if index is not None and " " in words:
        some = index.heads.get(_head(words), [])
        matches = [text for text in some if f"{text} ".startswith(f"{words} ")]
        return min(matches, key=lambda text: index.texts[text], default=None)
    prefix = f"{words} "
    return next((line.text for line in lines if f"{line.text} ".startswith(prefix)), None)


def keys_of(lines: Lines, kind: str, family: Syntax) -> Mapping[Tokens, int] | None:
    """Return positions by key; None for a short view and for one that has a key twice."""
    index = indexed(lines)
    if index is None:
        return None
    if (index.kind, index.family) != (kind, family):
        keys = {identify(kind, line.text, family).key: at for at, line in enumerate(lines)}
        if len(keys) < len(lines):
            return None
        index.kind, index.family, index.keys = kind, family, keys
    return index.keys


def indexed(lines: Lines) -> Index | None:
    """Return the index of lines, built if needed; None for a short view and for duplicate lines."""
    index = cached_index(lines)
    if index is not None or len(lines) < LONG:
        return index
    texts = {line.text: position for position, line in enumerate(lines)}
    if len(texts) < len(lines):
        return None
    heads: dict[str, list[str]] = {}
    for text in texts:
        heads.setdefault(_head(text), []).append(text)
    return _keep_index(Index(lines, texts, heads))


def with_inserted(lines: Lines, position: int, line: ConfigLine) -> Lines:
    """Return the lines with one more; their index moves along."""
    after = (*lines[:position], line, *lines[position:])
    index = _take_index(lines)
    if index is not None and index.is_new(line):
        index.heads.setdefault(_head(line.text), []).append(line.text)
        index.move(after, position)
        _keep_index(index)
    return after


def with_replaced(lines: Lines, position: int, line: ConfigLine) -> Lines:
    """Return the lines with one replaced; their index moves along if the text is the same."""
    after = (*lines[:position], line, *lines[position + 1 :])
    index = _take_index(lines)
    if index is not None and line.text == lines[position].text:
        index.lines = after
        _keep_index(index)
    return after


def _head(text: str) -> str:
    return " ".join(text.split(" ", 2)[:2])


def _take_index(lines: Lines) -> Index | None:
    index = cached_index(lines)
    if index is not None:
        del _kept.indexes[id(lines)]
    return index


def _keep_index(index: Index) -> Index:
    _kept.indexes[id(index.lines)] = index
    while len(_kept.indexes) > MOST:
        del _kept.indexes[next(iter(_kept.indexes))]
    return index
