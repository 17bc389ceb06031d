"""Find commands of a vendor in the strings of Python modules, by the catalogue of commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.format import FormatNode

ROOT = Path(__file__).parents[3]
HOLE = "{}"  # the value of an f-string
QUOTED = re.compile(r"`([^`]+)`|'([^'\n]+)'|\"([^\"\n]+)\"")
# Commands that change no configuration are not in the catalogue.
ACTION = re.compile(
    r"(display|reset|undo|dir|abort trial|commit trial|clear configuration|rollback configuration"
    r"|refresh bgp|delete /\w+) \S|(dir|save|return|abort trial|commit trial|display|undo)$"
)


ANY_WORD, VALUE = re.compile(r".*"), re.compile(r"\{\}|\d+")


class VendorCommand(NamedTuple):
    """A command in a module, the line of its string, and its words."""

    module: str
    line: int
    text: str


def vendor_commands(module: Path) -> Iterator[VendorCommand]:
    """Yield every command of the vendor in string constants of a module, including docstrings."""
    name = module.relative_to(ROOT).as_posix() if module.is_relative_to(ROOT) else module.name
    for line, text in strings_of(module):
        for command in commands_in(text):
            yield VendorCommand(name, line, command)


@cache
def strings_of(module: Path) -> tuple[tuple[int, str], ...]:
    """Yield the strings of a module with their lines; values of an f-string become `HOLE`."""
    parts: set[int] = set()
    strings: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(module.read_text())):  # an f-string comes before its parts
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in node.values}
            texts = (p.value if isinstance(p, ast.Constant) else HOLE for p in node.values)
            strings.append((node.lineno, "".join(map(str, texts))))
        elif isinstance(node, ast.Constant) and id(node) not in parts:
            strings += [(node.lineno, node.value)] if isinstance(node.value, str) else []
    return tuple(strings)


def commands_in(text: str) -> Iterator[str]:
    """Yield commands in a text: quoted parts that begin as one, or the whole text if it is one."""
    whole = tuple(text.split())
    if len(whole) > 1 and "\n" not in text and is_command(whole, whole=True):
        yield text.strip()
        return
    for match in QUOTED.finditer(text):
        words = tuple(next(filter(None, match.groups())).split())
        if words and is_command(words):
            yield " ".join(words)


@cache
def is_command(words: tuple[str, ...], *, whole: bool = False) -> bool:
    """Return whether words are the beginning of a command, or all of it; a parameter fits any word.

    A single word must have a hyphen, because many other words are names of model fields.
    """
    if ACTION.match(" ".join(words)) and not (whole and words[0] in ("undo", "save")):
        return True
    if words[0] == "undo":
        return words[1:2] != () and words[1] in _heads()
    if len(words) == 1 and "-" not in words[0]:
        return False
    if not whole and ".." in words[1:]:
        words = words[: words.index("..")]
    return _fits(words, ANY_WORD, whole=whole)


def is_read(command: str) -> bool:
    """Return whether the catalogue has a command with these words up to `..`; `{}` fits a value."""
    words = tuple(command.removeprefix("undo ").partition(" ..")[0].split())
    return _fits(words, VALUE, whole=False)


def _fits(words: tuple[str, ...], value: re.Pattern[str], *, whole: bool) -> bool:
    return any(
        end == len(words) and (ended or not whole)
        for rows in rows_by_view().values()
        for row in rows
        if words[0] in row.first_words
        for end, ended in _ends(row.nodes, words, 0, value)
    )


@cache
def _heads() -> frozenset[str]:
    """Return the first words of all rows."""
    return frozenset().union(*(r.first_words for rows in rows_by_view().values() for r in rows))


def _ends(
    nodes: tuple[FormatNode, ...], words: tuple[str, ...], at: int, value: re.Pattern[str]
) -> Iterator[tuple[int, bool]]:
    """Yield how many words fit a format whose parameters take a value, and whether it ends there."""
    if not nodes:
        yield at, True
        return
    node, rest = nodes[0], nodes[1:]
    if node.kind in ("optional", "several", "implied"):
        yield from _ends(rest, words, at, value)
    if node.kind in ("word", "implied", "param"):
        if at == len(words):
            yield at, False
        elif words[at] == node.text or (node.kind == "param" and value.fullmatch(words[at])):
            yield from _ends(rest, words, at + 1, value)
        return
    again = (node,) if node.kind == "several" else ()
    for branch in node.branches:
        yield from _ends((*branch, *again, *rest) if branch else rest, words, at, value)
