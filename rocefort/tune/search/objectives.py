"""Objectives of a search: ratios to a start point, their front, and the objective of ByteTuning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    soft: float = 0
    raised: bool = False  # more is better


def _completion(name: str) -> Callable[[Measures], float | None]:
    return lambda m: None if m.completion_us is None else float(getattr(m.completion_us, name))


def _beside(m: Measures) -> float | None:
    """Return the geometric mean of the goodput of the groups beside the first; None: no groups."""
    rates = [max(g.goodput_gbps, 1e-9) for name, g in m.groups.items() if name != MAIN_GROUP]
    return exp(sum(map(log, rates)) / len(rates)) if rates else None


GOODPUT, BESIDE, QUEUE, PAUSES = "goodput", "goodput beside", "queue", "pauses"
P50, P99 = "completion p50", "completion p99"
GOALS = (
    Goal(GOODPUT, lambda m: m.goodput_gbps, raised=True),
    Goal(BESIDE, _beside, raised=True),
    Goal(P50, _completion("p50")),
    Goal(P99, _completion("p99")),
    Goal(QUEUE, lambda m: m.queue_kbytes.mean, soft=50),  # as in notes on ByteTuning's ratio
    Goal(PAUSES, lambda m: m.pauses, soft=10),
)
LATENCY = (P50, P99, QUEUE)
WORST = 1e3  # ratio of a candidate that drops packets or does not end


def ratios(measured: Sequence[Measures], start: Sequence[Measures]) -> dict[str, float]:
    """Return the ratio to a start point by goal, below 1 is better; geometric mean over scenarios.

    A goal that no scenario measures is left out. A candidate with drops or unfinished flows, which
    the start point does not have, has the worst ratio of all goals.
    """
    lost = any(m.drops > s.drops for m, s in zip(measured, start, strict=True))
    stuck = any(m.unfinished > s.unfinished for m, s in zip(measured, start, strict=True))
    out = {}
    for goal in GOALS:
        logs = [
            _log_ratio(goal, own, other)
            for m, s in zip(measured, start, strict=True)
            if (own := goal.read(m)) is not None and (other := goal.read(s)) is not None
        ]
        if logs:
            out[goal.name] = WORST if lost or stuck else exp(sum(logs) / len(logs))
    return out


def _log_ratio(goal: Goal, own: float, other: float) -> float:
    least = 1e-9
    ratio = log(max(own + goal.soft, least) / max(other + goal.soft, least))
    return -ratio if goal.raised else ratio


def score(ratio: Scores, objective: str) -> float:
    """Return one number of an objective, less is better: logarithms of its ratios, weighted.

    throughput: goodput, and a hundredth of the rest. latency: completion times and queue by equal
    parts, and pauses by a tenth. both: goodput and latency by equal parts. Goodput is that of all,
    and that of the groups beside, by equal parts: victims of pauses are charged.
    """
    logs = {name: log(value) for name, value in ratio.items()}
    slow = [logs[name] for name in LATENCY if name in logs]
    latency = sum(slow) / len(slow) + logs.get(PAUSES, 0) / 10
    rates = [logs[name] for name in (GOODPUT, BESIDE) if name in logs]
    goodput = sum(rates) / max(1, len(rates))
    if objective == "throughput":
        return goodput + latency / 100
    if objective == "latency":
        return latency + sum(max(0.0, rate - log(1 / LEAST_GOODPUT)) for rate in rates) * 10
    return goodput + latency


LEAST_GOODPUT = 0.95  # of the start point's: latency is not bought with more than the rest


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


# --- ByteTuning -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Extremes:
    """Highest goodput and smallest queue of all candidates."""

    goodput: float
    queue: float

    @classmethod
    def of(cls, measured: Iterable[Measures]) -> Extremes:
        """Return the extremes of some candidates."""
        pairs = [(m.goodput_gbps, m.queue_kbytes.mean) for m in measured]
        return cls(max(g for g, _ in pairs), min(q for _, q in pairs))


def program_objective(m: Measures) -> float:
    """Objective of ByteTuning's program: throughput by queue; the queue in kbytes, plus one."""
    return m.goodput_gbps / (m.queue_kbytes.mean + 1)


def paper_objective(m: Measures, all_of: Extremes, beta: float) -> float:
    """Objective of the paper: beta T/Tmax + (1 - beta) Qmin/Q.

    Its fairness term subtracts a value from itself, so it is 0 here.
    """
    queue = m.queue_kbytes.mean
    return beta * m.goodput_gbps / all_of.goodput + (1 - beta) * all_of.queue / max(queue, 1e-9)


SOFT_KBYTES = 50.0  # so that half of a packet does not decide


def repaired_objective(m: Measures, all_of: Extremes, beta: float) -> float:
    """Objective of the paper, repaired: a softened queue, Jain's fairness, fewer pauses and drops.

    1,000 pauses, or 100 dropped packets, halve it.
    """
    queue = (all_of.queue + SOFT_KBYTES) / (m.queue_kbytes.mean + SOFT_KBYTES)
    value = beta * m.goodput_gbps / all_of.goodput + (1 - beta) * queue
    return value * m.fairness / (1 + m.pauses / 1000) / (1 + m.drops / 100)
