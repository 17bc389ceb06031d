"""A switch as FRR and kernel configuration: golden files, features left out, refusals."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import Refused
from rocefort.dialects.frr import Features, SwitchPlan, delta, plan_switch
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Bond, Interface
from rocefort.models.device.packet_filters import (
    Behavior,
    Classifier,
    ClassifierBinding,
    FilterAcl,
    FilterRule,
    Filters,
    PortRange,
    TrafficPolicy,
)
from rocefort.models.device.routing import (
    Bfd,
    Bgp,
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
    StaticRoute,
    Vrf,
)
from rocefort.models.network.network import Network

GOLDEN = Path(__file__).parents[1] / "golden" / "frr"
LEAN = Features(vrf=False, vlan=False, bonding=False, hash_seed=False)
ANY = IPv4Network("0.0.0.0/0")


def port(name: str, **fields: Any) -> Interface:
    return Interface(name=name, **fields)


def entry(index: int, prefix: str, **fields: Any) -> PrefixEntry:
    return PrefixEntry(index=index, prefix=IPv4Network(prefix), **fields)


PEERS = (
    BgpPeer(address=IPv4Address("10.1.0.0"), asn=65000, group="SPINE", active=True),
    BgpPeer(
        address=IPv4Address("10.1.0.2"),
        asn=65000,
        group="SPINE",
        active=True,
        import_policy="IN",
        keepalive_s=1,
        hold_s=3,
    ),
    BgpPeer(address=IPv4Address("10.9.0.1"), asn=64900, bfd_enabled=True, description="out"),
    BgpPeer(address=IPv4Address("10.9.0.3"), active=True),  # no AS number: does nothing
)
GROUP = BgpGroup(
    name="SPINE",
    active=True,
    bfd_enabled=True,
    bfd=Bfd(min_tx_ms=10, min_rx_ms=300),
    export_policy="OUT",
)
BGP = Bgp(
    asn=65101,
    router_id=IPv4Address("10.0.1.1"),
    groups=(GROUP,),
    peers=PEERS,
    networks=(IPv4Network("10.0.1.1/32"), IPv4Network("10.110.0.0/24")),
    maximum_paths=32,
    as_path_relax=True,
)
RULES = (
    FilterRule(
        index=5,
        protocol="udp",
        source=IPv4Network("10.110.0.0/24"),
        destination=ANY,
        destination_ports=PortRange(low=4791, high=4791),
    ),
    FilterRule(
        index=10, action="deny", protocol="tcp", source_ports=PortRange(low=1, high=1023), dscp=26
    ),
    FilterRule(index=15),
)
FILTERS = Filters(
    acls=(FilterAcl(name="3110", rules=RULES),),
    classifiers=(Classifier(name="C", acls=("3110",)),),
    behaviors=(Behavior(name="B"),),
    policies=(
        TrafficPolicy(name="P", bindings=(ClassifierBinding(classifier="C", behavior="B"),)),
    ),
)
WIDE = Device(
    name="leaf01",
    vlans=(110, 120),
    bfd=True,
    vrfs=(Vrf(name="OOB", ipv4=True),),
    interfaces=(
        port("MEth0/0/0", vrf="OOB", addresses=(IPv4Interface("10.255.0.9/24"),)),
        port("LoopBack0", addresses=(IPv4Interface("10.0.1.1/32"),)),
        port("LoopBack1", enabled=False, addresses=(IPv4Interface("10.0.2.1/32"),)),
        port(
            "Vlanif110",
            mtu=9000,
            addresses=(IPv4Interface("10.110.0.1/24"), IPv4Interface("10.111.0.1/24")),
            filter_in="P",
        ),
        port("Vlanif120", enabled=False, addresses=(IPv4Interface("10.120.0.1/24"),)),
        port("Eth-Trunk1", access_vlan=110, bond=Bond(mode="lacp-static", lacp_timeout="fast")),
        port("25GE1/0/1", eth_trunk=1),
        port("25GE1/0/2", eth_trunk=1),
        port("25GE1/0/3", access_vlan=120),
        port("25GE1/0/4", link_type="trunk", trunk_vlans=(110, 120, 130)),
        port("25GE1/0/5", enabled=False, access_vlan=110),
        port("100GE1/0/1", routed=True, mtu=9000, addresses=(IPv4Interface("10.1.0.1/31"),)),
        port("100GE1/0/2", routed=True, addresses=(IPv4Interface("10.1.0.3/31"),), filter_out="P"),
    ),
    static_routes=(
        StaticRoute(prefix=ANY, next_hop=IPv4Address("10.9.0.1")),
        StaticRoute(prefix=IPv4Network("10.200.0.0/16"), preference=100),
        StaticRoute(prefix=ANY, next_hop=IPv4Address("10.255.0.254"), vrf="OOB"),
    ),
    prefix_lists=(
        PrefixList(
            name="L",
            entries=(
                entry(10, "10.0.0.0/8", greater_equal=8, less_equal=24),
                entry(20, "0.0.0.0/0", greater_equal=32, less_equal=32, action="deny"),
                entry(30, "10.110.0.0/24", less_equal=32),
                entry(40, "10.120.0.0/24"),
                entry(50, "10.0.0.0/8", greater_equal=16),
            ),
        ),
        PrefixList(name="NONE"),
    ),
    route_policies=(
        RoutePolicy(
            name="IN",
            nodes=(
                PolicyNode(node=10, action="deny", match_prefix_list="NONE"),
                PolicyNode(node=20),
            ),
        ),
        RoutePolicy(name="OUT", nodes=(PolicyNode(node=10, match_prefix_list="L"),)),
        RoutePolicy(name="EMPTY"),
    ),
    bgp=BGP,
    filters=FILTERS,
)


def written(plan: SwitchPlan) -> str:
    """Return a plan as text: the commands that create it."""
    plan_lines = delta(SwitchPlan(name=plan.name), plan)
    parts = [("ip -batch", "\n".join(plan_lines.ip) + "\n"), ("nft -f", plan_lines.nft)]
    parts += [("sysctl", "".join(f"{name} = {value}\n" for name, value in plan_lines.sysctls))]
    parts += list(plan_lines.start)
    parts += [("notes", "".join(f"{note}\n" for note in plan.notes))]
    return "\n".join(f"##### {title}\n{text}" for title, text in parts if text)


def agrees(name: str, text: str, *, update: bool) -> None:
    path = GOLDEN / f"{name}.txt"
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["leaf01", "spine01"])
def test_a_switch_of_heps(heps_network: Network, name: str, golden_update: bool) -> None:
    plan = plan_switch(heps_network.by_name[name].device, LEAN)
    agrees(f"heps-{name}", written(plan), update=golden_update)


def test_all_that_a_switch_can_say(golden_update: bool) -> None:
    agrees("all", written(plan_switch(WIDE)), update=golden_update)


def test_what_a_lean_kernel_leaves_out(golden_update: bool) -> None:
    agrees(
        "all-on-a-lean-kernel", written(plan_switch(WIDE, LEAN, bfd=False)), update=golden_update
    )


def test_the_same_device_gives_the_same_plan(heps_network: Network) -> None:
    device = heps_network.by_name["leaf01"].device
    again = Device.model_validate_json(device.model_dump_json())
    assert plan_switch(again) == plan_switch(device)
    assert SwitchPlan.model_validate_json(plan_switch(device).model_dump_json()) == plan_switch(
        device
    )


def test_sessions_that_can_come_up() -> None:
    assert plan_switch(WIDE).peers == ("10.1.0.0", "10.1.0.2")


REFUSED = [
    (
        {
            "bgp": BGP.model_copy(
                update={"peers": (PEERS[0].model_copy(update={"source_interface": "LoopBack0"}),)}
            )
        },
        "leaf01 peer 10.1.0.0: its session starts from LoopBack0, not from the link; let it start "
        "from the link, or leave the line out",
    ),
    (
        {"bgp": BGP.model_copy(update={"peers": (PEERS[0].model_copy(update={"group": "X"}),)})},
        "leaf01 peer 10.1.0.0: group X does not exist; define it, or remove the reference",
    ),
    (
        {"route_policies": tuple(p for p in WIDE.route_policies if p.name != "IN")},
        "leaf01 peer 10.1.0.2: route-policy IN does not exist; define it, or remove the reference",
    ),
    (
        {"prefix_lists": WIDE.prefix_lists[1:]},
        "leaf01 route-policy OUT node 10: ip-prefix L does not exist; define it, or remove the "
        "reference",
    ),
    (
        {"static_routes": (StaticRoute(prefix=ANY, preference=254),)},
        "leaf01 ip route-static 0.0.0.0/0 NULL0: preference 254 is not below that of BGP in the "
        "twin; use a preference below 254",
    ),
    (
        {"prefix_lists": (*WIDE.prefix_lists, PrefixList(name="10.0.0.1"))},
        "leaf01 ip-prefix '10.0.0.1': not one word of FRR; use letters, digits, '.', '_' and '-', "
        "and no address",
    ),
    (
        {
            "prefix_lists": (
                *WIDE.prefix_lists,
                PrefixList(name="Z", entries=(entry(1, "10.0.0.0/16", less_equal=8),)),
            )
        },
        "leaf01 ip-prefix Z index 1: no route is in 10.0.0.0/16 and at most /8 long; use length "
        "<= greater-equal <= less-equal",
    ),
    (
        {"filters": Filters()},
        "leaf01 100GE1/0/2: traffic policy P does not exist; define it, or remove the reference\n"
        "leaf01 Vlanif110: traffic policy P does not exist; define it, or remove the reference",
    ),
    (
        {
            "bgp": BGP.model_copy(
                update={"groups": (GROUP.model_copy(update={"asn": 65009}),), "peers": PEERS[:1]}
            )
        },
        "leaf01 peer 10.1.0.0: AS 65000 is not that of its group SPINE, 65009; give the number in "
        "one place",
    ),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED)
def test_what_the_twin_would_do_otherwise_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused) as refused:
        plan_switch(WIDE.model_copy(update=fields))
    assert str(refused.value) == message
