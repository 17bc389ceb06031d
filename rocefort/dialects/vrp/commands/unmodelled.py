"""Unmodelled lines in two groups: commands of the table, and other lines."""

from __future__ import annotations

import re
from functools import lru_cache

from rocefort.dialects.vrp.commands.catalogue import OPAQUE_VIEW, SYSTEM, Row
from rocefort.dialects.vrp.commands.format import MatchFailure, read_all, words_of
from rocefort.dialects.vrp.commands.ignored_commands import ignored_command
from rocefort.dialects.vrp.commands.match import rows_of
from rocefort.dialects.vrp.commands.syntax import Syntax, site_rows
from rocefort.models.network.network import TextLine

UNDO = "undo"
UNKNOWN_VIEW = ""
FAMILY_VIEW = re.compile(r"\S+-family\b.*", re.ASCII)  # a view that the catalogue may not have


def command_of(line: TextLine, syntax: Syntax | None = None) -> str:
    """Return literal words of a known command, `..` for its arguments; empty for an unknown one.

    syntax: of the switch, for commands of its site.
    """
    view = view_of(line.path, syntax)
    if view == OPAQUE_VIEW:
        return line.text.split(" ", 1)[0] + " .."
    row = _row(view, line.text, syntax)
    return row.name if row else ignored_command(view, line.text)


def row_of(path: tuple[str, ...], syntax: Syntax | None = None) -> Row | None:
    """Return the row of a line, given as its views and itself; None for an unknown line."""
    return _row(view_of(path[:-1], syntax), path[-1], syntax)


def leaves_view(line: TextLine, syntax: Syntax | None = None) -> bool:
    """Whether a line is no command of its view, and opens a view of one around it."""
    view = view_of(line.path, syntax)
    if view in (OPAQUE_VIEW, UNKNOWN_VIEW) or _row(view, line.text, syntax):
        return False
    outer = (
        _row(view_of(line.path[:depth], syntax), line.text, syntax)
        for depth in range(len(line.path))
    )
    return any(row is not None and row.opens for row in outer)


@lru_cache(maxsize=4096)
def view_of(path: tuple[str, ...], syntax: Syntax | None = None) -> str:
    """Return the view of a path of lines; empty where the table lacks one of them."""
    view = SYSTEM
    for text in path:
        if view != OPAQUE_VIEW:
            row = _row(view, text, syntax)
            if row is None:
                view = OPAQUE_VIEW if ignored_command(view, text) else UNKNOWN_VIEW
            else:
                view = row.opens
    return view


def _row(view: str, text: str, syntax: Syntax | None) -> Row | None:
    """Return the row of a view that matches a line, as a setting or as its undo."""
    words = words_of(text)
    undone = words[0] == UNDO and len(words) > 1
    words = words[1:] if undone else words
    own = (row for row in site_rows(syntax) if row.view == view and words[0] in row.first_words)
    for row in (*rows_of(view, words[0]), *own):
        forms = (row.nodes, *(nodes for nodes, _ in row.undo_nodes if undone))
        if any(True for form in forms for _ in read_all(form, words, MatchFailure())):
            return row
    return None
