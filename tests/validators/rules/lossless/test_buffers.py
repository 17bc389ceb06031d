"""BUF rules and the headroom formula: published vectors, and exact messages."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.models.hardware.hardware import Fact, Range
from rocefort.validators.checks import check
from rocefort.validators.facts.headroom import (
    RESPONSE_QUANTA,
    cable_bytes,
    headroom_bytes,
    interface_bytes,
    response_bytes,
)

Change = Callable[[Any], Any]

# Rate Gb/s, cable m: headroom in bytes for frames of 1500, 4200 and 9216 bytes, the cable's part
# and the response's. Derived by hand from the terms of IEEE 802.1Qbb annex O with 5 ns/m, with the
# own interface as slow as the peer, and one frame more: the one that crosses xoff.
FRAMES = (1500, 4200, 9216)
VECTORS = [
    (25, 3, (14958, 23058, 38106), 93.75, 5120),
    (25, 100, (17989, 26089, 41137), 3125, 5120),
    (25, 300, (24239, 32339, 47387), 9375, 5120),
    (100, 3, (55431, 63531, 78579), 375, 25216),
    (100, 100, (67556, 75656, 90704), 12500, 25216),
    (100, 300, (92556, 100656, 115704), 37500, 25216),
    (400, 3, (121964, 130064, 145112), 1500, 57920),
    (400, 100, (170464, 178564, 193612), 50000, 57920),
    (400, 300, (270464, 278564, 293612), 150000, 57920),
]


@pytest.mark.parametrize(("rate", "cable_m", "sizes", "cable", "response"), VECTORS)
def test_headroom_vectors(
    rate: int, cable_m: int, sizes: tuple[int, ...], cable: float, response: int
) -> None:
    assert tuple(headroom_bytes(f, f, rate, cable_m) for f in FRAMES) == sizes
    assert cable_bytes(rate, cable_m) == Fraction(cable)
    assert response_bytes(rate) == interface_bytes(rate) == response


def test_the_bound_of_an_interface_is_that_of_the_response() -> None:
    """10GBASE-T: MAC 8,192, XAUI 2 x 2,048 and PHY 25,600 bit times are 74 quanta of 31B.3.7."""
    assert (8192 + 2 * 2048 + 25600) / 512 == 74
    assert 60 < RESPONSE_QUANTA[10] < 74  # SONiC has the mean of both kinds of PHY at 10 Gb/s


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
    assert headroom_bytes(port_mtu + 1, lossless_mtu, rate, cable_m) == size + 1
    assert headroom_bytes(port_mtu, lossless_mtu + 1, rate, cable_m) == size + 2
    assert headroom_bytes(port_mtu, lossless_mtu, rate, cable_m + 1) > size


NO_CABLING = (
    "not judged fabric: the cabling is not known, so nothing between two ports can be judged"
)
LEAF_NEED = "254 KB are needed for 3 ports, at most 89 KB for one (100 Gb/s over 100 m)"
SPINE_NEED = "178 KB are needed for 2 ports, at most 89 KB for one (100 Gb/s over 100 m)"


def _uncabled(small: Any) -> Any:
    return small.link(0, cable_m=None)


BUF001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=88),
        [
            "error spine01 100GE1/0/1: headroom of queue 4 is 88 KB; 100 Gb/s over 100 m and "
            "frames of 9216 bytes need 89 KB"
        ],
    ),
    (lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=89), []),  # 90704 bytes are 88.58 KB
    (lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=None), []),  # the default, 256 KB
    (
        lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=None).family(
            "spine01", "G2", headroom_default_kbytes=Fact(value=40, source="CR")
        ),
        [
            "error spine01 100GE1/0/1: headroom of queue 4 is 40 KB by default; "
            "100 Gb/s over 100 m and frames of 9216 bytes need 89 KB"
        ],
    ),
    (
        lambda s: s.row("spine01", "100GE1/0/1", headroom_kbytes=8),
        ["error spine01 100GE1/0/1: headroom of queue 4 is 8 KB; v300-g2 takes 16 to 30720 KB"],
    ),
    (
        lambda s: s.link(0, cable_m=172),  # 9000 bytes more than at 100 m: 99704 of 100352
        [],
    ),
    (  # 77.184 m more is 9648 bytes more: 100352, which is 98 KB and fits to the byte
        lambda s: s.link(0, cable_m=177.184),
        [],
    ),
    (
        lambda s: s.link(0, cable_m=178),
        [
            "error spine01 100GE1/0/1: headroom of queue 4 is 98 KB; 100 Gb/s over 178 m and "
            "frames of 9216 bytes need 99 KB"
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
        lambda s: s.pfc("leaf01", headroom_pool_kbytes=253),
        ["error leaf01: the headroom pool is 253 KB; " + LEAF_NEED],
    ),
    (lambda s: s.pfc("leaf01", headroom_pool_kbytes=254), []),
    (  # 6.912 m more is 864 bytes more: 182272 in all, which is 178 KB to the byte
        lambda s: s.link(0, cable_m=106.912).pfc("spine01", headroom_pool_kbytes=178),
        [],
    ),
    (  # nothing more can be set, so it is a warning
        lambda s: s.pfc("leaf01", headroom_pool_kbytes=253).family(
            "leaf01", "G1", headroom_pool_kbytes=Range(low=1, high=253, source="CR")
        ),
        ["warning leaf01: the headroom pool is 253 KB, the most of v300-g1; " + LEAF_NEED],
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
    (  # 3 x 600 KB, and 77 + 89 + 89 KB by the formula
        lambda s: s.hardware("leaf01", buffer_kbytes=Fact(value=2054, source="vendor")),
        [
            "error leaf01: xoff and headroom of 3 lossless ports add up to 2055 KB; "
            "the buffer of CE8851-32CQ8DQ-P is 2054 KB"
        ],
    ),
    (lambda s: s.hardware("leaf01", buffer_kbytes=Fact(value=2055, source="vendor")), []),
    (  # 2 x (600 + 98) KB
        lambda s: s.hardware("spine01", buffer_kbytes=Fact(value=1395, source="vendor")),
        [
            "error spine01: xoff and headroom of 2 lossless ports add up to 1396 KB; "
            "the buffer of CE8855-32CQ4BQ is 1395 KB"
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
            "not judged leaf01: xoff and headroom of 3 lossless ports add up to 2055 KB and would "
            "fit; the buffer of CE8851-32CQ8DQ-P is 65536 KB, not confirmed by the vendor "
            "(reseller table)"
        ],
    ),
    (
        lambda s: s.hardware(
            "leaf01", buffer_kbytes=Fact(value=1024, source="reseller table", confirmed=False)
        ),
        [
            "error leaf01: xoff and headroom of 3 lossless ports add up to 2055 KB; the buffer of "
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
    assert [line.split()[0] for line in _cells(small, 88)] == ["error"] * 2  # too little anyway


@pytest.mark.parametrize(
    ("buffer", "hint"), [(2054, "lower xoff to 595 KB at most, or"), (100, "lower xoff, or")]
)
def test_buf002_tells_an_xoff_that_fits(small: Any, buffer: int, hint: str) -> None:
    """3 ports of 89 KB of headroom at most: (2054 - 267) / 3 KB are left for each."""
    spoilt = small.hardware("leaf01", buffer_kbytes=Fact(value=buffer, source="vendor"))
    found = [f for f in check(spoilt.network).findings if f.rule == "BUF002"]
    assert [f.hint for f in found] == [f"{hint} spread the ports over more switches"]
