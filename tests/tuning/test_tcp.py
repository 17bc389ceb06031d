"""TCP beside RoCE: vectors of its RFCs, weights of the queues, and the shared buffer."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from simulators import memory_of, run_scenario

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.lossy import LOSSLESS_QUEUE, LOSSY_QUEUE, next_queue
from rocefort.tune.simulator.kernel.tcp import grow, lose, measure_trip, timed_out
from rocefort.tune.simulator.tables import Memory
from rocefort.validators.facts.headroom import headroom_bytes

TCP = {"transport": "tcp"}
SIZE = 1430  # payload of a segment of 1,500 bytes
US = 1_000_000


def flow_of(memory: Memory) -> tuple[int, int]:
    """Address of the first flow, and of its floats."""
    flow = int(memory.integers[c.FLOWS_AT])
    return flow, int(memory.integers[flow + c.FLOATS])


@pytest.fixture
def idle() -> Memory:
    """One flow before its first segment, with a shortest timeout of 0.2 ms."""
    keys: dict[str, Any] = {"flows": {"count": 1, **TCP}, "tcp": {"min_rto_ms": 0.2}}
    memory = memory_of(duration_ms=1e-9, measure_from_ms=0, **keys)
    flow, _ = flow_of(memory)
    memory.integers[[flow + c.SENT, flow + c.NEXT]] = 0
    return memory


# --- vectors of the RFCs --------------------------------------------------------------------------


@pytest.mark.parametrize("trips", [0, 1, 2, 4])
def test_slow_start_doubles_ten_segments_each_round_trip(trips: int) -> None:
    """RFC 6928 and RFC 5681, 3.1: 10, 30, 70 and 310 segments after 1, 2, 3 and 5 round trips."""
    delay_us = 100.0
    memory = memory_of(
        flows={"count": 1, **TCP},
        port_gbps=400,
        link_delay_us=delay_us,
        duration_ms=(trips + 0.9) * 4 * delay_us / 1000,
        measure_from_ms=0,
    )
    assert memory.flows[0, c.SENT] == 10 * (2 ** (trips + 1) - 1)


def test_congestion_avoidance_adds_a_segment_each_round_trip(idle: Memory) -> None:
    """RFC 5681 (3): ten acknowledgments of a window of ten segments."""
    x, (_, f) = idle.floats, flow_of(idle)
    x[f + c.SSTHRESH] = x[f + c.CWND]
    expected = 10.0
    for _ in range(10):
        grow(x, f, SIZE, 10)
        expected += 1 / expected
    assert x[f + c.CWND] / SIZE == pytest.approx(expected) == pytest.approx(10.96, abs=0.01)
    before = x[f + c.CWND]
    grow(x, f, SIZE, 5)  # less than half of the window is in use
    assert x[f + c.CWND] == before


def test_losses_halve_the_window_once_a_round_trip(idle: Memory) -> None:
    m, x, (flow, f) = idle.integers, idle.floats, flow_of(idle)
    m[flow + c.SENT], m[flow + c.NEXT] = 10, 10 * SIZE
    sent = int(m[flow + c.RINGS])
    m[sent : sent + 10] = np.arange(10) * SIZE
    m[flow + c.HEARD], m[flow + c.ACKED] = 2, 2 * SIZE
    lose(m, x, flow, 4)  # numbers 2 and 3 had no acknowledgment
    assert list(m[sent + c.RING : sent + c.RING + 2]) == [2 * SIZE, 3 * SIZE]
    assert x[f + c.CWND] == x[f + c.SSTHRESH] == 4 * SIZE  # half of 8 that were under way
    m[flow + c.HEARD] = 5
    lose(m, x, flow, 6)
    assert m[flow + c.LOST_END] - m[flow + c.LOST] == 3
    assert x[f + c.CWND] == 4 * SIZE, "all of one round trip"
    m[flow + c.ACKED] = m[flow + c.RECOVER]
    m[flow + c.SENT], m[flow + c.NEXT], m[flow + c.HEARD] = 14, 14 * SIZE, 10
    m[sent + 10 : sent + 14] = np.arange(10, 14) * SIZE
    lose(m, x, flow, 11)
    assert x[f + c.CWND] == 2 * SIZE, "another round trip"


def test_the_timeout_follows_round_trips_and_doubles(idle: Memory) -> None:
    """RFC 6298 (2.2), (2.3), (2.4) and (5.5); us: 100, then 200."""
    m, x, (flow, f) = idle.integers, idle.floats, flow_of(idle)
    assert x[f + c.RTO] == 1e12  # (2.1): one second
    measure_trip(m, x, flow, 100.0 * US)
    assert [x[f + n] / US for n in (c.SRTT, c.RTTVAR, c.RTO)] == [100, 50, 300]
    measure_trip(m, x, flow, 200.0 * US)
    assert [x[f + n] / US for n in (c.SRTT, c.RTTVAR, c.RTO)] == [112.5, 62.5, 362.5]
    m[flow + c.SENT], m[flow + c.NEXT] = 8, 8 * SIZE
    timed_out(m, x, flow)
    assert (x[f + c.CWND], x[f + c.SSTHRESH], x[f + c.RTO]) == (SIZE, 4 * SIZE, 725 * US)
    assert (m[flow + c.NEXT], m[flow + c.RESENT]) == (0, 8 * SIZE)
    for _ in range(50):
        measure_trip(m, x, flow, 10.0 * US)
    assert x[f + c.RTO] == 200 * US, "the shortest"


# --- laws -----------------------------------------------------------------------------------------


@settings(max_examples=tries(30))
@given(
    gbps=st.sampled_from([10, 25, 100]),
    senders=st.integers(1, 5),
    alpha=st.sampled_from([0.5, 1, 8]),
    delay_us=st.sampled_from([0.5, 2]),
    seed=st.integers(0, 2**31),
)
def test_tcp_alone_fills_its_link(
    gbps: int, senders: int, alpha: float, delay_us: float, seed: int
) -> None:
    """A buffer above the product of rate and round trip (100 kbytes at most) hides each halving.

    The losses of slow start are over after half of the time.
    """
    result = run_scenario(
        flows={"count": senders, **TCP},
        tcp={"alpha": alpha},
        port_gbps=gbps,
        link_delay_us=delay_us,
        buffer={"total_kbytes": 1500},
        duration_ms=100 / gbps,
        measure_from_ms=50 / gbps,
        seeds=[seed],
    )
    assert result.goodput_gbps == pytest.approx(gbps * SIZE / 1500, rel=0.01)
    assert (result.drops, result.pauses, result.marks) == (0, 0, 0)


def test_a_queue_of_tcp_takes_its_share_of_the_buffer_and_drops_the_rest() -> None:
    memory = memory_of(
        flows={"count": 4, **TCP},
        tcp={"alpha": 2},
        buffer={"total_kbytes": 1000, "headroom_kbytes": 20, "reserve_kbytes": 4},
        duration_ms=8,
    )
    pool = 1_000_000 - 5 * 24_000
    port = memory.names.index(("switch", "receiver"))
    assert memory.ports[port, c.LOSSY_DROPS] > 0
    assert memory.ports[:, c.DROPS].sum() == 0
    most = 2 / 3 * pool  # alpha B / (1 + alpha), Choudhury and Hahne
    assert most / 3 < memory.ports[port, c.LOSSY_QUEUED] <= most + 1500


@settings(max_examples=tries(200))
@given(
    weights=st.tuples(st.integers(1, 100), st.integers(1, 100)),
    sizes=st.tuples(st.integers(64, 4200), st.integers(64, 9000)),
    seed=st.integers(0, 2**31),
)
def test_saturated_queues_share_a_port_within_a_packet_of_their_weights(
    weights: tuple[int, int], sizes: tuple[int, int], seed: int
) -> None:
    """At the end of each round: each queue is less than a packet below its number of quanta."""
    memory = memory_of(
        flows={"count": 1},
        beside={"web": {"pattern": "between", "senders": ["a"], "receivers": ["b"], **TCP}},
        tcp={"roce_weight": weights[0], "weight": weights[1], "packet_bytes": max(128, sizes[1])},
        packet_bytes=max(128, sizes[0]),
        duration_ms=1e-9,
        measure_from_ms=0,
    )
    m, x, random = memory.integers, memory.floats, Random(seed)
    port = int(m[c.PORTS_AT]) + memory.names.index(("switch", "receiver")) * c.PORT_COLUMNS
    quanta = int(x[c.QUANTUM]), int(x[c.LOSSY_QUANTUM])
    largest = max(128, *sizes)
    assert min(quanta) == largest
    assert quanta[0] * weights[1] == pytest.approx(quanta[1] * weights[0], rel=0.01)
    packets = int(m[c.FREE]), int(m[int(m[c.FREE]) + c.LINK])
    m[port + c.DATA], m[port + c.LOSSY] = packets
    m[[packet + c.BYTES for packet in packets]] = sizes
    sent, rounds, before = [0, 0], 0, LOSSLESS_QUEUE
    while rounds < 12:
        queue = int(next_queue(m, x, port))
        if (before, queue) == (LOSSLESS_QUEUE, LOSSY_QUEUE):
            for bytes_sent, quantum in zip(sent, quanta, strict=True):
                assert rounds * quantum - largest < bytes_sent <= rounds * quantum
            rounds += 1
        own = 0 if queue == LOSSLESS_QUEUE else 1
        sent[own] += int(m[packets[own] + c.BYTES])
        m[packets[own] + c.BYTES] = random.randint(64, sizes[own])
        before = queue
    m[port + c.PAUSED] = 1
    assert {int(next_queue(m, x, port)) for _ in range(100)} == {LOSSY_QUEUE}, "it is never paused"


@pytest.mark.parametrize(("roce", "tcp"), [(65, 15), (1, 1), (20, 80)])
def test_a_saturated_link_is_shared_by_weight(roce: int, tcp: int) -> None:
    result = run_scenario(
        congestion_control="pfc_only",
        flows={"count": 3},
        beside={
            "web": {"pattern": "between", "senders": ["a", "b"], "receivers": ["receiver"], **TCP}
        },
        tcp={"roce_weight": roce, "weight": tcp},
        duration_ms=6,
        measure_from_ms=2,
        seeds=[1],
    )
    groups = {name: group.goodput_gbps for name, group in result.groups.items()}
    wire = groups["flows"] * 1048 / 1000, groups["web"] * 1500 / SIZE
    assert sum(wire) == pytest.approx(25, rel=0.002)
    assert wire[0] / 25 == pytest.approx(roce / (roce + tcp), abs=0.005)
    assert (result.drops, result.tcp_drops > 0, result.goodput_gbps) == (0, True, groups["flows"])


@st.composite
def beside_tcp(draw: st.DrawFn) -> dict[str, Any]:
    """Senders that only pauses hold back, and TCP to the same receiver, in a small buffer."""
    gbps = draw(st.sampled_from([10, 25, 100, 400]))
    frame, other = draw(st.integers(256, 9216)), draw(st.integers(128, 9216))
    count, cable_m = draw(st.integers(2, 5)), draw(st.integers(1, 300))
    headroom = headroom_bytes(max(frame, other), frame, gbps, cable_m)
    return {
        "congestion_control": "pfc_only",
        "flows": {"count": count},
        "beside": {
            "web": {
                "pattern": "between",
                "senders": ["sender1", "a", "b"],
                "receivers": ["receiver"],
                **TCP,
            }
        },
        "tcp": {"packet_bytes": other, "alpha": draw(st.sampled_from([1, 8, 64]))},
        "port_gbps": gbps,
        "packet_bytes": frame,
        "link_delay_us": cable_m * 0.005,
        "buffer": {
            "total_kbytes": ((count + 3) * (headroom + 4096) + 100_000) / 1000,
            "alpha": draw(st.sampled_from([1 / 8, 1])),
        },
        "duration_ms": 30 / gbps,
        "measure_from_ms": 0,
        "seeds": [1],
    }


@settings(max_examples=tries(100))
@given(keys=beside_tcp())
def test_the_lossless_queue_loses_nothing_beside_tcp(keys: dict[str, Any]) -> None:
    result = run_scenario(**keys)
    assert (result.drops, result.tcp_drops > 0) == (0, True)


def test_tcp_in_the_shared_buffer_lowers_the_thresholds_of_pfc() -> None:
    """The same RoCE traffic, to another port of the switch: only the buffer is shared."""
    keys: dict[str, Any] = {
        "congestion_control": "pfc_only",
        "flows": {"count": 2, "gbps": 13},
        "buffer": {"total_kbytes": 3000, "alpha": 0.5},
        "duration_ms": 6,
        "seeds": [1],
    }
    web = {"pattern": "between", "senders": ["a", "b"], "receivers": ["d"], **TCP}
    alone, pressed = run_scenario(**keys), run_scenario(**keys, beside={"web": web})
    more = run_scenario(**keys, beside={"web": web}, tcp={"alpha": 8})
    assert (alone.pauses, pressed.pauses, pressed.drops, more.drops) == (0, 0, 0, 0)
    assert more.pauses > 0
    assert more.queue_kbytes.max < alone.queue_kbytes.max
