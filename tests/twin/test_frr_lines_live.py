"""A delta entered into running daemons gives the same configuration as a fresh start.

Every step has a switch of its own: two labs of all of them, in place of two for each step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

import pytest

from rocefort.dialects.frr import plan_switch
from rocefort.lab.twin.registry import Registry
from rocefort.lab.twin.twin import Twin, TwinOptions
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.packet_filters import (
    Behavior,
    Classifier,
    ClassifierBinding,
    FilterAcl,
    FilterRule,
    Filters,
    TrafficPolicy,
)
from rocefort.models.device.routing import (
    Bgp,
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
    StaticRoute,
)
from rocefort.models.network.network import Network, Node

pytestmark = pytest.mark.twin
CHOICE = TwinOptions(expected={})


def _list(name: str, *prefixes: str) -> PrefixList:
    entries = (PrefixEntry(index=10 * n, prefix=IPv4Network(p)) for n, p in enumerate(prefixes, 1))
    return PrefixList(name=name, entries=tuple(entries))


def _policy(name: str, uses: str | None = None) -> RoutePolicy:
    return RoutePolicy(name=name, nodes=(PolicyNode(node=10, match_prefix_list=uses),))


def _filters(action: str) -> Filters:
    rule = FilterRule.model_validate({"index": 5, "action": action, "protocol": "udp", "dscp": 26})
    return Filters(
        acls=(FilterAcl(name="3000", rules=(rule,)),),
        classifiers=(Classifier(name="C", acls=("3000",)),),
        behaviors=(Behavior(name="B"),),
        policies=(
            TrafficPolicy(name="P", bindings=(ClassifierBinding(classifier="C", behavior="B"),)),
        ),
    )


PEER = BgpPeer(address=IPv4Address("10.1.0.0"), asn=65000, group="SPINE", active=True)
OTHER = BgpPeer(address=IPv4Address("10.1.0.2"), asn=65001, active=True, import_policy="IN")
GROUP = BgpGroup(name="SPINE", active=True, keepalive_s=10, hold_s=30, export_policy="OUT")
BASE = Device(
    name="leaf01",
    bfd=True,
    vlans=(110,),
    interfaces=(
        Interface(name="Vlanif110", filter_in="P"),
        Interface(name="25GE1/0/1", access_vlan=110),
    ),
    filters=_filters("deny"),
    prefix_lists=(_list("L", "10.0.0.0/8", "10.1.0.0/16"), _list("M", "10.2.0.0/16")),
    route_policies=(_policy("IN", "M"), _policy("OUT", "L")),
    bgp=Bgp(
        asn=65101,
        router_id=IPv4Address("10.0.1.1"),
        groups=(GROUP,),
        peers=(PEER, OTHER),
        networks=(IPv4Network("10.0.1.1/32"),),
        maximum_paths=32,
    ),
)


def _bgp(**changes: object) -> Callable[[Device], Device]:
    def change(device: Device) -> Device:
        assert device.bgp
        return device.model_copy(update={"bgp": device.bgp.model_copy(update=changes)})

    return change


def _device(**changes: object) -> Callable[[Device], Device]:
    return lambda device: device.model_copy(update=changes)


def _group(**changes: object) -> Callable[[Device], Device]:
    return _bgp(groups=(GROUP.model_copy(update=changes),))


STEPS: dict[str, Callable[[Device], Device]] = {
    "timers": _group(keepalive_s=1, hold_s=3),
    "no timers": _group(keepalive_s=None, hold_s=None),
    "BFD": _group(bfd_enabled=True),
    "other policy": _group(export_policy="IN"),
    "no policy": _group(export_policy=None),
    "peer goes": _bgp(peers=(PEER,)),
    "group goes": _bgp(groups=(), peers=(OTHER,)),
    "peer leaves its group": _bgp(peers=(PEER.model_copy(update={"group": None}), OTHER)),
    "peer joins a group": _bgp(peers=(PEER, OTHER.model_copy(update={"group": "SPINE"}))),
    "other AS of a peer": _bgp(peers=(PEER, OTHER.model_copy(update={"asn": 65009}))),
    "description": _bgp(peers=(PEER, OTHER.model_copy(update={"description": "a b"}))),
    "not enabled": _bgp(peers=(PEER, OTHER.model_copy(update={"active": False}))),
    "relax": _bgp(as_path_relax=True),
    "one path": _bgp(maximum_paths=1),
    "networks": _bgp(networks=(IPv4Network("10.9.0.0/16"),)),
    "router id": _bgp(router_id=IPv4Address("10.0.1.9")),
    "other AS": _bgp(asn=65102),
    "list": _device(
        prefix_lists=(_list("L", "10.7.0.0/16"), _list("M", "10.2.0.0/16", "10.3.0.0/16"))
    ),
    "policy": _device(route_policies=(_policy("IN", "L"), _policy("OUT"))),
    "denying": _device(
        route_policies=(
            _policy("IN"),
            RoutePolicy(
                name="OUT", nodes=(PolicyNode(node=10, action="deny"), PolicyNode(node=20))
            ),
        )
    ),
    "no BGP": _device(bgp=None),
    "static routes": _device(static_routes=(StaticRoute(prefix=IPv4Network("10.8.0.0/16")),)),
    "filter": _device(filters=_filters("permit")),
    "no filter": _device(interfaces=(BASE.interfaces[0], Interface(name="Vlanif110"))),
}


QUICK = ("timers", "BFD", "peer goes", "peer leaves its group", "other AS", "list", "filter")
CASES = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.thorough) for name in STEPS
]
SWITCHES = {name: f"leaf{number:02}" for number, name in enumerate(STEPS, 1)}
Report = dict[str, list[str]]  # by daemon, and the filter


def _network(devices: Sequence[Device]) -> Network:
    nodes = tuple(Node(device=device) for device in devices)
    return Network(name="lines", origin="fabric", nodes=nodes)


def _reports(twin: Twin) -> dict[str, Report]:
    """Return reports of daemons and filters on themselves, by switch."""
    return {name: _report(twin, name) for name in twin.topology.by_switch}


def _report(twin: Twin, switch: str) -> Report:
    report = {}
    for name in twin.topology.by_switch[switch].texts:
        with twin.daemons(switch).vty(name) as vty:
            lines = vty.ask("show running-config").splitlines()
        report[name] = sorted(line for line in lines if line.strip(" !") and "log file" not in line)
    code, text = twin.run(switch, ["nft", "list", "ruleset"])
    assert code == 0, text
    report["nft"] = text.splitlines()
    return report


@dataclass(frozen=True)
class Reports:
    """Reports of daemons before, after and back again; fresh: of daemons started with the target."""

    before: dict[str, Report]
    after: dict[str, Report]
    back: dict[str, Report]
    fresh: dict[str, Report]


def _before(name: str) -> Device:
    return BASE.model_copy(update={"name": SWITCHES[name]})


def _after(name: str) -> Device:
    return STEPS[name](_before(name))


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest, registry: Registry) -> Reports:
    """Topology of all steps."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    mine = [item for item in items if item.module is request.module]
    steps = [str(item.callspec.params["name"]) for item in mine]
    old, new = (_network([device(name) for name in steps]) for device in (_before, _after))
    twin = Twin.up(new, "fresh", CHOICE, registry)
    fresh = _reports(twin)
    twin.down()
    twin = Twin.up(old, "lines", CHOICE, registry)
    before = _reports(twin)
    twin.apply(new, {})
    after = _reports(twin)
    twin.apply(old, {})
    back = _reports(twin)
    twin.down()
    return Reports(before, after, back, fresh)


@pytest.mark.parametrize("name", CASES)
def test_a_delta_ends_where_a_fresh_start_does(name: str, reports: Reports) -> None:
    switch = SWITCHES[name]
    expected = reports.fresh[switch]
    assert set(plan_switch(_after(name)).texts) == expected.keys() - {"nft"}
    assert reports.before[switch] != expected
    assert reports.after[switch] == expected
    assert reports.back[switch] == reports.before[switch]
