"""Published figures: references of inventory/references, their tables, and their errors in print.

A table is kept as it is printed, each number with its last place, so that what the source computed
from its own numbers can be computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from rocefort.base.documents.read import read_document
from rocefort.base.documents.suggest import nearest
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY
from rocefort.models.base import Description, Frozen, Name
from rocefort.rdma.plan.message_sizes import SizeSet
from rocefort.rdma.rdma_plan import Program

REFERENCES = INVENTORY / "references"

Unit = Literal["Gb/s", "us", "IOPS", "cells", "marks", "B", "B/s", "runs", "packets", "x", "%"]
PrintedUnit = Literal[Unit, "ms", "s", "K IOPS", "K cells", "M cells", "K marks"]
Place = Literal["across the spines", "within a leaf", "through one switch", "back to back"]
Conditions = dict[Name, Description]
MEASURED: frozenset[Unit] = frozenset(("Gb/s", "us", "IOPS"))  # units of runs

SCALES: dict[PrintedUnit, tuple[Unit, int]] = {
    "ms": ("us", 1000),
    "s": ("us", 1000**2),
    "K IOPS": ("IOPS", 1000),
    "K cells": ("cells", 1000),
    "M cells": ("cells", 1000**2),
    "K marks": ("marks", 1000),
}


class PublishedFigure(Frozen):
    """Published figure; a value that its source does not state is left out."""

    name: Description = Field(description="What was measured, in words.")
    value: float = Field(ge=0)
    unit: Unit
    up_to: float | None = Field(default=None, description="Upper end, where it is a range.")
    program: Program | None = Field(default=None, description="Where it was one of these.")
    method_of: Program | None = Field(
        default=None, description="Where it was their own program: the one with the same method."
    )
    collective: str = Field(default="", description="Of MPI: alltoall, allgather, ..")
    size_bytes: int | None = Field(default=None, ge=1, description="Message or block size.")
    rate_gbps: float | None = Field(default=None, gt=0, description="Speed of the ports.")
    place: Place | None = None
    conditions: Conditions = Field(default_factory=dict, description="Beside the reference's own.")
    approximate: bool = Field(default=False, description="Whether the source states `about`.")
    unconfirmed: Description | None = Field(
        default=None, description="What of it could not be confirmed, and why it is doubted."
    )
    compared: bool = Field(default=True, description="Whether a run of ours can have it.")
    no_run: Description | None = Field(
        default=None, description="Why no run of ours has it, where it is not compared."
    )
    verdict: Description | None = Field(
        default=None, description="Subject of the verdict that has it, over several runs of a plan."
    )
    source: Description = Field(description="Place in the source: its table, figure or section.")

    @property
    def text(self) -> str:
        """Value and unit: `92.1 Gb/s`, `50 to 100 us`."""
        end = "" if self.up_to is None else f" to {self.up_to:.12g}"
        return f"{self.value:.12g}{end} {self.unit}"


# --- tables as they are printed -------------------------------------------------------------------


class PrintedChange(Frozen):
    """Difference or percentage that a source prints for two values of a row."""

    columns: tuple[Description, Description] | None = Field(
        default=None, description="Titles of the two columns; otherwise the first two."
    )
    difference: Decimal | None = None
    percent: Decimal | None = None
    divides_by: Description | None = Field(
        default=None, description="Column that a percentage divides by; otherwise the table's."
    )
    misprint: Description | None = Field(
        default=None, description="Why it is wrong, where it does not follow from the values."
    )


class PrintedRow(Frozen):
    """Row of a table: a number for each column, and what the source computed from them."""

    row: Description = Field(description="Title of the row.")
    values: tuple[Decimal | None, ...] = Field(description="As printed; null: not in our reading.")
    unit: PrintedUnit | None = Field(default=None, description="Otherwise the table's.")
    printed_unit: Description | None = Field(
        default=None, description="Unit in print, where it is wrong."
    )
    unit_reason: Description | None = Field(default=None, description="Why it is wrong.")
    program: Program | None = Field(default=None, description="Otherwise the table's.")
    collective: str = ""
    size_bytes: int | None = Field(default=None, ge=1)
    conditions: Conditions = Field(default_factory=dict)
    derived: dict[Description, Decimal] = Field(
        default_factory=dict, description="Value by column, where a percentage gives more places."
    )
    derived_from: Description | None = None
    most: Decimal | None = Field(default=None, description="Largest value that is possible.")
    most_reason: Description | None = Field(default=None, description="Why none is larger.")
    unconfirmed: Description | None = None
    changes: tuple[PrintedChange, ...] = ()


class PrintedTable(Frozen):
    """Table, or figures of a picture or a section, as a source prints them."""

    table: Description = Field(description="Its number in the source: `Table 3`.")
    title: Description
    unit: PrintedUnit | None = Field(default=None, description="Of the rows without their own.")
    columns: dict[Description, Conditions] = Field(
        min_length=1, description="Titles of the columns, with the conditions of their values."
    )
    names: Literal["{row}, {column}", "{row} with {column}", "{row}"] = "{row}, {column}"
    column_first: bool = Field(default=False, description="Order of the figures.")
    divides_by: Description | None = Field(
        default=None, description="Column that percentages of a change divide by."
    )
    compared: bool = Field(default=True, description="Whether a run of ours can have it.")
    program: Program | None = None
    rate_gbps: float | None = Field(default=None, gt=0)
    place: Place | None = None
    conditions: Conditions = Field(default_factory=dict)
    rows: tuple[PrintedRow, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _rows_fit(self) -> Self:
        for row in self.rows:
            if len(row.values) != len(self.columns):
                raise ValueError(
                    f"{row.row!r} has {len(row.values)} values for {len(self.columns)} columns; "
                    "write null for one that is not known"
                )
            if row.unit is None and self.unit is None:
                raise ValueError(f"{row.row!r} has no unit; give one to it or to the table")
            named = [name for change in row.changes for name in change.columns or ()]
            named += [c.divides_by for c in row.changes if c.divides_by] + [*row.derived]
            absent = {*named, *filter(None, (self.divides_by,))} - self.columns.keys()
            if absent:
                raise ValueError(f"{row.row!r} names a column {min(absent)!r}, which is not there")
        return self

    def unit_of(self, row: PrintedRow) -> PrintedUnit:
        """Unit of a row's values."""
        unit = row.unit or self.unit
        if unit is None:  # _rows_fit refuses it
            raise LookupError(row.row)
        return unit

    def figures(self) -> Iterator[PublishedFigure]:
        """Yield its values as figures, in units that a run of ours has."""
        return (figure for _, figure in self.printed_figures())

    def printed_figures(self) -> Iterator[tuple[str, PublishedFigure]]:
        """Yield each value as it is printed, with its unit, and as a figure."""
        rows, columns = self.rows, [*enumerate(self.columns)]
        cells = (
            [(row, column) for column in columns for row in rows]
            if self.column_first
            else product(rows, columns)
        )
        for row, (index, column) in cells:
            value = row.derived.get(column, row.values[index])
            if value is not None:
                printed = row.values[index]
                unit = row.printed_unit or self.unit_of(row)
                text = "-" if printed is None else f"{printed:,f} {unit}"
                yield text, self._figure(row, column, value)

    def _figure(self, row: PrintedRow, column: str, value: Decimal) -> PublishedFigure:
        unit, scale = SCALES.get(self.unit_of(row), (self.unit_of(row), 1))
        doubts = [row.unconfirmed] if row.unconfirmed else []
        if column in row.derived and row.derived_from:
            doubts.append(f"derived: {row.derived_from}")
        if row.printed_unit:
            doubts.append(f"printed in {row.printed_unit}: {row.unit_reason}")
        return PublishedFigure(
            name=self.names.format(row=row.row, column=column),
            value=float(value * scale),
            unit=unit,
            program=row.program or self.program,
            collective=row.collective,
            size_bytes=row.size_bytes,
            rate_gbps=self.rate_gbps,
            place=self.place,
            conditions=self.columns[column] | self.conditions | row.conditions,
            unconfirmed="; ".join(doubts) or None,
            compared=self.compared and unit in MEASURED,
            source=self.table,
        )


