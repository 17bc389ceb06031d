"""Buffers: headroom by the formula, dynamic and static thresholds, pauses over several hops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from efforts import tries
from hypothesis import example, given, settings
from hypothesis import strategies as st
from simulators import memory_of, run_scenario

from rocefort.tune.simulator.kernel import columns as c
from rocefort.validators.facts.headroom import headroom_bytes

NS_PER_M = 5


@st.composite
def pausing(draw: st.DrawFn) -> dict[str, Any]:
    """Senders at line rate that only pauses hold back, at any speed, length and packet size."""
    gbps = draw(st.sampled_from([10, 25, 40, 50, 100, 200, 400]))
    frame, cable_m = draw(st.integers(256, 9216)), draw(st.integers(1, 1000))
    headroom = headroom_bytes(frame, frame, gbps, cable_m)
    xoff = draw(st.integers(20, 200))
    return {
        "congestion_control": "pfc_only",
        "flows": {"count": draw(st.integers(2, 8))},
        "port_gbps": gbps,
        "packet_bytes": frame,
        "link_delay_us": cable_m * NS_PER_M / 1000,
        "buffer": {
            "total_kbytes": 100_000,
            "headroom_kbytes": headroom / 1000,
            "xoff_kbytes": xoff,
            "xon_kbytes": xoff / 2,
            "reserve_kbytes": 0,
        },
        "duration_ms": 1,
        "measure_from_ms": 0,
        "seeds": [1],
    }


@settings(max_examples=tries(200))
@given(keys=pausing())
@example(  # 32120 bytes are 32.12 kbytes, which as a float times 1000 is less
    keys={
        "congestion_control": "pfc_only",
        "flows": {"count": 2},
        "port_gbps": 400,
        "packet_bytes": 2920,
        "link_delay_us": 0.005,
        "buffer": {
            "total_kbytes": 100_000,
            "headroom_kbytes": 64.384,
            "xoff_kbytes": 20,
            "xon_kbytes": 10,
            "reserve_kbytes": 0,
        },
        "duration_ms": 1,
        "measure_from_ms": 0,
        "seeds": [1],
    }
)
def test_less_headroom_than_the_bytes_in_flight_loses_packets(keys: dict[str, Any]) -> None:
    memory = memory_of(**keys)
    port = int(memory.ports[:, c.LARGEST_OVER].argmax())
    least = int(memory.ports[port, c.LARGEST_OVER])
    assert 0 < least <= memory.ports[port, c.HEADROOM]
    kept = {**keys, "buffer": {**keys["buffer"], "headroom_kbytes": least / 1000}}
    assert run_scenario(**kept).drops == 0
    cut = {**keys, "buffer": {**keys["buffer"], "headroom_kbytes": (least - 1) / 1000}}
    assert run_scenario(**cut).drops > 0


@pytest.mark.parametrize("alpha", [1 / 16, 1 / 8, 1, 8])
@pytest.mark.parametrize("ports", [1, 2, 8])
def test_equal_queues_share_a_buffer_as_choudhury_and_hahne_compute(
    alpha: float, ports: int
) -> None:
    """N saturated queues hold alpha B / (1 + alpha N) each; here N ingress ports of one egress."""
    size = 4_000_000
    memory = memory_of(
        congestion_control="pfc_only",
        flows={"count": ports + 1},
        packet_bytes=1000,
        buffer={
            "total_kbytes": size / 1000,
            "pfc": False,
            "alpha": alpha,
            "reserve_kbytes": 0,
        },
        duration_ms=8,
    )
    held = memory.ports[memory.ports[:, c.INGRESS] > 0, c.INGRESS]
    assert len(held) == ports + 1
    expected = alpha * size / (1 + alpha * (ports + 1))
    assert held.mean() == pytest.approx(expected, rel=0.01)
    assert np.ptp(held) < 0.03 * expected


def test_a_static_threshold_bounds_the_queue_and_resumes_at_xon() -> None:
    keys: dict[str, Any] = {
        "congestion_control": "pfc_only",
        "flows": {"count": 4},
        "duration_ms": 2,
        "seeds": [1],
    }
    wide = run_scenario(**keys, buffer={"xoff_kbytes": 100, "xon_kbytes": 10})
    narrow = run_scenario(**keys, buffer={"xoff_kbytes": 100, "xon_kbytes": 96})
    for result in (wide, narrow):
        assert 4 * 100 <= result.queue_kbytes.max < 4 * 120
        assert (result.drops, result.goodput_gbps > 23.8) == (0, True)
    assert narrow.pauses > 3 * wide.pauses > 0
    assert wide.queue_kbytes.mean < narrow.queue_kbytes.mean


@pytest.mark.parametrize("cnp_queue", ["strict", "data"])
def test_pauses_spread_over_the_spines_and_lose_nothing(cnp_queue: str) -> None:
    memory = memory_of(
        congestion_control="pfc_only",
        flows={"count": 16},
        topology={"kind": "leaf_spine", "leaves": 3, "spines": 2, "uplink_gbps": 100},
        buffer={"total_kbytes": 2000, "cnp_queue": cnp_queue},
        duration_ms=4,
    )
    sent = dict(zip(memory.names, memory.ports[:, c.PAUSES], strict=True))
    pausers = {far for (near, far), pauses in sent.items() if pauses}
    paused = {near for (near, far), pauses in sent.items() if pauses}
    assert {"leaf3", "spine1", "spine2", "leaf1", "leaf2"} == pausers
    assert {"spine1", "spine2", "leaf1", "leaf2", "sender1", "sender16"} <= paused
    assert memory.ports[:, c.DROPS].sum() == 0


def test_without_pfc_lost_packets_are_sent_again() -> None:
    result = run_scenario(
        congestion_control="pfc_only",
        flows={"count": 4, "bytes": 300_000},
        buffer={"total_kbytes": 200, "pfc": False},
        seeds=[1],
    )
    assert (result.unfinished, result.pauses) == (0, 0)
    assert result.drops > 0
    assert result.resent_kbytes > 0
    assert result.goodput_gbps < 23.8


def test_corrupted_packets_are_sent_again_and_cost_throughput() -> None:
    """Go-back-N: a lost packet costs all that are under way behind it."""
    rates, shares = [], (0, 0.1, 3)
    for percent in shares:
        result = run_scenario(flows={"count": 1}, corrupted_percent=percent, duration_ms=3)
        line = 25e9 / 8 * 2.7e-3 / 1048  # packets in the measured time, first and again
        assert result.corrupted == pytest.approx(line * percent / 100, rel=0.5)
        assert result.resent_kbytes >= result.corrupted
        rates.append(result.goodput_gbps)
    assert rates[0] > rates[1] > 1.2 * rates[2]
