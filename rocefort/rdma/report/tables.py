"""Measured figures of one RDMA run as a table, by what was measured.

A line a run; of a sweep and of MPI a line a size, for there the sizes are what is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rocefort.rdma.rdma_plan import RdmaRun, Suite
from rocefort.rdma.results import Measurement, MeasurementVerdict, RdmaResult
from rocefort.reports.blocks import Block, Cell, Note, Section, Table, TableColumn

MOST_ROWS = 60
MOST_COLUMNS = 5  # of a table by size
BY_ROUND = (Suite.INCAST, Suite.MIXED, Suite.FAILOVER)  # one pair in rounds of other load
PLACES = {1: "within leaf", 3: "over spines"}
WORDS = {
    MeasurementVerdict.PASSED: "passed",
    MeasurementVerdict.TOO_SLOW: "TOO SLOW",
    MeasurementVerdict.NOT_JUDGED: "not judged",
    MeasurementVerdict.NOT_MEASURED: "NOT MEASURED",
}


def measured_tables(result: RdmaResult) -> Iterator[Block]:
    """All that was measured; nothing where nothing was."""
    measured = [m for m in result.measurements if m.value is not None]
    if measured:
        by_size = _collectives(measured) or _sweep(result, measured)
        yield by_size or Section("", tuple(_rows(result, measured)))


def label(run: RdmaRun) -> str:
    """Return the program, distinct from its other runs: `IMB-MPI1 alltoall`."""
    return f"{run.program} {run.detail}".rstrip()


def figure(each: Measurement) -> str:
    """`92.13 Gb/s`, `3.72 us`."""
    if each.value is None:
        return "-"
    return f"{each.value:.2f} {'us' if each.run.program.measures_latency else 'Gb/s'}"


def _rows(result: RdmaResult, measured: Sequence[Measurement]) -> Iterator[Block]:
    """A row a run; where one pair is measured in several rounds, a table a round."""
    rounds = {run.id: each for each in result.plan.rounds for run in each.runs}
    by_round = result.plan.suite in BY_ROUND
    shown = measured[:MOST_ROWS]
    iops = any(each.figures is not None and each.figures.iops is not None for each in shown)
    heads = (
        TableColumn("pair"),
        TableColumn("program"),
        TableColumn("bytes"),
        TableColumn("figure", "right"),
    )
    more = (TableColumn("IOPS"), TableColumn("average", "right")) if iops else ()
    for now, same in groupby(shown, key=lambda each: rounds.get(each.run.id) if by_round else None):
        if now is not None:
            yield Note(f"round {now.number}: {now.note}")
        rows = tuple(_row(each, iops=iops) for each in same)
        yield Table((*heads, TableColumn("verdict"), *more), rows)
    if len(measured) > MOST_ROWS:
        yield Note(f"and {len(measured) - MOST_ROWS} more; --format json has them all")


def _row(each: Measurement, *, iops: bool) -> tuple[Cell, ...]:
    own = (each.run.pair, label(each.run), each.run.size_bytes, figure(each), WORDS[each.verdict])
    if not iops:
        return own
    if each.figures is None or each.figures.iops is None:
        return (*own, None, None)
    return (*own, round(each.figures.iops), f"{each.figures.latency_us or 0:.2f} us")


def _sweep(result: RdmaResult, measured: Sequence[Measurement]) -> Section | None:
    """Sizes by program and way; nothing for another suite, or where a cell has two values."""
    if result.plan.suite is not Suite.SWEEP:
        return None
    cells: dict[tuple[str, str], dict[int, str]] = {}
    pairs: dict[str, dict[str, None]] = {}
    for each in measured:
        place = PLACES.get(each.run.switches or 0, "")
        column = cells.setdefault((each.run.program.value, place), {})
        size = each.run.size_bytes or 0
        if size in column:
            return None
        column[size] = figure(each) + (" !" if each.verdict is MeasurementVerdict.TOO_SLOW else "")
        pairs.setdefault(place, {})[each.run.pair] = None
    if len(cells) > MOST_COLUMNS:
        return None
    ways = (f"{place}: {', '.join(names)}" for place, names in pairs.items())
    told = "; ".join(ways) + ("; !: too slow" if _any_slow(measured) else "")
    return Section("", (_by_size(cells), Note(told)))


def _any_slow(measured: Iterable[Measurement]) -> bool:
    return any(each.verdict is MeasurementVerdict.TOO_SLOW for each in measured)


def _collectives(measured: Sequence[Measurement]) -> Section | None:
    """Sizes by MPI collective, average of all processes; nothing where no run is of MPI."""
    cells: dict[tuple[str, str], dict[int, str]] = {}
    for each in measured:
        if not each.sizes:
            return None
        column = cells.setdefault((each.run.collective, each.run.program.value), {})
        column.update({p.size_bytes: f"{p.average_us:.2f} us" for p in each.sizes})
    pairs = ", ".join(dict.fromkeys(each.run.pair for each in measured))
    return Section("", (_by_size(cells), Note(f"over {pairs}, on average of all processes")))


def _by_size(cells: dict[tuple[str, str], dict[int, str]]) -> Table:
    """One row a size, one column a kind."""
    heads = (TableColumn(" ".join(kind), "right", wraps=True) for kind in cells)
    sizes = sorted({size for column in cells.values() for size in column})
    rows = ((size, *(column.get(size) for column in cells.values())) for size in sizes)
    return Table((TableColumn("bytes"), *heads), tuple(rows))
