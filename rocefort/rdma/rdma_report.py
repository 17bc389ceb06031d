"""Plans and runs of RDMA tests for a person: rounds, tables of figures, what is missing.

A line a run; of a sweep and of MPI a line a size, for there the sizes are what is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rocefort.models.wording import count_of, listing
from rocefort.rdma.judge.rounds import loss_over_time, size_effects
from rocefort.rdma.rdma_plan import UNPROBED, Program, RdmaPlan, RdmaRun, Round, Suite
from rocefort.rdma.record_report import record_summary
from rocefort.rdma.results import (
    EndedProcesses,
    Figures,
    FigureSpread,
    JudgedOutputs,
    Measurement,
    MeasurementVerdict,
    PairValues,
    RdmaResult,
    RunComparison,
    RunLine,
    RunList,
)
from rocefort.reports.blocks import (
    Block,
    Cell,
    Items,
    Note,
    Section,
    Table,
    TableColumn,
    Tone,
    columns,
)

SPREAD_COLUMNS = (
    *(TableColumn(name, "right") for name in ("minimum", "median", "maximum")),
    TableColumn("runs", "right"),
)
MOST_ROWS = 60
MOST_COLUMNS = 5  # of a table by size
BY_ROUND = (Suite.INCAST, Suite.MIXED, Suite.FAILOVER, Suite.TRANSFER)  # of unlike rounds
PLACES = {0: "back to back", 1: "within leaf", 3: "over spines", None: ""}
WORDS = {
    MeasurementVerdict.PASSED: "passed",
    MeasurementVerdict.TOO_SLOW: "TOO SLOW",
    MeasurementVerdict.NOT_JUDGED: "not judged",
    MeasurementVerdict.NOT_MEASURED: "NOT MEASURED",
}


def measured_tables(result: RdmaResult) -> Iterator[Block]:
    """All that was measured; nothing where nothing was."""
    measured = [m for m in result.measurements if m.value is not None]
    if result.spreads:
        yield Section("", tuple(_spread_tables(result)))
    elif measured:
        by_size = _collectives(result, measured) or _sweep(result, measured)
        yield by_size or Section("", tuple(_rows(result, measured)))
    if tables := tuple(_cable_tables(result)):
        yield Section("", tables)


def _spread_tables(result: RdmaResult) -> Iterator[Block]:
    """Minimum, median and maximum of every figure: a table a kind, where kinds have sizes."""
    by_round = result.plan.suite in BY_ROUND or bool(result.cables)
    groups: dict[tuple[str, ...], list[FigureSpread]] = {}
    for each in result.spreads:
        sized = (each.program, each.pair, each.figure, each.beside if by_round else "")
        groups.setdefault(sized, []).append(each)
    yield Note(f"minimum, median and maximum of {count_of(result.plan.repeat, 'repetition')}")
    rest = []
    for (program, pair, figure_name, note), group in groups.items():
        if len({each.size_bytes for each in group}) == 1:
            rest += group
            continue
        words = ", ".join(filter(None, (program, pair, figure_name, note)))
        yield Note(f"{words}, {group[0].unit}")
        rows = tuple((each.size_bytes, *spread_cells(each)) for each in group)
        yield Table((TableColumn("bytes"), *SPREAD_COLUMNS), rows)
    for note in dict.fromkeys(each.beside if by_round else "" for each in rest):
        shown = [each for each in rest if not by_round or each.beside == note]
        yield from [Note(note)] if note else []
        yield Table(
            (*columns("pair", "program", "bytes", "unit"), *SPREAD_COLUMNS),
            tuple(
                (each.pair, each.program, each.size_bytes, each.unit, *spread_cells(each))
                for each in shown[:MOST_ROWS]
            ),
        )
        if len(shown) > MOST_ROWS:
            yield Note(f"and {len(shown) - MOST_ROWS} more; --format json has them all")


def spread_cells(each: FigureSpread) -> tuple[str, str, str, int]:
    """Return minimum, median, maximum, and the number of runs."""
    values = (each.minimum, each.median, each.maximum)
    low, middle, high = (f"{v:.0f}" if each.unit == "IOPS" else f"{v:.2f}" for v in values)
    return low, middle, high, each.runs


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
    own = (each.run.pair, each.run.label, each.run.size_bytes, figure(each), WORDS[each.verdict])
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
        place = PLACES.get(each.run.switches, "")
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


def _collectives(result: RdmaResult, measured: Sequence[Measurement]) -> Section | None:
    """Sizes by MPI collective, average of all processes; nothing where no run is of MPI."""
    away = {run.id for each in result.plan.rounds if each.cable_by for run in each.runs}
    work = [each for each in measured if each.sizes and each.run.id not in away]
    if not work:
        return None
    cells: dict[tuple[str, str], dict[int, str]] = {}
    for each in work:
        column = cells.setdefault((each.run.collective, each.run.program.value), {})
        column.update({p.size_bytes: f"{p.average_us:.2f} us" for p in each.sizes})
    pairs = ", ".join(dict.fromkeys(each.run.pair for each in work))
    rest = [each for each in measured if not each.sizes]
    others = tuple(_rows(result, rest)) if rest else ()
    note = Note(f"over {pairs}, on average of all processes")
    return Section("", (_by_size(cells), note, *others))


def _cable_tables(result: RdmaResult) -> Iterator[Block]:
    """Loss over time while a cable was away; of MPI, times of each size."""
    for each in result.measurements:
        if rows := loss_over_time(result, each):
            yield Note(f"{each.run.pair}, {_round_of(result, each).note}: loss over time")
            cells = ((f"{p.at_s:g}", f"{p.gbps:.2f}", f"{lost:.2f}") for p, lost in rows)
            heads = ("s", "Gb/s", "Gbit not sent")
            yield Table(tuple(TableColumn(head, "right") for head in heads), tuple(cells))
    for each, effects in size_effects(result):
        again = f", repetition {_round_of(result, each).repetition}" if result.spreads else ""
        yield Note(f"{each.run.collective} over {each.run.pair}{again}, us on average")
        rows_of_sizes = (
            (e.size_bytes, f"{e.usual_us:.2f}", f"{e.failed_us:.2f}", f"{e.times:.2f}")
            for e in effects
        )
        heads = ("without", "cables away", "times")
        columns_of = (TableColumn("bytes"), *(TableColumn(head, "right") for head in heads))
        yield Table(columns_of, tuple(rows_of_sizes))


def _round_of(result: RdmaResult, each: Measurement) -> Round:
    return next(r for r in result.plan.rounds if any(run.id == each.run.id for run in r.runs))


def _by_size(cells: dict[tuple[str, str], dict[int, str]]) -> Table:
    """One row a size, one column a kind."""
    heads = (TableColumn(" ".join(kind), "right", wraps=True) for kind in cells)
    sizes = sorted({size for column in cells.values() for size in column})
    rows = ((size, *(column.get(size) for column in cells.values())) for size in sizes)
    return Table((TableColumn("bytes"), *heads), tuple(rows))


MOST_ROUNDS = 40


def plan_report(plan: RdmaPlan) -> Iterator[Block]:
    """All of it; of many alike rounds the first."""
    yield Note(
        f"{plan.fabric}, {plan.suite}: {count_of(len(plan.runs), 'run')} in "
        f"{count_of(len(plan.rounds), 'round')}, {_time(plan.least_seconds)} at least"
    )
    yield Items(tuple(_hosts(plan)))
    once = [each for each in plan.rounds if each.repetition == 1]
    yield from map(_round, once[:MOST_ROUNDS])
    if len(once) > MOST_ROUNDS:
        yield Note(f"and {len(once) - MOST_ROUNDS} rounds more; --format json has them all")
    if plan.repeat > 1:
        yield Note(f"these rounds are run {plan.repeat} times, one repetition after the other")
    if plan.coverage is not None:
        yield Note(plan.coverage.claim)
    yield Items((*(f"not measured: {why}" for why in plan.unmeasured), *plan.notes))


def _hosts(plan: RdmaPlan) -> Iterator[str]:
    """Return the facts that were read from the servers; nothing if none were read."""
    for host in plan.hosts:
        if host.device != UNPROBED:
            node = "" if host.numa_node is None else f", NUMA node {host.numa_node}"
            tool = f", perftest {host.perftest}" if host.perftest else ""
            yield f"{host.name}: {host.device}, GID {host.gid_index}{node}{tool}"


def _time(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _round(each: Round) -> Section:
    lines = [f"{each.fault}: {' or '.join(each.fault_links)}"] if each.fault else []
    if each.cable_by:
        links = listing(each.fault_links)
        lines = [f"after {each.cable_at_s} s the {each.cable_by} takes {links} away"]
    lines += [f"{run.pair}: {_run_text(run)}" for run in each.runs]
    if each.total_gbps is not None:
        lines.append(f"together: {each.total_gbps:g} Gb/s")
    if each.expected is not None and each.expected_gbps is not None:
        together = " together" if len(each.runs) > 1 else ""
        least = f"at least {each.expected_gbps:.4g} Gb/s{together}"
        lines.append(f"{each.expected.beamline} to {listing(each.expected.to)}: {least}")
    return Section(f"round {each.number}: {each.note}", (Items(tuple(lines)),))


def _run_text(run: RdmaRun) -> str:
    parts = [run.program.value]
    if run.size_bytes is not None:
        parts.append(f"{run.size_bytes} bytes")
    if len(run.sizes) > 1:
        parts.append(f"{run.sizes[0]} to {run.sizes[-1]} bytes")
    if run.duration_s or run.transfer is None:
        parts.append(f"{run.duration_s} s" if run.duration_s else f"{run.iterations} messages")
    else:
        parts.append(f"{run.transfer.total_bytes} bytes")
    if run.processes_per_server > 1:
        parts.append(f"{run.processes_per_server} processes a server")
    if run.storage is not None or (run.transfer is not None and run.detail):
        parts.append(run.detail)
    tcp = run.program is Program.IPERF3
    if run.qps > 1:
        parts.append(f"{run.qps} {'streams' if tcp else 'QPs'}")
    if run.limit_gbps is not None:
        together = f" over all {'streams' if tcp else 'QPs'}" if run.qps > 1 else ""
        parts.append(f"limited to {run.limit_gbps:g} Gb/s{together}")
    if run.reach_gbps is not None:
        parts.append(f"up to {run.reach_gbps:.4g} Gb/s ({run.reach_why})")
    elif run.reach_why:
        parts.append(f"not judged ({run.reach_why})")
    return ", ".join(parts)


MOST_LINES = 60  # of one section


def result_report(result: RdmaResult) -> Iterator[Block]:
    """One run: a row a measurement, then what was judged beside them."""
    yield Note(f"{_title(result)}: {verdict_words(result)}")
    if result.conditions:
        conditions = (
            f"{name.replace('_', ' ')}: {value}" for name, value in result.conditions.items()
        )
        yield Note("; ".join(conditions))
    if result.record is not None:
        yield Note(record_summary(result.record))
    yield from measured_tables(result)
    planned = [f"not planned: {why}" for why in result.plan.unmeasured]
    sections = {
        "too slow": _sentences(result.measurements, MeasurementVerdict.TOO_SLOW),
        "not measured": [
            *result.unmeasured,
            *_sentences(result.measurements, MeasurementVerdict.NOT_MEASURED),
        ],
        "bad": [j.sentence for j in result.judged if j.ok is False],
        "good": [j.sentence for j in result.judged if j.ok is True],
        "reported, not judged": [j.sentence for j in result.judged if j.ok is None],
        "of the plan": [*planned, *result.plan.notes],
        "printed beside the figures": [n for m in result.measurements for n in m.notes],
    }
    for title, sentences in sections.items():
        counts = Counter(sentences)
        lines = [f"{text} ({many} times)" if many > 1 else text for text, many in counts.items()]
        more = len(lines) - MOST_LINES
        rest = [f"and {more} more; --format json has them all"] if more > 0 else []
        if lines:
            yield Section(f"{title}:", (Items((*lines[:MOST_LINES], *rest)),))


def _title(result: RdmaResult) -> str:
    return f"{result.plan.fabric}, {result.plan.suite}, run {result.id}"


def verdict_words(result: RdmaResult) -> str:
    """`passed`, or how much was not measured and what is bad."""
    lost = sum(m.verdict is MeasurementVerdict.NOT_MEASURED for m in result.measurements)
    slow = sum(m.verdict is MeasurementVerdict.TOO_SLOW for m in result.measurements)
    bad = sum(j.ok is False for j in result.judged)
    told = [f"{lost} of {len(result.measurements)} runs not measured"] if lost else []
    if result.unmeasured:
        told.append(f"{count_of(len(result.unmeasured), 'server')} left out")
    told += [f"{slow} too slow"] if slow else []
    told += [f"{bad} judged bad"] if bad else []
    if not result.measurements:
        told.append("nothing was measured")
    if told:
        return ", ".join(told)
    judged = any(m.verdict is MeasurementVerdict.PASSED for m in result.measurements)
    return "passed" if judged else "all measured, speed not judged"


def _sentences(measurements: Iterable[Measurement], verdict: MeasurementVerdict) -> list[str]:
    return [m.sentence for m in measurements if m.verdict is verdict]


FIGURES: dict[str, str] = {
    "gbps": "{:.2f} Gb/s",
    "peak_gbps": "peak {:.2f} Gb/s",
    "mpps": "{:.6g} Mpps",
    "latency_us": "{:.2f} us on average",
    "least_us": "at least {:.2f} us",
    "typical_us": "median {:.2f} us",
    "most_us": "at most {:.2f} us",
    "p99_us": "99 % within {:.2f} us",
    "p999_us": "99.9 % within {:.2f} us",
    "iops": "{:.0f} IOPS",
    "iterations": "{} messages",
}


def judged_report(judged: JudgedOutputs) -> Iterator[Block]:
    """Outputs that a person kept: a sentence each, with further figures and other lines."""
    for each in judged.outputs:
        lines = [f"{row.size_bytes} bytes: {_figures(row.figures)}" for row in each.rows]
        lines += [f"{row.size_bytes} bytes: {row.average_us:.2f} us" for row in each.sizes]
        if each.figures and not lines:
            lines = [_figures(each.figures)]
        yield Section("", (Note(each.sentence), Items((*lines, *each.notes))))


def _figures(figures: Figures) -> str:
    values = ((words, getattr(figures, name)) for name, words in FIGURES.items())
    return ", ".join(words.format(value) for words, value in values if value is not None)


def compared_report(found: RunComparison) -> Iterator[Block]:
    """A run beside published figures, or beside another run."""
    yield Section("", tuple(map(Note, (found.title, *found.notes))))
    yield Section("", tuple(map(Note, found.lines)))


def history_report(found: RunList) -> Block:
    """All runs, a row each, the latest first."""
    heads = columns("run", "began (UTC)", "fabric", "suite", "runs", "result")
    rows = tuple(
        (each.id, f"{each.began:%Y-%m-%d %H:%M}", each.fabric, each.suite, each.runs, _word(each))
        for each in found.runs
    )
    return Table(heads, rows) if rows else Note("no runs yet")


def _word(run: RunLine) -> str:
    if not run.complete:
        missing = run.runs - run.measured
        return f"{missing} not measured" if missing > 0 else "not complete"
    if not run.passed:
        return "failed"
    return "passed" if run.judged else "measured"


def pair_report(found: PairValues) -> Table:
    """All values of one pair: run (whose id begins with its time, UTC), suite, what, figure."""
    rows = tuple(tuple(vars(each).values()) for each in found.values)
    return Table((*columns("run (UTC)", "suite", "what"), TableColumn("figure", "right")), rows)


def stopped_report(found: Sequence[EndedProcesses]) -> Iterator[Block]:
    """Show the ended processes of each server."""
    for each in found:
        if each.why:
            yield Note(each.why, Tone.WARNING)
        elif not each.ended:
            yield Note(f"{each.server}: nothing of ours runs")
        else:
            yield Section(f"{each.server}: {len(each.ended)} of ours ended", (Items(each.ended),))
