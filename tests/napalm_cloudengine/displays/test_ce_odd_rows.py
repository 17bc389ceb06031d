"""One odd row spoils one row: a table keeps its other rows, and reports the lines not read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_driver import RecordedDriver
from vendor_displays import vendor_display

from napalm_cloudengine.displays import lldp, lossless, routing
from napalm_cloudengine.displays.interfaces import read_names
from napalm_cloudengine.displays.lines import DisplayAnswer, Rows, UnreadableError, UnreadLine

Read = Callable[[DisplayAnswer], tuple[Sequence[Any], Sequence[UnreadLine]]]

NAMELESS = """\
Local Interface         Exptime(s) Neighbor Interface      Neighbor Device
-------------------------------------------------------------------------------
25GE1/0/1                     108  aaaa-bbbb-cc20
25GE1/0/2                      94  aaaa-bbbb-cc1b          Vendor 57414 10/25GbE 2-port Adapter
100GE1/0/1                    115  100GE1/1/1              spine01
"""


def neighbors(shown: DisplayAnswer) -> tuple[Sequence[Any], Sequence[UnreadLine]]:
    rows = lldp.read_brief(shown)
    return [(row.local, row.port, row.device) for row in rows], rows.unread


def of_rows(read: Callable[[DisplayAnswer], Rows[Any]]) -> Read:
    def both(shown: DisplayAnswer) -> tuple[Sequence[Any], Sequence[UnreadLine]]:
        rows = read(shown)
        return list(rows), rows.unread

    return both


def peers(shown: DisplayAnswer) -> tuple[Sequence[Any], Sequence[UnreadLine]]:
    table = routing.read_peers(shown)
    return table.peers, table.unread


TABLES: dict[str, Read] = {
    "lldp-neighbor-brief-v300": neighbors,
    "lldp-neighbor-brief": neighbors,
    "bgp-peer-v300": peers,
    "bgp-peer": peers,
    "ip-routing-table": of_rows(routing.read_routes),
    "dcb": of_rows(lossless.PORTS.read),
    "dcb-pfc": of_rows(lossless.COUNTERS.read),
    "dcb-pfc-profile": of_rows(lossless.read_profiles),
    "dcb-pfc-buffer-v300-g1": of_rows(lossless.read_thresholds),
    "dcb-pfc-buffer-v300-g2": of_rows(lossless.read_thresholds),
    "dcb-pfc-buffer-v200": of_rows(lossless.read_thresholds),
    "ai-ecn-calculated-state": of_rows(lossless.STATE.read),
    "qos-queue-statistics-interface": of_rows(lossless.read_queues),
    "qos-ecn-statistics": of_rows(lossless.ECN_MARKS.read),
    "interface-brief-v300": of_rows(read_names),
    "interface-brief-v200": of_rows(read_names),
}
# Nothing in these tables shows their end: a cut after a row, or inside its last free text, is not
# found. In a session the prompt is the end of a display.
ENDLESS = (
    *("lldp-neighbor-brief-v300", "lldp-neighbor-brief", "qos-ecn-statistics"),
    "qos-queue-statistics-interface",
)
PROFILES = "dcb-pfc-profile"  # a line of one word is a profile that pauses no queue
NAMES_ONLY = ("interface-brief-v300", "interface-brief-v200")  # other columns are not read

# Lines of other output: no word of them is a number, an interface, an address or a rule.
WORDS = st.text(st.characters(codec="utf-8", categories=("L", "P", "S")), min_size=1, max_size=12)
ODD_LINES = st.lists(
    WORDS.filter(lambda word: set(word) - set("-=") and not word.endswith(":")),
    min_size=1,
    max_size=9,
).map(" ".join)


@cache
def places(sample: str) -> tuple[int, ...]:
    """Return the lines of a sample above which another line is noted, whatever its length.

    Above the columns are legends; a short line below the last row may be the beginning of a row.
    """
    read, text = TABLES[sample], vendor_display(sample)
    lines = text.split("\n")
    rows = read(DisplayAnswer("display", text))[0]

    def noted(at: int, line: str) -> bool:
        try:
            shown = DisplayAnswer("display", "\n".join([*lines[:at], line, *lines[at:]]))
            return tuple(map(len, read(shown))) == (len(rows), 1)
        except UnreadableError:
            return False

    above = next(at for at in range(1, len(lines)) if noted(at, "§ " * 20))
    return tuple(
        at
        for at in range(above, len(lines))
        if noted(at, "§ §") and (sample == PROFILES or noted(at, "§"))
    )


@pytest.mark.parametrize("sample", TABLES)
@given(st.data())
def test_a_line_between_rows_changes_no_row_and_is_reported(
    sample: str, data: st.DataObject
) -> None:
    read, text = TABLES[sample], vendor_display(sample)
    rows, unread = read(DisplayAnswer("display", text))
    assert rows
    assert list(unread) == []
    lines = text.split("\n")
    odd = data.draw(ODD_LINES.filter(lambda line: " " in line or sample != PROFILES))
    at = data.draw(st.sampled_from(places(sample)))
    with_odd = "\n".join([*lines[:at], odd, *lines[at:]])
    found, noted = read(DisplayAnswer("display", with_odd))
    assert found == rows
    assert [(line.line, line.text) for line in noted] == [(at + 1, odd.strip())]


@pytest.mark.parametrize("sample", TABLES)
def test_every_table_has_places_between_its_rows(sample: str) -> None:
    rows, _ = TABLES[sample](DisplayAnswer("display", vendor_display(sample)))
    assert len(places(sample)) >= max(1, len(rows) - 1)


@pytest.mark.parametrize("sample", TABLES)
def test_a_table_that_is_cut_off_is_an_error_wherever_its_form_shows_it(sample: str) -> None:
    read, text = TABLES[sample], vendor_display(sample).rstrip()
    rows, _ = read(DisplayAnswer("display", text))
    shown = 0
    for end in range(2, len(text)):  # an empty answer is that of a switch without the feature
        try:
            less, unread = read(DisplayAnswer("display", text[:end]))
        except UnreadableError:
            shown += 1
            continue
        assert list(unread) == []
        if sample in NAMES_ONLY or sample in ENDLESS:
            continue
        assert list(less) == list(rows) or list(less[:-1]) == list(rows[: len(less) - 1]), text[
            :end
        ]
    assert shown


def test_a_neighbour_without_a_system_name_is_a_neighbour() -> None:
    driver = RecordedDriver({"display lldp neighbor brief": NAMELESS})
    assert driver.get_lldp_neighbors() == {
        "25GE1/0/1": [{"hostname": "", "port": "aaaa-bbbb-cc20"}],
        "25GE1/0/2": [
            {"hostname": "Vendor 57414 10/25GbE 2-port Adapter", "port": "aaaa-bbbb-cc1b"}
        ],
        "100GE1/0/1": [{"hostname": "spine01", "port": "100GE1/1/1"}],
    }
    assert driver.unread == {}


@pytest.mark.parametrize(
    ("row", "neighbour"),
    [
        ("25GE1/0/1                   Ethernet 1/2                  108", None),  # in no column
        ("25GE1/0/1                                 Ethernet 1/2              108", "Ethernet 1/2"),
        (
            "25GE1/0/1                                 aaaa-bbbb-cc20            108",
            "aaaa-bbbb-cc20",
        ),
    ],
)
def test_the_empty_column_is_the_one_below_its_title(row: str, neighbour: str | None) -> None:
    head = "Local Intf       Neighbor Dev             Neighbor Intf             Exptime(s)\n"
    text = f"{head}{row}\n25GE1/0/2        spine01                  25GE1/0/9                 96\n"
    rows = lldp.read_brief(DisplayAnswer("display", text))
    ports = [] if neighbour is None else [("", neighbour)]
    assert [(n.device, n.port) for n in rows] == [*ports, ("spine01", "25GE1/0/9")]
    assert len(rows.unread) == (neighbour is None)


def test_an_unread_line_is_in_the_log_and_in_unread(caplog: pytest.LogCaptureFixture) -> None:
    command = "display lldp neighbor brief"
    driver = RecordedDriver({command: NAMELESS.replace("25GE1/0/2  ", "what is 25")})
    with caplog.at_level(logging.WARNING):
        assert list(driver.get_lldp_neighbors()) == ["25GE1/0/1", "100GE1/0/1"]
    [line] = driver.unread[command]
    assert (line.line, line.key) == (4, "")
    assert f"192.0.2.1: not read: '{command}', line 4: " in caplog.text
    driver._recorded = {command: NAMELESS}
    driver.get_lldp_neighbors()
    assert driver.unread == {}


def test_rows_below_a_damaged_name_are_not_those_of_the_port_above() -> None:
    text = vendor_display("dcb-pfc")
    lines = text.split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("100GE"))
    other = lines[first].replace("100GE1/0/1", "100G#1/0/2")
    block = [lines[first], lines[first + 1], other, lines[first + 1]]
    carried = " " * 10 + lines[first][10:].replace(" 4 ", " 5 ", 1)
    odd = "\n".join([*lines[:first], *block, carried, lines[first + 1], "-" * 89])
    rows = lossless.COUNTERS.read(DisplayAnswer("display dcb pfc", odd))
    assert [(row["interface"], row["queue"]) for row in rows] == [("100GE1/0/1", 4)]
    assert len(rows.unread) == 4


def test_lldp_in_full_leaves_out_the_port_that_does_not_add_up() -> None:
    detail = vendor_display("lldp-neighbor")
    port = detail[: detail.index("100GE1/0/2 has 0")]
    text = port.replace("has 1", "has 2") + port.replace("100GE1/0/1", "100GE1/0/3")
    rows = lldp.read_detail(DisplayAnswer("display", text))
    assert [neighbor.local for neighbor in rows] == ["100GE1/0/3"]
    assert [(line.key, line.why) for line in rows.unread] == [
        ("100GE1/0/1", "2 neighbours of 100GE1/0/1 announced, 1 read")
    ]
    with pytest.raises(UnreadableError, match="the last neighbour has no expiry time"):
        lldp.read_detail(DisplayAnswer("display", port[: port.index("Expired")]))
