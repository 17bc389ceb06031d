"""Change a tree of configuration lines by copying the path to the change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rocefort.dialects.vrp.command import Tokens, Trace, read_all, words_of
from rocefort.dialects.vrp.semantics import ROWS, Row
from rocefort.dialects.vrp.tree import ConfigLine
from rocefort.models.hardware import SyntaxFamily
from rocefort.models.keyed import natural

Lines = tuple[ConfigLine, ...]
TRANSIENT = ("vlan ", "netconf")  # views of the system view that stand while they hold something
View = tuple[str, ...]  # the lines that opened the views one stands in; () is the system view


@dataclass(frozen=True, slots=True)
class Identity:
    """Which command a saved line is: two lines of one key cannot stand in one view."""

    row: Row | None
    key: Tokens
    value: Tokens
    order: tuple[Any, ...]


@lru_cache(maxsize=262144)
def identify(kind: str, text: str, family: SyntaxFamily) -> Identity:
    """Find the row and the key of a line of a view; an unknown line is its own key."""
    tokens = words_of(text)
    undone = tokens[0] == "undo"
    rest = tokens[1:] if undone else tokens
    found = [
        (row, reading)
        for row in ROWS.get(kind, ())
        if family in row.families and rest and rest[0] in row.first_words
        for reading in read_all(row.nodes, rest, Trace())
    ]
    if not found:
        return Identity(None, tokens, (), (10**9, 0, (), 0, natural(text)))
    row, reading = max(found, key=lambda pair: pair[1].words)
    key = reading.key
    if undone and row.kind in ("list", "each"):
        key = ("undo", *key)
    return Identity(row, key, reading.value, _order(row, reading.key, text))


def _order(row: Row, key: Tokens, text: str) -> tuple[Any, ...]:
    if not row.block:
        return (row.rank, 0, (), 0, natural(text))
    return (row.block, key[1][:1].isdigit(), natural(key[1]), row.rank, natural(text))


def children_at(config: Lines, view: tuple[str, ...]) -> Lines:
    """The lines of a view; none if the view holds nothing yet."""
    for text in view:
        config = next((line.children for line in config if line.text == text), ())
    return config


def _at(
    config: Lines,
    view: tuple[str, ...],
    change: Callable[[Lines], Lines],
    make: Callable[[Lines, ConfigLine], Lines],
) -> Lines:
    if not view:
        return change(config)
    for index, line in enumerate(config):
        if line.text == view[0]:
            inner = _at(line.children, view[1:], change, make)
            if inner is line.children:
                return config
            return (*config[:index], replace(line, children=inner), *config[index + 1 :])
    inner = _at((), view[1:], change, make)
    return make(config, ConfigLine(view[0], 0, inner)) if inner else config


def put(
    config: Lines, view: tuple[str, ...], line: ConfigLine, kind: str, family: SyntaxFamily
) -> Lines:
    """Write a line into a view: over the line of its key, else at its place in the order."""
    key = identify(kind, line.text, family).key

    def change(lines: Lines) -> Lines:
        for index, old in enumerate(lines):
            if identify(kind, old.text, family).key == key:
                if old.text == line.text and not line.children:
                    return lines
                new = replace(line, children=line.children or old.children)
                return (*lines[:index], new, *lines[index + 1 :])
        return insert(lines, line, kind, family)

    return _at(config, view, change, lambda lines, made: insert(lines, made, "system", family))


def insert(lines: Lines, line: ConfigLine, kind: str, family: SyntaxFamily) -> Lines:
    """Put a new line behind the last one that the order puts before it."""
    order = identify(kind, line.text, family).order
    place = 0
    for index, old in enumerate(lines, 1):
        if identify(kind, old.text, family).order <= order:
            place = index
    return (*lines[:place], line, *lines[place:])


def remove(config: Lines, view: tuple[str, ...], texts: Iterable[str]) -> Lines:
    """Remove lines of a view by their text; `vlan N` and `netconf` go with their last line."""
    gone = frozenset(texts)

    def change(lines: Lines) -> Lines:
        kept = tuple(line for line in lines if line.text not in gone)
        return lines if len(kept) == len(lines) else kept

    after = _at(config, view, change, lambda lines, _made: lines)
    if len(view) == 1 and view[0].startswith(TRANSIENT) and not children_at(after, view):
        return tuple(line for line in after if line.text != view[0])
    return after


def begins_with(text: str, want: Tokens) -> bool:
    """Whether a line begins with some words, among which `*` stands for any."""
    words = words_of(text)
    return len(words) >= len(want) and all(a in ("*", b) for a, b in zip(want, words, strict=False))


def drop_lines(
    config: Lines, view: tuple[str, ...], patterns: Iterable[str], *, whole: bool = False
) -> Lines:
    """Remove, in a view and below it, lines that begin with the words of a pattern.

    `*` stands for one word; with `whole` the line must have no further words.
    """
    wanted = [words_of(pattern) for pattern in patterns]
    if not wanted:
        return config

    def hit(text: str) -> bool:
        return any(
            begins_with(text, want) and (not whole or len(words_of(text)) == len(want))
            for want in wanted
        )

    def change(lines: Lines) -> Lines:
        return tuple(
            replace(line, children=change(line.children)) for line in lines if not hit(line.text)
        )

    return _at(config, view, change, lambda lines, _made: lines)
