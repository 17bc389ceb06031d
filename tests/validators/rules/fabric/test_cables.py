"""TOP rules on FEC, media and cable lengths: exact messages, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.hardware.media import PHYS, ROWS, default_fec, media_at, phy_of
from rocefort.models.network.network import End

Change = Callable[[Any], Any]
SPINE, LEAF = ("spine01", "100GE1/0/1"), ("leaf01", "100GE1/0/31")


def _fec(small: Any, here: str | None, there: str | None, **update: Any) -> Any:
    """FEC of both ends of the first link, which is changed otherwise too."""
    return small.port(*SPINE, fec=here).port(*LEAF, fec=there).link(0, **update)


def _server(small: Any, port: str, **update: Any) -> Any:
    """node1 on another port of leaf01, with fields of the port and of its cable."""
    fields: dict[str, Any] = {"fec": update.pop("fec")} if "fec" in update else {}
    device = small.network.by_name["leaf01"].device
    old = device.by_interface["100GE1/0/1"]
    ports = tuple(i for i in device.interfaces if i is not old)
    new = old.model_copy(update={"name": port, **fields})
    leaf = small.node("leaf01", device=device.model_copy(update={"interfaces": (*ports, new)}))
    wider = leaf.hardware("leaf01", ports=("100GE1/0/1-32", "400GE1/0/1-8", "25GE1/0/1-8"))
    end = End(device="leaf01", interface=port)
    speed = int(port.split("GE", maxsplit=1)[0])
    return wider.server(0, port=end, speed_gbps=speed, **update)


TOP010: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _fec(s, "rs", "rs"), []),
    (
        lambda s: _fec(s, "rs", "none"),
        [
            "error spine01 100GE1/0/1: FEC rs here, FEC none at leaf01 100GE1/0/31; the link does "
            "not come up"
        ],
    ),
    (
        lambda s: _fec(s, None, "rs"),
        [
            "error spine01 100GE1/0/1: FEC by default here, FEC rs at leaf01 100GE1/0/31; the link "
            "does not come up"
        ],
    ),
    (
        lambda s: s.port(*LEAF, autonegotiation=False),
        [
            "error spine01 100GE1/0/1: autonegotiation on here, autonegotiation off at leaf01 "
            "100GE1/0/31; the link does not come up"
        ],
    ),
    (lambda s: s.port(*LEAF, autonegotiation=False).port(*SPINE, autonegotiation=False), []),
    (lambda s: s.link(0, b=End(device="leaf01", interface="100GE1/0/30")), []),  # TOP003 reports it
    (
        lambda s: s.change(links=None),
        ["not judged fabric: the cabling is not known, so nothing between two ports can be judged"],
    ),
]

UNKNOWN = "no cable has a medium (cables.fabric.medium, cables.server.medium)"


def _without_media(small: Any) -> Any:
    for index in range(4):
        small = small.link(index, medium=None)
    return small.server(0, medium=None).server(1, medium=None)


TOP011: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),  # 100GBASE-LR4 needs none
    (lambda s: _fec(s, "rs", "rs"), []),  # and may have some
    (lambda s: _fec(s, "rs", "rs", medium="sr4"), []),
    (
        lambda s: _fec(s, "rs", "none", medium="sr4"),
        [
            "error leaf01 100GE1/0/31: no FEC on 100GBASE-SR4, which needs RS-FEC (IEEE 802.3-2022 "
            "clause 95)"
        ],
    ),
    (
        lambda s: _fec(s, "base-r", "rs", medium="dac"),
        [
            "error spine01 100GE1/0/1: BASE-R FEC on 100GBASE-CR4, which needs RS-FEC (IEEE "
            "802.3-2022 clause 92)"
        ],
    ),
    (lambda s: s.link(0, medium="dac"), []),  # copper negotiates
    (
        lambda s: s.link(0, medium="dac").port(*LEAF, autonegotiation=False),
        [
            "not judged leaf01 100GE1/0/31: FEC is left to the switch, whose default with "
            "100GBASE-CR4 is not known"
        ],
    ),
    (
        lambda s: _fec(s, "rs", None, medium="sr4"),
        [
            "not judged leaf01 100GE1/0/31: FEC is left to the switch, whose default with "
            "100GBASE-SR4 is not known"
        ],
    ),
    (
        lambda s: _server(s, "100GE1/0/1", medium="dr", fec="rs"),
        [
            "not judged leaf01 100GE1/0/1: which FEC 100GBASE-DR needs is not known: IEEE "
            "802.3-2022 clause 140; the module or the switch has its FEC, by product"
        ],
    ),
    (lambda s: _server(s, "25GE1/0/1", medium="dac", fec="rs"), []),
    (
        lambda s: _server(s, "25GE1/0/1", medium="dac", fec="base-r"),
        [
            "not judged leaf01 25GE1/0/1: 25GBASE-CR works with BASE-R FEC on some classes of "
            "cable "
            "only, and the class is not known: IEEE 802.3-2022 clause 110 (CA-25G-L, CA-25G-S and "
            "CA-25G-N cables)"
        ],
    ),
    (
        lambda s: _server(s, "25GE1/0/1", medium="sr", fec="base-r"),
        [
            "error leaf01 25GE1/0/1: BASE-R FEC on 25GBASE-SR, which needs RS-FEC (IEEE 802.3-2022 "
            "clause 112)"
        ],
    ),
    (lambda s: _server(s, "400GE1/0/1", medium="dr4"), []),  # FEC is always on
    (
        lambda s: s.link(0, medium=None).server(0, medium=None),
        ["not judged fabric: the medium of 2 cables is not known"],
    ),
    (_without_media, [f"not judged fabric: {UNKNOWN}"]),
]

TOP012: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: s.link(0, medium="sr4", cable_m=70), []),
    (
        lambda s: s.link(0, medium="sr4", cable_m=100),
        [
            "not judged spine01 100GE1/0/1: 100GBASE-SR4 reaches 100 m over OM4 fibre and 70 m "
            "otherwise, and which it is is not known"
        ],
    ),
    (
        lambda s: s.link(0, medium="sr4", cable_m=101),
        [
            "error spine01 100GE1/0/1: a cable of 101 m; 100GBASE-SR4 reaches 100 m (IEEE "
            "802.3-2022 clause 95)"
        ],
    ),
    (
        lambda s: s.link(0, medium="sr"),
        ["error spine01 100GE1/0/1: sr does not run at 100 Gb/s"],
    ),
    (lambda s: _server(s, "25GE1/0/1", medium="dac", fec="rs", cable_m=5), []),
    (lambda s: _server(s, "25GE1/0/1", medium="dac", fec="base-r", cable_m=3), []),
    (
        lambda s: _server(s, "25GE1/0/1", medium="dac", fec="base-r", cable_m=3.5),
        [
            "error leaf01 25GE1/0/1: a cable of 3.5 m; 25GBASE-CR reaches 3 m (IEEE 802.3-2022 "
            "clause 110 (CA-25G-L, CA-25G-S and CA-25G-N cables))"
        ],
    ),
    (
        lambda s: _server(s, "100GE1/0/1", medium="lr4", cable_m=None),
        [
            "not judged leaf01 100GE1/0/1: the length of the 100GBASE-LR4 cable is not known",
        ],
    ),
    (
        lambda s: _server(s, "100GE1/0/1", medium="aoc"),
        [
            "not judged leaf01 100GE1/0/1: how far 100G AOC reaches is not known: no standard: "
            "each product's own"
        ],
    ),
    (
        lambda s: s.link(0, a=End(device="spine01", interface="Eth-Trunk1")),
        ["not judged spine01 Eth-Trunk1: the speed of the port is not known"],
    ),
    (
        lambda s: s.server(0, medium=None),
        ["not judged fabric: the medium of 1 cable is not known"],
    ),
    (_without_media, [f"not judged fabric: {UNKNOWN}"]),
]


@pytest.mark.parametrize(("change", "says"), TOP010)
def test_top010_ends_agree_on_fec(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP010") == says


@pytest.mark.parametrize(("change", "says"), TOP011)
def test_top011_fec_of_the_medium(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP011") == says


@pytest.mark.parametrize(("change", "says"), TOP012)
def test_top012_medium_fits(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP012") == says


def test_the_table_of_media_says_each_layer_once() -> None:
    assert len(PHYS) == len(ROWS) == len({row.name for row in ROWS})
    for row in ROWS:
        assert row.medium in media_at(row.speed_gbps)
        assert phy_of(row.medium, row.speed_gbps) is row
        assert row.source
        assert bool(row.better) is any(mode.sure_m is not None for mode in row.modes)
        reach = [mode.reach_m for mode in row.modes if mode.reach_m is not None]
        assert reach == sorted(reach, reverse=True)


@pytest.mark.parametrize(
    ("medium", "speed_gbps", "fec"),
    [
        ("sr4", 100, "rs"),
        ("lr4", 100, "none"),
        ("dac", 100, "rs"),
        ("dac", 25, "rs"),
        ("dr", 100, None),  # its module may have it
        ("dr4", 400, None),  # nothing can be set
        ("sr", 100, None),  # there is no such layer
        ("sr4", None, None),
    ],
)
def test_default_fec_is_what_suits_every_cable(
    medium: Any, speed_gbps: int | None, fec: str | None
) -> None:
    assert default_fec(medium, speed_gbps) == fec
