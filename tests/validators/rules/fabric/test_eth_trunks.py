"""LAG rules: exact messages on faulty bonds, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Interface
from typing import Any

import pytest

from rocefort.models.device.interface import Bond, Interface, InterfacePfc, PfcThreshold
from rocefort.models.network.network import End

Change = Callable[[Any], Any]
TRUNK, FIRST, SECOND = "Eth-Trunk1", "100GE1/0/1", "100GE1/0/2"
LACP = Bond(mode="lacp-static", lacp_timeout="fast")


def bonded(small: Any) -> Any:
    """The server of leaf01 with two ports in Eth-Trunk1."""
    device = small.network.by_name["leaf01"].device
    old = device.by_interface[FIRST]
    trunk = Interface(
        name=TRUNK, access_vlan=10, edge=True, trust_dscp=True, domain="roce", bond=LACP
    )
    members = [
        Interface(name=name, eth_trunk=1, pfc=old.pfc, thresholds=old.thresholds)
        for name in (FIRST, SECOND)
    ]
    others = [i for i in device.interfaces if i.name != FIRST]
    ends = tuple(End(device="leaf01", interface=name) for name in (FIRST, SECOND))
    server = {"port": End(device="leaf01", interface=TRUNK), "members": ends, "speed_gbps": 200}
    return small.device("leaf01", interfaces=(*others, trunk, *members)).server(0, **server)


def _add(small: Any, *more: Interface) -> Any:
    device = small.network.by_name["leaf01"].device
    return small.device("leaf01", interfaces=(*device.interfaces, *more))


def _alone(small: Any) -> Any:
    """The same text, with a server without a bond."""
    return small.server(0, port=End(device="leaf01", interface=SECOND), members=())


LAG001: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port("leaf01", SECOND, pfc=None),
        [
            "error leaf01 100GE1/0/2: PFC: differs from 100GE1/0/1, another member of Eth-Trunk1",
        ],
    ),
    (
        lambda s: s.row("leaf01", SECOND, xoff_kbytes=601),
        [
            "error leaf01 100GE1/0/2: PFC thresholds: differs from 100GE1/0/1, another member of "
            "Eth-Trunk1",
        ],
    ),
    (
        lambda s: _add(
            s,
            s.network.by_name["leaf01"]
            .device.by_interface[SECOND]
            .model_copy(update={"name": "400GE1/0/1"}),
        ),
        ["error leaf01 400GE1/0/1: 400 Gb/s in Eth-Trunk1, where 100GE1/0/1 has 100 Gb/s"],
    ),
    (  # descriptions may differ
        lambda s: s.port("leaf01", SECOND, description="second"),
        [],
    ),
]

LAG002: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port("leaf01", SECOND, access_vlan=10, edge=True),
        [
            "error leaf01 100GE1/0/2: `stp edged-port enable` on a member of Eth-Trunk1, which "
            "has it "
            "for all its members",
            "error leaf01 100GE1/0/2: a VLAN on a member of Eth-Trunk1, which has it for all its "
            "members",
        ],
    ),
    (
        lambda s: s.port("leaf01", TRUNK, pfc=InterfacePfc()),
        ["error leaf01 Eth-Trunk1: PFC on an Eth-Trunk, where it has no effect"],
    ),
    (
        lambda s: s.port(
            "leaf01", TRUNK, thresholds=(PfcThreshold(queue=4, xoff_kbytes=9, xon_kbytes=8),)
        ),
        ["error leaf01 Eth-Trunk1: PFC thresholds on an Eth-Trunk, where it has no effect"],
    ),
]

LAG003: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port("leaf01", TRUNK, bond=Bond()),
        [
            "warning leaf01 Eth-Trunk1: manual mode with lossless members; a member that fails "
            "silently drops RoCE flows"
        ],
    ),
    (  # nothing lossless in it
        lambda s: (
            s.port("leaf01", TRUNK, bond=Bond())
            .port("leaf01", FIRST, pfc=None)
            .port("leaf01", SECOND, pfc=None)
        ),
        [],
    ),
    (lambda s: s.port("leaf01", TRUNK, bond=Bond(mode="lacp-dynamic")), []),
]

LAG004: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port("leaf01", SECOND, eth_trunk=11),
        ["error leaf01 100GE1/0/2: a member of Eth-Trunk11, which does not exist"],
    ),
]

LAG005: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _add(s, Interface(name="Eth-Trunk2")),
        ["error leaf01 Eth-Trunk2: no member, but 1 must be up; it never comes up"],
    ),
    (
        lambda s: s.port("leaf01", TRUNK, bond=Bond(mode="lacp-static", minimum_links=3)),
        ["error leaf01 Eth-Trunk1: 2 members, but 3 must be up; it never comes up"],
    ),
    (lambda s: s.port("leaf01", TRUNK, bond=Bond(mode="lacp-static", minimum_links=2)), []),
]

LAG006: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port("leaf01", SECOND, eth_trunk=None),
        [
            "error leaf01 100GE1/0/2: server node1 bonds this port in Eth-Trunk1, but it is in no "
            "Eth-Trunk"
        ],
    ),
    (
        _alone,
        [
            "error leaf01 100GE1/0/2: server node1 has this port alone, but it is a member of "
            "Eth-Trunk1"
        ],
    ),
    (
        lambda s: _add(s, Interface(name="100GE1/0/3", eth_trunk=1)),
        [
            "error leaf01 100GE1/0/3: a member of Eth-Trunk1, which is server node1's, but the "
            "server has no port here"
        ],
    ),
    (
        lambda s: s.change(servers=None),
        ["not judged fabric: the servers are not known, so their ports cannot be judged"],
    ),
]

TABLES = {
    "LAG001": LAG001,
    "LAG002": LAG002,
    "LAG003": LAG003,
    "LAG004": LAG004,
    "LAG005": LAG005,
    "LAG006": LAG006,
}


@pytest.mark.parametrize(
    ("rule", "change", "said"),
    [(rule, *case) for rule, cases in TABLES.items() for case in cases],
)
def test_what_a_rule_says(small: Any, rule: str, change: Change, said: list[str]) -> None:
    assert change(bonded(small)).says(rule) == said


OTHERS: list[tuple[str, Change, list[str]]] = [
    ("TOP003", lambda s: s, []),
    (
        "TOP003",
        lambda s: s.server(1, port=End(device="leaf01", interface=SECOND)),
        ["error leaf01 100GE1/0/2: 2 cables on one port: server node1 and server node2"],
    ),
    ("QOS001", lambda s: s, []),
    (
        "QOS001",
        lambda s: s.port("leaf01", TRUNK, trust_dscp=False),
        [
            "error leaf01 Eth-Trunk1: a switched port without `trust dscp`; RoCE packets are "
            "classed "
            "by 802.1p here, not by DSCP"
        ],
    ),
    (
        "PFC002",
        lambda s: s.port("leaf01", SECOND, pfc=None),
        [
            "error leaf01 100GE1/0/2: PFC is off, and RoCE passes here; queue 4 must be paused at "
            "both ends of every cable"
        ],
    ),
    ("TOP005", lambda s: s.change(oversubscription=1.0), []),
    (
        "TOP005",
        lambda s: s.change(oversubscription=0.9),
        [
            "error leaf01: 200 Gb/s of servers and 200 Gb/s of uplinks are 1.00 to 1; the policy "
            "allows 0.9 to 1"
        ],
    ),
]


@pytest.mark.parametrize(("rule", "change", "said"), OTHERS)
def test_other_rules_look_at_every_member(
    small: Any, rule: str, change: Change, said: list[str]
) -> None:
    assert change(bonded(small)).says(rule) == said


def test_a_flow_of_a_bond_has_the_speed_of_one_member(small: Any) -> None:
    server = bonded(small).network.servers[0]
    assert (server.flow_gbps, server.speed_gbps) == (100, 200)
    assert server.address == IPv4Interface("10.10.1.11/24")