class StatedError(Frozen):
    """Error in print that arithmetic does not show."""

    at: Description = Field(description="Place in the source.")
    printed: Description
    correct: Description = Field(description="What is right, with its reason.")


class MissingFigures(Frozen):
    """Printed figures that a reference does not have, with the reason."""

    at: Description = Field(description="Place in the source.")
    figures: Description = Field(description="Which ones, with their number.")
    reason: Description
    verdict: Description | None = Field(
        default=None, description="Begin of the subjects of verdicts that are beside them."
    )


class PublishedItemState(StrEnum):
    """Degree to which Rocefort has an item."""

    WHOLE = "whole"
    PART = "part"
    MISSING = "missing"


class PublishedItem(Frozen):
    """Part of what a document describes: of its system, its tests or its results."""

    item: Description
    state: PublishedItemState
    shown: Description | None = Field(
        default=None, description="Commands and tests that show it, with semicolons between."
    )
    lacks: Description | None = Field(default=None, description="What lacks, with the reason.")

    @model_validator(mode="after")
    def _has_its_reason(self) -> Self:
        if (self.shown is None) is not (self.state is PublishedItemState.MISSING):
            raise ValueError(f"{self.item!r} is {self.state}; `shown` belongs to whole and part")
        if (self.lacks is None) is not (self.state is PublishedItemState.WHOLE):
            raise ValueError(f"{self.item!r} is {self.state}; `lacks` belongs to part and missing")
        return self


