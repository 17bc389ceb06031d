"""Detection of conflicts between two changes of one configuration."""

from __future__ import annotations

from rocefort.dialects.vrp.commands.format import words_of
from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.commands.parameters import list_numbers
from rocefort.dialects.vrp.commands.syntax import Syntax
from rocefort.dialects.vrp.interpreter.interpreter import Lines, View, view_kind

Key = tuple[View, tuple[str, ...]]


def conflicts(base: Lines, ours: Lines, theirs: Lines, family: Syntax) -> list[str]:
    """Return lines of `ours` whose command `theirs` changes too, to another value."""
    mine, other = changed_commands(base, ours, family), changed_commands(base, theirs, family)
    return [mine[key] for key in mine if key in other and mine[key] != other[key]]


def changed_commands(before: Lines, after: Lines, family: Syntax) -> dict[Key, str]:
    """Return commands that differ, each with its line afterwards ("" if it is removed)."""
    old, new = _commands(before, (), family), _commands(after, (), family)
    return {key: new.get(key, "") for key in old | new if old.get(key) != new.get(key)}


def _line(kind: str, view: View, text: str, family: Syntax) -> dict[Key, str]:
    """Return a line by its key; a line that lists numbers gives one entry for each number."""
    identity = identify(kind, text, family)
    if identity.row is None or identity.row.kind != "list":
        return {(view, identity.key): text}
    head = " ".join(identity.key)
    numbers = sorted(list_numbers(words_of(identity.value[0])))
    return {(view, (*identity.key, str(number))): f"{head} {number}" for number in numbers}


def _commands(lines: Lines, view: View, family: Syntax) -> dict[Key, str]:
    kind = view_kind(view, family)
    commands: dict[Key, str] = {}
    for line in lines:
        commands |= _line(kind, view, line.text, family)
        commands |= _commands(line.children, (*view, line.text), family)
    return commands
