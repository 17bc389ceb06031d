"""Cells of EANTC's test: from experiments on ECN, simulated or measured between real servers.

A measured experiment has its runs in the database of its folder. A cell is their mean at one level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from rocefort.design.derive.derive import derive
from rocefort.experiment.collectives import (
    COLLECTIVES,
    EXCHANGE,
    LEAF_MARKS,
    SPINE_GBPS,
    SPINES_GBPS,
    TCP_DROPS,
)
from rocefort.experiment.conduct import BESIDE
from rocefort.experiment.model import CellValue, ExperimentResult, LevelComparison
from rocefort.experiment.report import number, percent_text
from rocefort.experiment.store import RESULT, ExperimentFolder
from rocefort.models.network.network import SwitchRole
from rocefort.models.network.observed import StateTopic
from rocefort.models.wording import count_of
from rocefort.paper.model import PaperCell, PaperSeries
from rocefort.rdma.compare import compare_figure
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.publications import Publication, PublishedFigure
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.record_report import grown
from rocefort.rdma.results import RdmaResult
from rocefort.rdma.run_record import RunRecord
from rocefort.reports.wording import bytes_words, four_digits

HISTORY = "rdma.db"  # of the folder of a measured experiment
FACTOR = "ecn"
WORDS = {"static": "static", "dynamic": "ai"}  # ECN as published, and level of the factor
NAMES = {
    "alltoall": EXCHANGE,
    "allgather": EXCHANGE,
    **{name.lower(): name for name in COLLECTIVES if name != EXCHANGE},
}
# Figures of the reference that have no program, by the beginning of their names.
MARKS, SPINE_RATE = "ECN marks of a leaf", "rate of a spine"
TESTS, IMPROVED = "runs without background", "runs that dynamic ECN improves"
UPLINK_PEAK, DROPPED = "peak of the uplinks beside TCP", "packets dropped beside TCP"
LESS_MEAN, LESS_TAIL = "less average delay by dynamic ECN", "less tail delay by dynamic ECN"
LOADS = {  # of a switch, by the end of its name: `CPU of a spine`
    "CPU": lambda seen: None if seen.cpu is None else float(seen.cpu.one_minute),
    "memory": lambda seen: None if seen.memory is None else float(seen.memory.percent),
}
FIGURE_2 = "Figure 2", "average of each test"
FIGURE_4 = "Figure 4", "AllGather by message size"
ROLES = {"a spine": SwitchRole.SPINE, "a leaf": SwitchRole.LEAF}


@dataclass(frozen=True)
class StoredExperiment:
    """Experiment on ECN that has ended, with its measured runs by level, and roles of switches."""

    folder: Path
    result: ExperimentResult
    runs: Mapping[str, Sequence[RdmaResult]] = field(default_factory=dict)
    roles: Mapping[str, SwitchRole] = field(default_factory=dict)

    @property
    def beside(self) -> bool:
        """Whether TCP ran beside the collectives."""
        options = self.result.plan.options
        return BESIDE in options or "tcp_gbps" in options

    @property
    def origin(self) -> str:
        """Origin of its cells."""
        plan = self.result.plan
        if not plan.simulated:
            return f"experiment {self.folder}, mean of {count_of(plan.repeat, 'run')} at each level"
        ends = any(level.end for level in plan.levels)
        fixed = "; fixed thresholds stand for the ends of AI-ECN" if ends else ""
        servers = len(plan.options.get("servers", "").split(", "))
        return (
            f"simulated experiment on {plan.fabric}, {count_of(plan.repeat, 'seed')}, "
            f"{count_of(servers, 'server')} with MPI, "
            f"processes a server are not published{fixed}"
        )

    def levels(self, ecn: str) -> list[str]:
        """Names of the levels of a published ECN: those of both ends of AI-ECN."""
        word = WORDS.get(ecn)
        return [level.name for level in self.result.plan.levels if level.word == word]


def stored_experiments(folder: Path) -> list[StoredExperiment]:
    """Return experiments on ECN that have ended, of a folder of folders."""
    found = []
    for file in sorted(folder.glob(f"*/{RESULT}")):
        result = ExperimentResult.model_validate_json(file.read_bytes())
        ended = result.state == "complete" and not result.not_compared
        if ended and result.plan.factor == FACTOR:
            found.append(_stored(file.parent, result))
    return found


def _stored(folder: Path, result: ExperimentResult) -> StoredExperiment:
    history = folder / HISTORY
    if result.plan.simulated or not history.exists():
        return StoredExperiment(folder, result)
    runs: dict[str, list[RdmaResult]] = {}
    with open_history(history) as past:
        kept = {line.id for line in past.runs()}
        for run in result.runs:
            if run.id in kept:
                runs.setdefault(run.run.level, []).append(past.load(run.id))
    level = ExperimentFolder(folder).level(result.plan.levels[0].word)
    network = derive(level).network if level.exists() else None
    roles = {node.name: node.role for node in network.nodes} if network else {}
    return StoredExperiment(folder, result, runs, {k: v for k, v in roles.items() if v})


# --- simulated ------------------------------------------------------------------------------------


def simulated_cell(stored: StoredExperiment, figure: PublishedFigure) -> PaperCell | None:
    """Return the cell of a figure from a simulated experiment; None: it has none."""
    text = None
    background = figure.conditions.get("background", "none") != "none"
    if figure.name.startswith((MARKS, SPINE_RATE)):
        counter = LEAF_MARKS if figure.name.startswith(MARKS) else SPINE_GBPS
        text = None if stored.beside else _message_text(stored, figure, counter)
    elif figure.name in (TESTS, IMPROVED):
        text = None if stored.beside else improved_text(stored, figure.name)
    elif background != stored.beside:
        return None
    elif figure.name in (UPLINK_PEAK, DROPPED):
        text = _beside_text(stored, figure.name)
    else:
        text = _times_text(stored, figure)
    return PaperCell(text=text, origin=stored.origin) if text else None


def _values(stored: StoredExperiment, level: str) -> Iterator[CellValue]:
    for run in stored.result.runs:
        if run.run.level == level:
            yield from run.values


def _times_text(stored: StoredExperiment, figure: PublishedFigure) -> str | None:
    """Return the times of a collective at one level, for each number of processes."""
    collective, size = NAMES.get(figure.collective), figure.size_bytes
    if collective is None or size is None:
        return None
    levels = stored.levels(figure.conditions.get(FACTOR, ""))
    by_processes: dict[str, list[float]] = {}
    for level in levels:
        own: dict[str, list[float]] = {}
        for value in _values(stored, level):
            head, _, processes = value.cell.rpartition(", ")
            if head == f"{collective} {bytes_words(size)}" and value.value is not None:
                own.setdefault(processes, []).append(value.value)
        for processes, values in own.items():
            by_processes.setdefault(processes, []).append(fmean(values))
    parts = (f"{_range(means)} us ({name})" for name, means in by_processes.items())
    return ", ".join(parts) or None


def _range(means: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(number(mean) for mean in (min(means), max(means))))


def _message_text(stored: StoredExperiment, figure: PublishedFigure, counter: str) -> str | None:
    """Return a counter of AllToAll with one message size, at each level."""
    label = f"{EXCHANGE} {figure.conditions.get('message', '')}"
    texts = []
    for level in stored.result.plan.levels:
        rows = [v for v in _values(stored, level.name) if v.cell.rpartition(", ")[0] == label]
        largest = max((_processes(row) for row in rows), default=0)
        values = [row.counters[counter] for row in rows if _processes(row) == largest]
        if values:
            texts.append(f"{number(fmean(values))} ({level.name})")
    return f"{', '.join(texts)} {figure.unit}" if texts else None


def _processes(value: CellValue) -> int:
    return int(value.cell.rpartition(", ")[2].split()[0])


def improved_text(stored: StoredExperiment, name: str) -> str:
    """Return `improved: N of M` of each comparison, or the number of tests."""
    comparisons = stored.result.comparisons
    if name == TESTS:
        return count_of(max((len(c.cells) for c in comparisons), default=0), "test")
    return ", ".join(f"improved: {c.improved} of {len(c.cells)} ({c.other})" for c in comparisons)


def _beside_text(stored: StoredExperiment, name: str) -> str:
    values = [v for level in stored.result.plan.levels for v in _values(stored, level.name)]
    if name == UPLINK_PEAK:
        rate = max((v.counters[SPINES_GBPS] for v in values), default=0)
        return f"{number(rate)} Gb/s, mean of a test"
    drops, tcp = (fmean(v.counters[key] for v in values) for key in ("drops", TCP_DROPS))
    return f"RoCE {number(drops)}, TCP {number(tcp)} packets a test"


def series_of(stored: Iterable[StoredExperiment]) -> Iterator[PaperSeries]:
    """Yield Figures 2 and 4 from experiments: means of each test, and AllGather by size."""
    for each in stored:
        for comparison in () if each.beside else each.result.comparisons:
            yield _series(each, comparison, FIGURE_2, lambda _: True)
            yield _series(each, comparison, FIGURE_4, _is_all_gather)


def _is_all_gather(cell: str) -> bool:
    return cell.startswith((EXCHANGE, "allgather"))


def _series(
    stored: StoredExperiment,
    comparison: LevelComparison,
    figure: tuple[str, str],
    kept: Callable[[str], bool],
) -> PaperSeries:
    return PaperSeries(
        name=figure[0],
        title=figure[1],
        origin=stored.origin,
        columns=("test", comparison.first, comparison.other, "change"),
        rows=tuple(
            (
                f"{cell.cell} ({cell.unit})",
                number(cell.first.mean),
                number(cell.other.mean),
                percent_text(cell.change_percent),
            )
            for cell in comparison.cells
            if kept(cell.cell)
        ),
    )


# --- measured -------------------------------------------------------------------------------------


def measured_cell(
    stored: StoredExperiment, publication: Publication, figure: PublishedFigure
) -> PaperCell | None:
    """Return the cell of a figure from a measured experiment; None: it has none."""
    text = None
    if figure.name in (TESTS, IMPROVED):
        text = None if stored.beside else improved_text(stored, figure.name)
    elif figure.name.startswith((LESS_MEAN, LESS_TAIL)):
        text = _less_text(stored, figure)
    elif figure.unit in ("marks", "%", "packets") or not figure.compared:
        text = _counter_text(stored, figure)
    else:
        values = [
            ours
            for runs in stored.runs.values()
            for run in runs
            if (ours := compare_figure(run, publication, figure).ours) is not None
        ]
        text = f"{four_digits(fmean(values))} {figure.unit}" if values else None
    return PaperCell(text=text, origin=stored.origin) if text else None


def _less_text(stored: StoredExperiment, figure: PublishedFigure) -> str | None:
    """Return by how much dynamic ECN shortens the delay of fio, percent of static ECN."""
    tail = figure.name.startswith(LESS_TAIL)
    means = []
    for ecn in WORDS:
        runs = [run for level in stored.levels(ecn) for run in stored.runs.get(level, ())]
        delays = [d for run in runs for d in _delays(run, figure, tail=tail)]
        if not delays:
            return None
        means.append(fmean(delays))
    percentile = ", 99th percentile" if tail else ""
    return f"{100 * (means[0] - means[1]) / means[0]:.1f} %{percentile}"


def _delays(result: RdmaResult, figure: PublishedFigure, *, tail: bool) -> Iterator[float]:
    wanted = {name: figure.conditions.get(name) for name in ("depth", "targets")}
    for each in result.measurements:
        run, own = each.run, each.figures
        if run.program is not Program.FIO or run.storage is None or own is None:
            continue
        here = {name: str(getattr(run.storage, name)) for name in wanted}
        delay = own.p99_us if tail else own.latency_us
        if run.size_bytes == figure.size_bytes and here == wanted and delay is not None:
            yield delay


def _counter_text(stored: StoredExperiment, figure: PublishedFigure) -> str | None:
    """Return a counter or a load of switches over the runs, from their records."""
    message = figure.conditions.get("message")
    records = [
        run.record
        for runs in stored.runs.values()
        for run in runs
        if run.record is not None and (message is None or _messages(run) == {message})
    ]
    beside = figure.name in (UPLINK_PEAK, DROPPED)
    if beside != stored.beside:
        return None
    values = [v for record in records if (v := _of_record(stored, record, figure)) is not None]
    if not values:
        return None
    unit = "Gb/s, mean of a run" if figure.unit == "Gb/s" else figure.unit
    return f"{number(max(values))} {unit}"


def _messages(result: RdmaResult) -> set[str]:
    return {bytes_words(p.size_bytes) for m in result.measurements for p in m.sizes if p.size_bytes}


def _of_record(
    stored: StoredExperiment, record: RunRecord, figure: PublishedFigure
) -> float | None:
    """Return the largest value of a switch of one role, or the sum over all; None: not read."""
    later = {seen.name: seen for seen in record.after.switches}
    role = next((r for words, r in ROLES.items() if words in figure.name), SwitchRole.SPINE)
    seconds = (record.after.at - record.before.at).total_seconds()
    load = LOADS.get(figure.name.partition(" of ")[0])
    values: list[float | None] = []
    for start in record.before.switches:
        end = later.get(start.name)
        if end is None or (figure.name != DROPPED and stored.roles.get(start.name) is not role):
            continue
        if load is not None:
            values.append(load(end))
        elif figure.unit == "marks":
            values.append(grown(start, end, StateTopic.ECN_MARKS, "marked_packets", None))
        elif figure.name == DROPPED:
            values.append(grown(start, end, StateTopic.QUEUES, "dropped_packets", record.queue))
        else:
            sent = grown(start, end, StateTopic.QUEUES, "passed_bytes", None)
            values.append(None if sent is None or seconds <= 0 else sent * 8 / seconds / 1e9)
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(known) if figure.name in (UPLINK_PEAK, DROPPED) else max(known)
