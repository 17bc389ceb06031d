"""Page of the published figures, and their errors in print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from rocefort.rdma.publications import (
    Agreement,
    PrintedTable,
    Publication,
    PublishedItemState,
    load_reference,
    printed_errors,
    recomputed,
    reference_names,
)

HEAD = """\
# Published figures

Figures that five publications print, from `inventory/references`. `make golden` writes this page. A
number is as it is printed, with its last place. `rocefort rdma compare RUN --with NAME` sets a run
beside them.

Each printed difference and percentage is computed again from the printed values, by the formula of its
table. A case *within the rounding of the values* follows from values that the printed ones can be
rounded from. A figure that is not here is listed as missing, with the reason.

Items are parts of what a document describes. An item is *whole* if the commands and tests beside it show it.
"""


def publications_page() -> str:
    """All references, one section each."""
    sections = (line for name in reference_names() for line in _section(name))
    return "\n".join([HEAD, *_errors(), *sections])


def _errors() -> Iterator[str]:
    publications = [load_reference(name) for name in reference_names()]
    cases = [case for publication in publications for case in recomputed(publication)]
    exact = sum(case.agreement is Agreement.EXACT for case in cases)
    yield "## Errors in print\n"
    yield f"Of {len(cases)} printed differences and percentages {exact} are as computed.\n"
    rows = ((p.reference, sentence) for p in publications for sentence in printed_errors(p))
    yield from _grid(("reference", "error"), rows)


def _section(name: str) -> Iterator[str]:
    publication = load_reference(name)
    yield f"## {name}\n"
    yield f"{publication.title}. Source: {publication.source}.\n"
    if publication.caution:
        yield f"Caution: {publication.caution}.\n"
    yield from _grid(("condition", "value"), publication.conditions.items())
    if publication.setup:
        yield from _grid(("apparatus", "value"), publication.setup.items())
    if publication.sizes:
        yield from _grid(("sizes", "place", "assumed"), _sizes(publication))
    for table in publication.tables:
        yield f"### {name}: {table.table}, {table.title}\n"
        yield from _table(table)
    of_tables = sum(1 for table in publication.tables for _ in table.figures())
    if singles := publication.figures[of_tables:]:
        yield f"### {name}: single figures\n"
        rows = [(f.name, f.text, f.source, _conditions(f.conditions)) for f in singles]
        yield from _grid(("figure", "value", "place", "conditions"), rows)
    if publication.items:
        counts = Counter(each.state for each in publication.items)
        yield f"### {name}: items\n"
        yield ", ".join(f"{counts[state]} {state}" for state in PublishedItemState) + ".\n"
        rows = [(i.item, i.state.value, i.shown or "", i.lacks or "") for i in publication.items]
        yield from _grid(("item", "state", "shown by", "lacks"), rows)
    missing = (f"{m.at}: {m.figures}; {m.reason}" for m in publication.missing)
    yield from _list(f"### {name}: missing\n", missing)


def _sizes(publication: Publication) -> Iterator[tuple[str, ...]]:
    for each in publication.sizes:
        yield f"`--sizes {each.name}`", each.source, each.assumed or ""


def _table(table: PrintedTable) -> Iterator[str]:
    if any(change.percent for row in table.rows for change in row.changes):
        yield f"Percentages divide by the value of {table.divides_by}, if nothing else is stated.\n"
    rows = []
    for row in table.rows:
        changes = []
        for change in row.changes:
            of = f"{' and '.join(change.columns)}: " if change.columns else ""
            by = f" of {change.divides_by}" if change.divides_by else ""
            numbers = [f"difference {change.difference}"] if change.difference is not None else []
            numbers += [f"{change.percent} %{by}"] if change.percent is not None else []
            changes.append(of + ", ".join(numbers))
        values = ["" if value is None else f"{value:,}" for value in row.values]
        doubt = row.unconfirmed or ""
        rows.append((row.row, *values, table.unit_of(row), "; ".join(changes), doubt))
    yield from _grid(("row", *table.columns, "unit", "printed change", "doubt"), rows)


def _conditions(conditions: dict[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in conditions.items())


def _grid(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""


def _list(title: str, sentences: Iterable[str]) -> Iterator[str]:
    lines = [f"- {sentence}" for sentence in sentences]
    if lines:
        yield from (title, *lines, "")
