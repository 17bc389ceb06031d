"""Documents as text and as a page: printed figures beside those of Rocefort."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from rocefort.models.wording import count_of
from rocefort.paper.model import Paper, PaperCell, PaperRow, Papers, PaperSeries, PaperTable
from rocefort.reports.blocks import Block, Cell, Items, Note, Section, Table, TableColumn, Tone
from rocefort.reports.writers.pages import PageHead, framed_page, html_of

COLUMNS = {"simulated": "simulated", "guests": "run on guests", "site": "site"}


def papers_report(result: Papers) -> Iterator[Block]:
    """Show each document: its tables, the origin of each cell, and what cannot be had."""
    for paper in result.papers:
        yield Section(paper.title, (Note(paper.source),))
        yield from paper_blocks(paper)
    yield Note(summary(result), Tone.GOOD)
    if result.page:
        yield Note(f"page: {result.page}", Tone.QUIET)


def paper_blocks(paper: Paper) -> Iterator[Block]:
    """Show one document, without its title."""
    if paper.caution:
        yield Note(f"caution: {paper.caution}", Tone.WARNING)
    rows: list[tuple[Cell, ...]] = [
        (each.name, each.printed, each.site or None) for each in paper.apparatus
    ]
    if rows:
        columns = (
            TableColumn("apparatus"),
            TableColumn("printed", wraps=True),
            TableColumn("site"),
        )
        yield Section("Apparatus", (Table(columns, tuple(rows)),))
    for table in paper.tables:
        yield _table(table)
    for series in paper.series:
        yield _series(series)
    if paper.sentences:
        yield Section("Order", (Items(paper.sentences),))
    if paper.configuration:
        lines: list[tuple[Cell, ...]] = [
            (each.line, each.view, each.switches) for each in paper.configuration
        ]
        columns = (TableColumn("line"), TableColumn("view"), TableColumn("switches"))
        yield Section("Configuration", (Table(columns, tuple(lines)),), lead="As it is rendered")
    for title, texts in (
        ("Errors in print", paper.errors),
        ("Not to be had", paper.missing),
        ("Assumed", paper.assumptions),
        ("Not modelled", paper.not_modelled),
    ):
        if texts:
            yield Section(title, (Items(texts),))


def _table(table: PaperTable) -> Section:
    filled = {
        name: title
        for name, title in COLUMNS.items()
        if any(_cell(row, name).text for row in table.rows)
    }
    columns = ("figure", "printed", *filled.values())
    rows: list[tuple[Cell, ...]] = [
        (row.name, row.printed, *(_cell(row, name).text or None for name in filled))
        for row in table.rows
    ]
    doubts = (f"{row.name}: {row.doubt}" for row in table.rows if row.doubt)
    notes = tuple(chain(doubts, *(_origins(table.rows, name) for name in COLUMNS)))
    title = f"{table.name}, {table.title}" if table.title else table.name
    right = (
        TableColumn(columns[0], wraps=True),
        *(TableColumn(name, align="right", wraps=True) for name in columns[1:]),
    )
    return Section(title, (Table(right, tuple(rows)), Items(notes)))


def _series(series: PaperSeries) -> Section:
    first, *others = series.columns or ("",)
    heads = (TableColumn(first, wraps=True), *(TableColumn(n, align="right") for n in others))
    points = (Table(heads, series.rows),) if series.rows else ()
    return Section(f"{series.name}, {series.title}", (*points, Items((series.origin,))))


def _cell(row: PaperRow, column: str) -> PaperCell:
    cells = {"simulated": row.simulated, "guests": row.guests, "site": row.site}
    return cells[column]


def _origins(rows: Iterable[PaperRow], column: str) -> Iterator[str]:
    """Yield a line for each origin of values, and each reason for missing ones."""
    counts: dict[tuple[bool, str], int] = {}
    for row in rows:
        cell = _cell(row, column)
        key = bool(cell.text), cell.origin
        counts[key] = counts.get(key, 0) + 1
    for (has, origin), number in counts.items():
        figures = count_of(number, "figure")
        yield f"{COLUMNS[column]}, {figures}: {'' if has else 'none, '}{origin}"


def summary(result: Papers) -> str:
    """Return the numbers of figures and of filled cells."""
    rows = [row for paper in result.papers for table in paper.tables for row in table.rows]
    parts = [
        f"{sum(bool(_cell(row, name).text) for row in rows)} {title}"
        for name, title in COLUMNS.items()
    ]
    return f"{count_of(len(rows), 'printed figure')}: {', '.join(parts)}"


def papers_page(result: Papers) -> str:
    """Return the page; the template escapes every value."""
    head = PageHead(
        title="Published systems",
        heading="Published systems",
        verdict=summary(result),
        tone="clean",
        sizes=(count_of(len(result.papers), "document"),),
        sections=[(paper.reference, paper.reference) for paper in result.papers],
    )
    blocks = (
        Section(paper.title, tuple(paper_blocks(paper)), lead=paper.source, id=paper.reference)
        for paper in result.papers
    )
    return framed_page("blocks_page.html.j2", head, {"blocks": html_of(*blocks)})
