"""Schedules of pairs: a round-robin tournament, and rounds of pairs without shared resources."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def tournament(players: Sequence[T]) -> Iterator[list[tuple[T, T]]]:
    """Yield rounds with every pair once and no player twice: N-1 rounds for even N, N for odd.

    This is the circle method. Fewer rounds are impossible, because a round has N/2 pairs at most.
    The order in a pair alternates, so each player is first about as often as second.
    """
    circle: list[int | None] = [*range(len(players))]
    if len(circle) % 2:
        circle.append(None)  # the player opposite to it rests
    half = len(circle) // 2
    for _ in range(len(circle) - 1):
        opposites = zip(circle[:half], reversed(circle[half:]), strict=True)
        pairs = [(a, b) for a, b in opposites if a is not None and b is not None]
        yield [_ordered(players, a, b) for a, b in sorted(tuple(sorted(p)) for p in pairs)]
        circle.insert(1, circle.pop())


def _ordered(players: Sequence[T], low: int, high: int) -> tuple[T, T]:
    first, second = (low, high) if (high - low) % 2 else (high, low)
    return players[first], players[second]


def disjoint_rounds(
    items: Iterable[T], uses: Callable[[T], Iterable[Hashable]]
) -> Iterator[list[T]]:
    """Split items into few rounds; items of one round use no resource in common."""
    rest = list(items)
    while rest:
        busy: set[Hashable] = set()
        taken: list[T] = []
        later: list[T] = []
        for item in rest:
            used = set(uses(item))
            (later if busy & used else taken).append(item)
            if not busy & used:
                busy |= used
        yield taken
        rest = later
