"""HEPS's published demand against its fabric, word for word (`make golden`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocefort.base.repository import ROOT
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.capacity.capacity_results import CapacityReport
from rocefort.verification.capacity import capacity_report, judge_capacity

GOLDEN = Path(__file__).parent / "capacity" / "heps.txt"


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> CapacityReport:
    monkeypatch.chdir(ROOT)  # files are named as a person there would type them
    return judge_capacity(Path("inventory/heps"), None)


def test_what_is_printed_is_the_reviewed_text(found: CapacityReport, golden_update: bool) -> None:
    text = text_of(*capacity_report(found), width=80)
    if golden_update:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text
    assert max(map(len, text.splitlines())) <= 80


def test_it_is_what_one_works_out_by_hand(found: CapacityReport) -> None:
    """3,200 Gb/s from four leaves of 200 Gb/s, to 700 Gb/s of server ports on four others."""
    asked = found.asked
    assert asked is not None
    assert (asked.peak_gbps, asked.daily_gbps, asked.daily_hours) == (3200, 74.074074, 0.555556)
    leaves = {use.name: use for use in found.of("leaf")}
    assert leaves["leaf05"].out_gbps == 3200 / 4
    assert leaves["leaf05"].utilisation == 800 / 200
    assert leaves["leaf02"].in_gbps == pytest.approx(3200 * 200 / 700)
    assert found.utilisation == pytest.approx(3200 * 200 / 700 / 200)
    assert found.spines_needed == 10  # 2 x 4.57
    assert not found.fits
    assert found.servers_utilisation == 800 / 25
    failures = {name: one for one in found.failures for name in one.failures}
    assert len(failures) == 26
    assert failures["spine01"].utilisation == pytest.approx(2 * 3200 / 700)
    assert failures["leaf05"].lost_gbps == 800
