"""Result of an experiment as text, and the blocks that its page shares."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.experiment.comparison import p_text
from rocefort.experiment.model import (
    CellComparison,
    ExperimentResult,
    LevelComparison,
    LevelFigures,
)
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Cell, Items, Note, Section, Table, TableColumn, Tone


def experiment_report(result: ExperimentResult) -> Iterator[Block]:
    """Show the verdict of each comparison, all cells, the runs, and what the figures rest on."""
    yield Note(title(result))
    yield Note(progress(result), Tone.PLAIN if result.state == "complete" else Tone.WARNING)
    if result.not_compared:
        yield Note(result.not_compared, Tone.WARNING)
    for comparison in result.comparisons:
        yield Section(
            f"{comparison.other} against {comparison.first}",
            (cell_table(comparison),),
            lead=comparison.sentence,
        )
    yield Section("Levels", (Items(level_lines(result)),))
    yield Section("Runs", (run_table(result),), lead=order_line(result))
    for heading, lines in grounds(result):
        yield Section(heading, (Items(lines),))
    yield Note(f"page: {result.directory}/{result.page}")


def title(result: ExperimentResult) -> str:
    """Return factor, fabric and kind of an experiment."""
    kind = "simulated, not measured" if result.plan.simulated else "measured"
    levels = listing(level.name for level in result.plan.levels)
    return f"{result.plan.factor} of {result.plan.fabric}: {levels}; {kind}"


def progress(result: ExperimentResult) -> str:
    """Return how many runs have ended."""
    planned = len(result.plan.runs)
    if result.state == "complete":
        return f"complete: {count_of(planned, 'run')}"
    return (
        f"stopped: {len(result.runs)} of {count_of(planned, 'run')} ended; the same command "
        "continues"
    )


def cell_table(comparison: LevelComparison) -> Table:
    """Return two rows for each cell: minimum, mean and maximum at both levels, change and p."""
    rows = [row for cell in comparison.cells for row in _rows(cell)]
    numbers = ("minimum", "mean", "maximum", "change", "p")
    return Table(
        (
            TableColumn("test", wraps=True),
            TableColumn("level"),
            *(TableColumn(name, align="right") for name in numbers),
        ),
        tuple(rows),
    )


def _rows(cell: CellComparison) -> Iterator[tuple[Cell, ...]]:
    yield (f"{cell.cell} ({cell.unit})", cell.first.level, *_spread(cell.first), "", "")
    change = percent_text(cell.change_percent)
    yield "", cell.other.level, *_spread(cell.other), change, p_text(cell.p_two_sided)


def _spread(figures: LevelFigures) -> tuple[str, str, str]:
    return number(figures.minimum), number(figures.mean), number(figures.maximum)


def number(value: float) -> str:
    """Return a figure with about four digits."""
    digits = 0 if value >= 1000 else 1 if value >= 100 else 2
    return f"{value:,.{digits}f}"


def percent_text(change: float) -> str:
    """Return a change in percent with its sign and two digits or more."""
    if not change:
        return "0 %"
    return f"{change:+,.0f} %" if abs(change) >= 9.5 else f"{change:+.2g} %"


def counters_table(result: ExperimentResult) -> Table | None:
    """Return the means of the counters of each cell at each level; None: there are none."""
    cells = [cell for comparison in result.comparisons for cell in comparison.cells]
    sides = {(cell.cell, side.level): side for cell in cells for side in (cell.first, cell.other)}
    names = dict.fromkeys(name for side in sides.values() for name in side.counters)
    if not names:
        return None
    levels = [level.name for level in result.plan.levels]
    rows = [
        (cell, level, *(f"{value:,.0f}" for value in sides[cell, level].counters.values()))
        for cell in dict.fromkeys(cell.cell for cell in cells)
        for level in levels
        if (cell, level) in sides
    ]
    titles = (TableColumn(name, align="right") for name in names)
    return Table((TableColumn("test"), TableColumn("level"), *titles), tuple(rows))


def level_lines(result: ExperimentResult) -> tuple[str, ...]:
    """Return what each level is."""
    return tuple(f"{level.name}: {level.text}" for level in result.plan.levels)


def order_line(result: ExperimentResult) -> str:
    """Return the order of the runs."""
    levels = [level.name for level in result.plan.levels]
    order = f"Order: {', '.join(levels)}"
    if result.plan.repeat == 1:
        return order
    alike = "" if result.plan.repeat % 2 else ", so that a slow drift meets all alike"
    return f"{order}, then {', '.join(reversed(levels))}, and so on{alike}"


def run_table(result: ExperimentResult) -> Table:
    """Return a row for each run."""
    rows: list[tuple[Cell, ...]] = []
    for run in result.runs:
        measured = sum(value.value is not None for value in run.values)
        seconds = f"{(run.ended - run.began).total_seconds():.1f}"
        rows.append((run.run.number, run.run.level, run.run.repetition, run.id, measured, seconds))
    columns = ("run", "level", "pair", "id", "values", "s")
    return Table(tuple(TableColumn(name) for name in columns), tuple(rows))


def run_notes(result: ExperimentResult) -> Iterator[str]:
    """Yield each note of a run with the runs that have it."""
    numbers: dict[str, list[int]] = {}
    for run in result.runs:
        for note in dict.fromkeys(run.notes):
            numbers.setdefault(note, []).append(run.run.number)
    for note, own in numbers.items():
        runs = f"run {listing(own)}" if len(own) < len(result.runs) else "all runs"
        yield f"{runs}: {note}"


def grounds(result: ExperimentResult) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the headings and sentences of what the figures rest on."""
    for heading, lines in (
        ("Left out", result.unmeasured),
        ("Runs", tuple(run_notes(result))),
        ("Assumed", result.assumptions),
        ("Not modelled", result.not_modelled),
        ("Notes", result.notes),
    ):
        if lines:
            yield heading, lines