class Publication(Frozen):
    """Figures of one publication, with their common conditions."""

    reference: Name
    title: Description
    source: Description
    conditions: Conditions = Field(default_factory=dict)
    setup: Conditions = Field(
        default_factory=dict, description="Apparatus that no run of ours is compared by."
    )
    caution: Description | None = Field(default=None, description="What a reader must know of it.")
    sizes: tuple[SizeSet, ...] = Field(default=(), description="Sizes of its tests, by name.")
    tables: tuple[PrintedTable, ...] = ()
    figures: tuple[PublishedFigure, ...] = Field(default=(), validate_default=True)
    errors: tuple[StatedError, ...] = ()
    missing: tuple[MissingFigures, ...] = ()
    items: tuple[PublishedItem, ...] = Field(
        default=(), description="What the document describes, and how much of it Rocefort has."
    )

    @field_validator("figures")
    @classmethod
    def _has_figures(
        cls, figures: tuple[PublishedFigure, ...], info: ValidationInfo
    ) -> tuple[PublishedFigure, ...]:
        if not figures and not info.data.get("tables"):
            raise ValueError("a publication without figures; give tables or figures")
        return figures

    def conditions_of(self, figure: PublishedFigure) -> Conditions:
        """Return all conditions of one figure."""
        return self.conditions | figure.conditions


def reference_names(directory: Path = REFERENCES) -> tuple[str, ...]:
    """Names of the references in the package."""
    return tuple(sorted(path.stem for path in directory.glob("*.yaml")))


def load_reference(name: str, directory: Path = REFERENCES) -> Publication:
    """Read a reference by its name; its figures are those of its tables, then the single ones.

    Raises BadInput with the nearest name, or with file and line.
    """
    names = reference_names(directory)
    if name not in names:
        raise BadInput(f"no reference {name!r}", where="references", how=nearest(name, names))
    reference = validate(Publication, read_document(directory / f"{name}.yaml", "reference: NAME"))
    if reference.reference != name:
        raise BadInput(
            f"reference: {reference.reference}", where=f"{name}.yaml", how="call it as its file"
        )
    of_tables = [figure for table in reference.tables for figure in table.figures()]
    return reference.like(figures=(*of_tables, *reference.figures))


def published_sizes() -> tuple[SizeSet, ...]:
    """Sizes of all published tests of the package."""
    return tuple(each for name in reference_names() for each in load_reference(name).sizes)


# --- arithmetic -----------------------------------------------------------------------------------


class Agreement(StrEnum):
    """Agreement of a printed number with the one that follows from the printed values."""

    EXACT = "as printed"
    ROUNDED = "within the rounding of the values"
    WRONG = "wrong"


