"""Words for values in help pages, and the names that complete them: `**SWITCH` of an option.

A completion that fails offers nothing: it never prints an error into a person's command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypedDict

import typer

from rocefort.base.command_line.names import fabric_names, models, names_in, rule_names, waves_of

MOST = 1_000_000  # upper limit of a number with a fraction; infinity and nan exceed it
FAMILY = 3  # letters of a family, the beginning of its ids
Completer = Callable[[typer.Context, str], list[str]]


class ValueWord(TypedDict):
    """Word for a value, with what completes it."""

    metavar: str
    autocompletion: Completer


class Word(TypedDict):
    """Word for a value that nothing completes, except names of files."""

    metavar: str


def _value(metavar: str, names: Callable[[dict[str, Any]], list[str]]) -> ValueWord:
    """Return a value with its word; names: from the parameters that are given already."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        *before, last = incomplete.split(",")
        head = "".join(f"{each}," for each in before)
        given = {*before, *(context.params.get("names") or ())}
        try:
            found = [name for name in names(context.params) if name not in given]
        except Exception:  # noqa: BLE001 - a broken file has no names
            return []
        if last.islower() and not any(name.startswith(last) for name in found):
            found = [name.lower() for name in found]
        return [f"{head}{name}" for name in found if name.startswith(last)]

    return ValueWord(metavar=metavar, autocompletion=complete)


def _in_fabric(*kinds: str) -> Callable[[dict[str, Any]], list[str]]:
    return lambda given: names_in(_text(given.get("fabric")), kinds)


def _end_names(given: dict[str, Any]) -> list[str]:
    """Return the ends of a trace; the first of three arguments is a fabric."""
    ends, fabrics = list(given.get("ends") or ()), fabric_names()
    fabric = next((end for end in ends[:1] if end in fabrics), None)
    try:
        named = names_in(fabric, ("servers", "spines", "leaves", "segments"))
    except ValueError:  # several fabrics, and none is named yet
        return fabrics
    return named if ends else [*fabrics, *named]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def table(names: Iterable[str]) -> ValueWord:
    """Return the value of `show` that is a table."""
    return _value("TABLE", lambda _: list(names))


FABRIC = _value("FABRIC", lambda _: fabric_names())
SWITCH = _value("SWITCH", _in_fabric("spines", "leaves"))
SERVER = _value("SERVER", _in_fabric("servers"))
SERVERS = _value("SERVER,..", _in_fabric("servers"))
NAME = _value("NAME", _in_fabric("spines", "leaves", "servers"))
ENDS = _value("[FABRIC] SRC DST", _end_names)
PORT = _value("SWITCH[:PORT]", _in_fabric("spines", "leaves"))
MODEL = _value("MODEL", lambda _: models())
RULES = _value("RULES", lambda _: rule_names())
RULE = _value("RULE", lambda _: [name for name in rule_names() if len(name) > FAMILY])
SEGMENTS = _value("SEGMENT,..", _in_fabric("segments"))
WAVE = _value("WAVE", lambda given: waves_of(_text(given.get("sealed"))))
FILE = Word(metavar="FILE")
DIR = Word(metavar="DIR")
