"""TXT007 and TOP009: exact messages on names and VLANs that are not defined."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

from rocefort.models.device.interface import Interface, InterfacePfc
from rocefort.models.device.management import (
    Collector,
    DestinationGroup,
    Sampling,
    Snmp,
    SnmpGroup,
    SnmpUser,
    SnmpView,
    Subscription,
    Syslog,
    Telemetry,
)
from rocefort.models.device.routing import (
    FACTORY_VRF,
    BgpGroup,
    PolicyNode,
    RoutePolicy,
    StaticRoute,
)

Change = Callable[[Any], Any]
PEER, PORT = "10.1.1.2", "100GE1/0/1"


def _says(*names: str) -> list[str]:
    return [f"warning leaf01: {name} is not defined" for name in names]


def _node(small: Any, lists: str) -> Any:
    node = PolicyNode(node=10, match_prefix_list=lists)
    return small.device("leaf01", route_policies=(RoutePolicy(name="IN", nodes=(node,)),))


def _route(small: Any, vrf: str) -> Any:
    route = StaticRoute(
        prefix=IPv4Network("0.0.0.0/0"), next_hop=IPv4Address("10.255.0.254"), vrf=vrf
    )
    return small.device("leaf01", static_routes=(route,))


def _snmp(small: Any, *views: str) -> Any:
    group = SnmpGroup(name="readers", read_view="all", notify_view="ViewDefault")
    users = (SnmpUser(name="nms", group="readers"), SnmpUser(name="old", group="gone"))
    rows = tuple(SnmpView(name=name) for name in views)
    return small.device("leaf01", snmp=Snmp(enabled=True, views=rows, groups=(group,), users=users))


def _telemetry(small: Any) -> Any:
    collector = Collector(address=IPv4Address("10.255.0.9"), port=57400, vrf="MGMT")
    subscription = Subscription(
        name="ports",
        source_interface="LoopBack7",
        samplings=(Sampling(group="queues"),),
        destinations=("here", "there"),
    )
    return small.device(
        "leaf01",
        telemetry=Telemetry(
            destination_groups=(DestinationGroup(name="here", collectors=(collector,)),),
            subscriptions=(subscription,),
        ),
    )


TXT007: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.peer("leaf01", PEER, import_policy="IN"),
        ["warning leaf01: route-policy IN is not defined"],
    ),
    (
        lambda s: s.bgp("leaf01", groups=(BgpGroup(name="S", export_policy="OUT"),)),
        _says("route-policy OUT"),
    ),
    (lambda s: s.peer("leaf01", PEER, group="S"), _says("BGP group S")),
    (lambda s: s.peer("leaf01", PEER, source_interface="LoopBack7"), _says("interface LoopBack7")),
    (lambda s: s.peer("leaf01", PEER, source_interface="LoopBack0"), []),
    (lambda s: _node(s, "HERE"), _says("prefix list HERE")),
    (lambda s: _route(s, "MGMT"), _says("routing table MGMT")),
    (lambda s: _route(s, FACTORY_VRF), []),
    (lambda s: s.port("leaf01", PORT, vrf="MGMT"), _says("routing table MGMT")),
    (lambda s: s.port("leaf01", PORT, domain="gone"), _says("map of priorities gone")),
    (lambda s: s.port("leaf01", PORT, domain="none"), []),
    (
        lambda s: s.port("leaf01", PORT, pfc=InterfacePfc(profile="gone")),
        _says("PFC profile gone"),
    ),
    (
        lambda s: s.device(
            "leaf01", ntp_vrf="MGMT", syslog=Syslog(vrf="MGMT", source_interface="Vlanif9")
        ),
        _says("interface Vlanif9", "routing table MGMT", "routing table MGMT"),
    ),
    (lambda s: s.device("leaf01", ntp_source="100GE1/0/9"), []),  # a port exists without a line
    (_snmp, _says("SNMP group gone", "SNMP view all")),
    (lambda s: _snmp(s, "all"), _says("SNMP group gone")),
    (
        _telemetry,
        _says(
            "destination group there",
            "interface LoopBack7",
            "routing table MGMT",
            "sensor group queues",
        ),
    ),
]


def _vlanif(small: Any, number: int) -> Any:
    device = small.network.by_name["leaf01"].device
    return small.device(
        "leaf01", interfaces=(*device.interfaces, Interface(name=f"Vlanif{number}"))
    )


TOP009: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        lambda s: s.port("leaf01", PORT, access_vlan=20),
        [f"error leaf01 {PORT}: it is in VLAN 20, which does not exist"],
    ),
    (lambda s: s.port("leaf01", PORT, access_vlan=1), []),
    (
        lambda s: s.port("leaf01", PORT, link_type="trunk", trunk_vlans=(1, 10, 20, 21)),
        [f"warning leaf01 {PORT}: its trunk has 20 and 21, which do not exist"],
    ),
    (
        lambda s: s.port("leaf01", PORT, link_type="trunk", trunk_vlans=tuple(range(2, 4095))),
        [],
    ),
    (
        lambda s: s.port("leaf01", PORT, link_type="trunk", trunk_vlans=tuple(range(20, 30))),
        [
            f"warning leaf01 {PORT}: its trunk has 20, 21, 22, 23, 24, 25, 26 and 27 and 2 more, "
            "which do not exist"
        ],
    ),
    (lambda s: _vlanif(s, 20), ["error leaf01 Vlanif20: its VLAN 20 does not exist"]),
]
TABLES = {
    "TXT007": TXT007,
    "TOP009": TOP009,
}


@pytest.mark.parametrize(
    ("rule", "change", "says"),
    [(rule, *case) for rule, cases in TABLES.items() for case in cases],
)
def test_references(small: Any, rule: str, change: Change, says: list[str]) -> None:
    assert sorted(change(small).says(rule)) == sorted(says)
