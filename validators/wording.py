"""Small words for rule messages: lists, ranges and counts as an engineer writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

KBYTE = 1024  # a CloudEngine's kbyte; its reference does not say 1000 or 1024


def listing(items: Iterable[object]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    words = [str(item) for item in items]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def counted(number: int, noun: str) -> str:
    """`1 link`, `2 links`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def ranges(numbers: Iterable[int]) -> str:
    """`32-33, 35-39` from 32, 33, 35 .. 39."""
    return ", ".join(a if a == b else f"{a}-{b}" for a, b in _runs(sorted(set(numbers))))


def _runs(numbers: list[int]) -> Iterator[tuple[str, str]]:
    start = 0
    for index, number in enumerate(numbers, 1):
        if index == len(numbers) or numbers[index] != number + 1:
            yield str(numbers[start]), str(number)
            start = index


def kbytes(size_bytes: int) -> int:
    """Bytes as whole kbytes, rounded up."""
    return -(-size_bytes // KBYTE)
