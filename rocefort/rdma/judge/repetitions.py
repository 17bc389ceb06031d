"""Spread of every figure of a plan over its repetitions: minimum, median and maximum."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from rocefort.rdma.rdma_plan import Program, RdmaPlan
from rocefort.rdma.results import FigureSpread, Measurement, RdmaResult, SpreadUnit

# Key of one figure: round and run within a repetition, message size, and name with unit.
Key = tuple[int, int, int | None, str, SpreadUnit]


def figure_spreads(result: RdmaResult) -> tuple[FigureSpread, ...]:
    """Return a spread of each figure; none of a plan that is run once.

    A run that was not measured has no figure; `runs` counts those that have one.
    """
    if result.plan.repeat < 2:
        return ()
    places = _places(result.plan)
    values: dict[Key, list[float]] = {}
    first: dict[Key, Measurement] = {}
    for each in result.measurements:
        if each.run.id not in places:
            continue
        for size, name, unit, value in _figures(each):
            key = (*places[each.run.id], size, name, unit)
            values.setdefault(key, []).append(value)
            first.setdefault(key, each)
    notes = [each.note for each in result.plan.rounds]
    return tuple(
        FigureSpread(
            program=first[key].run.label,
            pair=first[key].run.pair,
            beside=notes[key[0]],
            size_bytes=key[2],
            figure=key[3],
            unit=key[4],
            runs=len(numbers),
            minimum=min(numbers),
            median=median(numbers),
            maximum=max(numbers),
        )
        for key, numbers in values.items()
    )


def _places(plan: RdmaPlan) -> dict[str, tuple[int, int]]:
    """Position of each run within its repetition, by the id of the run."""
    once = len(plan.rounds) // plan.repeat
    return {
        run.id: (number % once, index)
        for number, each in enumerate(plan.rounds)
        for index, run in enumerate(each.runs)
    }


def _figures(each: Measurement) -> Iterator[tuple[int | None, str, SpreadUnit, float]]:
    """Yield size, name, unit and value of the figures that a publication prints."""
    for point in each.sizes:
        yield point.size_bytes, "average", "us", point.average_us
    if each.sizes or each.figures is None or each.value is None:
        return
    size, figures = each.run.size_bytes, each.figures
    if each.run.program.measures_latency:
        yield size, "average", "us", each.value
    else:
        yield size, "rate", "Gb/s", each.value
    if figures.iops is not None:
        yield size, "operations", "IOPS", figures.iops
    if each.run.program is Program.FIO and figures.latency_us is not None:
        yield size, "average", "us", figures.latency_us
    if figures.p99_us is not None:
        yield size, "99 % within", "us", figures.p99_us
