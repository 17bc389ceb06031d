"""Differences and percentages in print follow from the values in print, or are listed as errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import publication_page
import pytest
import yaml

from rocefort.base.errors import BadInput
from rocefort.base.repository import ROOT
from rocefort.rdma.publications import (
    Agreement,
    PrintedChange,
    PrintedRow,
    PrintedTable,
    Publication,
    load_reference,
    printed_errors,
    recomputed,
    reference_names,
)

ROUNDED = "within the rounding of the values"
ERRORS = {
    "bytetuning": [
        "objective for latency, term of fairness: printed throughput now less throughput now, "
        "which is 0; the spread between flows, or now less before; `tune` uses the "
        "variance of the flows' throughput",
        "search space, Kmax: printed Kmax as a watermark of its own; Kmax less Kmin is always 500 "
        "cells, so nothing shows how it acts alone",
    ],
    "eantc-ai-fabric": [
        "HPC results, AllToAll 512 KiB: percentage (3.11 - 1.7) / 3.11 = 45.3 %, printed 44.3 %; "
        f"{ROUNDED}",
        "Figure 4, AllGather of Figure 4: difference 2.987 - 2.119 = 0.8680, printed 0.8868; "
        "wrong: a digit too many",
        "Table 4, AllReduce 4 MiB beside TCP: percentage (120 - 103) / 120 = 14.2 %, printed "
        f"14.3 %; {ROUNDED}",
        "Table 4, Reduce 32 B beside TCP: percentage (1.9 - 1.8) / 1.9 = 5.3 %, printed 0.4 %; "
        f"{ROUNDED}",
        "Table 2, rate of a spine: 116,800 Gb/s, at most 1,600; 2 x 8 links of 100 Gb/s carry no "
        "more; likely Mbit/s",
        "HPC results, AllToAll 512 KiB, dynamic ECN: 1.73 s is derived, printed 1.7; 3.11 s less "
        "the printed 44.3 %",
        'links between leaves and spines: printed "2 x 8 x 100GbE links", and two links removed '
        "between one spine and one leaf; the first is one link a pair, the second two; "
        "inventory/eantc-hpc has both",
    ],
    "eantc-storage": [
        "Table 7, delay of random writes, 4 MB, depth 128, 1 target: difference 2347.5 - 2034.1 = "
        "313.4, printed 232.5; wrong: copied from Table 6",
        "Table 7, delay of random writes, 4 MB, depth 128, 1 target: percentage (2347.5 - 2034.1) "
        "/ 2347.5 = 13.4 %, printed 8.8 %; wrong: copied from Table 6",
        "Table 7, delay of random writes, 4 MB, depth 128, 1 target: in ms, printed us; depth 128 "
        "at 55 IOPS takes 2.3 s",
        "Table 6, rows of 4 MB: printed us; ms; depth divided by IOPS gives milliseconds",
    ],
    "heps-paper": [
        "congestion control: printed DCQCN as IEEE 802.1Qau; 802.1Qau is QCN, of layer 2; DCQCN "
        "is a protocol of NICs and no standard of IEEE",
        "PFC deadlock detection and recovery: printed 10 s; the CE8851 and CE6866 take 10 to 1500 "
        "ms; very likely a lost unit",
    ],
    "lanl-400g": [
        "sweep of the round trip: printed 25 times the round trip before, at 10 ms; a round trip "
        "of 0.4 ms before; it is not printed"
    ],
    "redigo": ["repetitions: printed 104, 107 and 103; 10^4, 10^7 and 10^3; the exponents are lost"],
}  # fmt: skip


@pytest.mark.parametrize("name", reference_names())
def test_the_errors_in_print(name: str) -> None:
    assert list(printed_errors(load_reference(name))) == ERRORS[name]


@pytest.mark.parametrize("name", reference_names())
def test_what_is_wrong_has_a_reason_and_what_is_right_has_none(name: str) -> None:
    for case in recomputed(load_reference(name)):
        assert (case.agreement is Agreement.WRONG) == (case.misprint is not None), case.sentence


def test_how_much_is_computed_again() -> None:
    cases = [case for name in reference_names() for case in recomputed(load_reference(name))]
    assert len(cases) == 17
    assert sum(case.agreement is Agreement.EXACT for case in cases) == 11


def altered(publication: Publication) -> Iterator[tuple[str, bool, Publication]]:
    """Yield each publication with one printed number one higher or lower in its last place.

    With it: the number's place, and whether it is itself a difference or a percentage.
    """
    for at, table in enumerate(publication.tables):
        for index, row in enumerate(table.rows):
            for place, changed, derived in _altered_rows(row):
                rows = (*table.rows[:index], changed, *table.rows[index + 1 :])
                tables = [*publication.tables]
                tables[at] = table.like(rows=rows)
                name = f"{table.table}, {row.row}, {place}"
                yield name, derived, publication.like(tables=tuple(tables))


def _altered_rows(row: PrintedRow) -> Iterator[tuple[str, PrintedRow, bool]]:
    for index, value in enumerate(row.values):
        for changed in () if value is None else _steps(value):
            values = (*row.values[:index], changed, *row.values[index + 1 :])
            yield f"value {index}", row.like(values=values), False
    for index, change in enumerate(row.changes):
        for field in ("difference", "percent"):
            printed = getattr(change, field)
            for changed in () if printed is None else _steps(printed):
                own = change.like(**{field: changed})
                changes = (*row.changes[:index], own, *row.changes[index + 1 :])
                yield field, row.like(changes=changes), True


def _steps(value: Decimal) -> list[Decimal]:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    step = Decimal((0, (1,), exponent))
    return [other for other in (value + step, value - step) if other >= 0]


@pytest.mark.parametrize("name", reference_names())
def test_arithmetic_sees_every_altered_difference_and_percentage(name: str) -> None:
    """One in the last place makes another sentence; a value that was right becomes an error."""
    publication = load_reference(name)
    before = list(printed_errors(publication))
    for place, derived, changed in altered(publication):
        if derived:
            assert list(printed_errors(changed)) != before, place


@pytest.mark.parametrize("name", reference_names())
def test_every_altered_number_changes_the_page_that_is_kept(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values without a printed difference, too: the page of all figures is a golden file."""
    publication = load_reference(name)
    monkeypatch.setattr(publication_page, "reference_names", lambda: (name,))
    monkeypatch.setattr(publication_page, "load_reference", lambda _: publication)
    kept, seen = publication_page.publications_page(), 0
    for place, _, changed in altered(publication):
        monkeypatch.setattr(publication_page, "load_reference", lambda _, one=changed: one)
        assert publication_page.publications_page() != kept, place
        seen += 1
    for index, figure in enumerate(publication.figures):
        figures = [*publication.figures]
        figures[index] = figure.like(value=figure.value * 1.01 + 1)
        changed = publication.like(figures=tuple(figures), tables=())
        monkeypatch.setattr(publication_page, "load_reference", lambda _, one=changed: one)
        assert publication_page.publications_page() != kept
    assert seen or not publication.tables


