"""Rules on exits: exact messages on faulty fabrics with exits, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

import pytest

from rocefort.models.device.interface import Interface, InterfacePfc
from rocefort.models.device.routing import (
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
    StaticRoute,
)
from rocefort.models.network.exits import Exit, PrefixRange

Change = Callable[[Any], Any]
DEFAULT = IPv4Network("0.0.0.0/0")
ALL = PrefixEntry(index=5, prefix=DEFAULT, greater_equal=0, less_equal=32)
WAN = Exit(
    name="wan",
    leaf="leaf01",
    port="100GE1/0/9",
    address=IPv4Interface("192.0.2.1/31"),
    peer=IPv4Address("192.0.2.0"),
    asn=64900,
    default="accept",
    accepts=(PrefixRange(prefix=IPv4Network("172.16.0.0/12"), longest=12),),
    announces=(IPv4Network("10.10.0.0/16"),),
)
PORT = Interface(name="100GE1/0/9", routed=True, addresses=(WAN.address,), mtu=9000, domain="none")
METH = Interface(name="MEth0/0/0", addresses=(IPv4Interface("10.255.0.1/24"),))
TO_MANAGEMENT = StaticRoute(prefix=DEFAULT, next_hop=IPv4Address("10.255.0.254"))


def _policies(
    inside: tuple[PrefixEntry, ...], outside: tuple[PrefixEntry, ...]
) -> dict[str, tuple[Any, ...]]:
    return {
        "prefix_lists": (
            PrefixList(name="IN", entries=inside),
            PrefixList(name="OUT", entries=outside),
        ),
        "route_policies": tuple(
            RoutePolicy(name=name, nodes=(PolicyNode(node=10, match_prefix_list=name),))
            for name in ("IN", "OUT")
        ),
    }


INSIDE = (
    PrefixEntry(index=1, prefix=DEFAULT),
    PrefixEntry(index=2, prefix=IPv4Network("172.16.0.0/12")),
)
OUTSIDE = (PrefixEntry(index=1, prefix=IPv4Network("10.10.0.0/16")),)


def _exit(small: Any, **peer: Any) -> Any:
    """leaf01 with an exit to the WAN, as intended."""
    device = small.network.by_name["leaf01"].device
    row = {"import_policy": "IN", "export_policy": "OUT", "active": True} | peer
    more = BgpPeer(address=WAN.peer, **{"asn": 64900} | row)
    return (
        small.change(exits=(WAN,))
        .device(
            "leaf01",
            interfaces=(*device.interfaces, PORT),
            **_policies(INSIDE, OUTSIDE),
        )
        .bgp("leaf01", peers=(*device.bgp.peers, more))
    )


BGP003: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (_exit, []),
    (
        lambda s: _exit(s, import_policy=None),
        ["error leaf01: peer 192.0.2.0 outside has no import policy"],
    ),
    (
        lambda s: _exit(s, export_policy=None),
        ["error leaf01: peer 192.0.2.0 outside has no export policy"],
    ),
    (
        lambda s: _exit(s, import_policy=None, export_policy=None),
        ["error leaf01: peer 192.0.2.0 outside has no import and no export policy"],
    ),
    (
        lambda s: _exit(s, import_policy=None).change(exits=None),
        [
            "not judged leaf01: whether a peer that is not among the texts is external is not "
            "known, and it has no import policy"
        ],
    ),
]
BGP004: list[tuple[Change, list[str]]] = [
    (lambda s: s.change(exits=()), []),
    (_exit, []),
    (
        lambda s: s.change(exits=None),
        ["not judged fabric: the prefixes that an exit accepts and announces are not known"],
    ),
    (
        lambda s: _exit(s).unpeer("leaf01", "192.0.2.0"),
        ["error leaf01: no BGP peer 192.0.2.0 for exit wan"],
    ),
    (
        lambda s: _exit(s, asn=64901),
        ["error leaf01: peer 192.0.2.0 of exit wan is in AS 64901, intended 64900"],
    ),
    (
        lambda s: _exit(s).device("leaf01", **_policies((ALL,), OUTSIDE)),
        ["error leaf01: exit wan: IN lets 10.0.1.1/32 in, against the intent"],
    ),
    (
        lambda s: _exit(s).device("leaf01", **_policies(INSIDE[:1], OUTSIDE)),
        ["error leaf01: exit wan: IN does not let 172.16.0.0/12 in, against the intent"],
    ),
    (
        lambda s: _exit(s).device("leaf01", **_policies(INSIDE, (*OUTSIDE, INSIDE[1]))),
        ["error leaf01: exit wan: OUT lets 172.16.0.0/12 out, against the intent"],
    ),
    (
        lambda s: _exit(s).device("leaf01", **_policies(INSIDE, INSIDE[:1])),
        [
            "error leaf01: exit wan: OUT does not let 10.10.0.0/16 out, against the intent",
            "error leaf01: exit wan: OUT lets 0.0.0.0/0 out, against the intent",
        ],
    ),
    (  # a policy that is not there lets nothing through
        lambda s: _exit(s, import_policy="NONE"),
        ["error leaf01: exit wan: NONE does not let 0.0.0.0/0 in, against the intent"],
    ),
]


def _managed(small: Any, **fields: Any) -> Any:
    rest = small.network.by_name["leaf01"].device.interfaces
    ports = tuple(i for i in rest if i.kind != "management")
    return small.device(
        "leaf01",
        interfaces=(METH.model_copy(update=fields), *ports),
        static_routes=(TO_MANAGEMENT,),
    )


COMPETES = "error leaf01: the default route to 10.255.0.254 by the management port competes with "
BGP005: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (_managed, []),  # nothing else brings a default route
    (
        lambda s: _managed(_exit(s)),
        [
            "error leaf01: the default route to 10.255.0.254 by the management port competes with "
            "that of exit wan"
        ],
    ),
    (  # in a table of its own
        lambda s: _managed(_exit(s), vrf="MGMT").device(
            "leaf01", static_routes=(TO_MANAGEMENT.model_copy(update={"vrf": "MGMT"}),)
        ),
        [],
    ),
    (
        lambda s: _managed(_exit(s).change(exits=None)),
        [f"{COMPETES}that of route-policy IN"],
    ),
    (
        lambda s: _managed(s).device(
            "leaf01",
            static_routes=(
                TO_MANAGEMENT,
                StaticRoute(prefix=DEFAULT, next_hop=IPv4Address("10.1.1.2")),
            ),
        ),
        [f"{COMPETES}that of the static route to 10.1.1.2"],
    ),
    (  # not the default route
        lambda s: _managed(_exit(s)).device(
            "leaf01",
            static_routes=(
                TO_MANAGEMENT.model_copy(update={"prefix": IPv4Network("10.250.0.0/16")}),
            ),
        ),
        [],
    ),
]
PFC006: list[tuple[Change, list[str]]] = [
    (_exit, []),
    (
        lambda s: _exit(s).port("leaf01", "100GE1/0/9", pfc=InterfacePfc()),
        [
            "error leaf01 100GE1/0/9: exit wan is not lossless, but its port pauses and obeys "
            "pauses (PFC)"
        ],
    ),
    (
        lambda s: _exit(s).port("leaf01", "100GE1/0/9", domain=None),
        [
            "error leaf01 100GE1/0/9: exit wan is not lossless, but its port trusts the "
            "priorities of packets from outside"
        ],
    ),
    (
        lambda s: (
            _exit(s)
            .change(exits=(WAN.model_copy(update={"lossless": True}),))
            .port("leaf01", "100GE1/0/9", pfc=InterfacePfc(), domain="roce")
        ),
        [],
    ),
]
TABLES = {
    "BGP003": BGP003,
    "BGP004": BGP004,
    "BGP005": BGP005,
    "PFC006": PFC006,
}
CASES = [
    pytest.param(name, change, said, id=f"{name}-{number}")
    for name, table in TABLES.items()
    for number, (change, said) in enumerate(table)
]


@pytest.mark.parametrize(("rule", "change", "said"), CASES)
def test_what_a_rule_says(small: Any, rule: str, change: Change, said: list[str]) -> None:
    assert change(small).says(rule) == said


def test_a_session_with_the_outside_needs_no_other_end(small: Any) -> None:
    assert _exit(small).says("BGP001") == []
