"""Text of lists, ranges and counts, for messages of rules and reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def listing(items: Iterable[object]) -> str:
    """Join items as text: `a`, `a and b`, `a, b and c`."""
    words = [str(item) for item in items]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def count_of(number: int, noun: str) -> str:
    """Number and noun as text: `1 line`, `3 lines`, `2 switches`, `8 leaves`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("f"):
        return f"{number} {noun[:-1]}ves"
    return f"{number} {noun}{'es' if noun.endswith(('ch', 'x')) else 's'}"


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
