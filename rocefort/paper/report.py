"""Documents as text and as a page: printed figures beside those of Rocefort."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from rocefort.models.wording import count_of
from rocefort.paper.model import (
    BenchFigures,
    BenchRow,
    Paper,
    PaperCell,
    PaperRow,
    Papers,
    PaperSeries,
    PaperTable,
)
from rocefort.rdma.compare import SWITCH
from rocefort.rdma.judge.path_difference import amount
from rocefort.rdma.publications import Publication, PublishedItemState, load_reference
from rocefort.rdma.rdma_plan import Program
from rocefort.rdma.run_page import SizeLine, size_plot
from rocefort.reports.blocks import Block, Cell, Items, Note, Section, Table, TableColumn, Tone
from rocefort.reports.page_parts import Plot
from rocefort.reports.wording import four_digits
from rocefort.reports.writers.pages import PageHead, framed_page, html_of

COLUMNS = {"simulated": "simulated", "guests": "run on guests", "site": "site"}


def papers_report(result: Papers) -> Iterator[Block]:
    """Show each document: its tables, the origin of each cell, and what cannot be had."""
    for paper in result.papers:
        yield Section(paper.title, (Note(paper.source),))
        yield from paper_blocks(paper)
        lacking = [f"{each.item}: {each.state}; {each.lacks}" for each in paper.items if each.lacks]
        if paper.items:
            yield Section("Items", (Items(tuple(lacking)),), lead=items_text([paper]))
    yield Note(summary(result), Tone.GOOD)
    if len(result.papers) > 1:
        yield Note(f"all documents: {items_text(result.papers)}", Tone.GOOD)
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
    for table in (*paper.tables, *paper.unprinted):
        yield _table(table)
    for series in paper.series:
        yield _series(series)
    if paper.bench is not None:
        yield _bench(paper.bench)
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


def _bench(bench: BenchFigures) -> Section:
    """Show each size on both paths, and the difference."""
    rows: list[tuple[Cell, ...]] = [
        (
            *(each.program, each.size_bytes),
            *(
                f"{amount(value, each.unit)} {each.unit}"
                for value in (each.direct, each.switched, each.difference)
            ),
            each.interval or None,
        )
        for each in bench.rows
    ]
    titles = ("program", "bytes", "A, back to back", "B, one switch", "B less A", "95 %")
    columns = tuple(TableColumn(t, "right" if t != "program" else "", wraps=True) for t in titles)
    table = (Table(columns, tuple(rows)),) if rows else ()
    return Section("Configurations A and B", (*table, Note(bench.origin)))


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


def bench_plots(paper: Paper) -> tuple[Plot, ...]:
    """Plot latency (Figure 1) and throughput (Figure 2) of both configurations, and the print.

    Without runs of both configurations there is none. The calculated curve is B less the nominal
    latency of the switch.
    """
    publication = load_reference(paper.reference)
    plots = []
    for title, program, lines in (
        ("Figure 1, latency", Program.WRITE_LAT, _latency_lines),
        ("Figure 2, throughput", Program.WRITE_BW, _path_lines),
    ):
        rows = [row for row in (paper.bench.rows if paper.bench else ()) if row.program == program]
        if not rows:
            continue
        printed: SizeLine = [
            (figure.size_bytes, figure.value, f"{figure.name}: {figure.text}")
            for figure in publication.figures
            if figure.method_of is program and figure.size_bytes and figure.unit == rows[0].unit
        ]
        plots.append(size_plot(program, {**lines(rows, publication), "printed": printed}, title))
    return tuple(plots)


def _path_lines(rows: Sequence[BenchRow], _publication: Publication) -> dict[str, SizeLine]:
    direct = [(r.size_bytes, r.direct, f"{four_digits(r.direct)} {r.unit}") for r in rows]
    switched = [(r.size_bytes, r.switched, f"{four_digits(r.switched)} {r.unit}") for r in rows]
    return {"A, back to back": direct, "B, one switch": switched}


def _latency_lines(rows: Sequence[BenchRow], publication: Publication) -> dict[str, SizeLine]:
    nominal = next((f.value for f in publication.figures if f.place == SWITCH), 0.0)
    name = f"B less the nominal {nominal:g} us"
    left = [(r.size_bytes, r.switched - nominal) for r in rows]
    less = [(size, value, f"{four_digits(value)} us") for size, value in left]
    positive = [point for point in less if point[1] > 0]  # the axis is logarithmic
    return {**_path_lines(rows, publication), **({name: positive} if positive else {})}


def items_text(papers: Iterable[Paper]) -> str:
    """Return the number of items in each state: `106 items: 90 whole, 10 part, 6 missing`."""
    items = [each for paper in papers for each in paper.items]
    counts = Counter(each.state for each in items)
    parts = (f"{counts[state]} {state}" for state in PublishedItemState)
    return f"{count_of(len(items), 'item')}: {', '.join(parts)}"


def _items_table(paper: Paper) -> Section:
    rows: list[tuple[Cell, ...]] = [
        (each.item, each.state.value, each.shown, each.lacks) for each in paper.items
    ]
    heads = ("item", "state", "shown by", "lacks")
    return Section(
        "Items",
        (Table(tuple(TableColumn(head, wraps=True) for head in heads), tuple(rows)),),
        lead=items_text([paper]),
    )


def papers_page(result: Papers) -> str:
    """Return the page; the template escapes every value."""
    plots = [plot for paper in result.papers for plot in bench_plots(paper)]
    head = PageHead(
        title="Published systems",
        heading="Published systems",
        verdict=summary(result),
        tone="clean",
        sizes=(count_of(len(result.papers), "document"), items_text(result.papers)),
        sections=[
            *((paper.reference, paper.reference) for paper in result.papers),
            *([("figures", "figures")] if plots else ()),
        ],
    )
    blocks = (
        Section(
            paper.title,
            (*paper_blocks(paper), *((_items_table(paper),) if paper.items else ())),
            lead=paper.source,
            id=paper.reference,
        )
        for paper in result.papers
    )
    content: dict[str, object] = {"blocks": html_of(*blocks), "plots": plots}
    return framed_page("papers.html.j2", head, content, files=("rdma.css",))
