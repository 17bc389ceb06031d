"""Changes of a tree of configuration lines by copying the path to the change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from rocefort.dialects.vrp.commands.catalogue import Syntax
from rocefort.dialects.vrp.commands.command import OTHER_TABLE, SYSTEM, begins_with
from rocefort.dialects.vrp.commands.format import words_of
from rocefort.dialects.vrp.commands.match import (
    Lines,
    identify,
    indexed,
    keys_of,
    place_of,
    with_inserted,
    with_replaced,
)
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.models.hardware.hardware import SyntaxFamily

__all__ = [
    "Lines",
    "View",
    "children_at",
    "drop_in_views",
    "drop_lines",
    "having",
    "insert",
    "put_line",
    "remove",
]

View = tuple[str, ...]  # lines that opened the current view and its parents; () is the system view


def children_at(config: Lines, view: tuple[str, ...]) -> Lines:
    """Return the lines of a view; none if the view is still empty."""
    for text in view:
        position = place_of(config, text)
        config = () if position is None else config[position].children
    return config


def _lines_at(
    config: Lines,
    view: tuple[str, ...],
    change: Callable[[Lines], Lines],
    make: Callable[[Lines, ConfigLine], Lines],
) -> Lines:
    if not view:
        return change(config)
    indexed(config)
    position = place_of(config, view[0])
    if position is None:
        inner = _lines_at((), view[1:], change, make)
        return make(config, ConfigLine(view[0], 0, inner)) if inner else config
    line = config[position]
    inner = _lines_at(line.children, view[1:], change, make)
    if inner is line.children:
        return config
    return with_replaced(config, position, ConfigLine(line.text, line.number, inner))


def put_line(
    config: Lines, view: tuple[str, ...], line: ConfigLine, kind: str, family: Syntax
) -> Lines:
    """Write a line into a view: over the line of its key, else at its position in the order."""
    key = identify(kind, line.text, family).key

    def change(lines: Lines) -> Lines:
        position = next(having(lines, key, kind, family), None)
        if position is None:
            return insert(lines, line, kind, family)
        old = lines[position]
        if old.text == line.text and not line.children:
            return lines
        return with_replaced(lines, position, replace(line, children=line.children or old.children))

    return _lines_at(
        config, view, change, lambda lines, created: insert(lines, created, "system", family)
    )


def having(lines: Lines, key: Tokens, kind: str, family: Syntax) -> Iterator[int]:
    """Yield positions of the lines of a view that have a key."""
    keys = keys_of(lines, kind, family)
    if keys is not None:
        yield from [keys[key]] if key in keys else []
        return
    for position, line in enumerate(lines):
        if identify(kind, line.text, family).key == key:
            yield position


def insert(lines: Lines, line: ConfigLine, kind: str, family: Syntax) -> Lines:
    """Insert a new line after the last one that precedes it in the order."""
    order = identify(kind, line.text, family).order
    position = len(lines)
    while position and identify(kind, lines[position - 1].text, family).order > order:
        position -= 1
    return with_inserted(lines, position, line)


def remove(config: Lines, view: tuple[str, ...], texts: Iterable[str]) -> Lines:
    """Remove lines of a view by their text; a transient view is removed with its last line."""
    gone = frozenset(texts)

    def change(lines: Lines) -> Lines:
        remaining = tuple(line for line in lines if line.text not in gone)
        return lines if len(remaining) == len(lines) else remaining

    after = _lines_at(config, view, change, lambda lines, _made: lines) if gone else config
    if len(view) == 1 and _is_transient(view[0]) and not children_at(after, view):
        return tuple(line for line in after if line.text != view[0])
    return after


def drop_lines(
    config: Lines, view: tuple[str, ...], heads: Sequence[Tokens], *, below: bool = False
) -> Lines:
    """Remove lines of a view that begin with some words, with all lines below them.

    `*` matches one word. With `below` also in the views below, except other routing tables.
    """
    if not heads:
        return config

    def change(lines: Lines) -> Lines:
        return tuple(
            replace(line, children=change(line.children))
            if below and line.children and OTHER_TABLE not in words_of(line.text)
            else line
            for line in lines
            if not any(begins_with(line.text, head) for head in heads)
        )

    return _lines_at(config, view, change, lambda lines, _made: lines)


def drop_in_views(config: Lines, views: str, beside: str, heads: Sequence[Tokens]) -> Lines:
    """Remove lines in the views of the system whose line begins so, if they have a line."""
    for line in config:
        if begins_with(line.text, words_of(views)) and (
            not beside or any(child.text == beside for child in line.children)
        ):
            config = drop_lines(config, (line.text,), heads)
    return config


def _is_transient(text: str) -> bool:
    """Whether a view exists only while it has lines."""
    rows = (identify(SYSTEM, text, family).row for family in SyntaxFamily)
    return any(row.transient for row in rows if row)
