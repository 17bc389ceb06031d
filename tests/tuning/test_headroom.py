"""Headroom by the formula of rule BUF001: no packet is lost with it, and some with a frame less."""

from __future__ import annotations

from typing import Any

from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from simulators import profile_of, scenario_of

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.layout import Cable, Ground, Pair
from rocefort.tune.simulator.simulate import simulated, with_profile
from rocefort.tune.simulator.tables import Memory, headroom_of
from rocefort.validators.facts.headroom import (
    DELAY_NS_PER_M,
    GAP_BYTES,
    INTERFACE_QUANTA,
    PFC_FRAME_BYTES,
    QUANTUM_BYTES,
    RESPONSE_QUANTA,
    headroom_bytes,
)

SPEEDS = (10, 25, 40, 50, 100, 200, 400)
Link = tuple[int, int, float]


def us_of(cable_m: float) -> float:
    """Delay of a cable, one way."""
    return cable_m * DELAY_NS_PER_M / 1000


def us_of_frames(count: float, frame: int, gbps: int) -> float:
    """Time of so many frames on a port."""
    return count * frame * 8 / (gbps * 1000)


def memory_on(ground: Ground, seed: int, **keys: Any) -> Memory:
    """Memory of the simulator after a run on a ground; its pairs replace the pattern."""
    scenario = scenario_of(flows={"count": 1, **keys.pop("flows", {})}, **keys)
    return simulated(scenario, with_profile(scenario, profile_of(scenario)), seed, ground)


@st.composite
def buffers(draw: st.DrawFn, frame: int) -> dict[str, Any]:
    """Buffers of any size with static or dynamic thresholds, and headroom by the formula."""
    out: dict[str, Any] = {
        "total_kbytes": draw(st.sampled_from([1_000, 5_000, 50_000])),
        "reserve_kbytes": draw(st.sampled_from([0, 4.096])),
        "cnp_queue": draw(st.sampled_from(["strict", "data"])),
    }
    if draw(st.booleans()):
        return {**out, "alpha": draw(st.sampled_from([1 / 64, 1 / 16, 1 / 8, 1]))}
    xon, gap = draw(st.integers(0, 20)), draw(st.integers(2, 20))
    return {**out, "xoff_kbytes": (xon + gap) * frame / 1000, "xon_kbytes": xon * frame / 1000}


@st.composite
def fabrics(draw: st.DrawFn) -> tuple[Ground, dict[str, Any]]:
    """Random leaves, spines, speeds, cables, packets and traffic, with data in both directions."""
    leaves = [f"leaf{n}" for n in range(draw(st.integers(1, 3)))]
    spines = [f"spine{n}" for n in range(draw(st.integers(1, 2)) if len(leaves) > 1 else 0)]
    servers = [f"server{n}" for n in range(draw(st.integers(3, 8)))]
    slow = draw(st.sampled_from(SPEEDS[:-1]))
    speed = st.sampled_from([x for x in SPEEDS if slow <= x <= 4 * slow])
    length = st.integers(1, 300).map(us_of)
    cables = [Cable(x, y, draw(speed), draw(length)) for x in leaves for y in spines]
    for n, server in enumerate(servers):
        cables.append(Cable(server, leaves[n % len(leaves)], draw(speed), draw(length)))
    pairs = [Pair(a, b) for a in servers for b in servers if a != b]
    if not draw(st.booleans()):  # else all to all
        favourite = draw(st.sampled_from(servers))  # with an incast, some pairs, and their reverse
        some = draw(st.sets(st.sampled_from(pairs), min_size=1))
        pairs = [pair for pair in pairs if pair in some or favourite == pair.receiver]
    frame = draw(st.integers(256, 9216))
    keys = {
        "congestion_control": draw(st.sampled_from(["pfc_only", "dcqcn"])),
        "flows": {"start_spread_us": us_of_frames(draw(st.integers(0, 50)), frame, slow)},
        "port_gbps": slow,
        "packet_bytes": frame,
        "buffer": draw(buffers(frame)),
        "duration_ms": us_of_frames(400, frame, slow) / 1000,
        "measure_from_ms": 0,
    }
    return Ground((*leaves, *spines), tuple(cables), tuple(pairs)), keys


