"""Unowned lines of a configuration, inserted into a tree without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rocefort.dialects.vrp.interpreter.interpreter import Lines, replay
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree
from rocefort.models.hardware.hardware import SyntaxFamily

Path = Sequence[str]  # the lines that open the views of a line, and the line itself


def whole_tree(text: str, family: SyntaxFamily) -> Lines:
    """Return the running tree of a switch that started with a text, with its unknown lines.

    A start-up leaves those out (`replay`); a switch that runs them has them from its own release.
    """
    unowned = [(*line.path, line.text) for line in parse(text, "").unmodelled]
    return with_kept(replay(parse_tree(text), family)[0], unowned)


def with_kept(lines: Lines, paths: Sequence[Path]) -> Lines:
    """Insert lines into a tree, each in its view, in the given order."""
    end = len(lines)  # a line is inserted before its successor
    for path in reversed(paths):
        lines, end = _merged(lines, path, end)
    return lines


def _merged(lines: Lines, path: Path, end: int) -> tuple[Lines, int]:
    """Return lines with one more, and its position, or that of its view."""
    head, *rest = path
    for number, line in enumerate(lines):
        if line.text == head:
            inner = _merged(line.children, rest, len(line.children))[0] if rest else line.children
            return (*lines[:number], replace(line, children=inner), *lines[number + 1 :]), number
    below = _merged((), rest, 0)[0] if rest else ()
    return (*lines[:end], ConfigLine(head, 0, below), *lines[end:]), end
