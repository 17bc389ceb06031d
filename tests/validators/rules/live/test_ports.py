"""Live rules on ports and cables: exact messages, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.network.observed import NeighbourSeen

Change = Callable[[Any], Any]
UPLINK, SERVER_PORT = "100GE1/0/31", "100GE1/0/1"
ONE_READING = (
    "not judged fabric: one reading shows no change; take two (--interval), or name an earlier "
    "(--baseline)"
)
DOWN = {"up": False, "state": "DOWN"}
SHUT = {"up": False, "state": "Administratively DOWN", "shut": True}

LIV006: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.row("leaf01", "neighbours", 0, device="spine02", port="100GE1/0/2"),
        ["error leaf01 100GE1/0/31: cable: sees spine02 100GE1/0/2, intended spine01 100GE1/0/1"],
    ),
    (  # the right switch, the wrong port of it
        lambda v: v.row("leaf01", "neighbours", 0, port="100GE1/0/2"),
        ["error leaf01 100GE1/0/31: cable: sees spine01 100GE1/0/2, intended spine01 100GE1/0/1"],
    ),
    (
        lambda v: v.device("leaf01", neighbours=v.now.by_name["leaf01"].neighbours[1:]),
        ["warning leaf01 100GE1/0/31: cable: sees no neighbour, intended spine01 100GE1/0/1"],
    ),
    (  # a port that is down has no neighbour, and LIV007 reports it
        lambda v: v.device("leaf01", neighbours=v.now.by_name["leaf01"].neighbours[1:]).port(
            "leaf01", UPLINK, up=False, state="DOWN"
        ),
        [],
    ),
    (
        lambda v: v.device(
            "leaf01",
            neighbours=(
                *v.now.by_name["leaf01"].neighbours,
                NeighbourSeen(local=SERVER_PORT, device="spine02", port="100GE1/0/9"),
                NeighbourSeen(local="100GE1/0/7", device="spine02", port="100GE1/0/8"),
            ),
        ),
        [
            "error leaf01 100GE1/0/1: cable: sees spine02 100GE1/0/9, intended server node1",
            "error leaf01 100GE1/0/7: cable: sees spine02 100GE1/0/8, intended no switch",
        ],
    ),
    (  # a server with LLDP, and a switch of another network
        lambda v: v.device(
            "leaf01",
            neighbours=(
                *v.now.by_name["leaf01"].neighbours,
                NeighbourSeen(local=SERVER_PORT, device="node1", port="ens1"),
            ),
        ),
        [],
    ),
    (  # a server at the port of another one, by its name with a domain; and one at a free port
        lambda v: v.device(
            "leaf01",
            neighbours=(
                *v.now.by_name["leaf01"].neighbours,
                NeighbourSeen(local=SERVER_PORT, device="NODE2.lab.example", port="ens1"),
                NeighbourSeen(local="100GE1/0/7", device="node1", port="0c42.a1b2.c3d4"),
                NeighbourSeen(local="MEth0/0/0", device="node2", port="bmc"),
            ),
        ),
        [
            "error leaf01 100GE1/0/1: cable: sees server node2 of leaf02 100GE1/0/1, intended "
            "server node1",
            "error leaf01 100GE1/0/7: cable: sees server node1 of leaf01 100GE1/0/1, intended no "
            "server",
        ],
    ),
    (  # at a port to a spine
        lambda v: v.row("leaf01", "neighbours", 0, device="node2", port="ens1"),
        [
            "error leaf01 100GE1/0/31: cable: sees server node2 of leaf02 100GE1/0/1, intended "
            "spine01 100GE1/0/1"
        ],
    ),
]
LIV007: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.port("leaf01", UPLINK, **DOWN),
        ["error leaf01 100GE1/0/31: port: it is DOWN, intended UP"],
    ),
    (
        lambda v: v.port("leaf01", SERVER_PORT, **SHUT),
        [
            "error leaf01 100GE1/0/1: port: it is Administratively DOWN, intended UP, of server "
            "node1"
        ],
    ),
    (  # a server that is off
        lambda v: v.port("leaf01", SERVER_PORT, **DOWN),
        ["warning leaf01 100GE1/0/1: port: it is DOWN, intended UP, of server node1"],
    ),
    (  # and one that went off since
        lambda v: v.earlier().port("leaf01", SERVER_PORT, **DOWN),
        ["error leaf01 100GE1/0/1: port: it is DOWN, intended UP, of server node1"],
    ),
    (
        lambda v: v.device(
            "leaf01",
            ports=tuple(p for p in v.now.by_name["leaf01"].ports if p.name != SERVER_PORT),
        ),
        ["error leaf01 100GE1/0/1: port: `display interface` does not show it"],
    ),
    (lambda v: v.port("leaf01", "LoopBack0", **DOWN), []),  # no cable
]
LIV008: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.port("leaf01", UPLINK, speed_mbps=40_000),
        ["error leaf01 100GE1/0/31: speed: 40 Gb/s, intended 100 Gb/s"],
    ),
    (
        lambda v: v.port("leaf01", UPLINK, speed_mbps=None),
        ["not judged leaf01 100GE1/0/31: its speed is not known"],
    ),
    (lambda v: v.port("leaf01", UPLINK, speed_mbps=None, **DOWN), []),
]
LIV009: list[tuple[Change, list[str]]] = [
    (lambda v: v, []),
    (
        lambda v: v.port("leaf01", UPLINK, mtu=1500),
        ["error leaf01 100GE1/0/31: MTU: 1500 bytes, intended 9000"],
    ),
    (
        lambda v: v.port("leaf01", UPLINK, mtu=None),
        ["not judged leaf01 100GE1/0/31: `display interface` shows no MTU"],
    ),
    (
        lambda v: v.port("leaf01", SERVER_PORT, frame_bytes=9021),
        [
            "error leaf01 100GE1/0/1: longest frame: 9021 bytes, and server node1 (MTU 9000) "
            "sends 9022"
        ],
    ),
    (lambda v: v.port("leaf01", SERVER_PORT, frame_bytes=9022, mtu=1500), []),  # layer 2 has no MTU
]
LIV010: list[tuple[Change, list[str]]] = [
    (lambda v: v, [ONE_READING]),
    (lambda v: v.counts("leaf01", UPLINK, crc=7, rx_errors=7).earlier(), []),  # old ones
    (
        lambda v: v.earlier().counts("leaf01", UPLINK, crc=12, rx_errors=15),
        [
            "error leaf01 100GE1/0/31: CRC errors: 12 more in 60 s (0.2 a second)",
            "error leaf01 100GE1/0/31: errors: 3 more in 60 s (0.05 a second)",
        ],
    ),
    (
        lambda v: (
            v.counts("leaf01", UPLINK, crc=7, rx_errors=7)
            .earlier()
            .counts("leaf01", UPLINK, crc=1, rx_errors=1)
        ),
        ["not judged leaf01 100GE1/0/31: its counters were cleared between the two readings"],
    ),
    (lambda v: v.earlier().counts("leaf01", UPLINK, crc=None, rx_errors=None), []),
]
LIV011: list[tuple[Change, list[str]]] = [
    (lambda v: v, [ONE_READING]),
    (
        lambda v: v.earlier().counts("leaf01", UPLINK, rx_discards=6, tx_discards=60),
        [
            "warning leaf01 100GE1/0/31: input discards: 6 more in 60 s (0.1 a second)",
            "warning leaf01 100GE1/0/31: output discards: 60 more in 60 s (1 a second)",
        ],
    ),
    (lambda v: v.earlier().counts("leaf01", UPLINK, crc=6), []),
]
TABLES = {
    "LIV006": LIV006,
    "LIV007": LIV007,
    "LIV008": LIV008,
    "LIV009": LIV009,
    "LIV010": LIV010,
    "LIV011": LIV011,
}


@pytest.mark.parametrize(
    ("rule_id", "change", "said"),
    [(name, *case) for name, table in TABLES.items() for case in table],
)
def test_every_rule_says_what_is_wrong_and_no_more(
    live: Any, rule_id: str, change: Change, said: list[str]
) -> None:
    assert change(live).says(rule_id) == said
