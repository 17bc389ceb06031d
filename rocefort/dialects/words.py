"""Commands of a vendor in a text that knows none: a dialect's words for the terms in it.

Rules and reports write «PFC in manual mode», or «a paused queue: 4» where the command has a value.
A dialect's table of terms has the command; without one the bare term is in the text. What a text
quotes of a switch or a user has no such quotes, so it is never taken for a term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import Words
from rocefort.models.hardware import Family

TERM = re.compile(r"«([^«»:]+)(?:: ([^«»]*))?»")
HOLE = re.compile(r" ?\{\}")


def words_of(family: Family | None) -> Words:
    """Words of a family's dialect; of the first dialect for a text about no switch."""
    return dialect_of(family).words


def in_words(text: str, family: Family | None = None) -> str:
    """The text with the vendor's words for its terms."""
    if "«" not in text:
        return text
    words = words_of(family)

    def worded(match: re.Match[str]) -> str:
        term, values = " ".join(match[1].split()), match[2]
        if term in words.names:
            return words.names[term]
        if term in words.quoted:
            return f"`{_filled(words.quoted[term], values.split(', ') if values else ())}`"
        return f"{term} {values}" if values else term

    return TERM.sub(worded, text)


def line(term: str, *values: object, family: Family | None = None) -> str:
    """The command of a term as it is typed; KeyError where the dialect has none."""
    return _filled(words_of(family).quoted[term], values)


def _filled(template: str, values: Iterable[object]) -> str:
    """A command with its values; what has none is left out."""
    for value in values:
        template = template.replace("{}", str(value), 1)
    return HOLE.sub("", template)
