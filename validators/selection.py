"""Which rules run: chosen and left out by id or by family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from rocefort.documents.nearest import nearest
from rocefort.errors import BadInput, Problem
from rocefort.validators.rules import Rule

Some = TypeVar("Some", bound=Rule)


def selected(
    rules: Sequence[Some], select: Iterable[str] = (), ignore: Iterable[str] = ()
) -> tuple[Some, ...]:
    """Rules of the ids and families in `select` (none: all), without those in `ignore`.

    Each item may hold several words with commas between them, as in `PFC,BUF001`. Raises BadInput
    for words that are neither an id nor a family, all of them together, and when no rule is left.
    """
    wanted, unwanted = _words(select), _words(ignore)
    known = {*(rule.family for rule in rules), *(rule.id for rule in rules)}
    problems = [
        Problem("", f"no rule or family {word!r}", nearest(word.upper(), known))
        for word in (*wanted, *unwanted)
        if word not in known
    ]
    if problems:
        raise BadInput(problems=problems)
    left = tuple(
        rule
        for rule in rules
        if (not wanted or _named(rule, wanted)) and not _named(rule, unwanted)
    )
    if not left:
        raise BadInput("no rule is left to run", how="select more, or ignore less")
    return left


def _words(items: Iterable[str]) -> tuple[str, ...]:
    words = (word.strip() for item in items for word in item.split(","))
    return tuple(dict.fromkeys(filter(None, words)))


def _named(rule: Rule, words: Sequence[str]) -> bool:
    return rule.id in words or rule.family in words
