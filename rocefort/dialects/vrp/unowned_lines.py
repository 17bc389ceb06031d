"""Unowned lines of a configuration, inserted into a tree without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

from napalm_cloudengine.text import words_of
from rocefort.dialects.vrp.commands.catalogue import Syntax
from rocefort.dialects.vrp.commands.command import SYSTEM
from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.commands.unmodelled import FAMILY_VIEW
from rocefort.dialects.vrp.interpreter.execute import view_kind
from rocefort.dialects.vrp.interpreter.interpreter import Lines, apply_line, replay
from rocefort.dialects.vrp.interpreter.tree_edit import children_at, put_line, remove
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree

Path = Sequence[str]  # the lines that open the views of a line, and the line itself


def whole_tree(text: str, family: Syntax) -> Lines:
    """Return the running tree of a switch that started with a text, with its unknown lines.

    A start-up leaves those out (`replay`); a switch that runs them has them from its own release.
    """
    unowned = [(*line.path, line.text) for line in parse(text, "").unmodelled]
    return with_kept(replay(parse_tree(text), family)[0], unowned, family)


def with_kept(config: Lines, paths: Sequence[Path], family: Syntax) -> Lines:
    """Insert unowned lines into a tree; a view that only they fill is at its place in the order."""
    for view in dict.fromkeys(path[0] for path in paths if _has_row(path[:1], family)):
        if not children_at(config, (view,)):
            config = put_line(config, (), ConfigLine(view), SYSTEM, family)
    return with_lines(config, paths)


def with_lines(lines: Lines, paths: Sequence[Path]) -> Lines:
    """Insert lines into a tree, each in its view, in the given order."""
    end = len(lines)  # a line is inserted before its successor
    for path in reversed(paths):
        lines, end = _merged(lines, path, end)
    return lines


def apply_with(
    config: Lines, commands: Iterable[str], family: Syntax, unjudged: Set[Path]
) -> Lines:
    """Return a tree after commands; some lines are accepted, although the table lacks them.

    Raises VrpRefusal at the first other line that is refused.
    """
    view: tuple[str, ...] = ()
    for command in commands:
        line = " ".join(words_of(command))
        bare = line.removeprefix("undo ")
        path = next((p for p in ((*view, line), (*view, bare)) if p in unjudged), None)
        undone = (*view, f"undo {line}")
        if path is None and undone in unjudged and not _has_row(undone, family):
            config = remove(config, view, (undone[-1],))
        elif path is None or _has_row(path, family):
            applied = apply_line(config, view, line, family)
            config, view = applied.config, applied.view
        elif path[-1] != line:
            config = remove(config, view, (bare,))
        else:
            config = with_kept(config, [path], family)
            below = any(other[: len(path)] == path != other for other in unjudged)
            view = path if below or FAMILY_VIEW.fullmatch(line) else view
    return config


def misplaced(text: str, family: Syntax) -> Iterator[Path]:
    """Yield lines of a text that the table has, and that a switch refuses at their place.

    Each with its views. Such is a line of a port that a member of an Eth-Trunk does not have.
    """
    for refusal in replay(parse_tree(text), family)[1]:
        path = (*refusal.view, " ".join(words_of(refusal.line)))
        if _has_row(path, family):
            yield path


def _has_row(path: Path, family: Syntax) -> bool:
    """Whether the table has a line."""
    return identify(view_kind(tuple(path[:-1]), family), path[-1], family).row is not None


def _merged(lines: Lines, path: Path, end: int) -> tuple[Lines, int]:
    """Return lines with one more, and its position, or that of its view."""
    head, *rest = path
    for number, line in enumerate(lines):
        if line.text == head:
            inner = _merged(line.children, rest, len(line.children))[0] if rest else line.children
            return (*lines[:number], replace(line, children=inner), *lines[number + 1 :]), number
    below = _merged((), rest, 0)[0] if rest else ()
    return (*lines[:end], ConfigLine(head, 0, below), *lines[end:]), end
