"""Commands of a vendor in a text that knows none: a dialect's words for the terms in it.

Rules and reports write «PFC in manual mode», or «a paused queue: 4» where the command has a value.
A dialect's table of terms has the command; without one the bare term is in the text. What a text
quotes of a switch or a user has no such quotes, so it is never taken for a term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocefort.dialects.choose import OfDialect, dialect_of
from rocefort.errors import Refused

TERM = re.compile(r"«([^«»:]+)(?:: ([^«»]*))?»")
HOLE = re.compile(r" ?\{\}")


def in_words(text: str, known: OfDialect | None = None) -> str:
    """The text with the words of a switch's vendor for its terms; None: it is about no switch."""
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
    """The command of a term as it is typed; raises Refused where the dialect has none."""
    dialect = dialect_of(known)
    if term not in dialect.words.quoted:
        how = "add it to the `words` of the dialect"
        raise Refused(f"{dialect.name}: no command for the term «{term}»", how=how)
    return _filled_command(dialect.words.quoted[term], values)


def _filled_command(template: str, values: Iterable[object]) -> str:
    """A command with its values; what has none is left out."""
    for value in values:
        template = template.replace("{}", str(value), 1)
    return HOLE.sub("", template)
