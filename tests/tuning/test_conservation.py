"""Laws of every run: packets and bytes are conserved, and buffers are booked as they are filled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from simulators import memory_of

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.tables import Memory

CONTROLS = ["dcqcn", "dctcp", "hpcc", "timely", "pfc_only"]


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """Small scenarios of any kind, also with buffers that are too small."""
    kind = draw(st.sampled_from(["one_switch", "leaf_spine"]))
    buffer: dict[str, Any] = {
        "total_kbytes": draw(st.sampled_from([60, 300, 8000])),
        "pfc": draw(st.booleans()),
        "alpha": draw(st.sampled_from([1 / 64, 1 / 8, 1, 8])),
        "cnp_queue": draw(st.sampled_from(["strict", "data"])),
    }
    if draw(st.booleans()):
        buffer["headroom_kbytes"] = draw(st.sampled_from([0, 2, 5]))
    if draw(st.booleans()):
        buffer |= {"xoff_kbytes": 20, "xon_kbytes": draw(st.sampled_from([5, 20]))}
    kinds = [{}, {"burst_us": 20, "duty_percent": draw(st.sampled_from([20, 90]))}]
    beside: dict[str, Any] = {}
    if draw(st.booleans()):
        pairs = draw(
            st.sampled_from([(["a", "b"], ["c"]), (["a"], ["b", "c"]), (["a"], ["a", "b"])])
        )
        beside["web"] = {
            "transport": "tcp",
            "pattern": "between",
            **dict(zip(("senders", "receivers"), pairs, strict=True)),
            "queue_pairs": draw(st.integers(1, 3)),
            "bytes": draw(st.sampled_from([None, 1, 40_000])),
            **draw(st.sampled_from(kinds)),
        }
    tcp: dict[str, Any] = {
        "weight": draw(st.sampled_from([1, 15, 100])),
        "packet_bytes": draw(st.sampled_from([256, 1500])),
        "alpha": draw(st.sampled_from([0.01, 1])),
        "min_rto_ms": draw(st.sampled_from([0.01, 200])),
    }
    return {
        "beside": beside,
        **({"tcp": tcp} if beside else {}),
        "congestion_control": draw(st.sampled_from(CONTROLS)),
        "flows": {
            "pattern": draw(st.sampled_from(["incast", "pairs", "all_to_all", "write", "read"])),
            "count": draw(st.integers(2, 6)),
            "targets": draw(st.integers(1, 3)),
            "bytes": draw(st.sampled_from([None, 1, 5_000, 200_000])),
            "start_spread_us": draw(st.sampled_from([0, 30])),
            **draw(st.sampled_from(kinds)),
        },
        "port_gbps": draw(st.sampled_from([10, 25, 100, 400])),
        "packet_bytes": draw(st.sampled_from([256, 1048, 4200])),
        "buffer": buffer,
        "topology": {"kind": kind, "leaves": 3, "spines": 2, "uplink_gbps": 100},
        "corrupted_percent": draw(st.sampled_from([0, 0, 3])),
        "duration_ms": 0.3,
        "measure_from_ms": 0,
    }


def listed(memory: Memory, port: int, head: int) -> Iterator[int]:
    """Addresses of the packets of a list of a port."""
    packet = int(memory.ports[port, head])
    while packet >= 0:
        yield packet
        packet = int(memory.integers[packet + c.LINK])


def data(memory: Memory, port: int, head: int) -> list[int]:
    """Bytes of the data packets and segments of a list of a port."""
    m = memory.integers
    packets = listed(memory, port, head)
    kinds = c.DATA_PACKET, c.SEGMENT
    return [int(m[at + c.BYTES]) for at in packets if m[at + c.KIND] in kinds]


@settings(max_examples=tries(300))
@given(keys=scenarios(), seed=st.integers(0, 2**63 - 1))
def test_nothing_is_lost_or_invented(keys: dict[str, Any], seed: int) -> None:
    memory = memory_of(seed=seed, **keys)
    m, ports, flows = memory.integers, memory.ports, memory.flows
    assert m[c.STATUS] in (c.FINISHED_ALL, c.REACHED_END)
    heads = c.DATA, c.FLIGHT, c.LOSSY
    under_way = [s for p in range(len(ports)) for h in heads for s in data(memory, p, h)]
    sent, sent_bytes = flows[:, c.INJECTED].sum(), flows[:, c.INJECTED_BYTES].sum()
    drops = ports[:, [c.DROPS, c.LOSSY_DROPS]].sum()
    dropped_bytes = ports[:, [c.DROPPED_BYTES, c.LOSSY_DROPPED_BYTES]].sum()
    assert sent == flows[:, c.ARRIVED].sum() + drops + len(under_way)
    assert sent_bytes == flows[:, c.ARRIVED_BYTES].sum() + dropped_bytes + sum(under_way)
    for port in range(len(ports)):
        for head, queued in ((c.DATA, c.QUEUED), (c.LOSSY, c.LOSSY_QUEUED)):
            queue = [int(m[at + c.BYTES]) for at in listed(memory, port, head)]
            if ports[port, c.SWITCH] >= 0:
                assert ports[port, queued] == sum(queue)
    for port in range(len(ports)):  # an ingress port's books are its packets in all queues
        own = int(m[c.PORTS_AT]) + port * c.PORT_COLUMNS
        waiting = sum(
            int(m[at + c.BYTES])
            for other in range(len(ports))
            for at in listed(memory, other, c.DATA)
            if m[at + c.INPORT] == own
        )
        assert ports[port, c.INGRESS] + ports[port, c.OVER_XOFF] == waiting
        assert 0 <= ports[port, c.OVER_XOFF] <= ports[port, c.HEADROOM]
    for switch in set(ports[ports[:, c.PEER] >= 0, c.PEER]):
        inputs = ports[ports[:, c.PEER] == switch]
        beyond = (inputs[:, c.INGRESS] - inputs[:, c.RESERVE]).clip(min=0)
        lossy = ports[ports[:, c.SWITCH] == switch, c.LOSSY_QUEUED].sum()
        assert m[switch + c.POOL_USED] == beyond.sum() + lossy <= m[switch + c.POOL]
    assert (flows[:, c.EXPECTED] <= flows[:, c.SIZE]).all()
    if m[c.STATUS] == c.FINISHED_ALL:
        finite = flows[:, c.SIZE] < c.NEVER
        assert (flows[finite, c.EXPECTED] == flows[finite, c.SIZE]).all()


@settings(max_examples=tries(30))
@given(keys=scenarios(), seed=st.integers(0, 2**63 - 1))
def test_the_same_seed_gives_the_same_run(keys: dict[str, Any], seed: int) -> None:
    first, second = memory_of(seed=seed, **keys), memory_of(seed=seed, **keys)
    assert (first.integers == second.integers).all()
    assert first.floats.tobytes() == second.floats.tobytes()
