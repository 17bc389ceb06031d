"""Configurations of the report page, packed so that what repeats is written once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

Part = int | str  # the number of a run, or a line that is nowhere else


def packed_texts(texts: Mapping[str, str]) -> dict[str, object]:
    """Texts by device as parts, which joined by line feeds are the text again.

    Lines that are there more than once make runs between those that are there once: switches that
    are alike differ in addresses and names, and share the lines between them.
    """
    split = {name: text.split("\n") for name, text in texts.items()}
    count = Counter(line for lines in split.values() for line in lines)
    runs: dict[str, int] = {}
    parts = {name: list(_parts(lines, count, runs)) for name, lines in split.items()}
    return {"runs": list(runs), "texts": parts}


def _parts(lines: Sequence[str], count: Counter[str], runs: dict[str, int]) -> Iterator[Part]:
    for common, some in groupby(lines, key=lambda line: count[line] > 1):
        if common:
            yield runs.setdefault("\n".join(some), len(runs))
        else:
            yield from some
