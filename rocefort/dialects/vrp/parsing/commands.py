"""The registry: which handler reads a line, by view, first word and pattern."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from rocefort.dialects.vrp.parsing.parts import Log, Part


@dataclass(frozen=True, slots=True)
class View:
    """A view that a line opens: whose commands apply below it, and what they fill."""

    kind: str
    part: Part


Match = re.Match[str]
Handler = Callable[[Part, Match], View | None]
COMMANDS: dict[tuple[str, str], list[tuple[re.Pattern[str], Handler]]] = {}

NOWHERE = Part(Log())
UNMODELLED = View("unmodelled", NOWHERE)  # the line is kept and reported, and all below it
NO_COMMANDS = View("leaf", NOWHERE)  # below a line that opens no view


def command(view: str, pattern: str) -> Callable[[Handler], Handler]:
    """Register a handler for the lines of a view that a pattern matches whole.

    The pattern begins with a literal word. The handler gets the part that the view fills; it
    returns the view that the line opens, None, or UNMODELLED when it cannot hold what it read.
    """

    def register(handler: Handler) -> Handler:
        first = pattern.split(" ", 1)[0]
        if not re.fullmatch(r"[\w-]+", first):
            raise ValueError(f"the first word of {pattern!r} is not literal")
        compiled = re.compile(pattern, re.ASCII)
        COMMANDS.setdefault((view, first), []).append((compiled, handler))
        return handler

    return register


def setting(
    view: str, pattern: str, name: str, convert: Callable[[str], object] | None = None
) -> None:
    """Register a command whose one argument is the value of a field."""

    def handler(part: Part, match: Match) -> None:
        part.set(name, convert(match[1]) if convert else match[1])

    command(view, pattern)(handler)


def flag(view: str, line: str, name: str, *, value: bool = True) -> None:
    """Register a command without arguments that says yes or no."""

    def handler(part: Part, _match: Match) -> None:
        part.set(name, value)

    command(view, line)(handler)


def read(view: View, line: str) -> View:
    """Hand a line of a view to its handler; raises BadArgumentError."""
    found = _found(view.kind, line)
    return UNMODELLED if found is None else found[0](view.part, found[1]) or NO_COMMANDS


@lru_cache(maxsize=16384)  # ports and switches repeat most of their lines word for word
def _found(kind: str, line: str) -> tuple[Handler, Match] | None:
    """The handler of a line, and what its pattern took from it."""
    for pattern, handler in COMMANDS.get((kind, line.split(" ", 1)[0]), ()):
        if match := pattern.fullmatch(line):
            return handler, match
    return None
