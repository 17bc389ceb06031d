"""Rows of annet: catalogue commands of a view, their undo, and marks for a position in a patch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rocefort.dialects.vrp.commands.catalogue import Syntax
from rocefort.dialects.vrp.commands.command import Row
from rocefort.dialects.vrp.commands.format import FormatNode, MatchFailure, read_all, words_of
from rocefort.dialects.vrp.commands.match import Identity, identify, rows_of
from rocefort.dialects.vrp.commands.parameters import Tokens
from rocefort.dialects.vrp.text.secret_forms import as_saved

ANEW = "\0anew"  # a port leaves its Eth-Trunk and joins it again
LAST = "\0last"  # a port applies its profile after its traffic has changed


def unmarked(row: str) -> str:
    """Return the line without its mark."""
    return row.partition("\0")[0]


UNDO = "undo "
ANY = re.compile(r"(?:(kbytes|numbers):)?(?<!\d)\d+-\d+")
WIDEST = "0-4294967295"
ANY_NUMBERS = {"kbytes": f"kbytes:{WIDEST}", "numbers": "numbers:0-65535"}


@dataclass(frozen=True, slots=True)
class ViewCommands:
    """The commands of one view of one syntax family."""

    view: str
    family: Syntax

    def identity(self, text: str) -> Identity:
        """Return the row of a line, its key and its value, also for values that the row refuses."""
        identity = identify(self.view, as_saved(text), self.family)
        return identity if identity.row is not None else _of_key(self, text)

    def key(self, text: str) -> Tokens:
        """Return the words that identify a line in its view: an equal line overwrites it."""
        return self.identity(text).key

    def value(self, text: str) -> str:
        """Return the value of a line's key."""
        return " ".join(self.identity(text).value)

    def undo(self, text: str) -> str | None:
        """Return the command that undoes only this line; None if the catalogue has none.

        `undo` with the key of the line, or with all of it: the form that the first undo format of
        its row accepts. A form that removes all lines that begin so is used where there is no
        other.
        """
        identity = self.identity(text)
        if text.startswith(UNDO):
            return text.removeprefix(UNDO)
        if identity.row is None:
            return f"{UNDO}{text}"
        if identity.row.no_undo:
            return identity.row.default or None
        own = next(_undos(identity.row, identity, text), None)
        unknown_value = identify(self.view, as_saved(text), self.family).row is None
        return f"{UNDO}{text}" if own is None and unknown_value else own

    def lost(self, text: str, replacement: str) -> str | None:
        """Return the undo of a line's settings missing in its replacement (`kind="pairs"`)."""
        identity = self.identity(text)
        if identity.row is None or identity.row.kind != "pairs":
            return None
        names, new_names = identity.value[::2], self.identity(replacement).value[::2]
        gone = [name for name in names if name not in new_names]
        return f"{UNDO}{' '.join((*identity.key, *gone))}" if gone else None


def _of_key(commands: ViewCommands, text: str) -> Identity:
    """Return a line with the words of a key, with a number or a value that its row refuses."""
    unknown = identify(commands.view, text, commands.family)
    tokens = words_of(text.removeprefix(UNDO))
    rows = rows_of(commands.view, tokens[0], commands.family)
    fitting = [
        (reading.words, row, reading)
        for form in (_any_number, _any_value)
        for row in rows
        for reading in read_all(form(row.nodes), tokens, MatchFailure())
    ]
    _, row, reading = max(fitting, key=lambda candidate: candidate[0], default=(0, None, None))
    if reading is None:
        return unknown
    return replace(unknown, row=row, key=reading.key, value=reading.value)


def _any_number(nodes: tuple[FormatNode, ...]) -> tuple[FormatNode, ...]:
    """Return a format whose numbers have no range."""
    return tuple(
        FormatNode("param", ANY.sub(lambda match: ANY_NUMBERS.get(match[1], WIDEST), node.text))
        if node.kind == "param"
        else FormatNode(node.kind, node.text, tuple(map(_any_number, node.branches)))
        for node in nodes
    )


def _any_value(nodes: tuple[FormatNode, ...]) -> tuple[FormatNode, ...]:
    anything = FormatNode("value", branches=((FormatNode("param", "text"),),))
    return tuple(anything if node.kind == "value" else node for node in _any_number(nodes))


def _undos(row: Row, identity: Identity, text: str) -> Iterator[str]:
    names = identity.value[::2] if row.kind == "pairs" else ()
    key = " ".join((*identity.key, *names))
    for nodes, _ in sorted(row.undo_nodes, key=lambda form: form[1]):
        for words in (key, text):
            read = read_all(_any_number(nodes), words_of(words), MatchFailure())
            if any(each.key == identity.key for each in read):
                yield f"{UNDO}{words}"
