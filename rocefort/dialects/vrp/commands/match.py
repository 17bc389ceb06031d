"""Identification of a line's command in a view, and of its position in saved order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rocefort.dialects.vrp.commands.catalogue import Row, rows_by_view
from rocefort.dialects.vrp.commands.format import FormatMatch, MatchFailure, read_all, words_of
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.commands.syntax import Syntax, rows_with
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
