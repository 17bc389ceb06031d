"""Replacement of vendor-neutral terms in a text by a dialect's commands.

Rules and reports write «PFC in manual mode», or «a paused queue: 4» where the command has a value.
A dialect's table of terms has the command; without one the bare term is in the text. A text's
quotations of a switch or a user have no such quotes, so they are never taken for a term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocefort.base.errors import Refused
from rocefort.dialects.choose import OfDialect, dialect_of

TERM = re.compile(r"«([^«»:]+)(?:: ([^«»]*))?»")
HOLE = re.compile(r" ?\{\}")


def in_words(text: str, known: OfDialect | None = None) -> str:
    """Return the text with the vendor's commands for its terms; None: it is about no switch."""
    if "«" not in text:
        return text
    words = dialect_of(known).words

    def worded(match: re.Match[str]) -> str:
        term, values = " ".join(match[1].split()), match[2]
        if term in words.names:
            return words.names[term]
        if term in words.quoted:
            return f"`{_filled_command(words.quoted[term], values.split(', ') if values else ())}`"
        return f"{term} {values}" if values else term

    return TERM.sub(worded, text)


def line(known: OfDialect | None, term: str, *values: object) -> str:
    """Return the command of a term as it is typed; raises Refused where the dialect has none."""
    dialect = dialect_of(known)
    if term not in dialect.words.quoted:
        how = "add it to the `words` of the dialect"
        raise Refused(f"{dialect.name}: no command for the term «{term}»", how=how)
    return _filled_command(dialect.words.quoted[term], values)


def _filled_command(template: str, values: Iterable[object]) -> str:
    """Return a command with its values; parts without a value are omitted."""
    for value in values:
        template = template.replace("{}", str(value), 1)
    return HOLE.sub("", template)
