"""Measured figures of one RDMA run as a table in 80 columns, by what was measured.

A line a run; of a sweep and of MPI a line a size, for there the sizes are what is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocefort.models.rdma_plan import RdmaRun, Suite
from rocefort.models.rdma_result import Measurement, RdmaResult, Verdict
from rocefort.reports.rdma_plan import wrapped

MOST_ROWS = 60
LABELS = 45  # of pair and program together
PROGRAM, SIZE, VALUE = 13, 9, 13
COLUMN, MOST_COLUMNS = 14, 5  # of a table by size
BY_ROUND = (Suite.INCAST, Suite.MIXED, Suite.FAILOVER)  # one pair in rounds of other load
PLACES = {1: "within leaf", 3: "over spines"}
WORDS = {
    Verdict.PASSED: "passed",
    Verdict.TOO_SLOW: "TOO SLOW",
    Verdict.NOT_JUDGED: "not judged",
    Verdict.NOT_MEASURED: "NOT MEASURED",
}


def measured_table(result: RdmaResult) -> Iterator[str]:
    """All that was measured; nothing where nothing was."""
    measured = [m for m in result.measurements if m.value is not None]
    if not measured:
        return
    yield ""
    by_size = _collectives(measured) or _sweep(result, measured)
    yield from by_size or _rows(result, measured)


def label(run: RdmaRun) -> str:
    """The program, and what tells it from another run of it: `IMB-MPI1 alltoall`."""
    return f"{run.program} {run.detail}".rstrip()


def figure(each: Measurement) -> str:
    """`92.13 Gb/s`, `3.72 us`."""
    if each.value is None:
        return "-"
    return f"{each.value:.2f} {'us' if each.run.program.measures_latency else 'Gb/s'}"


def _rows(result: RdmaResult, measured: Sequence[Measurement]) -> Iterator[str]:
    program = max(PROGRAM, *(len(label(each.run)) + 1 for each in measured))
    pair = LABELS - program
    yield f"{'PAIR':<{pair}}{'PROGRAM':<{program}}{'BYTES':>{SIZE}}{'FIGURE':>{VALUE}}  VERDICT"
    rounds = {run.id: each for each in result.plan.rounds for run in each.runs}
    before = None
    for each in measured[:MOST_ROWS]:
        now = rounds.get(each.run.id)
        if result.plan.suite in BY_ROUND and now is not None and now is not before:
            yield from wrapped(f"round {now.number}: {now.note}")
        before = now
        size = "" if each.run.size_bytes is None else str(each.run.size_bytes)
        shown = f"{figure(each):>{VALUE}}  {WORDS[each.verdict]}"
        yield f"{each.run.pair:<{pair}}{label(each.run):<{program}}{size:>{SIZE}}{shown}"
        if each.figures is not None and each.figures.iops is not None:
            got = each.figures
            yield f"  {got.iops:.0f} IOPS, {got.latency_us or 0:.2f} us on average"
    if len(measured) > MOST_ROWS:
        yield f"and {len(measured) - MOST_ROWS} more; --format json has them all"


def _sweep(result: RdmaResult, measured: Sequence[Measurement]) -> list[str]:
    """Sizes by program and way; nothing for another suite, or where a cell has two values."""
    if result.plan.suite is not Suite.SWEEP:
        return []
    cells: dict[tuple[str, str], dict[int, str]] = {}
    pairs: dict[str, dict[str, None]] = {}
    for each in measured:
        place = PLACES.get(each.run.switches or 0, "")
        column = cells.setdefault((each.run.program.value, place), {})
        size = each.run.size_bytes or 0
        if size in column:
            return []
        column[size] = figure(each) + (" !" if each.verdict is Verdict.TOO_SLOW else "  ")
        pairs.setdefault(place, {})[each.run.pair] = None
    if len(cells) > MOST_COLUMNS:
        return []
    ways = (f"{place}: {', '.join(names)}" for place, names in pairs.items())
    told = "; ".join(ways) + ("; !: too slow" if _any_slow(measured) else "")
    return [*_by_size(cells), *wrapped(told)]


def _any_slow(measured: Iterable[Measurement]) -> bool:
    return any(each.verdict is Verdict.TOO_SLOW for each in measured)


def _collectives(measured: Sequence[Measurement]) -> list[str]:
    """Sizes by MPI collective, average of all processes; nothing where no run is of MPI."""
    cells: dict[tuple[str, str], dict[int, str]] = {}
    for each in measured:
        if not each.sizes:
            return []
        column = cells.setdefault((each.run.collective, each.run.program.value), {})
        column.update({p.size_bytes: f"{p.average_us:.2f} us  " for p in each.sizes})
    pairs = ", ".join(dict.fromkeys(each.run.pair for each in measured))
    return [*_by_size(cells), f"over {pairs}, on average of all processes"]


def _by_size(cells: dict[tuple[str, str], dict[int, str]]) -> Iterator[str]:
    """One line a size, one column a kind, under two lines of headings."""
    for line, first in ((0, ""), (1, "BYTES")):
        heads = "".join(f"{kind[line] + '  ':>{COLUMN}}" for kind in cells)
        yield f"{first:>{SIZE}}{heads}".rstrip()
    for size in sorted({size for column in cells.values() for size in column}):
        values = "".join(f"{column.get(size, '-  '):>{COLUMN}}" for column in cells.values())
        yield f"{size:>{SIZE}}{values}".rstrip()
