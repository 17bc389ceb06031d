"""Command completion: the command that shortened words select, and the words that `?` lists.

A keyword may be shortened as long as the whole line has one meaning: `dis cur`, `c c c`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rocefort.dialects.vrp.commands.catalogue import Row, Syntax, rows_with
from rocefort.dialects.vrp.commands.format import (
    INCOMPLETE,
    FormatMatch,
    FormatNode,
    MatchFailure,
    read_all,
)
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.interpreter.execute import TypedLine
from rocefort.dialects.vrp.interpreter.interpreter import Lines, View

AMBIGUOUS = "Error: Ambiguous command found at '^' position."
END = "<cr>"  # help shows it if a line may end here
UNDO = FormatNode("word", "undo")
T = TypeVar("T")


class CommandRefused(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """The words match no command: the index of the word above the caret, and the message."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index
        self.message = message


@dataclass(frozen=True, slots=True)
class CommandMatch(Generic[T]):
    """A command with all typed words matched to its beginning."""

    command: T
    tokens: Tokens
    reading: FormatMatch

    @property
    def words(self) -> Tokens:
        """The words as typed, keywords in full."""
        pairs = zip(self.reading.keywords, self.tokens, strict=True)
        return tuple(keyword or typed for keyword, typed in pairs)

    @property
    def params(self) -> dict[str, str]:
        """The parameters, by name."""
        return dict(self.reading.params)


@dataclass(frozen=True, slots=True)
class CommandSet(Generic[T]):
    """The commands that are valid in one view, each with its format."""

    commands: Sequence[tuple[T, tuple[FormatNode, ...]]]

    def fitting(self, tokens: Tokens, trace: MatchFailure) -> list[CommandMatch[T]]:
        """Return every match of the words, each word with one meaning. Raises CommandRefused."""
        first = tokens[0].casefold() if tokens else ""
        fitting = [
            CommandMatch(command, tokens, reading)
            for command, nodes in self.commands
            if nodes[0].kind != "word" or nodes[0].text.startswith(first)  # most do not
            for reading in read_all(nodes, tokens, trace, shortened=True)
        ]
        for index, typed in enumerate(tokens):
            fitting = _narrowed(fitting, index, typed.casefold())
        return fitting

    def resolve(self, tokens: Tokens) -> CommandMatch[T]:
        """Return the command that the words select. Raises CommandRefused (documented text)."""
        trace = MatchFailure()
        fitting = self.fitting(tokens, trace)
        if not fitting:
            raise CommandRefused(*trace.error(len(tokens)))
        whole = [fit for fit in fitting if fit.reading.after is None]
        if not whole:
            raise CommandRefused(len(tokens), INCOMPLETE)
        return max(whole, key=lambda fit: fit.reading.words)

    def following(self, tokens: Tokens, beginning: str) -> list[str]:
        """Return possible next words that start with `beginning`, sorted. Raises CommandRefused."""
        ends = {fit.reading.after for fit in self.fitting(tokens, MatchFailure())}
        following = {END if node is None else help_text(node) for node in ends}
        if beginning:
            return sorted(word for word in following if word.startswith(beginning.casefold()))
        return sorted(following, key=lambda word: (word == END, word.startswith("<"), word))


def help_text(node: FormatNode) -> str:
    """Format an element for help: a keyword as it is, a parameter in angle brackets."""
    return f"<{node.text.removeprefix('kbytes:')}>" if node.kind == "param" else node.text


def _narrowed(fitting: list[CommandMatch[T]], index: int, typed: str) -> list[CommandMatch[T]]:
    """Keep the fits of one meaning of a word: exact before shortened, shortened only if alone."""
    meant = {keyword for fit in fitting if (keyword := fit.reading.keywords[index])}
    if typed in meant:
        return [fit for fit in fitting if fit.reading.keywords[index] == typed]
    if len(meant) > 1:
        raise CommandRefused(index, AMBIGUOUS)
    return fitting


def config_commands(config: Lines, view: View, family: Syntax) -> list[tuple[FormatNode, ...]]:
    """Return the commands of a view and their `undo` forms."""
    formats: list[tuple[FormatNode, ...]] = []
    for row in _rows(config, view, family):
        formats.append(row.nodes)
        formats += [(UNDO, *nodes) for nodes, _ in row.undo_nodes]
    return formats


def outer_commands(config: Lines, view: View, family: Syntax) -> list[tuple[FormatNode, ...]]:
    """Return commands of the outer views that open a view, the nearest first."""
    return [
        row.nodes
        for depth in range(len(view) - 1, -1, -1)
        for row in _rows(config, view[:depth], family)
        if row.opens
    ]


def _rows(config: Lines, view: View, family: Syntax) -> Iterator[Row]:
    """Yield the rows of the view that this family and this interface have."""
    typed = TypedLine(family, "", view)
    port = typed.port(config)
    rows = rows_with(family).get(typed.kind, ())
    yield from (row for row in rows if port is None or port.has(row))
