"""`capacity` as a user types it: its text, its JSON, its exit codes, and bad files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from outputs import fields_of

from rocefort.validators.capacity.capacity_results import CapacityReport

Rocefort = Callable[..., Any]


@pytest.fixture
def fabric(heps_file: Path, tmp_path: Path) -> Path:
    """HEPS alone in a directory, without a demand."""
    path = tmp_path / "fabric.yaml"
    path.write_bytes(heps_file.read_bytes())
    return path


def _demand(directory: Path, peak: str, name: str = "mine.yaml") -> Path:
    path = directory / name
    path.write_text(
        f"demand: mine\npeak: {peak}\nflows:\n"
        "  - senders: {servers: [transfer01]}\n    receivers: {servers: [storage01]}\n"
        "    share: 1\n",
        encoding="utf-8",
    )
    return path


def test_heps_does_not_carry_its_published_peak(rocefort: Rocefort) -> None:
    done = rocefort("capacity", "heps")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("heps: 3,200 Gb/s at peak against 2 spines x 8 leaves\n")
    assert "assumed, which no source confirms: flows" in done.out
    assert "700 of 3,200 Gb/s fit between leaves" in done.words


def test_json_reads_back(rocefort: Rocefort) -> None:
    done = rocefort("capacity", "heps", "--format", "json")
    assert done.code == 1
    found = CapacityReport.model_validate(fields_of(done.out))
    assert found.model_dump(mode="json") == fields_of(done.out)
    assert found.asked is not None
    assert found.asked.file.endswith("inventory/heps/demand.yaml")


def test_without_a_demand_it_says_so_and_shows_the_supply(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("capacity", fabric)
    assert done.code == 0
    assert "no demand: no --demand and no demand.yaml next to the fabric" in done.words


def test_the_demand_beside_the_fabric_is_taken_and_another_wins(
    rocefort: Rocefort, fabric: Path
) -> None:
    _demand(fabric.parent, "500 Gb/s", "demand.yaml")
    assert rocefort("capacity", fabric).code == 1
    named = _demand(fabric.parent, "90 Gb/s")
    done = rocefort("capacity", fabric, "--demand", named)
    assert done.code == 0
    assert "fits: the fullest cable, leaf01 100GE1/0/57 to spine01, is used to 45.0 %" in done.words
    assert "fits after each of 26 single failures" in done.words
    assert "takes 90 Gb/s of demand with its own servers" in done.words


def test_a_bad_file_is_one_line_a_problem_and_2(rocefort: Rocefort, fabric: Path) -> None:
    done = rocefort("capacity", fabric, "--demand", fabric.parent / "none.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("none.yaml: no such file; check the path\n")
    done = rocefort("capacity", fabric, "--demand", _demand(fabric.parent, "3200"))
    assert (done.code, done.out) == (2, "")
    assert "mine.yaml:2:7: peak: 3200 has no unit; write 3200 Gb/s or 3.2 Tb/s" in done.err


def test_the_page_has_the_picture(rocefort: Rocefort, fabric: Path, tmp_path: Path) -> None:
    for with_demand in (False, True):
        if with_demand:
            _demand(fabric.parent, "90 Gb/s", "demand.yaml")
        assert rocefort("report", fabric, "--out", tmp_path / "out").code == 0
        text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
        assert ('<section id="capacity">' in text) == with_demand


def test_a_drained_spine_and_pairs(rocefort: Rocefort) -> None:
    whole = json.loads(rocefort("capacity", "heps", "--format", "json").out)
    apart = json.loads(rocefort("capacity", "heps", "--drained", "spine01", "--format", "json").out)
    assert apart["drained"] == ["spine01"]
    assert apart["utilisation"] == pytest.approx(2 * whole["utilisation"])
    done = rocefort("capacity", "heps", "--failures", "2")
    assert done.code == 1
    assert "pairs of failures (" in " ".join(done.out.split())
    for name, message in (("spine9", "spine9: is not a spine"), ("leaf01", "is not a spine")):
        refused = rocefort("capacity", "heps", "--drained", name)
        assert refused.code == 2
        assert message in refused.err.replace("spine9 is", "spine9: is")
