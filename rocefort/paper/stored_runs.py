"""Cells from stored runs: between real servers of a site, or between guests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rocefort.experiment.store import FOLDERS
from rocefort.models.wording import count_of
from rocefort.paper.experiments import (
    StoredExperiment,
    measured_cell,
    series_of,
    stored_experiments,
)
from rocefort.paper.model import BenchFigures, BenchRow, PaperCell, PaperSeries
from rocefort.rdma.compare import SWITCH, Comparability, compare_figure
from rocefort.rdma.judge.path_difference import PathDifference, amount, path_differences, path_of
from rocefort.rdma.judge.run_store import RdmaHistory, open_history
from rocefort.rdma.plan.site import DIRECT, NEAR
from rocefort.rdma.publications import MEASURED, Publication, PublishedFigure
from rocefort.rdma.results import RdmaResult
from rocefort.rdma.run.counters import driver_of
from rocefort.reports.wording import bytes_words, four_digits

MOST_RUNS = 50  # the latest
SOFT_ROCE = "rxe"
BENCH_PATHS = {DIRECT: "back to back", NEAR: "through one switch"}


@dataclass(frozen=True)
class StoredRuns:
    """Latest stored runs, the latest first. where: of the file, for reasons."""

    where: str
    site: tuple[RdmaResult, ...] = ()
    guests: tuple[RdmaResult, ...] = ()
    experiments: tuple[StoredExperiment, ...] = ()

    def of_site(self, publication: Publication, figure: PublishedFigure) -> PaperCell:
        """Cell of a measured experiment, or of a run between real servers."""
        for stored in self.experiments:
            if cell := measured_cell(stored, publication, figure):
                return cell
        if publication.reference in OF_EXPERIMENTS and not _of_a_run(figure):
            return PaperCell(origin="no measured experiment of ECN has it (docs/how-to/papers.md)")
        return _cell(self.site, publication, figure, self.none("site").origin)

    def of_bench(self) -> BenchFigures:
        """Latest runs back to back and through a switch, of the site or else between guests."""
        for runs, where in ((self.site, "between real servers"), (self.guests, "between guests")):
            if paths := _both_paths(runs):
                ids = " less ".join(f"run {result.id}" for result in reversed(paths))
                differences = path_differences(*paths)
                counts = {row.repetitions for row in differences}
                repeated = "; ".join(f"{b} and {a} repetitions" for a, b in sorted(counts))
                rows = tuple(map(_bench_row, differences))
                return BenchFigures(origin=f"{where}, {ids}: {repeated}", rows=rows)
        what = f"no run back to back and none through a switch in {self.where}"
        return BenchFigures(origin=f"none, {what}")

    def of_guests(self, publication: Publication, figure: PublishedFigure) -> PaperCell:
        """Cell of a run between guests."""
        return _cell(self.guests, publication, figure, self.none("guests").origin)

    def none(self, kind: Literal["site", "guests"]) -> PaperCell:
        """Cell without a value, because no run has it."""
        between = "real servers" if kind == "site" else "guests"
        return PaperCell(origin=f"no run between {between} in {self.where}")

    def verdicts(self, kind: Literal["site", "guests"], begin: str) -> dict[str, PaperCell]:
        """Rates of the latest run with verdicts whose subjects begin so, by the rest of these."""
        for result in self.site if kind == "site" else self.guests:
            cells = {
                verdict.subject.removeprefix(begin): PaperCell(
                    text=f"{verdict.value:.3g} Gb/s", origin=f"run {result.id}"
                )
                for verdict in result.judged
                if verdict.subject.startswith(begin) and verdict.value is not None
            }
            if cells:
                return cells
        return {}


def stored_runs(file: Path, run: str = "", experiments: Path = FOLDERS) -> StoredRuns:
    """Return the runs of a file, or one of them, and measured experiments of a folder.

    A file that does not exist has none.
    """
    measured = tuple(e for e in stored_experiments(experiments) if not e.result.plan.simulated)
    history: AbstractContextManager[RdmaHistory | None] = (
        open_history(file) if file.exists() or run else nullcontext()
    )
    with history as past:
        if past is None:
            return StoredRuns(str(file), experiments=measured)
        ids = [run] if run else [line.id for line in past.runs()[:MOST_RUNS]]
        results = [past.load(each) for each in ids]
    real = [each for each in results if not each.emulated]
    site, guests = ([r for r in real if between_guests(r) is kind] for kind in (False, True))
    return StoredRuns(str(file), tuple(site), tuple(guests), measured)


def between_guests(result: RdmaResult) -> bool:
    """Whether the servers of a run had Soft-RoCE instead of NICs."""
    nics = result.record.before.nics if result.record else ()
    return any(driver_of(nic) == SOFT_ROCE for nic in nics)


def _of_a_run(figure: PublishedFigure) -> bool:
    """Whether one run of a suite can have a figure, without the counters of an experiment."""
    return figure.compared and figure.unit in MEASURED


def _both_paths(runs: Sequence[RdmaResult]) -> tuple[RdmaResult, RdmaResult] | None:
    """Return the latest run back to back and the latest through one switch of a bench."""
    latest: dict[int | None, RdmaResult] = {}
    for result in runs:
        latest.setdefault(path_of(result), result)
    return (latest[DIRECT], latest[NEAR]) if {DIRECT, NEAR} <= latest.keys() else None


def _bench_row(row: PathDifference) -> BenchRow:
    return BenchRow(
        program=row.program,
        size_bytes=row.size_bytes,
        unit=row.unit,
        direct=row.direct,
        switched=row.switched,
        difference=row.difference,
        interval=row.interval,
    )


def _bench_cell(
    runs: Sequence[RdmaResult], publication: Publication, figure: PublishedFigure
) -> PaperCell | None:
    """Return the figure on both paths of a bench; None: neither path has it."""
    if figure.place == SWITCH:
        return _switch_cell(runs)
    parts, origins = [], []
    for path in (DIRECT, NEAR) if figure.method_of is not None else ():
        for result in (run for run in runs if path_of(run) == path):
            found = compare_figure(result, publication, figure)
            if found.ours is not None and found.status is not Comparability.NOT_MEASURED:
                parts.append(f"{amount(found.ours, figure.unit)} {figure.unit} {BENCH_PATHS[path]}")
                origins.append(f"run {result.id}")
                break
    if not parts:
        return None
    origin = f"{' and '.join(origins)}; theirs is their own program, ours {figure.method_of}"
    return PaperCell(text=", ".join(parts), origin=origin)


def _switch_cell(runs: Sequence[RdmaResult]) -> PaperCell | None:
    """Return the latency of the switch by subtraction, of the smallest size."""
    paths = _both_paths(runs)
    rows = [r for r in path_differences(*paths) if r.program.measures_latency] if paths else []
    if not paths or not rows:
        return None
    row = min(rows, key=lambda row: row.size_bytes)
    within = f" (95 %: {row.interval})" if row.interval else ""
    origin = (
        f"run {paths[1].id} less run {paths[0].id}, {row.program} of "
        f"{count_of(row.size_bytes, 'byte')}; theirs is nominal"
    )
    return PaperCell(text=f"{amount(row.difference, row.unit)} us{within}", origin=origin)


def _cell(
    runs: Sequence[RdmaResult], publication: Publication, figure: PublishedFigure, none: str
) -> PaperCell:
    """Return the value of the latest run that measured the figure under its conditions."""
    if not figure.compared:
        return PaperCell(origin=figure.no_run or "no suite of RDMA tests measures it")
    if cell := _bench_cell(runs, publication, figure):
        return cell
    reason = none
    for result in runs:
        comparison = compare_figure(result, publication, figure)
        if comparison.status is not Comparability.NOT_MEASURED and comparison.ours is not None:
            differing = f"; {'; '.join(comparison.why)}" if comparison.why else ""
            text = f"{four_digits(comparison.ours)} {figure.unit}"
            return PaperCell(text=text, origin=f"run {result.id}{differing}")
        if reason == none:
            reason = f"run {result.id}: {'; '.join(comparison.why)}"
    return PaperCell(origin=reason)


# --- figures that are drawn -----------------------------------------------------------------------


def drawn_figures(publication: Publication, runs: StoredRuns) -> Iterator[PaperSeries]:
    """Yield figures of a document that print no numbers, with the points of stored runs."""
    columns = {"site": ("real servers", runs.site), "run on guests": ("guests", runs.guests)}
    for name, title, read in DRAWN.get(publication.reference, ()):
        lacking = []
        for column, (ends, results) in columns.items():
            if series := next((s for r in results if (s := read(r, name, title))), None):
                yield series
            else:
                lacking.append(f"{column}: none, no run between {ends} in {runs.where} has it")
        if lacking:
            yield PaperSeries(name=name, title=title, origin="; ".join(lacking))
    if publication.reference == EANTC:
        yield from series_of(runs.experiments)


def _by_pair(result: RdmaResult, name: str, title: str) -> PaperSeries | None:
    """Return the pairs of a run of perftest: bandwidth by pair, or latency."""
    latency = title.startswith("latency")
    rows = []
    for each in result.measurements:
        own, program = each.figures, each.run.program
        if own is None or not program.is_perftest or program.measures_latency is not latency:
            continue
        values = (
            (own.least_us, own.latency_us, own.p99_us) if latency else (own.gbps, own.peak_gbps)
        )
        head = f"{program.value} {each.run.pair}, {bytes_words(each.run.size_bytes)}"
        rows.append((head, *("-" if v is None else four_digits(v) for v in values)))
    columns = ("us, minimum", "average", "99 %") if latency else ("Gb/s, average", "peak")
    return PaperSeries(
        name=name, title=title, origin=_origin(result), columns=("pair", *columns), rows=tuple(rows)
    ) if rows else None  # fmt: skip


def _cable_away(result: RdmaResult, name: str, title: str) -> PaperSeries | None:
    """Return the collectives of a run by size, with all cables and while some are away."""
    times: dict[tuple[str, int], dict[bool, float]] = {}
    away = {run.id: bool(each.fault) for each in result.plan.rounds for run in each.runs}
    for m in result.measurements:
        for point in m.sizes:
            key = m.run.collective or m.run.program.value, point.size_bytes
            times.setdefault(key, {})[away.get(m.run.id, False)] = point.average_us
    rows = tuple(
        (f"{collective} {bytes_words(size)}", *(four_digits(own[which]) for which in (False, True)))
        for (collective, size), own in times.items()
        if len(own) == 2
    )
    columns = ("test", "us, all cables", "cables away")
    return PaperSeries(
        name=name, title=title, origin=_origin(result), columns=columns, rows=rows
    ) if rows else None  # fmt: skip


def _origin(result: RdmaResult) -> str:
    kind = "guests" if between_guests(result) else "real servers"
    return f"run {result.id} between {kind} on {result.plan.fabric}"


Drawn = Callable[[RdmaResult, str, str], PaperSeries | None]
EANTC = "eantc-ai-fabric"
OF_EXPERIMENTS = (EANTC, "eantc-storage")
DRAWN: Mapping[str, tuple[tuple[str, str, Drawn], ...]] = {
    "heps-paper": (
        ("Figure 5", "bandwidth by pair of servers", _by_pair),
        ("Figure 6", "latency by pair of servers", _by_pair),
    ),
    EANTC: (("Figure 7", "unlike groups while cables are away", _cable_away),),
}
