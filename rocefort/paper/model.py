"""Published tables beside figures of Rocefort."""

from __future__ import annotations

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.rdma.publications import PublishedItem


class PaperCell(Frozen):
    """Figure of Rocefort beside a printed one, or the reason why there is none."""

    text: str = Field(default="", description="Value with its unit; empty: there is none.")
    origin: str = Field(description="Where the value comes from, or why there is none.")


class PaperRow(Frozen):
    """Printed figure with those of Rocefort."""

    name: str
    printed: str = Field(description="As it is printed, with its unit.")
    doubt: str = Field(default="", description="Why the print is doubted; empty: it is not.")
    simulated: PaperCell
    guests: PaperCell = Field(description="Run on guests: real programs, speed is not judged.")
    site: PaperCell = Field(description="Stored run between real servers.")


class PaperTable(Frozen):
    """Table, figure or section of a document."""

    name: str = Field(description="Its number in the document: `Table 2`.")
    title: str
    rows: tuple[PaperRow, ...]


class PaperSeries(Frozen):
    """Figure whose numbers the document does not print, with our points, or the reason for none."""

    name: str = Field(description="Its number in the document: `Figure 2`.")
    title: str
    origin: str = Field(description="Where the points come from, or why there are none.")
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class Apparatus(Frozen):
    """Apparatus of a document, beside that of the site."""

    name: str
    printed: str
    site: str = Field(default="", description="Of the latest run of the site; empty: not known.")


class BenchRow(Frozen):
    """One message size on a bench, back to back and through a switch, us or Gb/s."""

    program: str
    size_bytes: int
    unit: str
    direct: float
    switched: float
    difference: float = Field(description="Through the switch less back to back.")
    interval: str = Field(description="95 % of the difference; empty: one repetition.")


class BenchFigures(Frozen):
    """Latest runs of a bench: one back to back, one through its switch."""

    origin: str = Field(description="Which runs, or why there are none.")
    rows: tuple[BenchRow, ...] = ()


class ConfiguredLine(Frozen):
    """Line of rendered configurations."""

    view: str = Field(description="View that has the line; ports are one view.")
    line: str
    switches: int = Field(description="Number of switches that have it.")


class Paper(Frozen):
    """Document with its tables."""

    reference: str
    title: str
    source: str
    caution: str = ""
    apparatus: tuple[Apparatus, ...]
    tables: tuple[PaperTable, ...]
    series: tuple[PaperSeries, ...] = Field(
        default=(), description="Figures that are drawn, and print no numbers."
    )
    unprinted: tuple[PaperTable, ...] = Field(
        default=(), description="Ours beside figures whose numbers are not in our reading."
    )
    sentences: tuple[str, ...] = Field(
        default=(), description="What the simulated figures show, such as their order."
    )
    configuration: tuple[ConfiguredLine, ...] = Field(
        default=(), description="What is rendered for the fabric that the document describes."
    )
    bench: BenchFigures | None = Field(
        default=None, description="Where the document has two hosts, with and without a switch."
    )
    items: tuple[PublishedItem, ...] = Field(
        default=(), description="What the document describes, and how much of it Rocefort has."
    )
    errors: tuple[str, ...] = Field(description="Errors in print.")
    missing: tuple[str, ...] = Field(description="Printed figures that cannot be had.")
    assumptions: tuple[str, ...] = Field(default=(), description="Of the simulated figures.")
    not_modelled: tuple[str, ...] = ()


class Papers(Frozen):
    """Result of `paper`."""

    papers: tuple[Paper, ...]
    page: str = Field(default="", description="File of the page; empty: none was written.")
