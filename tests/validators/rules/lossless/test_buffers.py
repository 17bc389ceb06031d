"""BUF rules and the headroom formula: published vectors, and exact messages."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.models.hardware.hardware import Fact
from rocefort.validators.checks import check
from rocefort.validators.facts.headroom import (
    RESPONSE_QUANTA,
    cable_bytes,
    headroom_bytes,
    response_bytes,
)

Change = Callable[[Any], Any]

# Rate Gb/s, cable m: headroom in bytes for frames of 1500, 4200 and 9216 bytes, the cable's part
# and the response's. Derived from the terms of IEEE 802.1Qbb annex O with 5 ns/m.
FRAMES = (1500, 4200, 9216)
VECTORS = [
    (25, 3, (8338, 13738, 23770), 93.75, 5120),
    (25, 100, (11369, 16769, 26801), 3125, 5120),
    (25, 300, (17619, 23019, 33051), 9375, 5120),
    (100, 3, (28715, 34115, 44147), 375, 25216),
    (100, 100, (40840, 46240, 56272), 12500, 25216),
    (100, 300, (65840, 71240, 81272), 37500, 25216),
    (400, 3, (62544, 67944, 77976), 1500, 57920),
    (400, 100, (111044, 116444, 126476), 50000, 57920),
    (400, 300, (211044, 216444, 226476), 150000, 57920),
]


@pytest.mark.parametrize(("rate", "cable_m", "sizes", "cable", "response"), VECTORS)
def test_headroom_vectors(
    rate: int, cable_m: int, sizes: tuple[int, ...], cable: float, response: int
) -> None:
    assert tuple(headroom_bytes(f, f, rate, cable_m) for f in FRAMES) == sizes
    assert cable_bytes(rate, cable_m) == Fraction(cable)
    assert response_bytes(rate) == response


@given(
    rate=st.sampled_from(sorted(RESPONSE_QUANTA)),
    cable_m=st.decimals(min_value=0, max_value=10000, places=2).map(float),
    port_mtu=st.integers(64, 9600),
    lossless_mtu=st.integers(64, 9600),
)
def test_headroom_grows_with_everything(
    rate: int, cable_m: float, port_mtu: int, lossless_mtu: int
) -> None:
    size = headroom_bytes(port_mtu, lossless_mtu, rate, cable_m)
    assert size == headroom_bytes(lossless_mtu, port_mtu, rate, cable_m)
    assert headroom_bytes(port_mtu + 1, lossless_mtu, rate, cable_m) == size + 1
    assert headroom_bytes(port_mtu, lossless_mtu, rate, cable_m + 1) > size


NO_CABLING = (
    "not judged fabric: the cabling is not known, so nothing between two ports can be judged"
)
LEAF_NEED = "154 KB are needed for 3 ports, at most 55 KB for one (100 Gb/s over 100 m)"
SPINE_NEED = "110 KB are needed for 2 ports, at most 55 KB for one (100 Gb/s over 100 m)"


def _uncabled(small: Any) -> Any:
    return small.link(0, cable_m=None)


BUF001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=54),
        [
            "error spine01 100GE1/0/1: headroom of queue 4 is 54 KB; 100 Gb/s over 100 m and "
            "frames of 9216 bytes need 55 KB"
        ],
    ),
    (lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=55), []),  # 56272 bytes are 54.95 KB
    (lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=None), []),  # the default, 256 KB
    (
        lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=None).family(
            "spine01", "G2", headroom_default_kbytes=Fact(value=40, source="CR")
        ),
        [
            "error spine01 100GE1/0/1: headroom of queue 4 is 40 KB by default; "
            "100 Gb/s over 100 m and frames of 9216 bytes need 55 KB"
        ],
    ),
    (
        lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=8),
        ["error spine01 100GE1/0/1: headroom of queue 4 is 8 KB; v300-g2 takes 16 to 30720 KB"],
    ),
    (
        lambda s: s.link(0, cable_m=172),  # 9000 bytes more than at 100 m: 65272 of 65536
        [],
    ),
    (  # 74.112 m more is 9264 bytes more: 65536, which is 64 KB and fits to the byte
        lambda s: s.link(0, cable_m=174.112),
        [],
    ),
    (
        lambda s: s.link(0, cable_m=175),
        [
            "error spine01 100GE1/0/1: headroom of queue 4 is 64 KB; 100 Gb/s over 175 m and "
            "frames of 9216 bytes need 65 KB"
        ],
    ),
    (
        lambda s: s.pfc("spine01", headroom_pool_kbytes=None),
        ["error spine01: no headroom pool is configured, which v300-g2 must have; " + SPINE_NEED],
    ),
    (
        lambda s: s.pfc("leaf01", headroom_pool_kbytes=None),
        [
            "not judged leaf01: v300-g1 has no headroom by queue, and no pool is configured; "
            + LEAF_NEED
        ],
    ),
    (
        lambda s: s.pfc("leaf01", headroom_pool_kbytes=153),
        ["error leaf01: the headroom pool is 153 KB; " + LEAF_NEED],
    ),
    (lambda s: s.pfc("leaf01", headroom_pool_kbytes=154), []),
    (  # 0.768 m more is 96 bytes more: 112640 in all, which is 110 KB to the byte
        lambda s: s.link(0, cable_m=100.768).pfc("spine01", headroom_pool_kbytes=110),
        [],
    ),
    (
        lambda s: s.pfc("leaf01", headroom_pool_kbytes=2049),
        ["error leaf01: the headroom pool is 2049 KB; v300-g1 takes 1 to 2048 KB"],
    ),
    (
        lambda s: s.family("leaf01", "V200"),
        ["not judged leaf01: headroom on v200 is not confirmed by the vendor; " + LEAF_NEED],
    ),
    (
        _uncabled,
        [
            "not judged leaf01 100GE1/0/31: the length of the cable is not known",
            "not judged spine01 100GE1/0/1: the length of the cable is not known",
        ],
    ),
    (
        lambda s: s.server(0, speed_gbps=1),
        ["not judged leaf01 100GE1/0/1: no response time to a pause is known at its speed"],
    ),
    (lambda s: s.change(links=None), [NO_CABLING]),
    (
        lambda s: s.node("leaf01", family=None),
        ["not judged leaf01: the syntax family is not known, so its ranges are not known either"],
    ),
]

BUF002: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (  # 3 x 600 KB, and 44 + 55 + 55 KB by the formula
        lambda s: s.hardware("leaf01", buffer_kbytes=Fact(value=1953, source="vendor")),
        [
            "error leaf01: xoff and headroom of 3 lossless ports add up to 1954 KB; "
            "the buffer of CE8851-32CQ8DQ-P is 1953 KB"
        ],
    ),
    (lambda s: s.hardware("leaf01", buffer_kbytes=Fact(value=1954, source="vendor")), []),
    (  # 2 x (600 + 64) KB
        lambda s: s.hardware("spine01", buffer_kbytes=Fact(value=1327, source="vendor")),
        [
            "error spine01: xoff and headroom of 2 lossless ports add up to 1328 KB; "
            "the buffer of CE8855-32CQ4BQ is 1327 KB"
        ],
    ),
    (
        lambda s: s.hardware("leaf01", buffer_kbytes=None),
        ["not judged leaf01: the buffer of CE8851-32CQ8DQ-P is not known"],
    ),
    (
        lambda s: s.hardware(
            "leaf01", buffer_kbytes=Fact(value=65536, source="reseller table", confirmed=False)
        ),
        [
            "not judged leaf01: xoff and headroom of 3 lossless ports add up to 1954 KB and would "
            "fit; the buffer of CE8851-32CQ8DQ-P is 65536 KB, not confirmed by the vendor "
            "(reseller table)"
        ],
    ),
    (
        lambda s: s.hardware(
            "leaf01", buffer_kbytes=Fact(value=1024, source="reseller table", confirmed=False)
        ),
        [
            "error leaf01: xoff and headroom of 3 lossless ports add up to 1954 KB; the buffer of "
            "CE8851-32CQ8DQ-P is 1024 KB, not confirmed by the vendor (reseller table)"
        ],
    ),
    (
        lambda s: s.port("leaf01", "100GE1/0/1", thresholds=()),
        [
            "not judged leaf01: ports without a static xoff share the buffer dynamically; "
            "no sum can be given"
        ],
    ),
    (
        _uncabled,
        [
            "not judged leaf01 100GE1/0/31: the length of the cable is not known",
            "not judged spine01 100GE1/0/1: the length of the cable is not known",
        ],
    ),
    (
        lambda s: s.node("leaf01", hardware=None),
        ["not judged leaf01: the hardware model is not known"],
    ),
]


@pytest.mark.parametrize(("change", "says"), BUF001)
def test_buf001_headroom(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("BUF001") == says


@pytest.mark.parametrize(("change", "says"), BUF002)
def test_buf002_budget(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("BUF002") == says


def _cells(small: Any, headroom_kbytes: int, *, confirmed: bool = True) -> list[str]:
    cell = Fact(value=320, source="vendor", confirmed=confirmed)
    for spine in ("spine01", "spine02"):
        small = small.family(spine, "G2", cell_bytes=cell)
        for port in ("100GE1/0/1", "100GE1/0/2"):
            small = small.row(spine, port, headroom_kbytes=headroom_kbytes)
    said: list[str] = small.says("BUF001")
    return [line for line in said if " spine01" in line]


def test_buf001_tells_what_the_smallest_packets_would_fill(small: Any) -> None:
    """(9216 + 12,626 on the cable + 819 + 3891) x 320 / 64 + 9216 bytes are 139 KB, rounded up."""
    assert _cells(small, 139) == []
    assert _cells(small, 138) == [
        f"info spine01 100GE1/0/{port}: headroom of queue 4 is 138 KB; if only the smallest "
        "packets arrive, they fill 139 KB in cells of 320 bytes (100 Gb/s over 100 m, by SONiC's "
        "formula)"
        for port in (1, 2)
    ]
    assert _cells(small, 138, confirmed=False) == []
    assert [line.split()[0] for line in _cells(small, 54)] == ["error"] * 2  # too little anyway


@pytest.mark.parametrize(
    ("buffer", "hint"), [(1953, "lower xoff to 596 KB at most, or"), (100, "lower xoff, or")]
)
def test_buf002_tells_an_xoff_that_fits(small: Any, buffer: int, hint: str) -> None:
    """3 ports of 55 KB of headroom at most: (1953 - 165) / 3 KB are left for each."""
    spoilt = small.hardware("leaf01", buffer_kbytes=Fact(value=buffer, source="vendor"))
    found = [f for f in check(spoilt.network).findings if f.rule == "BUF002"]
    assert [f.hint for f in found] == [f"{hint} spread the ports over more switches"]
