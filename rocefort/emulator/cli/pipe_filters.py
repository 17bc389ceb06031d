"""Output filters of a query behind `|`, as in the vendor's configuration guide.

V300R023C00 configuration guide, CLI Overview, "Regular Expressions": each filter is `begin`,
`exclude` or `include` with a regular expression. `count`, `section`, `ignore-case` and `no-more`
precede it or are alone. Up to 32 filters work one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocefort.dialects.vrp.commands.format import INCOMPLETE, TOO_MANY, UNRECOGNIZED, WRONG
from rocefort.emulator.cli.completion import AMBIGUOUS, END, CommandRefused

BAR = "|"
MODES = ("begin", "exclude", "include")
WAYS = ("count", "ignore-case", "no-more", "section")
MOST_FILTERS = 32
MOST_CHARACTERS = 255  # of a regular expression


@dataclass(frozen=True, slots=True)
class OutputFilter:
    """One filter; `mode` is empty for `count` or `no-more` alone."""

    mode: str = ""
    pattern: re.Pattern[str] = re.compile("")
    ways: frozenset[str] = frozenset()

    def of(self, rows: list[str]) -> list[str]:
        """Return the rows that pass; with `count` their number."""
        groups = sections(rows) if "section" in self.ways else [[row] for row in rows]
        rows = [row for group in self._passing(groups) for row in group]
        return [f"Total lines: {len(rows)}."] if "count" in self.ways else rows

    def _passing(self, groups: list[list[str]]) -> list[list[str]]:
        hits = [any(map(self.pattern.search, group)) for group in groups]
        if self.mode == "begin":
            return groups[hits.index(True) :] if True in hits else []
        keep_hits = self.mode != "exclude"
        return [group for group, hit in zip(groups, hits, strict=True) if hit is keep_hits]


def sections(rows: Sequence[str]) -> list[list[str]]:
    """Split rows into sections, each from a `#` at the left margin to the next."""
    groups: list[list[str]] = []
    for row in rows:
        if row.startswith("#") or not groups:
            groups.append([])
        groups[-1].append(row)
    return groups


def read_filters(tokens: Sequence[str]) -> tuple[OutputFilter, ...]:
    """Return the filters of a query. Raises CommandRefused with the index of the wrong word."""
    filters = tuple(_parse_filter(tokens, start, end) for start, end in _places(tokens))
    if len(filters) > MOST_FILTERS:
        raise CommandRefused(_places(tokens)[MOST_FILTERS][0], TOO_MANY)
    return filters


def _places(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return the start and end index of the words of each filter."""
    bars = [index for index, token in enumerate(tokens) if token == BAR]
    ends = [*bars, len(tokens)][1:]
    return [(bar + 1, end) for bar, end in zip(bars, ends, strict=True)]


def _parse_filter(tokens: Sequence[str], start: int, end: int) -> OutputFilter:
    ways: set[str] = set()
    for index in range(start, end):
        word = _keyword(tokens, index)
        if word in MODES:
            ignoring = re.IGNORECASE if "ignore-case" in ways else re.NOFLAG
            pattern = _pattern(tokens, index + 1, end, ignoring)
            return OutputFilter(word, pattern, frozenset(ways))
        ways.add(word)
    if not ways & {"count", "no-more"}:
        raise CommandRefused(end, INCOMPLETE)
    return OutputFilter(ways=frozenset(ways))


def _keyword(tokens: Sequence[str], index: int) -> str:
    meant = list(_completions(tokens[index].casefold()))
    if len(meant) != 1:
        raise CommandRefused(index, AMBIGUOUS if meant else UNRECOGNIZED)
    return meant[0]


def _completions(typed: str) -> Iterator[str]:
    yield from (word for word in (*MODES, *WAYS) if word.startswith(typed))


def _pattern(tokens: Sequence[str], start: int, end: int, flags: re.RegexFlag) -> re.Pattern[str]:
    text = " ".join(tokens[start:end])
    if not text:
        raise CommandRefused(start, INCOMPLETE)
    if len(text) > MOST_CHARACTERS:
        raise CommandRefused(start, WRONG)
    try:
        return re.compile(text, flags)
    except re.error:
        raise CommandRefused(start, WRONG) from None


def filter_words(tokens: Sequence[str], beginning: str) -> list[str]:
    """Return help for words with a `|` among them. Raises CommandRefused."""
    start = max(index for index, token in enumerate(tokens) if token == BAR) + 1
    for index in range(start, len(tokens)):
        if _keyword(tokens, index) in MODES:
            return [BAR, END] if tokens[index + 1 :] else ["<regular-expression>"]
    return sorted(word for word in (*MODES, *WAYS) if word.startswith(beginning.casefold()))


def filtered_text(text: str, filters: Sequence[OutputFilter]) -> str:
    """Apply filters to a text in order, each to the output of the one before."""
    rows = text.splitlines()
    for output_filter in filters:
        rows = output_filter.of(rows)
    return "\n".join(rows)