def test_table_8_divides_by_the_value_with_dynamic_ecn() -> None:
    (table,) = [t for t in load_reference("eantc-storage").tables if t.table == "Table 8"]
    assert table.divides_by == "dynamic ECN"
    row = table.rows[0].like(changes=(PrintedChange(percent=Decimal("20.3")),))
    publication = load_reference("eantc-storage").like(tables=(table.like(rows=(row,)),))
    (case,) = recomputed(publication)
    assert case.formula == "(148 - 118) / 148"
    assert case.agreement is Agreement.EXACT
    others = [t.divides_by for n in ("eantc-ai-fabric", "eantc-storage")
              for t in load_reference(n).tables if t.table in {"Table 3", "Table 4", "Table 6", "Table 7"}]  # fmt: skip
    assert others == ["static ECN"] * 4


def test_how_many_of_eantc_s_table_figures_are_here() -> None:
    kept = {
        table.table: sum(value is not None for row in table.rows for value in row.values)
        for name in ("eantc-ai-fabric", "eantc-storage")
        for table in load_reference(name).tables
    }
    wanted = {"Table 3": 6, "Table 4": 20, "Table 6": 6, "Table 7": 2, "Table 8": 18}
    assert {title: kept[title] for title in wanted} == wanted
    missing = load_reference("eantc-storage").missing
    assert [m.figures[:7] for m in missing[:3]] == ["12 of 1", "8 of 10", "6 of 24"]


def test_every_figure_has_its_place_and_its_unit() -> None:
    for name in reference_names():
        publication = load_reference(name)
        assert publication.missing, name
        for figure in publication.figures:
            assert figure.source
            assert figure.unit


BROKEN = [
    ({"values": [1]}, "'a' has 1 values for 2 columns; write null for one that is not known"),
    ({"unit": None}, "'a' has no unit; give one to it or to the table"),
    ({"derived": {"c": 1}}, "'a' names a column 'c', which is not there"),
]


@pytest.mark.parametrize(("change", "sentence"), BROKEN)
def test_bad_tables(change: dict[str, object], sentence: str, tmp_path: Path) -> None:
    row = {"row": "a", "values": [1, 2], "unit": "us"} | change
    table = {"table": "Table 1", "title": "t", "columns": {"x": {}, "y": {}}, "rows": [row]}
    data = {"reference": "ours", "title": "t", "source": "s", "tables": [table]}
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(data))
    with pytest.raises(BadInput) as error:
        load_reference("ours", tmp_path)
    assert sentence in str(error.value)


def test_a_table_keeps_its_units() -> None:
    table = PrintedTable(
        table="Table 1",
        title="t",
        unit="ms",
        columns={"x": {}, "y": {"ecn": "ai"}},
        rows=(PrintedRow(row="a", values=(Decimal("2.50"), None)),),
    )
    (figure,) = table.figures()
    assert (figure.name, figure.value, figure.unit) == ("a, x", 2500.0, "us")
    assert figure.text == "2500 us"


def test_no_published_figure_is_in_the_code() -> None:
    """They are in inventory/references alone; numbers of four digits and a point are theirs."""
    values = {
        str(value)
        for name in reference_names()
        for table in load_reference(name).tables
        for row in table.rows
        for value in row.values
        if value is not None and "." in str(value) and len(str(value)) > 4
    }
    pattern = re.compile(rf"(?<![\d.])(?:{'|'.join(map(re.escape, sorted(values)))})(?![\d.])")
    hits = [
        f"{path.relative_to(ROOT)}: {number}"
        for path in (ROOT / "rocefort").rglob("*.py")
        for number in pattern.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(values) > 25
    assert hits == []
