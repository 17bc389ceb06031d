"""Any cell of a table may be blank: the other cells keep their values, or the row is unread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vendor_displays import vendor_display

from napalm_cloudengine.displays import commits, interfaces, lldp, lossless, routing, system
from napalm_cloudengine.displays.lines import DisplayAnswer, UnreadableError
from napalm_cloudengine.displays.table import DisplayTable, Form, Row

MODULES = (lossless, commits, interfaces, lldp, routing, system)
ROUTES = "display ip routing-table"  # has a reader of its own
TABLES = [
    (f"{module.__name__.rpartition('.')[2]}.{name}", table)
    for module in MODULES
    for name, table in vars(module).items()
    if isinstance(table, DisplayTable) and not table.command.startswith(ROUTES)
]
FORMS = [(f"{name} {form}", table, form) for name, table in TABLES for form in table.forms]
OF_FIELD: dict[str, tuple[Any, Any]] = {  # values of cells that do not take every word
    "address": ("10.0.0.1", "10.0.0.2"),
    "version": ("4", "4"),
    "age": ("00:10:10", "0024h05m"),
    "asn": ("65001", "65002"),
    "status": ("ENABLE(M)", "SUCCEED(M)"),
    "online": ("Present", "Present"),
    "queues": ("3 4", "5"),
    "since": ("2026-01-10 09:09:23", "2026-01-11 09:09:23"),
    "commit": ("1000000741", "1000000740"),
    "drop_time": ("2026-01-10 09:09:23", "-"),
    **dict.fromkeys(
        ("guaranteed", "xon", "xon_lowest", "xon_offset", "xoff", "hdrm"), ("600(K)", "50(B)")
    ),
}


def values(table: DisplayTable, form: Form, number: int) -> Row:
    """Return a row that differs from another one in every cell."""
    row: Row = {}
    for at, cell in enumerate(cell for layout in form.lines for cell in layout.cells):
        kinds = {
            "i": f"100GE1/0/{number + 1}",
            "d": at % 8 + 7 * number % 8,
            "?": at + 10 * number,
            "*": f"two words{number}",
        }
        row[cell.name] = kinds.get(cell.kind, f"w{at}-{number}")
        if cell.name in OF_FIELD:
            row[cell.name] = OF_FIELD[cell.name][number]
    if table is commits.LIST:
        row["at"] = f"2026-08-26 11:34:4{number}+03:00"
    if table is system.FILES:
        row["at"] = f"Nov 11 2019 20:16:3{number}"
    if "queue" in row:
        row["queue"] = 3 + number
    return row


def without(form: Form, blank: str) -> Form:
    """Return a form that writes blanks for a cell."""

    def cell(match: re.Match[str]) -> str:
        if not re.match(rf"{{{blank}\b", match[0]):
            return match[0]
        width = re.search(r"[<>](\d+)", match[0])
        return " " * (int(width[1]) if width else 0)

    return replace(form, row=re.sub(r"{[^}]*}", cell, form.row))


def shown_rows(table: DisplayTable, form: Form, rows: list[tuple[Form, Row]]) -> str:
    """Write rows, each in a form of its own, below the heading of a form."""
    total = dict.fromkeys((cell.name for cell in form.totals), "2") | {
        cell.name: len(rows) for cell in form.totals if cell.kind == "d"
    }
    head = form.write([], **total)
    head = head.removesuffix(f"\n{form.foot}") if form.foot else head
    body = [own.write([row], **total).removeprefix(head) for own, row in rows]
    if form.foot:
        body = [text.removesuffix(f"\n{form.foot}") for text in body]
    return head + "".join(body) + (f"\n{form.foot}" if form.foot else "")


def blanks() -> Iterator[Any]:
    for name, table, form in FORMS:
        cells = [cell.name for layout in table.forms[form].lines for cell in layout.cells]
        for cell in cells[table.carried :]:  # a row of a carried table may omit its interface
            yield pytest.param(table, form, cell, id=f"{name} {cell}")


def judge(table: DisplayTable, text: str, expected: list[Row], blank: str) -> None:
    """Check that each row that was read is one of those written, and that others are noted."""
    try:
        rows = table.read(DisplayAnswer(table.command, text))
    except UnreadableError:
        return
    assert len(rows) + bool(rows.unread) >= len(expected) or rows.unread, text
    whole, odd = expected[:-1], expected[-1]
    for row in rows:
        kept = {name: value for name, value in row.items() if name != blank}
        is_odd = kept == {name: odd[name] for name in kept} and row[blank] in ("", None)
        assert row in whole or is_odd, text
    assert [row for row in rows if row in whole] == whole or rows.unread


@pytest.mark.parametrize(("table", "form", "blank"), list(blanks()))
def test_a_blank_cell_changes_no_other_cell(table: DisplayTable, form: str, blank: str) -> None:
    own = table.forms[form]
    first, second = values(table, own, 0), values(table, own, 1)
    whole = shown_rows(table, own, [(own, first), (own, second)])
    assert table.read(DisplayAnswer(table.command, whole)) == [first, second], whole
    text = shown_rows(table, own, [(own, first), (without(own, blank), second)])
    judge(table, text, [first, second], blank)


WORDS = st.text("abcXY01-/.", min_size=1, max_size=9).filter(
    lambda word: not re.fullmatch(r"[-=]+", word)
)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@pytest.mark.parametrize("form", lldp.BRIEF.forms)
@given(st.data())
def test_no_name_of_a_neighbour_is_taken_for_another_cell(form: str, data: st.DataObject) -> None:
    own = lldp.BRIEF.forms[form]
    first = values(lldp.BRIEF, own, 0) | {"port": "100GE1/0/9", "device": "spine01"}
    second = values(lldp.BRIEF, own, 1) | {"port": data.draw(TEXTS), "device": data.draw(TEXTS)}
    blank = data.draw(st.sampled_from(["port", "device", "expires_s", "local"]))
    text = shown_rows(lldp.BRIEF, own, [(own, first), (without(own, blank), second)])
    judge(lldp.BRIEF, text, [first, second], blank)


@pytest.mark.parametrize(
    ("row", "port", "device"),
    [
        ("25GE1/0/1                 108                              host1", "", "host1"),
        ("25GE1/0/1                 108                              host 1", "", "host 1"),
        (
            "25GE1/0/1                 108           10GE1/0/1          host  1",
            "10GE1/0/1",
            "host  1",
        ),
        ("25GE1/0/1                 108           10GE1/0/1", "10GE1/0/1", ""),
    ],
)
def test_an_empty_port_of_the_narrow_form_is_empty(row: str, port: str, device: str) -> None:
    heading = vendor_display("lldp-neighbor-brief-v300").split("\n")[0]
    [neighbor] = lldp.read_brief(DisplayAnswer("display", f"{heading}\n{row}\n"))
    assert (neighbor.local, neighbor.port, neighbor.device) == ("25GE1/0/1", port, device)


def test_a_blank_cell_of_a_route_changes_no_other_cell() -> None:
    text = vendor_display("ip-routing-table")
    [row] = [line for line in text.split("\n") if line.startswith(" ") and "EBGP" in line][:1] or [
        next(line for line in text.split("\n") if re.match(r"\s*\d+\.\d+", line))
    ]
    expected = routing.read_routes(DisplayAnswer("display", text))
    for match in list(re.finditer(r"\S+", row))[1:]:
        odd = row[: match.start()] + " " * len(match[0]) + row[match.end() :]
        try:
            rows = routing.read_routes(DisplayAnswer("display", text.replace(row, odd)))
        except UnreadableError:
            continue
        for each in rows:
            [same] = [other for other in expected if other["prefix"] == each["prefix"]]
            assert each["protocol"] == same["protocol"], odd
            for hop in each["hops"]:
                assert any(hop | {"flags": ""} == other | {"flags": ""} for other in same["hops"])
