"""Canonical tree of a text, by the interpreter: two texts of one meaning have the same tree."""

from __future__ import annotations

import re

from rocefort.dialects.vrp.commands.catalogue import PORT
from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.interpreter.interpreter import Lines, View, replay, view_kind
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.models.hardware.hardware import SyntaxFamily

# Views that a switch has with or without a line.
ALWAYS_THERE = re.compile(r"dcb pfc|aaa|telemetry|user-interface .*|interface (\d+GE|MEth).*")
EMPTY_PORT = re.compile(rf"interface {PORT}")


def canonical(tree: Lines, family: SyntaxFamily) -> Lines:
    """Return the same tree for texts of one meaning. Raises VrpRefusal for an unknown line.

    An empty physical port is left out: it exists whether or not a text names it.
    """
    config, refusals = replay(tree, family)
    if refusals:
        raise refusals[0]
    filled = (line for line in config if line.children or not EMPTY_PORT.fullmatch(line.text))
    return _ordered(tuple(filled), (), family)


def _ordered(lines: Lines, view: View, family: SyntaxFamily) -> Lines:
    kind = view_kind(view, family)
    ordered = sorted(lines, key=lambda line: identify(kind, line.text, family).order)
    return tuple(
        ConfigLine(line.text, 0, _ordered(line.children, (*view, line.text), family))
        for line in ordered
    )
