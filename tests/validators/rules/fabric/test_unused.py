"""TXT008: exact messages on objects that nothing uses, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.models.device.lossless_queue import DropProfile, QueueMarking
from rocefort.models.device.packet_filters import (
    Behavior,
    Classifier,
    ClassifierBinding,
    FilterAcl,
    Filters,
    TrafficPolicy,
)
from rocefort.models.device.routing import FACTORY_VRF, PolicyNode, PrefixList, RoutePolicy, Vrf
from rocefort.models.network.network import TextLine

Change = Callable[[Any], Any]
PEER, PORT = "10.1.1.2", "100GE1/0/1"


def _says(*objects: str) -> list[str]:
    return [f"warning leaf01: {each}" for each in objects]


def _filters(small: Any) -> Any:
    filters = Filters(
        acls=(FilterAcl(name="3000"), FilterAcl(name="spare")),
        classifiers=(Classifier(name="C", acls=("3000",)), Classifier(name="old")),
        behaviors=(Behavior(name="B"), Behavior(name="rest")),
        policies=(
            TrafficPolicy(
                name="VLAN120", bindings=(ClassifierBinding(classifier="C", behavior="B"),)
            ),
        ),
    )
    return small.device("leaf01", filters=filters)


UNBOUND = ("ACL spare", "traffic behavior rest", "traffic classifier old")


def _policies(small: Any) -> Any:
    rows = [
        RoutePolicy(name=name, nodes=(PolicyNode(node=10, match_prefix_list=lists),))
        for name, lists in (("IN", "HERE"), ("OLD", None))
    ]
    lists = (PrefixList(name="HERE"), PrefixList(name="GONE"))
    changed = small.device("leaf01", route_policies=tuple(rows), prefix_lists=lists)
    return changed.peer("leaf01", PEER, import_policy="IN")


def _table(small: Any, name: str, port: str = "", *, ipv4: bool = True) -> Any:
    changed = small.port("leaf01", port, vrf=name) if port else small
    return changed.device("leaf01", vrfs=(Vrf(name=name, ipv4=ipv4),))


TXT008: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (
        _filters,
        [
            "warning leaf01: traffic policy VLAN120 is not used",
            *_says(*(f"{each} is not used" for each in UNBOUND)),
        ],
    ),
    (
        lambda s: _filters(s).port("leaf01", PORT, filter_in="VLAN120"),
        _says(*(f"{each} is not used" for each in UNBOUND)),
    ),
    (  # a line that no model has may name it
        lambda s: _filters(s).node(
            "leaf01", unmodelled=(TextLine((), "vlan 10 traffic-policy VLAN120 inbound", 9),)
        ),
        _says(*(f"{each} is not used" for each in UNBOUND)),
    ),
    (_policies, _says("prefix list GONE is not used", "route-policy OLD is not used")),
    (
        lambda s: s.device("leaf01", drop_profiles=(DropProfile(name="roce"),)),
        _says("drop profile roce is not used"),
    ),
    (
        lambda s: s.device(
            "leaf01", drop_profiles=(DropProfile(name="roce"), DropProfile(name="default"))
        ).port("leaf01", PORT, markings=(QueueMarking(queue=4, profile="roce"),)),
        [],
    ),
    (lambda s: s.device("leaf01", vty=()), _says("ACL 2000 is not used")),
    (lambda s: _table(s, "MGMT"), _says("routing table MGMT has no interface")),
    (lambda s: _table(s, "MGMT", "MEth0/0/0"), []),
    (
        lambda s: _table(s, "MGMT", "MEth0/0/0", ipv4=False),
        _says("routing table MGMT has no IPv4 family, so its addresses are not in use"),
    ),
    (lambda s: _table(s, FACTORY_VRF), []),
]


@pytest.mark.parametrize(("change", "says"), TXT008)
def test_txt008_used_objects(small: Any, change: Change, says: list[str]) -> None:
    assert sorted(change(small).says("TXT008")) == sorted(says)
