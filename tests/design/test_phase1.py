"""HEPS at the end of Phase I carries its published demand, also in a maintenance window."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocefort.base.repository import INVENTORY
from rocefort.beamline.entry import NewBeamline
from rocefort.beamline.onboard import onboard
from rocefort.design.derive.derive import derive
from rocefort.models.network.network import SwitchRole
from rocefort.validators.capacity.capacity_results import CapacityReport
from rocefort.verification.capacity import judge_capacity

PHASE1 = INVENTORY / "heps-phase1" / "fabric.yaml"
SPINES = ("spine01", "spine02", "spine03", "spine04", "spine05")


def cables(report: CapacityReport) -> list[bool]:
    return [one.fits for one in report.failures if one.kind == "link"]


def test_15_beamlines_with_the_published_sums() -> None:
    network = derive(PHASE1).network
    assert len(network.beamlines) == 15
    assert sum(beamline.peak_gbps for beamline in network.beamlines) == 3200
    average = sum(beamline.average_gbps for beamline in network.beamlines)
    assert average * 86_400 / 8000 == pytest.approx(800, rel=1e-3)  # TB a day
    assert len(network.role(SwitchRole.LEAF)) == 8


def test_the_demand_fits_whole_and_after_any_single_failure() -> None:
    report = judge_capacity(PHASE1, None, "single")
    assert report.fits
    assert all(one.fits for one in report.failures)
    assert report.asked is not None
    assert report.asked.flows_gbps == 3200


@pytest.mark.parametrize("spine", SPINES)
def test_the_demand_fits_with_a_drained_spine_and_any_cable_lost(spine: str) -> None:
    report = judge_capacity(PHASE1, None, "single", (spine,))
    assert report.fits
    assert len(cables(report)) > 1
    assert all(cables(report))


def test_no_pair_of_failures_is_too_much() -> None:
    report = judge_capacity(PHASE1, None, "2")
    assert {name for one in report.failures for name in one.failures} >= {"spine01 and spine02"}
    assert all(one.fits for one in report.failures)


def test_one_more_beamline_fits_on_a_named_leaf_and_else_needs_one(tmp_path: Path) -> None:
    path = tmp_path / "fabric.yaml"
    path.write_bytes(PHASE1.read_bytes())
    with pytest.raises(Exception, match="3 ports of 100 Gb/s are missing; grow first"):
        onboard(path, NewBeamline("bl16", "bl15"))
    done, _ = onboard(path, NewBeamline("bl16", "bl15", leaf="leaf07"))
    assert [str(server.port) for server in done.servers] == [
        f"100GE1/0/{number}" for number in (16, 17, 18)
    ]


def test_the_published_fabric_states_how_much_it_carries() -> None:
    """The sentence at the top of inventory/heps, computed again."""
    report = judge_capacity(INVENTORY / "heps" / "fabric.yaml", None, "single")
    worst = report.worst
    assert report.asked is not None
    assert worst is not None
    whole = report.asked.flows_gbps + (report.headroom_gbps or 0)
    after = report.asked.flows_gbps - worst.lost_gbps + (worst.headroom_gbps or 0)
    text = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
    sentence = f"Of the published 3.2 Tb/s it carries {whole:g} Gb/s, and {after:g} Gb/s after"
    assert sentence in " ".join(text.replace("\n#", "").split())
