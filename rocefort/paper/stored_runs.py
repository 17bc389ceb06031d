"""Cells from stored runs: between real servers of a site, or between guests."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rocefort.paper.model import PaperCell
from rocefort.rdma.compare import Comparability, compare_figure
from rocefort.rdma.judge.run_store import RdmaHistory, open_history
from rocefort.rdma.publications import Publication, PublishedFigure
from rocefort.rdma.results import RdmaResult
from rocefort.rdma.run.counters import driver_of

MOST_RUNS = 50  # the latest
SOFT_ROCE = "rxe"


@dataclass(frozen=True)
class StoredRuns:
    """Latest stored runs, the latest first. where: of the file, for reasons."""

    where: str
    site: tuple[RdmaResult, ...] = ()
    guests: tuple[RdmaResult, ...] = ()

    def of_site(self, publication: Publication, figure: PublishedFigure) -> PaperCell:
        """Cell of a run between real servers."""
        return _cell(self.site, publication, figure, f"no run between real servers in {self.where}")

    def of_guests(self, publication: Publication, figure: PublishedFigure) -> PaperCell:
        """Cell of a run between guests."""
        return _cell(self.guests, publication, figure, f"no run between guests in {self.where}")


def stored_runs(file: Path, run: str = "") -> StoredRuns:
    """Return the runs of a file, or one of them; a file that does not exist has none."""
    history: AbstractContextManager[RdmaHistory | None] = (
        open_history(file) if file.exists() or run else nullcontext()
    )
    with history as past:
        if past is None:
            return StoredRuns(str(file))
        ids = [run] if run else [line.id for line in past.runs()[:MOST_RUNS]]
        results = [past.load(each) for each in ids]
    real = [each for each in results if not each.emulated]
    site, guests = ([r for r in real if between_guests(r) is kind] for kind in (False, True))
    return StoredRuns(str(file), tuple(site), tuple(guests))


def between_guests(result: RdmaResult) -> bool:
    """Whether the servers of a run had Soft-RoCE instead of NICs."""
    nics = result.record.before.nics if result.record else ()
    return any(driver_of(nic) == SOFT_ROCE for nic in nics)


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
