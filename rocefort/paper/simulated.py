"""Simulated cells: of the tables that the packet simulator computes, and of stored experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Final

from rocefort.experiment.store import FOLDERS
from rocefort.models.wording import count_of
from rocefort.paper.experiments import (
    FIGURE_2,
    FIGURE_4,
    series_of,
    simulated_cell,
    stored_experiments,
)
from rocefort.paper.model import PaperCell, PaperSeries
from rocefort.rdma.publications import Publication, PublishedFigure
from rocefort.reports.wording import UNITS
from rocefort.tune.algorithm_table import ALGORITHMS, REFERENCE, algorithm_table
from rocefort.tune.compare_model import AlgorithmTable, WatermarkTable
from rocefort.tune.compare_report import with_half
from rocefort.tune.run import EvaluatorOf
from rocefort.tune.watermark_table import (
    BUFFER_CELLS,
    DCTCP,
    EXPERIENCE,
    MANUFACTURER,
    TUNED,
    TableRequest,
    watermark_table,
)

Key = tuple[str, str]  # table and name of a figure


@dataclass(frozen=True)
class SimulationRequest:
    """Seeds of the simulations, the fabric that is simulated, and the folder of experiments.

    simulator: opens workers; not every document needs them.
    """

    seeds: tuple[int, ...]
    simulator: Callable[[], AbstractContextManager[EvaluatorOf]]
    fabric: Path
    experiments: Path = FOLDERS


@dataclass(frozen=True)
class SimulatedFigures:
    """Simulated cells of one document. reason: of a figure without one."""

    cells: Mapping[Key, PaperCell] = field(default_factory=dict)
    reason: Callable[[PublishedFigure], str] = lambda _: NO_SCENARIO
    sentences: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    series: tuple[PaperSeries, ...] = ()

    def of(self, figure: PublishedFigure) -> PaperCell:
        """Return the cell of a figure."""
        own = self.cells.get((figure.source, figure.name))
        return own or PaperCell(origin=self.reason(figure))


NO_SCENARIO = "no scenario of the simulator has it"
NO_SOFTWARE = "the simulator has no NICs and no software, which are most of this figure"


def simulated_figures(publication: Publication, request: SimulationRequest) -> SimulatedFigures:
    """Return the simulated cells of a document; raises BadInput."""
    source = SIMULATED.get(publication.reference)
    return source(publication, request) if source else SimulatedFigures()


# --- HEPS -----------------------------------------------------------------------------------------


def _heps(_publication: Publication, request: SimulationRequest) -> SimulatedFigures:
    with request.simulator() as evaluator_of:
        table = algorithm_table(request.fabric, ALGORITHMS, request.seeds, evaluator_of)
    return SimulatedFigures(
        dict(_algorithm_cells(table)),
        _heps_reason,
        table.order,
        table.assumptions,
        table.not_modelled,
    )


def _algorithm_cells(table: AlgorithmTable) -> Iterator[tuple[Key, PaperCell]]:
    seeds = count_of(len(table.seeds), "seed")
    senders = count_of(len(table.senders), "sender")
    loaded = f"packet simulator, {seeds}, {senders} to one receiver on {table.fabric}"
    for row in table.rows:
        for measure, value, unit in (
            ("bandwidth", row.loaded.gbps, "Gb/s"),
            ("latency", row.loaded.latency_us, "us"),
        ):
            cell = PaperCell(text=f"{with_half(value)} {unit}", origin=loaded)
            yield ("Table 2", f"{measure} with {row.control.upper()}"), cell
    own = next((row for row in table.rows if row.control == "dcqcn"), None)
    if own is not None:
        alone = f"packet simulator, {seeds}, one sender on {table.fabric}"
        for name, value, unit in (
            ("ib_write_bw average", own.alone.gbps, "Gb/s"),
            ("ib_write_lat average", own.alone.latency_us, "us"),
        ):
            text = f"{with_half(value)} {unit}"
            yield ("results", name), PaperCell(text=text, origin=alone)


def _heps_reason(figure: PublishedFigure) -> str:
    network = figure.conditions.get("network")
    return f"{network} is not simulated" if network else NO_SCENARIO


# --- ByteTuning -----------------------------------------------------------------------------------

PRINTED_COLUMNS: Final = {
    DCTCP: "DCTCP",
    EXPERIENCE: "experience-based",
    MANUFACTURER: "vendor-recommended",
    TUNED: "ByteTuning",
}
PRINTED_ROWS: Final = {
    "throughput": "throughput",
    "IOPS": "operations",
    "completion, mean": "flow completion time",
    "queue, mean": "queue",
    "packets marked": "ECN-marked",
}
PRINTED_UNITS: Final = {"IOPS": "K IOPS", "packets marked": "K marks"}


def _byte_tuning(publication: Publication, request: SimulationRequest) -> SimulatedFigures:
    with request.simulator() as evaluator_of:
        table = watermark_table(TableRequest(seeds=request.seeds), evaluator_of)
    cells = dict(_watermark_cells(table))
    cells |= {
        ("search space", name): PaperCell(text=text, origin=SEARCH_SPACE)
        for name, text in _search_space(table)
    }
    pool = PaperCell(text=f"{BUFFER_CELLS:,} cells", origin="input of the simulation")
    cells["queue display", "cells of the shared pool"] = pool
    return SimulatedFigures(
        cells,
        _byte_tuning_reason,
        (_throughput_order(publication, table),),
        table.assumptions,
        table.not_modelled,
        (_loss_series(table), TWO_TO_ONE),
    )


def _throughput_order(publication: Publication, table: WatermarkTable) -> str:
    """Return the order of the columns by throughput: published, and ours."""
    values = {figure.name: figure.value for figure in publication.figures}
    row = next(row for row in table.rows if row.measure == "throughput")
    ours = {PRINTED_COLUMNS[c.name]: v for c, v in zip(table.columns, row.values, strict=True)}
    here = sorted(ours, key=lambda name: -ours[name].mean)
    printed = sorted(ours, key=lambda name: -values[f"throughput, {name}"])
    equal = [
        f"{a} = {b}"
        for a, b in pairwise(here)
        if ours[a].low <= ours[b].high and ours[b].low <= ours[a].high
    ]
    within = f" (within their intervals: {', '.join(equal)})" if equal else ""
    return (
        f"throughput, highest first: published {', '.join(printed)}; "
        f"here {', '.join(here)}{within}. "
        "DCTCP here is a transport of RDMA at line rate, that of the document is TCP of servers"
    )


SEARCH_SPACE = "search space of `rocefort tune compare bytetuning`"
TWO_TO_ONE = PaperSeries(
    name="Figures of 2-to-1",
    title="throughput, latency and queue by watermark",
    origin="simulated: `rocefort tune search --method grid` writes them to its page (--html)",
)


def _search_space(table: WatermarkTable) -> Iterator[tuple[str, str]]:
    """Yield the cells of the search space that the search has: ends of each axis, and its step."""
    yield "combinations of the search space", f"{table.combinations:,} runs"
    for axis in table.axes:
        values = axis.values
        steps = dict.fromkeys(f"{b - a:g}" for a, b in pairwise(values))
        ends = {"smallest": values[0], "largest": values[-1]}
        for column, value in ends.items():
            yield f"{axis.name}, {column}", f"{Fraction(value).limit_denominator(64)} {axis.unit}"
        yield f"{axis.name}, step", f"{', '.join(steps)} {axis.unit}"


def _loss_series(table: WatermarkTable) -> PaperSeries:
    """Return the throughput by loss rate."""
    return PaperSeries(
        name="Figure 2",
        title="throughput by loss rate",
        origin=f"packet simulator, {count_of(len(table.seeds), 'seed')}: {table.loss_text}",
        columns=("packets lost, %", "Gb/s", "payload sent again, %"),
        rows=tuple(
            (f"{row.percent:g}", with_half(row.gbps), with_half(row.resent_percent))
            for row in table.losses
        ),
    )


def _byte_tuning_reason(figure: PublishedFigure) -> str:
    return NO_SOFTWARE if "TCP" in figure.name or "QP" in figure.name else NO_SCENARIO


def _watermark_cells(table: WatermarkTable) -> Iterator[tuple[Key, PaperCell]]:
    origin = (
        f"packet simulator, {count_of(len(table.seeds), 'seed')}; clients and sizes are assumed"
    )
    for row in table.rows:
        for column, value in zip(table.columns, row.values, strict=True):
            if row.measure in PRINTED_ROWS:
                name = f"{PRINTED_ROWS[row.measure]}, {PRINTED_COLUMNS[column.name]}"
                unit = PRINTED_UNITS.get(row.measure, row.unit)
                cell = PaperCell(text=f"{with_half(value)} {unit}", origin=origin)
                yield ("Table V", name), cell


# --- EANTC ----------------------------------------------------------------------------------------


def _eantc(publication: Publication, request: SimulationRequest) -> SimulatedFigures:
    stored = [e for e in stored_experiments(request.experiments) if e.result.plan.simulated]
    cells: dict[Key, PaperCell] = {}
    for figure in publication.figures:
        filled = (cell for each in stored if (cell := simulated_cell(each, figure)))
        if (first := next(filled, None)) is not None:
            cells[figure.source, figure.name] = first
    where, results = request.experiments, [each.result for each in stored]
    return SimulatedFigures(
        cells,
        lambda figure: _collective_reason(figure, where),
        tuple(c.sentence for each in results for c in each.comparisons),
        tuple(dict.fromkeys(text for each in results for text in each.assumptions)),
        tuple(dict.fromkeys(text for each in results for text in each.not_modelled)),
        (*(tuple(series_of(stored)) or _no_series(where)), CABLE_AWAY),
    )


def _no_series(experiments: Path) -> tuple[PaperSeries, ...]:
    none = f"simulated: none, no such experiment in {experiments}/: {EXPERIMENT}`"
    return tuple(
        PaperSeries(name=name, title=title, origin=none) for name, title in (FIGURE_2, FIGURE_4)
    )


CABLE_AWAY = PaperSeries(
    name="Figure 7",
    title="unlike groups while cables are away",
    origin="simulated: none, the simulated collectives have no failures",
)
EXPERIMENT = "`rocefort experiment eantc-hpc --factor ecn=static,ai --simulate"


def _collective_reason(figure: PublishedFigure, experiments: Path) -> str:
    if figure.unit == "%":
        return NO_SOFTWARE
    size = f" --sizes {figure.size_bytes}" if figure.size_bytes is not None else ""
    if figure.conditions.get("background", "none") != "none":
        return f"no such experiment in {experiments}/: {EXPERIMENT} --tcp-gbps 20{size}`"
    if figure.source == FIGURE_4[0]:
        return "its message size is not known; Figure 4 below has all sizes"
    if message := figure.conditions.get("message"):
        count, unit = message.split()
        size = f" --sizes {int(count) * {name: n for n, name in UNITS}.get(unit, 1)}"
    return f"no such experiment in {experiments}/: {EXPERIMENT}{size}`"


# --- others ---------------------------------------------------------------------------------------


def _of_software(_publication: Publication, _request: SimulationRequest) -> SimulatedFigures:
    return SimulatedFigures(reason=lambda _: NO_SOFTWARE)


Simulated = Callable[[Publication, SimulationRequest], SimulatedFigures]
SIMULATED: Final[Mapping[str, Simulated]] = {
    REFERENCE: _heps,
    "bytetuning": _byte_tuning,
    "eantc-ai-fabric": _eantc,
    "eantc-storage": _of_software,
    "redigo": _of_software,
    "lanl-400g": _of_software,
}
