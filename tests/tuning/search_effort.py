"""Evaluations that each search needs to come within 1 % of a grid's best, on its cached table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from random import Random
from statistics import median, quantiles

from rocefort.tune.search import methods
from rocefort.tune.search.objectives import score
from rocefort.tune.search.points import Point, Space

Ratios = dict[str, float]
WITHIN = log(1.01)  # of a score, which is a logarithm
BUDGET = 400
SEEDS = range(1, 21)


class ReachedError(Exception):
    """A search has come near enough."""


@dataclass
class Counter:
    """Answers from a table, counts points, and ends the search at a point that is near enough."""

    table: dict[Point, Ratios]
    objective: str

    def __post_init__(self) -> None:
        self.best = min(score(ratio, self.objective) for ratio in self.table.values())
        self.seen: dict[Point, None] = {}

    def ask(self, points: Sequence[Point]) -> list[Ratios]:
        for point in points:
            self.seen.setdefault(point)
            if score(self.table[point], self.objective) <= self.best + WITHIN:
                raise ReachedError
        return [self.table[point] for point in points]


def random_search(space: Space, ask: Callable[[Sequence[Point]], object], seed: int) -> None:
    random, seen = Random(seed), set[Point]()
    while len(seen) < BUDGET:
        point = methods.draw(space, random)
        seen.add(point)
        ask([point])


def needed(
    space: Space, table: dict[Point, Ratios], objective: str, method: str, seed: int
) -> int | None:
    """Evaluated points; None: it was not near enough within the budget."""
    counter = Counter(table, objective)
    try:
        if method == "random":
            random_search(space, counter.ask, seed)
        elif method == "annealing":
            methods.annealing(space, counter.ask, BUDGET, seed, objective)
        else:
            batch = methods.POPULATION if method == "nsga2" else 1
            options = methods.OptunaOptions(method, objective, BUDGET, seed, batch)
            methods.optuna_search(space, counter.ask, options)
    except ReachedError:
        return len(counter.seen)
    return None


def summary(counts: Sequence[int | None]) -> tuple[str, str, int]:
    """Median and 90th percentile, and how many seeds came near enough."""
    known = [BUDGET + 1 if count is None else count for count in counts]
    values = (median(known), quantiles(known, n=10, method="inclusive")[-1])
    middle, late = (f"{value:.0f}" if value <= BUDGET else f"> {BUDGET}" for value in values)
    return middle, late, sum(count is not None for count in counts)
