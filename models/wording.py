"""Text of lists, ranges and counts, for messages of rules and reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic.config import JsonDict

VALUE, WHY = "x-value", "x-why"
PREPOSITION = re.compile(r"(?= (?:of|by|for) )")
MOST_NAMED = 6
MOST_NOTES = 20  # on one output of a program
NOTE_LETTERS = 200
BOUND_WORDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def named(value: str, why: str = "") -> JsonDict:
    """Name the values of a field that has bounds, for messages and the JSON schema.

    `json_schema_extra=named("a VLAN", "1 is the default")` gives "write a VLAN from 2 to 4094".
    """
    return {VALUE: value, WHY: why}


def in_range(value: str, why: str, bounds: Mapping[str, object], unit: str = "") -> str:
    """Return a value with its bounds: `a VLAN from 2 to 4094 (1 is the default)`.

    bounds: `ge`, `gt`, `le` and `lt` with their numbers.
    """
    shown = {name: str(bound).removesuffix(".0") for name, bound in bounds.items()}
    if {"ge", "le"} <= shown.keys():
        text = f"from {shown['ge']} to {shown['le']}"
    else:
        text = " and ".join(f"{BOUND_WORDS[n]} {shown[n]}" for n in BOUND_WORDS if n in shown)
        text = f"of {text}" if text.startswith("at ") else text
    return " ".join(filter(None, (value, text, unit, f"({why})" if why else "")))


def line_notes(lines: Iterable[str]) -> tuple[str, ...]:
    """Return distinct lines as notes, each shortened, and at most MOST_NOTES of them."""
    notes = tuple(dict.fromkeys(" ".join(line.split())[:NOTE_LETTERS] for line in lines))
    more = len(notes) - MOST_NOTES
    return notes if more <= 0 else (*notes[:MOST_NOTES], f"and {more} more lines")


def listing(items: Iterable[object]) -> str:
    """Join items as text: `a`, `a and b`, `a, b and c`."""
    words = [str(item) for item in items]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def names_text(names: Iterable[str]) -> str:
    """All names, or the first few of a long list."""
    every = list(names)
    more = len(every) - MOST_NAMED
    return listing([*every[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def count_of(number: int, noun: str) -> str:
    """Number and noun as text: `1 line`, `1,088 lines`, `8 leaves`, `2 changes of a password`."""
    if number == 1:
        return f"1 {noun}"
    head, *rest = PREPOSITION.split(noun, maxsplit=1)
    plural = f"{head[:-1]}ves" if head.endswith("f") else head
    if plural == head:
        plural = f"{head}{'es' if head.endswith(('ch', 'ss', 'x')) else 's'}"
    return "".join((f"{number:,} {plural}", *rest))


def duration(seconds: float) -> str:
    """Return a time as text: `9 min 12 s`, `45 s`, `2 h 5 min`."""
    minutes, rest_s = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest_s} s"
    hours, rest_min = divmod(minutes, 60)
    return f"{hours} h {rest_min} min" if hours else f"{minutes} min {rest_s} s"


def ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Yield ranges of numbers: `32-33` and `35-39` from 32, 33, 35 .. 39."""
    run: list[int] = []
    for number in sorted(set(numbers)):
        if run and number != run[-1] + 1:
            yield _range(run)
            run = []
        run.append(number)
    if run:
        yield _range(run)


def _range(run: list[int]) -> str:
    return str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}"
