"""Statistics of a search: measures, sensitivity, and the data of its pictures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Literal

from rocefort.tune.model import (
    Figure,
    HeatMap,
    Option,
    QueueSeries,
    ScenarioFigures,
    SearchedParameter,
    Simulation,
)
from rocefort.tune.search.comparison import TriedCandidate, thresholds
from rocefort.tune.search.evaluate import Evaluator
from rocefort.tune.search.objectives import DROPS, GOALS, WORST, Goal
from rocefort.tune.search.points import Point, Space

Scored = Mapping[Point, Mapping[str, float]]
Tried = Mapping[Point, TriedCandidate]
WINDOWS = 40  # of a queue over time


def figures(evaluation: Sequence[Simulation]) -> tuple[ScenarioFigures, ...]:
    """Return the measures of all scenarios with their spread over the seeds."""
    return tuple(
        ScenarioFigures(scenario=each.scenario, figures=tuple(_figures(each)))
        for each in evaluation
    )


def _figures(result: Simulation) -> Iterator[Figure]:
    for goal in (*GOALS, DROPS):
        values = [value for run in result.runs if (value := goal.read(run)) is not None]
        if values:
            yield Figure(
                goal=goal.name,
                unit=goal.unit,
                mean=sum(values) / len(values),
                lowest=min(values),
                highest=max(values),
            )


def parameters(
    space: Space, scored: Scored, tried: Tried, noise: Mapping[str, float]
) -> tuple[SearchedParameter, ...]:
    """Return each parameter with its share of the variance of each goal.

    noise: percent by goal, as of `noise_percent`.
    """
    logs = {
        point: {name: log(value) for name, value in ratio.items()}
        for point, ratio in scored.items()
        if max(ratio.values()) < WORST
    }
    names = next(iter(logs.values()), {})
    equal = {name for name in names if _spread_percent(tried, name) <= noise.get(name, 0)}
    return tuple(
        SearchedParameter(
            name=axis.name,
            values=axis.values,
            shares={
                name: None
                if name in equal
                else _share([(p[n], own[name]) for p, own in logs.items()])
                for name in names
            },
        )
        for n, axis in enumerate(space.axes)
    )


def _spread_percent(tried: Tried, goal: str) -> float:
    """Return how far apart the lossless candidates are in a goal, percent of the start point's."""
    known = [each.ratios[goal] for each in tried.values() if not each.lossy]
    ratios = [ratio for ratio in known if ratio is not None]
    if len(ratios) < len(known):
        return float("inf")  # some have what the start point has not
    return 100 * (max(ratios) - min(ratios)) if ratios else 0.0


def _share(pairs: Sequence[tuple[int, float]]) -> float:
    """Return the variance of the means of groups, as a share of the variance."""
    mean = sum(value for _, value in pairs) / len(pairs)
    whole = sum((value - mean) ** 2 for _, value in pairs)
    if whole < 1e-12:
        return 0.0
    groups: dict[int, list[float]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    between = sum(len(own) * (sum(own) / len(own) - mean) ** 2 for own in groups.values())
    return between / whole


def heat_maps(space: Space, tried: Tried) -> tuple[HeatMap, ...]:
    """Return the best ratio of each goal by Kmin and Pmax, or by the first two parameters."""
    names = [axis.name for axis in space.axes if len(axis.values) > 1]
    pair = ["kmin_kbytes", "pmax_percent"]
    if not set(pair) <= set(names):
        pair = names[:2]
    if len(pair) < 2 or not tried:
        return ()
    x, y = ([axis.name for axis in space.axes].index(name) for name in pair)
    cells: dict[tuple[int, int], list[TriedCandidate]] = defaultdict(list)
    for point, candidate in tried.items():
        cells[point[x], point[y]].append(candidate)
    xs, ys = space.axes[x].values, space.axes[y].values
    goals = {name for candidate in tried.values() for name in candidate.ratios}
    maps = []
    for goal in (goal for goal in GOALS if goal.name in goals):
        drawn = [[_cell(goal, cells[i, j]) for i in range(len(xs))] for j in range(len(ys))]
        rows = tuple(tuple(ratio for ratio, _ in row) for row in drawn)
        kinds = tuple(tuple(kind for _, kind in row) for row in drawn)
        maps.append(
            HeatMap(
                goal=goal.name,
                x=pair[0],
                y=pair[1],
                x_values=xs,
                y_values=ys,
                rows=rows,
                kinds=kinds,
            )
        )
    return tuple(maps)


def _cell(
    goal: Goal, candidates: Sequence[TriedCandidate]
) -> tuple[float | None, Literal["ratio", "from 0", "lossy", "none"]]:
    """Return the best ratio of lossless candidates, or why there is none."""
    if not candidates:
        return None, "none"
    lossless = [each.ratios[goal.name] for each in candidates if not each.lossy]
    if not lossless:
        return None, "lossy"
    ratios = [ratio for ratio in lossless if ratio is not None]
    if not ratios:
        return None, "from 0"
    return (max if goal.raised else min)(ratios), "ratio"


def queue_series(
    evaluator: Evaluator, options: Sequence[Option], seed: int
) -> tuple[QueueSeries, ...]:
    """Return the queue over time of options: the mean of each window, of the fullest port."""
    whole = evaluator.evaluate([option.settings for option in options], [seed], "measure queues")
    out = []
    for number, base in enumerate(evaluator.bases):
        end = max(own[number].runs[0].end_ms for own in whole)
        ends = [end * (n + 1) / WINDOWS for n in range(WINDOWS)]
        begins = [0.0, *ends[:-1]]
        windows = tuple(
            base.scenario.like(duration_ms=until, measure_from_ms=begin)
            for begin, until in zip(begins, ends, strict=True)
        )
        measured = evaluator.windows(number, windows, [o.settings for o in options], seed)
        for option, runs, own in zip(options, measured, whole, strict=True):
            port = own[number].runs[0].queue_port
            out.append(
                QueueSeries(
                    scenario=base.scenario.scenario,
                    option=option.name,
                    port=port,
                    thresholds=thresholds(base, option.settings, port),
                    until_us=tuple(round(until * 1000, 3) for until in ends),
                    kbytes=tuple(run.queue_kbytes.mean for run in runs),
                )
            )
    return tuple(out)
