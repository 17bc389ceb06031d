"""Each JSON report of the samples gives the figures of its text, or an outcome without figures."""

from __future__ import annotations

import json
import re

import pytest

from rocefort.emulator.servers.ssh_hosts import PERFTEST_RUNS
from rocefort.rdma.parse.outcome import TableError
from rocefort.rdma.parse.perftest_tables import PerftestTable, read_json, read_table

REPORTS = sorted(
    path.name
    for path in (PERFTEST_RUNS / "4.5").glob("*.json")
    if not path.name.startswith("tc_")  # output of `tc -s`, not of perftest
)
GOOD = (PERFTEST_RUNS / "4.5/ib_write_bw.json.gbits.client.json").read_text()
SIZES = 23  # of `-a`


def read(name: str) -> PerftestTable:
    return read_json((PERFTEST_RUNS / "4.5" / name).read_text(), gbits=".iters_mib." not in name)


def outcome_of(text: str, sizes: int = 1) -> tuple[str, str]:
    with pytest.raises(TableError) as caught:
        read_json(text, sizes=sizes)
    return caught.value.outcome.value, caught.value.line


def test_there_are_reports_of_both_sides_and_all_kinds() -> None:
    assert len(REPORTS) == 15


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_says_what_the_last_row_of_the_text_says(name: str) -> None:
    stem, side = re.fullmatch(r"(.+)\.(client|server)\.json", name).groups()  # type: ignore[union-attr]
    text = PERFTEST_RUNS / "4.5" / f"{stem}.{side}.txt"
    table = read_table(text.read_text())
    report = read(name)
    assert report.title == table.title
    assert report.rows == (table.rows[-1],)


def modern(text: str) -> str:
    """Return the same report in the form of 24.01."""
    quoted = re.sub(r"^([\w.]+) ?:", r'"\1":', text, flags=re.MULTILINE)
    words = re.sub(r": ([A-Za-z]\w*)", r': "\1"', quoted)
    return re.sub(r",\n\}", "\n}", words)


@pytest.mark.parametrize("name", REPORTS)
def test_valid_json_of_later_versions_is_read_alike(name: str) -> None:
    old = (PERFTEST_RUNS / "4.5" / name).read_text()
    json.loads(modern(old))
    gbits = ".iters_mib." not in name
    assert read_json(modern(old), gbits=gbits) == read_json(old, gbits=gbits)


def test_the_unit_is_the_command_s() -> None:
    row = read("ib_write_bw.json.iters_mib.client.json").rows[0]
    assert row.figures.gbps == pytest.approx(28.27 * 2**20 * 8 / 1e9)


def test_a_report_over_all_sizes_has_lost_its_rows() -> None:
    text = (PERFTEST_RUNS / "4.5/ib_write_bw.json.all.client.json").read_text()
    assert outcome_of(text, SIZES) == ("missing-row", "1 of 23 sizes: 8388608 bytes")


@pytest.mark.parametrize("form", [str, modern])
@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("BW_average: 0.14", "BW_average: -nan", "not-a-number"),
        ("BW_average: 0.14", "BW_average: 0.00", "zero-bandwidth"),
        ("BW_average: 0.14", "BW_average: 1.40", "sums-do-not-add-up"),
        ("BW_average: 0.14", "BW_average: -0.14", "impossible-figure"),
        ("n_iterations: 795", "n_iterations: 0", "zero-iterations"),
        ("n_iterations: 795", "n_iterations: 7.95", "damaged-row"),
        ("MsgRate: 0.000263,\n", "", "damaged-header"),
        ("test: RDMA_Write_BW_Test", "test: Something_Else", "no-title"),
        ("results", "outcome", "not-json"),
    ],
)
def test_one_thing_off(old: str, new: str, outcome: str, form: type[str]) -> None:
    assert GOOD.count(old) == 1
    assert outcome_of(form(GOOD.replace(old, new)))[0] == outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", "not-json"),
        ("[]", "not-json"),
        ('{"test_info": 1}', "not-json"),
        ('{"test_info": {}, "results": {"t_avg": NaN}}', "not-a-number"),
        (GOOD[:300], "not-json"),
        (GOOD.replace("},\n}", "}"), "unterminated-table"),
        (GOOD.replace("MsgRate", "BW_peak"), "not-json"),
        (GOOD.replace("Mtu: 4096,", "Mtu 4096"), "not-json"),
    ],
)
def test_what_is_no_report(text: str, outcome: str) -> None:
    assert outcome_of(text)[0] == outcome
