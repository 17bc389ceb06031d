"""Lines as a switch saves them: defaults that it writes itself, and lines that it joins.

A CE8850 with V200R002C50 saves `port split dimension interface 100GE1/0/1 to 100GE1/0/6 split-type
4*25GE`, a line a card; the configuration guide of V300R023C00 saves `priority 3 4`. A tree here has
a line for each, as our own text has, so that one more port or queue changes no other line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache

from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.commands.catalogue import Syntax
from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.interpreter.execute import view_kind
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_lines
from rocefort.dialects.vrp.interpreter.port_split import HEAD
from rocefort.dialects.vrp.interpreter.tree_edit import Lines
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.dialects.vrp.text.names import ranges
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.hardware.media import whole_port
from rocefort.models.network.network import TextLine


def written_by_itself(line: TextLine, family: SyntaxFamily | None = None) -> bool:
    """Whether a switch of a family saves a line itself, or it states a default of the family.

    family: None for a switch of unknown release: any family may save it, and it must state the
    default of each that has the command. A line that an operator adds below such a line is a
    separate line and needs an owner.
    """
    return _written_by_itself(line.path, line.text, family)


@lru_cache(maxsize=4096)  # a line with a default takes 0.3 ms, and switches repeat them
def _written_by_itself(path: tuple[str, ...], text: str, family: SyntaxFamily | None) -> bool:
    families = (family,) if family else tuple(SyntaxFamily)
    if any(" / ".join((*path, text)) in _saved_lines(each) for each in families):
        return True
    answers = [_says_default(path, text, each) for each in families]
    verdicts = [each for each in answers if each is not None]
    return bool(verdicts) and all(verdicts)


@cache
def _saved_lines(family: SyntaxFamily) -> frozenset[str]:
    return frozenset(each.line for each in load_families()[family].saved_lines)


def _says_default(path: tuple[str, ...], text: str, family: Syntax) -> bool | None:
    """Whether a family drops the line because it states a default; None: no such command."""
    row = identify(view_kind(path, family), text, family).row
    if row is None:
        return None
    if not row.default:
        return False
    views = tuple(map(whole_port, path))  # a part of a port exists beside the split alone
    try:
        return apply_lines((), views, family) == apply_lines((), (*views, text), family)
    except VrpRefusal:
        return False


SPLIT = re.compile(rf"({HEAD} )(\d+GE\d+/\d+/)(\d+)( split-type \S+)", re.ASCII)
QUEUE = re.compile(r"(priority )()(\d)()", re.ASCII)
PROFILE = "dcb pfc"


def joined_lines(lines: Lines) -> Lines:
    """Return the lines of the system view, with lines joined as a switch saves them."""
    lines = tuple(
        replace(line, children=_joined_by_pattern(line.children, QUEUE))
        if line.text.startswith(PROFILE) and line.children
        else line
        for line in lines
    )
    return _joined_by_pattern(lines, SPLIT)


def _joined_by_pattern(lines: Lines, pattern: re.Pattern[str]) -> Lines:
    """Join lines that differ in one number alone, at the position of the first of them."""
    matches = {line.text: match for line in lines if (match := pattern.fullmatch(line.text))}
    if len(matches) < 2:
        return lines
    numbers: dict[tuple[str, ...], list[int]] = {}
    for match in matches.values():
        numbers.setdefault(match.group(1, 2, 4), []).append(int(match[3]))
    joined: dict[str, ConfigLine] = {}
    for line in lines:
        match = matches.get(line.text)
        text = _text(match, numbers[match.group(1, 2, 4)], pattern) if match else line.text
        joined.setdefault(text, replace(line, text=text))
    return tuple(joined.values())


def _text(match: re.Match[str], numbers: Iterable[int], pattern: re.Pattern[str]) -> str:
    runs = ranges(numbers) if pattern is SPLIT else map(str, sorted(numbers))
    names = (re.sub(r"\d+", rf"{match[2]}\g<0>", run) for run in runs)
    return f"{match[1]}{' '.join(names)}{match[4]}"
