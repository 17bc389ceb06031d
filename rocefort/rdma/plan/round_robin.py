"""Who meets whom when: a round-robin tournament, and pairs in rounds that share nothing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def tournament(players: Sequence[T]) -> Iterator[list[tuple[T, T]]]:
    """Every pair once, nobody twice in a round: N-1 rounds for N even, N for odd (one rests).

    The circle method; it needs no fewer rounds, for a round holds N/2 pairs at most. Who comes
    first in a pair alternates, so that everybody is first about as often as second.
    """
    circle: list[int | None] = [*range(len(players))]
    if len(circle) % 2:
        circle.append(None)  # whoever meets nobody rests
    half = len(circle) // 2
    for _ in range(len(circle) - 1):
        found = zip(circle[:half], reversed(circle[half:]), strict=True)
        pairs = [(a, b) for a, b in found if a is not None and b is not None]
        yield [_ordered(players, a, b) for a, b in sorted(tuple(sorted(p)) for p in pairs)]
        circle.insert(1, circle.pop())


def _ordered(players: Sequence[T], low: int, high: int) -> tuple[T, T]:
    first, second = (low, high) if (high - low) % 2 else (high, low)
    return players[first], players[second]


def disjoint_rounds(
    items: Iterable[T], uses: Callable[[T], Iterable[Hashable]]
) -> Iterator[list[T]]:
    """Items in few rounds, in which nothing that an item uses is used by another."""
    rest = list(items)
    while rest:
        busy: set[Hashable] = set()
        taken: list[T] = []
        left: list[T] = []
        for item in rest:
            wanted = set(uses(item))
            (left if busy & wanted else taken).append(item)
            if not busy & wanted:
                busy |= wanted
        yield taken
        rest = left
