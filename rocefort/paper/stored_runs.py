"""Cells from stored runs: between real servers of a site, or between guests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rocefort.experiment.store import FOLDERS
from rocefort.paper.experiments import (
    StoredExperiment,
    measured_cell,
    series_of,
    stored_experiments,
)
from rocefort.paper.model import PaperCell, PaperSeries
from rocefort.rdma.compare import Comparability, compare_figure
from rocefort.rdma.judge.run_store import RdmaHistory, open_history
from rocefort.rdma.publications import MEASURED, Publication, PublishedFigure
from rocefort.rdma.results import RdmaResult
from rocefort.rdma.run.counters import driver_of
from rocefort.reports.wording import bytes_words

MOST_RUNS = 50  # the latest
SOFT_ROCE = "rxe"


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
        return _cell(self.site, publication, figure, f"no run between real servers in {self.where}")

    def of_guests(self, publication: Publication, figure: PublishedFigure) -> PaperCell:
        """Cell of a run between guests."""
        return _cell(self.guests, publication, figure, f"no run between guests in {self.where}")


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


def _cell(
    runs: Sequence[RdmaResult], publication: Publication, figure: PublishedFigure, none: str
) -> PaperCell:
    """Return the value of the latest run that measured the figure under its conditions."""
    if not figure.compared:
        return PaperCell(origin="no suite of RDMA tests measures it")
    reason = none
    for result in runs:
        comparison = compare_figure(result, publication, figure)
        if comparison.status is not Comparability.NOT_MEASURED and comparison.ours is not None:
            differing = f"; {'; '.join(comparison.why)}" if comparison.why else ""
            text = f"{comparison.ours:.4g} {figure.unit}"
            return PaperCell(text=text, origin=f"run {result.id}{differing}")
        if reason == none:
            reason = f"run {result.id}: {'; '.join(comparison.why)}"
    return PaperCell(origin=reason)


# --- figures that are drawn -----------------------------------------------------------------------


def drawn_figures(publication: Publication, runs: StoredRuns) -> Iterator[PaperSeries]:
    """Yield figures of a document that print no numbers, with the points of stored runs."""
    for name, title, read in DRAWN.get(publication.reference, ()):
        for column, results in (("site", runs.site), ("run on guests", runs.guests)):
            series = next((s for r in results if (s := read(r, name, title))), None)
            kind = "real servers" if column == "site" else "guests"
            none = f"{column}: none, no run between {kind} in {runs.where} has it"
            yield series or PaperSeries(name=name, title=title, origin=none)
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
        rows.append((head, *("-" if v is None else f"{v:.4g}" for v in values)))
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
        (f"{collective} {bytes_words(size)}", *(f"{own[which]:.4g}" for which in (False, True)))
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
