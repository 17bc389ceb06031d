"""Lines that a switch saves as one: splits of the ports of a card, queues of a PFC profile.

A CE8850 with V200R002C50 saves `port split dimension interface 100GE1/0/1 to 100GE1/0/6 split-type
4*25GE`, a line a card; the configuration guide of V300R023C00 saves `priority 3 4`. A tree here has
a line for each, as our own text has, so that one more port or queue changes no other line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from rocefort.dialects.vrp.interpreter.port_split import HEAD
from rocefort.dialects.vrp.interpreter.tree_edit import Lines
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.dialects.vrp.text.names import ranges

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
