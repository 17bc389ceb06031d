"""TOP rules: exact messages on faulty fabrics, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Interface
from typing import Any

import pytest

from rocefort.models.network.network import End, Link, Server, SwitchRole

Change = Callable[[Any], Any]


def _link(a: str, a_port: str, b: str, b_port: str) -> Link:
    return Link(a=End(device=a, interface=a_port), b=End(device=b, interface=b_port))


def _with_link(small: Any, *ends: str) -> Any:
    return small.change(links=(*small.network.links, _link(*ends)))


def _without_link(small: Any, index: int) -> Any:
    links = small.network.links
    return small.change(links=links[:index] + links[index + 1 :])


def _server_on(small: Any, device: str, port: str, mtu: int = 9000) -> Any:
    """A third server, on a given port."""
    server: Server = small.network.servers[0].model_copy(
        update={"name": "node3", "port": End(device=device, interface=port), "mtu": mtu}
    )
    return small.change(servers=(*small.network.servers, server))


def _links_of(small: Any, mtu: int) -> Any:
    """All fabric links with one MTU."""
    for link in small.network.links:
        for end in (link.a, link.b):
            small = small.port(end.device, end.interface, mtu=mtu)
    return small


TOP001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _without_link(s, 3),
        ["error leaf02: no link to spine02; every leaf needs 1 link to every spine"],
    ),
    (
        lambda s: _with_link(s, "leaf01", "100GE1/0/30", "spine01", "100GE1/0/9"),
        ["error leaf01: 2 links to spine01, but elsewhere 1 to each spine"],
    ),
    (  # by intent, and not by what most others have
        lambda s: s.node("leaf01", links_per_pair=2),
        [
            "error leaf01: 1 link to spine01; this leaf is intended to have 2 links to every spine",
            "error leaf01: 1 link to spine02; this leaf is intended to have 2 links to every spine",
        ],
    ),
    (
        lambda s: _without_link(s.node("leaf02", links_per_pair=1), 3),
        ["error leaf02: no link to spine02; this leaf is intended to have 1 link to every spine"],
    ),
    (
        lambda s: (
            _with_link(
                _with_link(s, "leaf01", "100GE1/0/30", "spine01", "100GE1/0/9"),
                *("leaf01", "100GE1/0/29", "spine02", "100GE1/0/9"),
            )
            .node("leaf01", links_per_pair=2)
            .node("leaf02", links_per_pair=1)
        ),
        [],
    ),
    (  # two leaves joined (an M-LAG peer link) are no part of the mesh
        lambda s: _with_link(s, "leaf01", "100GE1/0/30", "leaf02", "100GE1/0/30"),
        [],
    ),
    (
        lambda s: s.link(0, b=End(device="leaf01", interface="400GE1/0/1")),
        [
            "error leaf01: uplinks run at 100 and 400 Gb/s; ECMP gives each the same share, "
            "so all must have one speed"
        ],
    ),
    (
        lambda s: s.without("spine02"),
        ["error fabric: 1 spine here, but every leaf should see 2"],
    ),
    (lambda s: s.without("spine02").change(spines=None), []),
    (
        lambda s: s.change(links=None),
        ["not judged fabric: the cabling is not known, so nothing between two ports can be judged"],
    ),
    (
        lambda s: s.node("leaf02", role=None),
        ["not judged leaf02: whether this switch is a spine or a leaf is not known"],
    ),
]

TOP002: list[tuple[Change, list[str]]] = [
    (
        lambda s: _with_link(s, "spine01", "100GE1/0/31", "spine02", "100GE1/0/31"),
        [
            "error spine01 100GE1/0/31: linked to spine02 100GE1/0/31; "
            "spines must not be linked to each other"
        ],
    ),
    (lambda s: _with_link(s, "leaf01", "100GE1/0/30", "leaf02", "100GE1/0/30"), []),
]

TOP003: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _server_on(s, "leaf01", "100GE1/0/31"),
        [
            "error leaf01 100GE1/0/31: 2 cables on one port: "
            "the link to spine01 100GE1/0/1 and server node3"
        ],
    ),
    (
        lambda s: _server_on(s, "leaf01", "100GE1/0/32:1"),
        [
            "error leaf01 100GE1/0/32:1: server node3 needs this port, "
            "but the switch's configuration does not name it"
        ],
    ),
    (
        lambda s: _server_on(s, "leaf01", "100GE1/0/33"),
        [
            "error leaf01 100GE1/0/33: server node3 needs this port, "
            "but CE8851-32CQ8DQ-P has no such port"
        ],
    ),
    (
        lambda s: _server_on(s, "leaf09", "100GE1/0/1"),
        ["error leaf09 100GE1/0/1: server node3 needs this port, but there is no such switch"],
    ),
    (  # the same port of another leaf
        lambda s: s.server(0, port=End(device="leaf01", interface="100GE1/0/1")),
        [],
    ),
    (
        lambda s: s.change(servers=None),
        ["not judged fabric: the servers are not known, so their ports cannot be judged"],
    ),
]

TOP004: list[tuple[Change, list[str]]] = [
    (  # servers that need as much as RoCE are named as the reason
        lambda s: (
            s.server(0, mtu=4160)
            .server(1, mtu=4160)
            .port("spine01", "100GE1/0/1", mtu=4159)
            .port("leaf01", "100GE1/0/31", mtu=4159)
        ),
        [
            "error spine01 100GE1/0/1: MTU 4159 on the link to leaf01 100GE1/0/31; the servers "
            "need at least 4160"
        ],
    ),
    (
        lambda s: s.port("leaf01", "100GE1/0/31", mtu=None),
        [
            "error spine01 100GE1/0/1: MTU 9000 here, 1500 at leaf01 100GE1/0/31; "
            "both ends of a link need the same"
        ],
    ),
    (
        lambda s: s.port("leaf01", "100GE1/0/31", mtu=8999).port("spine01", "100GE1/0/1", mtu=8999),
        [
            "error spine01 100GE1/0/1: MTU 8999 on the link to leaf01 100GE1/0/31; "
            "the servers need at least 9000"
        ],
    ),
    (  # larger than needed, and equal
        lambda s: s.port("leaf01", "100GE1/0/31", mtu=9600).port("spine01", "100GE1/0/1", mtu=9600),
        [],
    ),
    (
        lambda s: s.port("leaf01", "Vlanif10", mtu=None),
        ["error leaf01 Vlanif10: MTU 1500 on the gateway of server node1, which sends up to 9000"],
    ),
    (  # many servers behind one gateway: reported once, for the largest
        lambda s: _server_on(s.server(0, mtu=8000), "leaf01", "100GE1/0/1", mtu=8500).port(
            "leaf01", "Vlanif10", mtu=8000
        ),
        ["error leaf01 Vlanif10: MTU 8000 on the gateway of server node3, which sends up to 8500"],
    ),
    (
        lambda s: s.server(0, mtu=4159),
        [
            "error leaf01 100GE1/0/1: server node1 has MTU 4159; "
            "RoCE packets of 4096 bytes need at least 4160"
        ],
    ),
    (lambda s: s.server(0, mtu=4160), []),
    (lambda s: s.server(0, mtu=1500, roce=False), []),
    (
        lambda s: (
            s.change(servers=())
            .port("leaf01", "100GE1/0/31", mtu=4159)
            .port("spine01", "100GE1/0/1", mtu=4159)
        ),
        [
            "error spine01 100GE1/0/1: MTU 4159 on the link to leaf01 100GE1/0/31; "
            "RoCE packets of 4096 bytes need at least 4160"
        ],
    ),
    (
        lambda s: s.server(0, mtu=9195).port("leaf01", "Vlanif10", mtu=9195),
        [
            *(
                f"error spine0{spine} 100GE1/0/{leaf}: MTU 9000 on the link to leaf0{leaf} "
                f"100GE1/0/3{spine}; the servers need at least 9195"
                for spine in (1, 2)
                for leaf in (1, 2)
            ),
            "error leaf01 100GE1/0/1: server node1 has MTU 9195; with 22 bytes of Ethernet that is "
            "more than the port's default of 9216",
        ],
    ),
    (  # the largest that a switched port takes by default; nothing is left of 9216
        lambda s: _links_of(s, 9194).server(0, mtu=9194).port("leaf01", "Vlanif10", mtu=9194),
        [],
    ),
    (
        lambda s: s.port("leaf02", "Vlanif10", addresses=()),
        [
            "not judged leaf02 100GE1/0/1: no gateway of the leaf has the server's subnet, "
            "so there is no MTU to compare"
        ],
    ),
]


def _without_server(small: Any) -> Any:
    """leaf02 without its server: no port of it has the VLAN of its gateway."""
    return small.change(servers=small.network.servers[:1]).port(
        "leaf02", "100GE1/0/1", access_vlan=None
    )


def _more_gateways(small: Any) -> Any:
    """leaf02 without its server, with a second gateway."""
    small = _without_server(small)
    device = small.network.by_name["leaf02"].device
    second = device.by_interface["Vlanif10"].model_copy(
        update={"name": "Vlanif9", "addresses": (IPv4Interface("10.11.2.1/24"),)}
    )
    return small.device("leaf02", vlans=(9, 10), interfaces=(*device.interfaces, second))


IDLE = "warning leaf02: no port has VLAN 10: its gateway is down, and its prefix is not announced"
TOP008: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (_without_server, [IDLE]),
    (lambda s: _without_server(s).change(servers=None), [IDLE]),
    (
        _more_gateways,
        [
            "warning leaf02: no port has VLAN 9 and 10: their gateways are down, and their "
            "prefixes are not announced"
        ],
    ),
    # Others report a server without its VLAN, a port or a gateway out of use, and a lost VLAN.
    (lambda s: s.port("leaf02", "100GE1/0/1", access_vlan=None), []),
    (lambda s: s.change(servers=()).port("leaf02", "100GE1/0/1", enabled=False), []),
    (lambda s: _without_server(s).port("leaf02", "Vlanif10", enabled=False), []),
    (lambda s: _without_server(s).device("leaf02", vlans=()), []),
]


@pytest.mark.parametrize(("change", "says"), TOP008)
def test_top008_idle_gateways(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP008") == says


@pytest.mark.parametrize(("change", "says"), TOP001)
def test_top001_full_mesh(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP001") == says


@pytest.mark.parametrize(("change", "says"), TOP002)
def test_top002_no_spine_link(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP002") == says


@pytest.mark.parametrize(("change", "says"), TOP003)
def test_top003_port_used_once(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP003") == says


@pytest.mark.parametrize(("change", "says"), TOP004)
def test_top004_mtu(small: Any, change: Change, says: list[str]) -> None:
    assert sorted(change(small).says("TOP004")) == sorted(says)


def test_unknown_roles_leave_switches_out_but_not_the_rest(small: Any) -> None:
    spoiled = _without_link(small.node("leaf01", role=None), 3)
    assert spoiled.says("TOP001") == [
        "error leaf02: no link to spine02; every leaf needs 1 link to every spine",
        "not judged leaf01: whether this switch is a spine or a leaf is not known",
    ]
    assert small.node("leaf01", role=SwitchRole.LEAF).says("TOP001") == []
