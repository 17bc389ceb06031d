"""Statistics of a search: measures, sensitivity, certainty, and the data of its pictures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log

from rocefort.tune.model import (
    Certainty,
    Figure,
    HeatMap,
    Option,
    Parameter,
    QueueSeries,
    ScenarioFigures,
    Simulation,
)
from rocefort.tune.search.evaluate import Evaluator
from rocefort.tune.search.objectives import GOALS, WORST, ratios, score
from rocefort.tune.search.points import Point, Space

Scored = Mapping[Point, Mapping[str, float]]
UNITS = {"goodput": "Gb/s", "goodput beside": "Gb/s", "queue": "kbytes", "pauses": ""}
WINDOWS = 40  # of a queue over time
DROPS = ("drops", "")


def figures(evaluation: Sequence[Simulation]) -> tuple[ScenarioFigures, ...]:
    """Return the measures of all scenarios with their spread over the seeds."""
    return tuple(
        ScenarioFigures(scenario=each.scenario, figures=tuple(_figures(each)))
        for each in evaluation
    )


def _figures(result: Simulation) -> Iterator[Figure]:
    readers = {goal.name: goal.read for goal in GOALS} | {"drops": lambda m: m.drops}
    for name, read in readers.items():
        values = [value for run in result.runs if (value := read(run)) is not None]
        if values:
            yield Figure(
                goal=name,
                unit=UNITS.get(name, "us" if "completion" in name else ""),
                mean=sum(values) / len(values),
                lowest=min(values),
                highest=max(values),
            )


def parameters(space: Space, scored: Scored) -> tuple[Parameter, ...]:
    """Return each parameter with its share of the variance of each goal."""
    logs = {
        point: {name: log(value) for name, value in ratio.items()}
        for point, ratio in scored.items()
        if max(ratio.values()) < WORST
    }
    names = next(iter(logs.values()), {})
    return tuple(
        Parameter(
            name=axis.name,
            values=axis.values,
            shares={name: _share([(p[n], own[name]) for p, own in logs.items()]) for name in names},
        )
        for n, axis in enumerate(space.axes)
    )


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


def certainty(
    evaluator: Evaluator,
    objective: str,
    choice: Option,
    others: Sequence[Option],
    seeds: Sequence[int],
) -> tuple[Certainty, ...]:
    """Compare the choice with others, seed by seed, by seeds that no choice was made with."""
    settings = [option.settings for option in (choice, *others)]
    own, *rest = evaluator.evaluate(settings, seeds, "compare with fresh seeds")
    out = []
    for option, other in zip(others, rest, strict=True):
        scores = [
            score(ratios([s.runs[n] for s in own], [s.runs[n] for s in other]), objective)
            for n in range(len(seeds))
        ]
        out.append(
            Certainty(
                against=option.name,
                seeds=len(seeds),
                better=sum(value < 0 for value in scores),
                score=sum(scores) / len(scores),
                lowest=min(scores),
                highest=max(scores),
            )
        )
    return tuple(out)


def heat_maps(space: Space, scored: Scored) -> tuple[HeatMap, ...]:
    """Return the best ratio of each goal by Kmin and Pmax, or by the first two parameters."""
    names = [axis.name for axis in space.axes if len(axis.values) > 1]
    pair = ["kmin_kbytes", "pmax_percent"]
    if not set(pair) <= set(names):
        pair = names[:2]
    if len(pair) < 2 or not scored:
        return ()
    x, y = ([axis.name for axis in space.axes].index(name) for name in pair)
    out = []
    for goal in next(iter(scored.values())):
        best: dict[tuple[int, int], float] = {}
        for point, ratio in scored.items():
            at = (point[x], point[y])
            best[at] = min(best.get(at, WORST), ratio[goal])
        xs, ys = space.axes[x].values, space.axes[y].values
        rows = tuple(tuple(best.get((i, j)) for i in range(len(xs))) for j in range(len(ys)))
        out.append(HeatMap(goal=goal, x=pair[0], y=pair[1], x_values=xs, y_values=ys, rows=rows))
    return tuple(out)


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
        for option, runs in zip(options, measured, strict=True):
            out.append(
                QueueSeries(
                    scenario=base.scenario.scenario,
                    option=option.name,
                    until_us=tuple(round(until * 1000, 3) for until in ends),
                    kbytes=tuple(run.queue_kbytes.mean for run in runs),
                )
            )
    return tuple(out)
