"""Steps of `paper`: the tables of a document with the cells that this installation can fill."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive
from rocefort.design.load.documents import find_fabric
from rocefort.dialects.network_text import render_all
from rocefort.models.wording import listing
from rocefort.paper.model import (
    Apparatus,
    ConfiguredLine,
    Paper,
    PaperCell,
    PaperRow,
    PaperTable,
)
from rocefort.paper.simulated import (
    NO_SOFTWARE,
    SimulatedFigures,
    SimulationRequest,
    simulated_figures,
)
from rocefort.paper.stored_runs import StoredRuns, drawn_figures
from rocefort.rdma.publications import (
    Publication,
    PublishedFigure,
    load_reference,
    printed_errors,
)

PAPERS: Final[Mapping[str, tuple[str, ...]]] = {
    "heps": ("heps-paper",),
    "eantc": ("eantc-ai-fabric", "eantc-storage"),
    "redigo": ("redigo",),
    "bytetuning": ("bytetuning",),
    "lanl": ("lanl-400g",),
}
CONFIGURED: Final = "heps-paper"  # prints the configuration of its fabric in Figures 3 and 4
ON_BENCH: Final = "redigo"  # measures with and without a switch
LOSSLESS = re.compile(r"\b(dcb|pfc|ai-ecn|ecn)\b")
PORTS = "ports"


def references_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the references of documents, all without names; raises BadInput."""
    for name in names:
        if name not in PAPERS:
            how = f"{nearest(name, PAPERS)}; they are {listing(list(PAPERS))}"
            raise BadInput(f"no document {name!r}", where="NAME", how=how)
    return tuple(each for name in names or PAPERS for each in PAPERS[name])


def paper_of(name: str, request: SimulationRequest, runs: StoredRuns) -> Paper:
    """Return a document with its cells; raises BadInput."""
    publication = load_reference(name)
    simulated = simulated_figures(publication, request)
    return Paper(
        reference=name,
        title=publication.title,
        source=publication.source,
        caution=publication.caution or "",
        apparatus=tuple(_apparatus(publication, runs)),
        tables=tuple(_tables(publication, simulated, runs)),
        series=(*simulated.series, *drawn_figures(publication, runs)),
        unprinted=tuple(_unprinted(publication, runs)),
        sentences=simulated.sentences,
        configuration=tuple(configured_lines(request.fabric)) if name == CONFIGURED else (),
        bench=runs.of_bench() if name == ON_BENCH else None,
        items=publication.items,
        errors=tuple(printed_errors(publication)),
        missing=tuple(f"{m.at}: {m.figures}; {m.reason}" for m in publication.missing),
        assumptions=simulated.assumptions,
        not_modelled=simulated.not_modelled,
    )


def _apparatus(publication: Publication, runs: StoredRuns) -> Iterator[Apparatus]:
    here = runs.site[0].conditions if runs.site else {}
    for name, printed in (publication.conditions | publication.setup).items():
        yield Apparatus(name=name.replace("_", " "), printed=printed, site=here.get(name, ""))


def _tables(
    publication: Publication, simulated: SimulatedFigures, runs: StoredRuns
) -> Iterator[PaperTable]:
    for table in publication.tables:
        rows = (
            _row(publication, printed, figure, simulated, runs)
            for printed, figure in table.printed_figures()
        )
        yield PaperTable(name=table.table, title=table.title, rows=tuple(rows))
    of_tables = sum(1 for table in publication.tables for _ in table.figures())
    single: dict[str, list[PaperRow]] = {}
    for figure in publication.figures[of_tables:]:  # those of tables are first
        about = f"about {figure.text}" if figure.approximate else figure.text
        row = _row(publication, about, figure, simulated, runs)
        single.setdefault(figure.source, []).append(row)
    for source, own in single.items():
        yield PaperTable(name=source, title="", rows=tuple(own))


def _unprinted(publication: Publication, runs: StoredRuns) -> Iterator[PaperTable]:
    """Yield our rows beside figures whose numbers are not in our reading; none without a run."""
    for missing in publication.missing:
        if missing.verdict is not None:
            guests, site = (
                runs.verdicts(kind, f"{missing.verdict}: ") for kind in ("guests", "site")
            )
            rows = (
                PaperRow(
                    name=name,
                    printed="-",
                    doubt=missing.reason,
                    simulated=PaperCell(origin=NO_SOFTWARE),
                    guests=guests.get(name, runs.none("guests")),
                    site=site.get(name, runs.none("site")),
                )
                for name in {**guests, **site} or (missing.figures,)
            )
            yield PaperTable(name=missing.at, title="", rows=tuple(rows))


def _row(
    publication: Publication,
    printed: str,
    figure: PublishedFigure,
    simulated: SimulatedFigures,
    runs: StoredRuns,
) -> PaperRow:
    return PaperRow(
        name=figure.name,
        printed=printed,
        doubt=figure.unconfirmed or "",
        simulated=simulated.of(figure),
        guests=runs.of_guests(publication, figure),
        site=runs.of_site(publication, figure),
    )


# --- configuration --------------------------------------------------------------------------------


def configured_lines(fabric: Path) -> Iterator[ConfiguredLine]:
    """Yield the rendered lines of PFC and ECN, each with the number of switches that have it."""
    network = derive(find_fabric(fabric)).network
    counts: Counter[tuple[str, str]] = Counter()
    for text in render_all(network).values():
        counts.update([*dict.fromkeys(_lossless_lines(text.splitlines()))])
    for (view, line), switches in counts.items():
        yield ConfiguredLine(view=view, line=line, switches=switches)


def _lossless_lines(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield view and line of each line that is of PFC or ECN, or below one that is."""
    views: list[str] = []
    for raw in lines:
        line, depth = raw.strip(), len(raw) - len(raw.lstrip())
        if line in ("", "#"):
            continue
        del views[depth:]
        parents = " / ".join(PORTS if view.startswith("interface ") else view for view in views)
        if LOSSLESS.search(line) or any(LOSSLESS.search(view) for view in views):
            yield parents or "system", line
        views += [""] * (depth - len(views)) + [line]
