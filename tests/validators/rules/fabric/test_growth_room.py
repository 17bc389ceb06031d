"""Rules on oversubscription, free ports and names: exact messages, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.network.network import Reserved

Change = Callable[[Any], Any]


def _breakout(small: Any) -> Any:
    """A server on a quarter of leaf01's first port, which is a fabric port here too."""
    port = small.network.servers[0].port.model_copy(update={"interface": "100GE1/0/30:1"})
    fabric_ports = ("100GE1/0/30-32",)
    return small.server(0, port=port, speed_gbps=25).hardware("leaf01", fabric_ports=fabric_ports)


def _double_links(small: Any) -> Any:
    """Two links between each leaf and spine."""
    doubled = [
        link.model_copy(
            update={
                side: getattr(link, side).model_copy(
                    update={"interface": getattr(link, side).interface.replace("/0/", "/0/1")}
                )
                for side in ("a", "b")
            }
        )
        for link in small.network.links
    ]
    return small.change(links=(*small.network.links, *doubled))


TOP005: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: s.change(oversubscription=0.5), []),  # 100 to 200 is exactly the limit
    (
        lambda s: s.change(oversubscription=0.4),
        [
            "error leaf01: 100 Gb/s of servers and 200 Gb/s of uplinks are 0.50 to 1; "
            "the policy allows 0.4 to 1",
            "error leaf02: 100 Gb/s of servers and 200 Gb/s of uplinks are 0.50 to 1; "
            "the policy allows 0.4 to 1",
        ],
    ),
    (lambda s: s.server(0, speed_gbps=600), []),
    (
        lambda s: s.server(0, speed_gbps=601),
        [
            "error leaf01: 601 Gb/s of servers and 200 Gb/s of uplinks are 3.00 to 1; "
            "the policy allows 3 to 1"
        ],
    ),
    (lambda s: s.change(servers=()), []),
    (  # 100 Gb/s of one link is left
        lambda s: s.server(0, speed_gbps=400).change(links=s.network.links[2:]),
        [
            "error leaf01: 400 Gb/s of servers and 100 Gb/s of uplinks are 4.00 to 1; "
            "the policy allows 3 to 1"
        ],
    ),
    (  # a link runs at the speed of its slower end
        lambda s: s.server(0, speed_gbps=400).link(
            0, b=s.network.links[0].b.model_copy(update={"interface": "25GE1/0/31"})
        ),
        [
            "error leaf01: 400 Gb/s of servers and 125 Gb/s of uplinks are 3.20 to 1; "
            "the policy allows 3 to 1"
        ],
    ),
    (
        lambda s: s.change(links=s.network.links[1::2]),  # leaf01 has none
        [
            "error leaf01: 100 Gb/s of servers and 0 Gb/s of uplinks are without any uplink; "
            "the policy allows 3 to 1"
        ],
    ),
    (
        lambda s: s.link(0, b=s.network.links[0].b.model_copy(update={"interface": "Eth-Trunk1"})),
        ["not judged leaf01: the speed of an uplink is not known from its name"],
    ),
    (
        lambda s: s.change(oversubscription=None),
        ["not judged fabric: no policy limits oversubscription (policy.oversubscription)"],
    ),
]


def _reserve(small: Any, spines: int, leaves: int, links: int = 1) -> Any:
    return small.change(reserved=Reserved(spines=spines, leaves=leaves, links_per_pair=links))


def _wide_leaves(small: Any, ports: str) -> Any:
    """Other fabric ports on both leaves."""
    return small.hardware("leaf01", fabric_ports=(ports,)).hardware("leaf02", fabric_ports=(ports,))


