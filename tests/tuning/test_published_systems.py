"""HEPS's claim on spines, and laws of the algorithms that its Table 2 compares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from simulators import run_scenario

from rocefort.base.repository import ROOT
from rocefort.tune.model import Simulation

PAGE = ROOT / "docs/how-to/tuning.md"
SHARE = 4152 / 4200  # payload of a packet
PORT: dict[str, Any] = {"port_gbps": 100, "packet_bytes": 4200, "link_delay_us": 0.25}
pytestmark = pytest.mark.thorough


@cache
def with_spines(spines: int, queue_pairs: int) -> Simulation:
    """Simulate 64 servers at 100 Gb/s on 8 leaves; each sends to one on the next leaf."""
    return run_scenario(
        **PORT,
        flows={"pattern": "pairs", "count": 64, "queue_pairs": queue_pairs},
        topology={"kind": "leaf_spine", "leaves": 8, "spines": spines, "uplink_gbps": 100},
        buffer={"total_kbytes": 42_000},
        duration_ms=3,
        measure_from_ms=1,
        seeds=[1, 2],
    )


def between_leaves(control: str, senders: int) -> Simulation:
    """Servers at 100 Gb/s that send to one on another leaf, through two spines."""
    return run_scenario(
        **PORT,
        congestion_control=control,
        flows={"count": senders},
        topology={"kind": "leaf_spine", "leaves": 2, "spines": 2},
        buffer={"total_kbytes": 42_000},
        seeds=[1, 2, 3],
    )


def spines_table() -> Iterator[str]:
    yield "| spines | uplinks, Gb/s | 1 QP a pair, Gb/s | of the uplinks | 16 QPs | of the uplinks |"
    yield "|---|---|---|---|---|---|"
    for spines in range(1, 9):
        uplinks = 8 * spines * 100 * SHARE
        rates = [with_spines(spines, count).goodput_gbps for count in (1, 16)]
        cells = [f"{rate:,.0f} | {rate / uplinks:.0%}" for rate in rates]
        yield f"| {spines} | {uplinks:,.0f} | {' | '.join(cells)} |"


SPINES = re.compile(r"(?<=<!-- spines -->\n).*(?=<!-- end of spines -->)", re.DOTALL)


def test_the_page_has_our_figures(golden_update: bool) -> None:
    lines = "".join(f"{line}\n" for line in spines_table())
    text = PAGE.read_text(encoding="utf-8")
    if golden_update:
        PAGE.write_text(SPINES.sub(lambda _: lines, text), encoding="utf-8")
        return
    shown = SPINES.search(text)
    assert shown is not None
    assert shown[0] == lines, "run this test with --golden-update"


def test_throughput_grows_with_spines_where_flows_are_many() -> None:
    shares = {
        count: [with_spines(n, count).goodput_gbps / (8 * n * 100 * SHARE) for n in (2, 4, 8)]
        for count in (1, 16)
    }
    assert min(shares[16]) > 0.8
    assert shares[1][-1] < 0.7  # collisions of 64 flows on 64 uplinks


@pytest.mark.parametrize(("control", "least"), [("hpcc", 0.95), ("dctcp", 1), ("timely", 1)])
def test_one_flow_of_a_reference_fills_its_link_as_far_as_it_should(
    control: str, least: float
) -> None:
    payload = 4152 / (4242 if control == "hpcc" else 4200)
    result = between_leaves(control, 1)
    assert result.goodput_gbps == pytest.approx(100 * payload * least, rel=0.01)


def test_dctcp_holds_its_queue_at_the_threshold() -> None:
    result = run_scenario(**PORT, congestion_control="dctcp", flows={"count": 24})
    assert result.queue_kbytes.mean == pytest.approx(300, rel=0.15)
    assert result.fairness > 0.95


def test_hpcc_keeps_its_queue_near_zero() -> None:
    keys: dict[str, Any] = {**PORT, "packet_bytes": 1048, "link_delay_us": 1}
    result = run_scenario(**keys, congestion_control="hpcc", flows={"count": 4})
    assert result.queue_kbytes.p99 < 10
    assert result.goodput_gbps == pytest.approx(95 * 1000 / 1090, rel=0.02)


@pytest.mark.parametrize(("step_mbps", "least", "most"), [(10, 0.3, 0.6), (200, 0.99, 1)])
def test_the_step_of_hpcc_decides_its_fairness(step_mbps: int, least: float, most: float) -> None:
    """The page explains it; a change of the simulator that changes it is seen here."""
    result = run_scenario(
        congestion_control="hpcc",
        flows={"count": 4},
        duration_ms=20,
        measure_from_ms=10,
        nic={"step_mbps": step_mbps},
        seeds=[1, 2],
    )
    assert all(least <= run.fairness <= most for run in result.runs)
