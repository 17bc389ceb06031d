"""Result of measured candidates, as text."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.results.measured_search import MeasuredFigures, MeasuredSearch, MeasuredTrial
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Cell, Items, Note, Section, Table, Tone, columns
from rocefort.reports.tuning.search import parameter_name
from rocefort.reports.tuning.simulation import short


def measured_report(result: MeasuredSearch) -> Iterator[Block]:
    """Show the verdict, the measured candidates beside today's values, and what is not measured."""
    count = count_of(len(result.trials), "candidate")
    yield Note(f"{result.search}: {count} for {result.objective} on {result.canary}")
    yield Note(result.verdict, Tone.GOOD if result.chosen else Tone.PLAIN)
    lead = f"{listing(result.senders)} send to {result.target}, one RDMA write each"
    yield Section("Measured", (_table(result),), lead=lead)
    problems = tuple(f"{t.name}: {t.problem}" for t in _every(result) if t.problem)
    if problems:
        yield Section("Without figures", (Items(problems),))
    yield Section("", (Note("Not measured:"), Items(result.not_measured)))
    if result.noise_percent is not None:
        noise = f"the two measurements of today's values differ by {result.noise_percent:g} %"
        yield Note(f"{noise} in the objective")
    yield Note(f"{result.canary} runs the values that it had; a trial lasts {result.trial_s} s")
    for line in result.written:
        yield Note(line, Tone.GOOD)


def _every(result: MeasuredSearch) -> tuple[MeasuredTrial, ...]:
    return (*result.today[:1], *result.trials, *result.today[1:])


def _table(result: MeasuredSearch) -> Table:
    names = next((tuple(t.values) for t in result.trials if t.values), ())
    titles = ("all, Gb/s", "median sender", "slowest sender", "pauses")
    rows: list[tuple[Cell, ...]] = []
    for trial in _every(result):
        values = (trial.values.get(name) for name in names)
        rows.append((trial.name, *values, *_figures(trial.figures)))
    return Table(columns("candidate", *map(parameter_name, names), *titles), tuple(rows))


def _figures(figures: MeasuredFigures | None) -> Iterator[Cell]:
    if figures is not None:
        yield from map(short, (figures.goodput_gbps, figures.median_gbps, figures.slowest_gbps))
        yield figures.pauses
    else:
        yield from (None,) * 4