TOP006: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _reserve(s, 2, 32), []),
    (
        lambda s: _reserve(s, 2, 33),
        [
            f"error spine0{n}: 30 fabric ports free, but 31 needed for 31 more leaves of the "
            "reserved capacity"
            for n in (1, 2)
        ],
    ),
    (
        lambda s: _reserve(s, 3, 2),
        [
            f"error leaf0{n}: 0 fabric ports free, but 1 needed for 1 more spines of the "
            "reserved capacity"
            for n in (1, 2)
        ],
    ),
    (  # a third fabric port on both leaves is enough for a third spine
        lambda s: _reserve(
            s.hardware("leaf01", fabric_ports=("100GE1/0/30-32",)).hardware(
                "leaf02", fabric_ports=("100GE1/0/30-32",)
            ),
            3,
            2,
        ),
        [],
    ),
    (  # a breakout port is in use as a whole
        lambda s: _reserve(_breakout(s).hardware("leaf02", fabric_ports=("100GE1/0/30-32",)), 3, 2),
        [
            "error leaf01: 0 fabric ports free, but 1 needed for 1 more spines of the reserved "
            "capacity"
        ],
    ),
    (  # two links for each pair to come; four of 32 spine ports are in use
        lambda s: _reserve(_double_links(s), 2, 16),
        [],
    ),
    (
        lambda s: _reserve(_double_links(s), 2, 17),
        [
            f"error spine0{n}: 28 fabric ports free, but 30 needed for 15 more leaves of the "
            "reserved capacity"
            for n in (1, 2)
        ],
    ),
    (  # second links: to 16 leaves, and two ports of each leaf
        lambda s: _reserve(_wide_leaves(s, "100GE1/0/29-32"), 2, 16, 2),
        [],
    ),
    (
        lambda s: _reserve(_wide_leaves(s, "100GE1/0/30-32"), 2, 17, 2),
        [
            *(
                f"error leaf0{n}: 1 fabric port free, but 2 needed for 2 more links to those there "
                "of the reserved capacity"
                for n in (1, 2)
            ),
            *(
                f"error spine0{n}: 30 fabric ports free, but 32 needed for 15 more leaves and 2 "
                "more links to those there of the reserved capacity"
                for n in (1, 2)
            ),
        ],
    ),
    (  # without links one for each pair is counted on
        lambda s: _reserve(s.change(links=()), 2, 34),
        [],
    ),
    (
        lambda s: _reserve(s.change(links=()), 2, 35),
        [
            f"error spine0{n}: 32 fabric ports free, but 33 needed for 33 more leaves of the "
            "reserved capacity"
            for n in (1, 2)
        ],
    ),
    (
        lambda s: s.change(reserved=None),
        ["not judged fabric: the reserved capacity of the fabric is not known"],
    ),
    (
        lambda s: s.node("leaf01", hardware=None),
        ["not judged leaf01: the hardware model is not known"],
    ),
]


def _renamed(small: Any, old: str, new: str) -> Any:
    device = small.network.by_name[old].device.model_copy(update={"name": new})
    return small.node(old, device=device)


ADR004: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: _renamed(s, "leaf02", "LEAF01"),
        [
            "error leaf01: switch leaf01 has the name of switch LEAF01; host names ignore upper "
            "and lower case"
        ],
    ),
    (lambda s: _renamed(s, "leaf02", "LEAF02"), []),
    (
        lambda s: s.server(1, name="Spine01"),
        [
            "error leaf02 100GE1/0/1: server Spine01 has the name of switch spine01; host names "
            "ignore upper and lower case"
        ],
    ),
    (
        lambda s: s.server(1, name="node1"),
        [
            "error leaf02 100GE1/0/1: server node1 has the name of server node1; host names "
            "ignore upper and lower case"
        ],
    ),
    (
        lambda s: s.change(servers=None),
        ["not judged fabric: the servers are not known, so their ports cannot be judged"],
    ),
]


@pytest.mark.parametrize(("change", "says"), TOP005)
def test_top005_oversubscription(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP005") == says


@pytest.mark.parametrize(("change", "says"), TOP006)
def test_top006_ports_for_growth(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("TOP006") == says


@pytest.mark.parametrize(("change", "says"), ADR004)
def test_adr004_unique_names(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ADR004") == says
