"""ADR rules: exact messages on faulty fabrics, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

import pytest

from rocefort.models.network.network import End, Link

Change = Callable[[Any], Any]


def _one(address: str) -> tuple[IPv4Interface, ...]:
    return (IPv4Interface(address),)


def _bare_link(small: Any) -> Any:
    """A switched link between the leaves' server ports."""
    ends = [End(device=leaf, interface="100GE1/0/1") for leaf in ("leaf01", "leaf02")]
    return small.change(links=(*small.network.links, Link(a=ends[0], b=ends[1])))


ADR001: list[tuple[Change, list[str]]] = [
    (
        lambda s: s.port("leaf02", "LoopBack0", addresses=_one("10.0.1.1/32")),
        [
            "error leaf02 LoopBack0: address 10.0.1.1 of leaf02 LoopBack0 is also that of "
            "leaf01 LoopBack0"
        ],
    ),
    (
        lambda s: s.bgp("leaf02", router_id=IPv4Address("10.0.1.1")),
        ["error leaf02: router id 10.0.1.1 of leaf02 is also that of leaf01 LoopBack0"],
    ),
    (
        lambda s: s.bgp("leaf01", router_id=IPv4Address("10.9.9.9")).bgp(
            "leaf02", router_id=IPv4Address("10.9.9.9")
        ),
        ["error leaf02: router id 10.9.9.9 of leaf02 is also that of leaf01"],
    ),
    (
        lambda s: s.server(1, address=IPv4Interface("10.10.1.1/24")),
        [
            "error leaf02 100GE1/0/1: address 10.10.1.1 of server node2 is also that of "
            "leaf01 Vlanif10"
        ],
    ),
    (  # the router's own loopback, and two subnets that differ in length only
        lambda s: s.bgp("leaf01", router_id=IPv4Address("10.10.1.1")),
        [],
    ),
    (lambda s: s.server(1, address=IPv4Interface("10.10.1.12/24")), []),
    (
        lambda s: s.change(servers=None),
        ["not judged fabric: the servers are not known, so their ports cannot be judged"],
    ),
]

ADR002: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.bgp("leaf02", asn=65101),
        ["error leaf02: AS 65101 is also the AS of leaf01; a leaf needs an AS of its own"],
    ),
    (
        lambda s: s.bgp("leaf02", asn=65000),
        ["error leaf02: AS 65000 is also the AS of spine01; a leaf needs an AS of its own"],
    ),
    (lambda s: s.bgp("spine02", asn=65001), []),
    (
        lambda s: s.change(
            nodes=(
                *s.network.nodes,
                s.bgp("spine02", asn=65001).network.by_name["spine02"],
            )
        ),
        [
            "error fabric: the spines have the AS numbers 65000, 65000 and 65001; "
            "they must all share one or each have its own"
        ],
    ),
]

ADR003: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port("leaf01", "100GE1/0/31", addresses=_one("10.1.1.9/31")),
        [
            "error spine01 100GE1/0/1: 10.1.1.2/31 here and 10.1.1.9/31 at leaf01 100GE1/0/31 "
            "are not in one subnet"
        ],
    ),
    (
        lambda s: s.port("leaf01", "100GE1/0/31", addresses=_one("10.1.1.3/30")),
        [
            "error leaf01 100GE1/0/31: 10.1.1.3/30 here and 10.1.1.2/31 at spine01 100GE1/0/1 "
            "are not in one subnet"
        ],
    ),
    (  # the other links decide which mask is the odd one
        lambda s: s.port("spine01", "100GE1/0/1", addresses=_one("10.1.1.2/30")),
        [
            "error spine01 100GE1/0/1: 10.1.1.2/30 here and 10.1.1.3/31 at leaf01 100GE1/0/31 "
            "are not in one subnet"
        ],
    ),
    (
        lambda s: s.port("leaf01", "100GE1/0/31", addresses=()),
        [
            "error leaf01 100GE1/0/31: no address on the link to spine01 100GE1/0/1; "
            "both ends of a routed link need one"
        ],
    ),
    (
        lambda s: s.port("leaf01", "100GE1/0/31", addresses=_one("10.1.1.1/30")).port(
            "spine01", "100GE1/0/1", addresses=_one("10.1.1.2/30")
        ),
        [],
    ),
    (_bare_link, []),
    (
        lambda s: _bare_link(s.node("leaf01", role=None)),
        [
            "not judged leaf01 100GE1/0/1: no address at either end; without roles it may be an "
            "intended switched link"
        ],
    ),
]


@pytest.mark.parametrize(("change", "says"), ADR001)
def test_adr001_unique_addresses(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ADR001") == says


@pytest.mark.parametrize(("change", "says"), ADR002)
def test_adr002_unique_asns(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ADR002") == says


@pytest.mark.parametrize(("change", "says"), ADR003)
def test_adr003_one_subnet_per_link(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("ADR003") == says
