"""Simulated cells: of the tables that the packet simulator computes, and of stored experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocefort.experiment.collectives import COLLECTIVES, EXCHANGE, CollectiveCell
from rocefort.experiment.model import PROCESSES, ExperimentResult
from rocefort.experiment.store import FOLDERS, RESULT
from rocefort.models.wording import count_of
from rocefort.paper.model import PaperCell
from rocefort.rdma.publications import Publication, PublishedFigure
from rocefort.tune.algorithm_table import ALGORITHMS, REFERENCE, algorithm_table
from rocefort.tune.compare_model import AlgorithmTable, WatermarkTable
from rocefort.tune.compare_report import with_half
from rocefort.tune.run import EvaluatorOf
from rocefort.tune.watermark_table import (
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
UNITS: Final = {"IOPS": "K IOPS", "packets marked": "K marks"}


def _byte_tuning(_publication: Publication, request: SimulationRequest) -> SimulatedFigures:
    with request.simulator() as evaluator_of:
        table = watermark_table(TableRequest(seeds=request.seeds), evaluator_of)
    cells = dict(_watermark_cells(table))
    combinations = ("search space", "combinations of the search space")
    cells[combinations] = PaperCell(
        text=f"{table.combinations:,} runs", origin="search space of `tune compare bytetuning`"
    )
    return SimulatedFigures(cells, lambda _: NO_SCENARIO, (), table.assumptions, table.not_modelled)


def _watermark_cells(table: WatermarkTable) -> Iterator[tuple[Key, PaperCell]]:
    origin = (
        f"packet simulator, {count_of(len(table.seeds), 'seed')}; clients and sizes are assumed"
    )
    for row in table.rows:
        for column, value in zip(table.columns, row.values, strict=True):
            if row.measure in PRINTED_ROWS:
                name = f"{PRINTED_ROWS[row.measure]}, {PRINTED_COLUMNS[column.name]}"
                unit = UNITS.get(row.measure, row.unit)
                cell = PaperCell(text=f"{with_half(value)} {unit}", origin=origin)
                yield ("Table V", name), cell


# --- EANTC ----------------------------------------------------------------------------------------

NAMES: Final = {
    "alltoall": EXCHANGE,
    "allgather": EXCHANGE,
    **{name.lower(): name for name in COLLECTIVES if name != EXCHANGE},
}
STATIC, DYNAMIC = "static", "ai"  # levels of the factor


def _eantc(publication: Publication, request: SimulationRequest) -> SimulatedFigures:
    results = [*_experiments(request.experiments)]
    cells: dict[Key, PaperCell] = {}
    for figure in publication.figures:
        for result in results:
            if (cell := _collective_cell(result, figure)) and _key(figure) not in cells:
                cells[_key(figure)] = cell
    where = request.experiments
    return SimulatedFigures(
        cells,
        lambda figure: _collective_reason(figure, where),
        tuple(c.sentence for each in results for c in each.comparisons),
        tuple(dict.fromkeys(text for each in results for text in each.assumptions)),
        tuple(dict.fromkeys(text for each in results for text in each.not_modelled)),
    )


def _key(figure: PublishedFigure) -> Key:
    return figure.source, figure.name


def _experiments(folder: Path) -> Iterator[ExperimentResult]:
    """Yield simulated experiments on ECN that have ended."""
    for file in sorted(folder.glob(f"*/{RESULT}")):
        result = ExperimentResult.model_validate_json(file.read_bytes())
        plan = result.plan
        if plan.simulated and plan.factor == "ecn" and result.state == "complete":
            yield result


def _collective_cell(result: ExperimentResult, figure: PublishedFigure) -> PaperCell | None:
    """Return the times of one collective at one level, for each number of processes."""
    if figure.conditions.get("background", "none") != "none" or figure.size_bytes is None:
        return None
    collective = NAMES.get(figure.collective)
    ecn = {"static": STATIC, "dynamic": DYNAMIC}.get(figure.conditions.get("ecn", ""))
    if collective is None or ecn is None:
        return None
    levels = [level.name for level in result.plan.levels if level.word == ecn]
    parts = []
    for processes in PROCESSES:
        label = CollectiveCell(collective, processes, figure.size_bytes).label
        means = [mean for level in levels if (mean := _mean(result, level, label)) is not None]
        if means:
            ends = dict.fromkeys(f"{mean:,.0f}" for mean in (min(means), max(means)))
            parts.append(f"{' to '.join(ends)} us ({count_of(processes, 'process')})")
    if not parts:
        return None
    fixed = "; fixed thresholds stand for the ends of AI-ECN" if ecn == DYNAMIC else ""
    origin = (
        f"simulated experiment on {result.plan.fabric}, {count_of(result.plan.repeat, 'seed')}, "
        f"processes a server are not published{fixed}"
    )
    return PaperCell(text=", ".join(parts), origin=origin)


def _mean(result: ExperimentResult, level: str, label: str) -> float | None:
    values = [
        value.value
        for run in result.runs
        if run.run.level == level
        for value in run.values
        if value.cell == label and value.value is not None
    ]
    return sum(values) / len(values) if values else None


def _collective_reason(figure: PublishedFigure, experiments: Path) -> str:
    if figure.conditions.get("background", "none") != "none":
        return "TCP is not simulated"
    if figure.collective in NAMES and figure.size_bytes is not None:
        return (
            f"no simulated experiment with this size in {experiments}/: `rocefort experiment "
            f"eantc-hpc --factor ecn=static,ai --sizes {figure.size_bytes} --simulate`"
        )
    return NO_SCENARIO


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
