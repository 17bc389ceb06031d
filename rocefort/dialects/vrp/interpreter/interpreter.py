"""Interpreter of one VRP command on a configuration: views, overwriting, `undo`.

Pure functions over the tree of lines. They use the command table and are independent of Rocefort's
renderer, parser and patches, so they can verify that running + patch = intended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from rocefort.dialects.vrp.commands.catalogue import (
    OPAQUE_VIEW,
    PROMPTS,
    QUESTIONS,
    SYSTEM,
    CommandQuestion,
    Syntax,
)
from rocefort.dialects.vrp.commands.format import words_of
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.interpreter.execute import TypedLine, VrpRefusal, view_kind
from rocefort.dialects.vrp.interpreter.tree_edit import Lines, View, children_at, put_line

__all__ = [
    "LineResult",
    "Lines",
    "View",
    "VrpRefusal",
    "apply_line",
    "apply_lines",
    "prompt_name",
    "replay",
    "view_kind",
]


@dataclass(frozen=True, slots=True)
class LineResult:
    """Result of a line, as if its question (if any) is answered with yes."""

    config: Lines
    view: View
    question: str | None = None
    notes: tuple[str, ...] = ()


def apply_line(config: Lines, view: View, line: str, family: Syntax) -> LineResult:
    """Apply one typed line. Raises VrpRefusal for a line that the switch would refuse.

    A left-aligned `#` leads to the system view, as in a configuration file (V300R023C00, `save`).
    """
    tokens = words_of(line.replace("\0", ""))
    if not tokens or tokens[0].startswith("#"):
        return LineResult(config, () if line.startswith("#") else view)
    if tokens == ("quit",):
        return LineResult(config, view[:-1])
    if tokens == ("return",):
        return LineResult(config, ())
    typed = TypedLine(family, line, view)
    if tokens[0].casefold() == "undo":
        after, new_view = typed.undo(config, tokens[1:]), view
    else:
        after, new_view = typed.apply_or_climb(config, tokens)
    return LineResult(after, new_view, _question(config, after, view, tokens, family))


def apply_lines(config: Lines, lines: Iterable[str], family: Syntax) -> Lines:
    """Apply lines from the system view on, every question answered with yes.

    Raises VrpRefusal at the first line that is refused.
    """
    view: View = ()
    for line in lines:
        applied = apply_line(config, view, line, family)
        config, view = applied.config, applied.view
    return config


def replay(tree: Lines, family: Syntax) -> tuple[Lines, tuple[VrpRefusal, ...]]:
    """Load a whole configuration as a start-up does: refused lines are reported and left out.

    The result is the form in which the switch would save it: defaults removed, lists merged.
    """
    refusals: list[VrpRefusal] = []
    config = _replay((), (), tree, family, refusals)
    return config, tuple(refusals)


def _replay(
    config: Lines, view: View, tree: Lines, family: Syntax, refusals: list[VrpRefusal]
) -> Lines:
    for line in tree:
        try:
            applied = apply_line(config, view, line.text, family)
        except VrpRefusal as refusal:
            refusals.append(refusal)
            continue
        before, config = config, applied.config
        inner = applied.view
        if not line.children:
            if len(inner) > len(view) and config == before and line.text.startswith("interface "):
                config = put_line(config, view, line, SYSTEM, family)  # empty ports exist
            continue
        if view_kind(inner, family) == OPAQUE_VIEW:
            config = put_line(config, view, line, view_kind(view, family), family)
        else:  # below a line that opens no view, indentation has no meaning: lines of this view
            config = _replay(config, inner, line.children, family, refusals)
    return config


def prompt_name(view: View, family: Syntax) -> str:
    """Return the views' suffix of the host's name in the prompt: `-100GE1/0/1`, `-bgp-af-ipv4`."""
    parts = [""]
    for depth, text in enumerate(view, 1):
        words = (*words_of(text), "default")  # `dcb pfc` is profile default
        acl = "basic" if words[-2].startswith("2") else "advance"
        name = PROMPTS.get(view_kind(view[:depth], family), "{0}").replace("{acl}", acl)
        for index, word in enumerate(words):
            name = name.replace(f"{{{index}}}", word)
        parts.append(name)
    return "-".join(parts)


@cache
def _questions(kind: str) -> tuple[CommandQuestion, ...]:
    return tuple(question for question in QUESTIONS if question.view == kind)


def _question(
    before: Lines, after: Lines, view: View, tokens: Tokens, family: Syntax
) -> str | None:
    typed = " ".join(tokens)
    for question in _questions(view_kind(view, family)):
        if not re.fullmatch(question.line, typed):
            continue
        if before == after and not question.always:  # no loss, so no question
            continue
        beside = (line.text for line in children_at(before, view) if question.beside)
        if not question.beside or any(re.fullmatch(question.beside, text) for text in beside):
            return question.text
    return None
