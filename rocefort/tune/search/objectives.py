"""Objectives of a search: ratios to a start point, and their front."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor, fsum, log, log1p
from typing import TypeVar

from rocefort.tune.model import Measures, Settings
from rocefort.tune.scenario import MAIN_GROUP, Scenario

Key = TypeVar("Key")
Scores = Mapping[str, float]


@dataclass(frozen=True)
class Goal:
    """Measure that a search improves. soft: added to both sides of a ratio, so that a queue of one
    packet, or one pause, is not infinitely better than none.
    """

    name: str
    read: Callable[[Measures], float | None]
    unit: str
    soft: float = 0
    raised: bool = False  # more is better

    @property
    def better(self) -> str:
        """Direction that is better."""
        return "higher" if self.raised else "lower"


def _completion(name: str) -> Callable[[Measures], float | None]:
    return lambda m: None if m.completion_us is None else float(getattr(m.completion_us, name))


def _beside(m: Measures) -> float | None:
    """Return the geometric mean of the goodput of the groups beside the first; None: no groups."""
    rates = [max(g.goodput_gbps, 1e-9) for name, g in m.groups.items() if name != MAIN_GROUP]
    return exp(sum(map(log, rates)) / len(rates)) if rates else None


GOODPUT, BESIDE, QUEUE, PAUSES = "goodput", "goodput beside", "queue", "pauses"
P50, P99 = "completion p50", "completion p99"
GOALS = (
    Goal(GOODPUT, lambda m: m.goodput_gbps, "Gb/s", raised=True),
    Goal(BESIDE, _beside, "Gb/s", raised=True),
    Goal(P50, _completion("p50"), "us"),
    Goal(P99, _completion("p99"), "us"),
    Goal(QUEUE, lambda m: m.queue_kbytes.mean, "kbytes", 50),  # as in notes on ByteTuning's ratio
    Goal(PAUSES, lambda m: m.pauses, "frames", 10),
)
DROPS = Goal("drops", lambda m: m.drops, "packets")  # these two refuse a candidate
UNFINISHED = Goal("unfinished", lambda m: m.unfinished, "flows")
LATENCY = (P50, P99, QUEUE)
RATES = (GOODPUT, BESIDE)
WORST = 1e3  # ratio of a candidate that drops packets or does not end


def ratios(measured: Sequence[Measures], start: Sequence[Measures]) -> dict[str, float]:
    """Return what a search minimises of each goal: below 1 is better, also of goodput.

    Softened ratios to a start point, geometric mean over scenarios; figures for a person are those
    of `comparison`. A goal that no scenario measures is left out. A lossy candidate has the worst
    of all goals.
    """
    lossy = is_lossy(measured, start)
    out = {}
    for goal in GOALS:
        logs = [
            log_ratio(goal, own, other)
            for m, s in zip(measured, start, strict=True)
            if (own := goal.read(m)) is not None and (other := goal.read(s)) is not None
        ]
        if logs:
            out[goal.name] = WORST if lossy else exp(sum(logs) / len(logs))
    return out


def is_lossy(measured: Sequence[Measures], start: Sequence[Measures]) -> bool:
    """Whether packets drop, or flows do not end, that do so at the start point."""
    return any(
        m.drops > s.drops or m.unfinished > s.unfinished
        for m, s in zip(measured, start, strict=True)
    )


def log_ratio(goal: Goal, own: float, other: float) -> float:
    """Return the logarithm of a goal's ratio, below 0 is better."""
    least = 1e-9
    ratio = log(max(own + goal.soft, least) / max(other + goal.soft, least))
    return -ratio if goal.raised else ratio


def score(ratio: Scores, objective: str) -> float:
    """Return one number of an objective, less is better: logarithms of its ratios, weighted.

    throughput: goodput, and a hundredth of the rest. latency: completion times and queue by equal
    parts, and pauses by a tenth. both: goodput and latency by equal parts. Goodput is that of all,
    and that of the groups beside, by equal parts: victims of pauses are charged. An objective that
    has a ratio of its own, as those of ByteTuning: this ratio.
    """
    logs = {name: log(value) for name, value in ratio.items()}
    return weighted(logs, objective) + shortfall(logs, objective)


def weighted(logs: Scores, objective: str) -> float:
    """Return the weighted sum of an objective; logs: of ratios, below 0 is better."""
    if objective in logs:
        return logs[objective]
    slow = [logs[name] for name in LATENCY if name in logs]
    latency = sum(slow) / max(1, len(slow)) + logs.get(PAUSES, 0) / 10
    rates = [logs[name] for name in RATES if name in logs]
    goodput = sum(rates) / max(1, len(rates))
    if objective == "throughput":
        return goodput + latency / 100
    return latency if objective == "latency" else goodput + latency


LEAST_GOODPUT = 0.95  # of the start point's: latency is not bought with more than the rest


def shortfall(logs: Scores, objective: str) -> float:
    """Return what less goodput than the least costs the objective latency."""
    if objective != "latency":
        return 0.0
    rates = (logs[name] for name in RATES if name in logs)
    return sum(max(0.0, rate - log(1 / LEAST_GOODPUT)) for rate in rates) * 10


def distance(own: Settings, other: Settings, base: Scenario) -> float:
    """Return how far settings of a scenario differ, as a sum of logarithms."""
    one, two = (dict(_numbers(s.applied(base).model_dump(include=TUNED))) for s in (own, other))
    # The exact sum, as the order of a set of keys differs between processes.
    return fsum(abs(log1p(one.get(key, 0)) - log1p(two.get(key, 0))) for key in {*one, *two})


TUNED = {"ecn", "buffer", "nic"}  # keys of a scenario that settings change


def _numbers(data: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, float]]:
    """Yield the numbers of nested mappings by their path."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _numbers(value, (*path, key))
    elif isinstance(data, int | float):
        yield path, float(data)


def front(scored: Mapping[Key, Scores], resolution: float) -> list[Key]:
    """Return what no other dominates, best goodput first; ratios are equal within a resolution.

    Of candidates that are equal in all goals the first remains, so noise adds no member.
    """
    boxes: dict[tuple[int, ...], Key] = {}
    for key, ratio in scored.items():
        if max(ratio.values()) < WORST:
            box = tuple(floor(log(value) / resolution + 0.5) for value in ratio.values())
            boxes.setdefault(box, key)
    best = [
        box for box in boxes if not any(_dominates(other, box) for other in boxes if other != box)
    ]
    return [boxes[box] for box in sorted(best)]


def _dominates(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def short_front(scored: Mapping[Key, Scores], most: int) -> tuple[list[Key], float]:
    """Return a front of at most so many members, and its resolution: 1 %, or coarser."""
    for resolution in (0.01, 0.02, 0.05, 0.1, 0.2):
        members = front(scored, resolution)
        if len(members) <= most:
            break
    return members[:most], resolution
