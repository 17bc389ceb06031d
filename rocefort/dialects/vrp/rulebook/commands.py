"""Commands of one view as the catalogue knows them: which lines overwrite, how a line is undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rocefort.dialects.vrp.command import Node, Trace, read_all, words_of
from rocefort.dialects.vrp.identity import Identity, identify, rows_of
from rocefort.dialects.vrp.parameters import Tokens
from rocefort.dialects.vrp.row import Row
from rocefort.dialects.vrp.secrets import as_saved
from rocefort.models.hardware import SyntaxFamily

UNDO = "undo "


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of one view of one syntax family."""

    view: str
    family: SyntaxFamily

    def identity(self, text: str) -> Identity:
        """The row of a line, its key and its value, also where that is none that the row takes."""
        found = identify(self.view, as_saved(text), self.family)
        return found if found.row is not None else _of_key(self, text)

    def key(self, text: str) -> Tokens:
        """Words of a line that no other line of its view has: two such lines overwrite."""
        return self.identity(text).key

    def value(self, text: str) -> str:
        """What a line sets its key to."""
        return " ".join(self.identity(text).value)

    def undo(self, text: str) -> str | None:
        """Command that takes back a line and no other; None if the catalogue has none.

        `undo` with the key of the line, or with all of it: what the first undo format of its row
        takes. A form that takes away all lines that begin so is used where there is no other.
        """
        found = self.identity(text)
        if text.startswith(UNDO):
            return text.removeprefix(UNDO)
        if found.row is None:
            return f"{UNDO}{text}"
        if found.row.no_undo:
            return found.row.default or None
        own = next(_undos(found.row, found, text), None)
        unknown_value = identify(self.view, as_saved(text), self.family).row is None
        return f"{UNDO}{text}" if own is None and unknown_value else own

    def lost(self, text: str, replacement: str) -> str | None:
        """Command for what a line sets by name and its replacement does not (`kind="pairs"`)."""
        found = self.identity(text)
        if found.row is None or found.row.kind != "pairs":
            return None
        names, kept = found.value[::2], self.identity(replacement).value[::2]
        gone = [name for name in names if name not in kept]
        return f"{UNDO}{' '.join((*found.key, *gone))}" if gone else None


def _of_key(commands: Commands, text: str) -> Identity:
    """A line with the words of a key, and behind them a value that its row does not take."""
    unknown = identify(commands.view, text, commands.family)
    tokens = words_of(text.removeprefix(UNDO))
    fitting = (
        (reading.words, row, reading)
        for row in rows_of(commands.view, tokens[0], commands.family)
        for reading in read_all(_any_value(row.nodes), tokens, Trace())
    )
    _, row, reading = max(fitting, key=lambda found: found[0], default=(0, None, None))
    if reading is None:
        return unknown
    return replace(unknown, row=row, key=reading.key, value=reading.value)


def _any_value(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    anything = Node("value", branches=((Node("param", "text"),),))
    return tuple(anything if node.kind == "value" else node for node in nodes)


def _undos(row: Row, found: Identity, text: str) -> Iterator[str]:
    names = found.value[::2] if row.kind == "pairs" else ()
    key = " ".join((*found.key, *names))
    for nodes, _ in sorted(row.undo_nodes, key=lambda form: form[1]):
        for words in (key, text):
            if any(each.key == found.key for each in read_all(nodes, words_of(words), Trace())):
                yield f"{UNDO}{words}"
