"""Words that several reports share."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator


def counted(number: int, noun: str) -> str:
    """`1 line`, `3 lines`, `2 switches`, `8 leaves`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("f"):
        return f"{number} {noun[:-1]}ves"
    return f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"


def port_ranges(names: Iterable[str]) -> Iterator[str]:
    """`100GE1/0/1-3,7` instead of four names; other names as they are."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for name in dict.fromkeys(names):
        match = re.fullmatch(r"(\d+GE\d+/\d+/)(\d+)", name)
        if match:
            numbers[match[1]].append(int(match[2]))
        else:
            yield name
    for head, found in numbers.items():
        yield head + ",".join(_runs(sorted(found)))


def _runs(numbers: list[int]) -> Iterator[str]:
    start = 0
    for index in range(1, len(numbers) + 1):
        if index == len(numbers) or numbers[index] != numbers[index - 1] + 1:
            first, last = numbers[start], numbers[index - 1]
            yield str(first) if first == last else f"{first}-{last}"
            start = index
