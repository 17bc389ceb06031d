"""Tables of published systems as text."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Cell, Items, Note, Section, Table, TableColumn, Tone
from rocefort.tune.compare_model import AlgorithmFigures, AlgorithmTable, WatermarkTable
from rocefort.tune.model import ConfidenceInterval
from rocefort.tune.search.byte_tuning import BYTE_TUNING, LATENCY, THROUGHPUT


def watermark_report(result: WatermarkTable) -> Iterator[Block]:
    """Show Table V from the simulator, the watermarks of its columns, and what is assumed."""
    yield Note(f"{result.publication}: simulated, not measured")
    names = [column.name for column in result.columns]
    rows: list[tuple[Cell, ...]] = [
        (f"{row.measure}, {row.unit}" if row.unit else row.measure, *map(with_half, row.values))
        for row in result.rows
    ]
    yield Section("Table", (Table(_right("", *names), tuple(rows)),), lead=_lead(result))
    marks: list[tuple[Cell, ...]] = [
        (
            column.name,
            *(f"{column.cells[key]:,.0f}" for key in ("kmin", "kmax")),
            f"{column.pmax_percent:g}",
            str(Fraction(column.alpha).limit_denominator(1024)),
            f"{column.cells['headroom']:,.0f}",
            *(
                f"{column.objectives[name]:.3f}" if column.objectives else None
                for name in BYTE_TUNING
            ),
        )
        for column in result.columns
    ]
    titles = ("Kmin", "Kmax", "Pmax, %", "alpha", "headroom", "by switch", "by flow")
    yield Section(
        "Watermarks",
        (
            Table(_right("column", *titles), tuple(marks)),
            Items(tuple(f"{column.name}: {column.source}" for column in result.columns)),
            *(
                Note(f"{column.name}: {column.refused}", Tone.WARNING)
                for column in result.columns
                if column.refused
            ),
        ),
        lead=f"Sizes in cells; objectives by switch ({THROUGHPUT}) and by flow ({LATENCY}), "
        f"0 to 1, beta {result.beta:g}, gamma {result.gamma:g}",
    )
    losses: list[tuple[Cell, ...]] = [
        (f"{row.percent:g}", with_half(row.gbps), with_half(row.resent_percent))
        for row in result.losses
    ]
    heads = _right("packets lost, %", "Gb/s", "payload sent again, %")
    yield Section("Loss rate", (Table(heads, tuple(losses)),), lead=result.loss_text)
    counts = (
        (
            f"{count_of(result.evaluated, 'candidate')} of "
            f"{count_of(result.combinations, 'combination')} for {result.objective}, by "
            f"{result.method} with seed "
            f"{result.search_seed}"
        ),
        *(
            f"{count_of(count, 'combination')} refused: {reason}"
            for reason, count in result.refused.items()
        ),
        simulations(result),
    )
    yield Section("Search", (Items(counts),))
    yield from _limits(result)


def algorithm_report(result: AlgorithmTable) -> Iterator[Block]:
    """Show Table 2 beside the simulator's figures, the order, and what is not modelled."""
    yield Note(f"{result.publication}: published, and simulated on {result.fabric}")
    titles = ("published", "alone", "loaded")
    rows: list[tuple[Cell, ...]] = []
    for row in result.rows:
        for measure, published, read in (
            ("Gb/s", row.published_gbps, _bandwidth),
            ("us", row.published_us, _latency),
        ):
            theirs = "-" if published is None else f"{published:g}"
            ours = (with_half(read(of)) for of in (row.alone, row.loaded))
            rows.append((row.control.upper(), measure, theirs, *ours))
    yield Section("Table", (Table(_right("", "", *titles), tuple(rows)),), lead=_lead(result))
    if result.order:
        yield Section("Order", (Items(result.order),))
    servers = (
        f"alone: {result.senders[0]} to {result.receiver}",
        f"loaded: {listing(result.senders)} to {result.receiver}",
        f"ECN of DCQCN: {result.ecn}",
        simulations(result),
    )
    yield Section("Runs", (Items(servers),))
    yield from _limits(result)


def _right(first: str, *titles: str) -> tuple[TableColumn, ...]:
    """Return columns of numbers as text, and the first one of names."""
    return (TableColumn(first), *(TableColumn(title, align="right") for title in titles))


def _bandwidth(figures: AlgorithmFigures) -> ConfidenceInterval:
    return figures.gbps


def _latency(figures: AlgorithmFigures) -> ConfidenceInterval:
    return figures.latency_us


def simulations(result: WatermarkTable | AlgorithmTable) -> str:
    """Return the number of simulations."""
    return (
        f"{count_of(result.simulated, 'simulation')} run, "
        f"{count_of(result.reused, 'result')} of earlier commands used"
    )


def _lead(result: WatermarkTable | AlgorithmTable) -> str:
    """Return what the cells of a table are; one seed has no interval."""
    means = f"Means over {count_of(len(result.seeds), 'seed')}"
    return means if len(result.seeds) == 1 else f"{means}, ± half of the 95 % interval"


def _limits(result: WatermarkTable | AlgorithmTable) -> Iterator[Block]:
    yield Section("Assumed", (Items(result.assumptions),))
    yield Section("Not modelled", (Items(result.not_modelled),))


def with_half(value: ConfidenceInterval) -> str:
    """Return a mean with half of its interval; equal runs have no width."""
    half = (value.high - value.low) / 2
    digits = 0 if value.mean >= 1000 else 1 if value.mean >= 100 else 2
    mean = f"{value.mean:,.{digits}f}"
    return mean if half < 10**-digits / 2 else f"{mean} ±{half:,.{digits}f}"