def test_no_packet_is_lost_at_the_formula() -> None:
    """Exactly 0 of all packets of all runs; two thirds of the runs have pauses, or it shows nothing."""
    paused: list[bool] = []

    @settings(max_examples=tries(1000))
    @given(fabric=fabrics(), seed=st.integers(0, 2**63 - 1))
    def law(fabric: tuple[Ground, dict[str, Any]], seed: int) -> None:
        ground, keys = fabric
        ports = memory_on(ground, seed, **keys).ports
        paused.append(bool(ports[:, c.PAUSES].sum() > 0))
        assert ports[:, c.DROPS].sum() == 0

    law()
    assert sum(paused) > len(paused) * 2 / 3


@given(gbps=st.sampled_from(SPEEDS), cable_m=st.integers(0, 3000), frame=st.integers(128, 9300))
def test_the_simulator_has_the_formula_of_the_rule(gbps: int, cable_m: int, frame: int) -> None:
    scenario = scenario_of(flows={"count": 1}, packet_bytes=frame)
    expected = headroom_bytes(frame, frame, gbps, cable_m)
    assert headroom_of(scenario, gbps, us_of(cable_m)) == expected


def modelled_headroom(frame: int, gbps: int, cable_m: float) -> int:
    """The simulator's share of the formula: its ports have no preamble and gap after a data frame."""
    return headroom_bytes(frame, frame, gbps, cable_m) - 2 * GAP_BYTES


@st.composite
def tight_links(draw: st.DrawFn) -> Link:
    """Frame, speed and cable of a link on which a pause takes a number of frames and 0.6 to 0.9 more.

    A sender stops after a whole frame, so the need is by 0.6 to 0.9 frames below the formula.
    """
    frame, gbps = draw(st.integers(4096, 9216)), draw(st.sampled_from(SPEEDS))
    quanta = RESPONSE_QUANTA[gbps] + INTERFACE_QUANTA[gbps]
    rest = draw(st.integers(60, 90)) * frame // 100
    cable_bytes = (rest - PFC_FRAME_BYTES - quanta * QUANTUM_BYTES) % frame + frame
    return frame, gbps, round(cable_bytes * 8 / (2 * DELAY_NS_PER_M * gbps), 2)


def drops_of(link: Link, headroom: int, seed: int) -> int:
    """Packets that a switch drops at its ingress from `a`, while the next switch pauses it.

    The next switch has an incast, so for the time of the loop nothing leaves the first one. `b` sends
    to `a`, so the pause frame to `a` waits for a frame of data.
    """
    frame, gbps, cable_m = link
    loop = headroom_bytes(frame, frame, gbps, cable_m)
    cable = us_of(cable_m)
    others = [f"o{n}" for n in range(7)]
    ends = [("s", "t"), ("a", "s"), ("b", "s"), ("c", "t"), *((other, "t") for other in others)]
    ground = Ground(
        ("s", "t"),
        tuple(Cable(x, y, gbps, cable) for x, y in ends),
        (Pair("a", "c"), Pair("b", "a"), *(Pair(other, "c") for other in others)),
    )
    whole = loop // frame + 1
    memory = memory_on(
        ground,
        seed,
        congestion_control="pfc_only",
        flows={"start_spread_us": us_of_frames(3, frame, gbps)},
        port_gbps=gbps,
        packet_bytes=frame,
        buffer={
            "total_kbytes": 100_000,
            "headroom_kbytes": headroom / 1000,
            "xoff_kbytes": (whole + 0.5) * frame / 1000,  # a frame crosses it, and none fills it
            "xon_kbytes": frame / 1000,
            "reserve_kbytes": 0,
        },
        duration_ms=us_of_frames(15 * 8 * 2 * whole, frame, gbps) / 1000,
        measure_from_ms=0,
    )
    return int(memory.ports[memory.names.index(("a", "s")), c.DROPS])


@settings(max_examples=tries(100))
@given(link=tight_links())
def test_the_formula_is_one_frame_from_the_need(link: Link) -> None:
    """No drop at the simulator's share of the formula, and drops one lossless frame below it.

    So a formula that is a frame larger, or twice as large, fails this test. Whether the pause frame
    meets the longest wait depends on the starts, so one of some seeds is to show the drop.
    """
    share = modelled_headroom(*link)
    assert not any(drops_of(link, share, seed) for seed in range(5))
    assert any(drops_of(link, share - link[0], seed) for seed in range(20))