class Recomputed(Frozen):
    """Difference or percentage in print, beside the one computed from the values in print."""

    at: str  # Table 7, 4 MB, depth 128
    quantity: Literal["difference", "percentage"]
    formula: str  # (100 - 80) / 100
    printed: Decimal
    computed: Decimal  # with the places of the printed one
    agreement: Agreement
    misprint: str | None = None

    @property
    def sentence(self) -> str:
        """The case as a sentence."""
        unit = " %" if self.quantity == "percentage" else ""
        why = f": {self.misprint}" if self.misprint else ""
        return (
            f"{self.at}: {self.quantity} {self.formula} = {self.computed}{unit}, printed "
            f"{self.printed}{unit}; {self.agreement}{why}"
        )


def recomputed(publication: Publication) -> Iterator[Recomputed]:
    """Compute each printed difference and percentage again, by the formula of its table."""
    for table in publication.tables:
        for row in table.rows:
            for change in row.changes:
                yield from _recomputed(table, row, change)


def _recomputed(
    table: PrintedTable, row: PrintedRow, change: PrintedChange
) -> Iterator[Recomputed]:
    titles = [*table.columns]
    first, second = change.columns or (titles[0], titles[1])
    by = change.divides_by or table.divides_by or first
    values = dict(zip(titles, row.values, strict=True))
    a, b, divisor = values[first], values[second], values[by]
    if a is None or b is None or divisor is None:
        return
    at = f"{table.table}, {row.row}"
    if change.columns:
        at += f", {first} and {second}"
    high, low = max(a, b), min(a, b)
    if change.difference is not None:
        printed = change.difference
        yield Recomputed(
            at=at,
            quantity="difference",
            formula=f"{high} - {low}",
            printed=printed,
            computed=_like(high - low, printed),
            agreement=_agreement(printed, [x - y for x, y in product(_ends(high), _ends(low))]),
            misprint=change.misprint,
        )
    if change.percent is not None:
        printed, upper = change.percent, divisor == high
        ratios = [100 * (x - y) / (x if upper else y) for x, y in product(_ends(high), _ends(low))]
        yield Recomputed(
            at=at,
            quantity="percentage",
            formula=f"({high} - {low}) / {divisor}",
            printed=printed,
            computed=_like(100 * (high - low) / divisor, printed),
            agreement=_agreement(printed, ratios),
            misprint=change.misprint,
        )


def _last_place(value: Decimal) -> Decimal:
    """One in the last place of a number in print."""
    exponent = value.as_tuple().exponent
    return Decimal((0, (1,), exponent if isinstance(exponent, int) else 0))


def _ends(value: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """The number, and the smallest and the largest one that it can be rounded from."""
    half = _last_place(value) / 2
    return value, value - half, value + half


def _like(value: Decimal, printed: Decimal) -> Decimal:
    return value.quantize(_last_place(printed))


def _agreement(printed: Decimal, possible: list[Decimal]) -> Agreement:
    """Agreement with the values that are possible; the first follows from the values as printed."""
    half = _last_place(printed) / 2
    if abs(possible[0] - printed) <= half:
        return Agreement.EXACT
    rounded = min(possible) - half <= printed <= max(possible) + half
    return Agreement.ROUNDED if rounded else Agreement.WRONG


def printed_errors(publication: Publication) -> Iterator[str]:
    """Yield the errors in print as sentences: those of arithmetic and units, then stated ones."""
    for case in recomputed(publication):
        if case.agreement is not Agreement.EXACT:
            yield case.sentence
    for table in publication.tables:
        for row in table.rows:
            at, unit = f"{table.table}, {row.row}", table.unit_of(row)
            if row.printed_unit:
                yield f"{at}: in {unit}, printed {row.printed_unit}; {row.unit_reason}"
            for value in row.values:
                if row.most is not None and value is not None and value > row.most:
                    yield f"{at}: {value:,} {unit}, at most {row.most:,}; {row.most_reason}"
            for column, value in row.derived.items():
                index = [*table.columns].index(column)
                yield (
                    f"{at}, {column}: {value} {unit} is derived, printed {row.values[index]}; "
                    f"{row.derived_from}"
                )
    for error in publication.errors:
        yield f"{error.at}: printed {error.printed}; {error.correct}"
