"""Delta between two plans: the lines for each change, and none for equal parts."""

from __future__ import annotations

import random
from ipaddress import IPv4Interface

import pytest
from efforts import tries

from rocefort.dialects.frr import LinkState, SwitchPlan, delta, plan_switch
from rocefort.dialects.frr.delta import line_delta
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.network.network import Network

BEFORE = """hostname leaf01
ip prefix-list L seq 10 permit 10.0.0.0/8
ip prefix-list L seq 20 permit 10.1.0.0/16
ip prefix-list M seq 10 permit 10.2.0.0/16
route-map P permit 10
 match ip address prefix-list L
route-map Q permit 10
router bgp 65101
 bgp router-id 10.0.1.1
 no bgp default ipv4-unicast
 neighbor SPINE peer-group
 neighbor SPINE timers 10 30
 neighbor SPINE bfd 3 300 300
 neighbor 10.1.0.0 remote-as 65000
 neighbor 10.1.0.0 peer-group SPINE
 neighbor 10.1.0.0 description one
 address-family ipv4 unicast
  network 10.0.1.1/32
  maximum-paths 32
  neighbor SPINE activate
  neighbor SPINE route-map P out
 exit-address-family
"""
BGP, FAMILY = "router bgp 65101", "address-family ipv4 unicast"
# Replacement in the text, and the lines that are then entered.
CHANGES: list[tuple[str, str, list[str]]] = [
    (" timers 10 30", " timers 1 3", [BGP, "neighbor SPINE timers 1 3", "exit"]),
    (" neighbor SPINE timers 10 30\n", "", [BGP, "no neighbor SPINE timers", "exit"]),
    (
        "bfd 3 300 300",
        "bfd 5 100 100",
        [BGP, "no neighbor SPINE bfd", "neighbor SPINE bfd 5 100 100", "exit"],
    ),
    (
        " neighbor 10.1.0.0 description one\n",
        "",
        [BGP, "no neighbor 10.1.0.0 description", "exit"],
    ),
    (" no bgp default ipv4-unicast\n", "", [BGP, "bgp default ipv4-unicast", "exit"]),
    (
        "maximum-paths 32",
        "maximum-paths 1",
        [BGP, FAMILY, "maximum-paths 1", "exit", "exit"],
    ),
    (
        "  network 10.0.1.1/32\n",
        "  network 10.0.1.1/32\n  network 10.5.0.0/24\n",
        [BGP, FAMILY, "network 10.5.0.0/24", "exit", "exit"],
    ),
    (
        "route-map P out",
        "route-map Q out",
        [BGP, FAMILY, "neighbor SPINE route-map Q out", "exit", "exit"],
    ),
    (
        "seq 20 permit 10.1.0.0/16",
        "seq 20 deny 10.1.0.0/16",
        ["ip prefix-list L seq 20 deny 10.1.0.0/16"],
    ),
    (
        "ip prefix-list L seq 20 permit 10.1.0.0/16\n",
        "",
        ["no ip prefix-list L seq 20 permit 10.1.0.0/16"],
    ),
    (
        "ip prefix-list M seq 10 permit 10.2.0.0/16\n",
        "",
        ["no ip prefix-list M seq 10 permit 10.2.0.0/16"],
    ),
    ("route-map Q permit 10\n", "", ["no route-map Q permit 10"]),
    ("route-map Q permit 10\n", "route-map Q deny 10\n", ["route-map Q deny 10", "exit"]),
    (
        "prefix-list L\n",
        "prefix-list M\n",
        [
            "route-map P permit 10",
            "no match ip address prefix-list L",
            "match ip address prefix-list M",
            "exit",
        ],
    ),
    (
        " address-family",
        " neighbor 10.1.0.2 remote-as 65000\n neighbor 10.1.0.2 peer-group SPINE\n address-family",
        [
            BGP,
            "neighbor 10.1.0.2 remote-as 65000",
            "neighbor 10.1.0.2 peer-group SPINE",
            "exit",
        ],
    ),
    (
        " neighbor 10.1.0.0 remote-as 65000\n neighbor 10.1.0.0 peer-group SPINE\n"
        " neighbor 10.1.0.0 description one\n",
        "",
        [BGP, "no neighbor 10.1.0.0", "exit"],
    ),
    (
        " neighbor 10.1.0.0 peer-group SPINE\n",
        "",
        [
            BGP,
            "no neighbor 10.1.0.0",
            "exit",
            BGP,
            "neighbor 10.1.0.0 remote-as 65000",
            "neighbor 10.1.0.0 description one",
            "exit",
        ],
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "lines"), CHANGES, ids=[new or old for old, new, _ in CHANGES]
)
def test_the_lines_of_a_change(old: str, new: str, lines: list[str]) -> None:
    assert BEFORE.count(old) == 1
    assert list(line_delta(BEFORE, BEFORE.replace(old, new))) == lines


def test_nothing_for_what_stays() -> None:
    assert line_delta(BEFORE, BEFORE) == ()


def test_another_as_number_begins_anew() -> None:
    lines = line_delta(BEFORE, BEFORE.replace("bgp 65101", "bgp 65102"))
    assert lines[:3] == ("no router bgp 65101", "router bgp 65102", "bgp router-id 10.0.1.1")
    assert "neighbor SPINE activate" in lines


def test_a_process_that_ends() -> None:
    assert line_delta(BEFORE, "") == (
        "no router bgp 65101",
        "no route-map P permit 10",
        "no route-map Q permit 10",
        "no ip prefix-list L seq 10 permit 10.0.0.0/8",
        "no ip prefix-list L seq 20 permit 10.1.0.0/16",
        "no ip prefix-list M seq 10 permit 10.2.0.0/16",
    )


# --- kernels ---


def _plan(*links: LinkState, **fields: object) -> SwitchPlan:
    return SwitchPlan.model_validate({"name": "leaf01", "links": links, **fields})


def _link(name: str, **fields: object) -> LinkState:
    return LinkState.model_validate({"name": name, "kind": "port", "interface": name, **fields})


A = _link("100GE1_0_1", addresses=("10.1.0.1/31",), mtu=9000)
VLAN = LinkState(name="Vlanif110", kind="bridge", interface="Vlanif110", mtu=1500)


def test_a_plan_differs_from_itself_in_nothing(heps_network: Network) -> None:
    for node in heps_network.nodes:
        plan = plan_switch(node.device)
        assert delta(plan, plan).empty


def test_links_change_in_place() -> None:
    assert delta(_plan(A), _plan(A.model_copy(update={"mtu": 1500, "up": False}))).ip == (
        "link set dev 100GE1_0_1 mtu 1500",
        "link set dev 100GE1_0_1 down",
    )


def test_an_address_moves_from_port_to_port() -> None:
    bare, other = A.model_copy(update={"addresses": ()}), _link("100GE1_0_2")
    moved = other.model_copy(update={"addresses": A.addresses})
    assert delta(_plan(A, other), _plan(bare, moved)).ip == (
        "address del 10.1.0.1/31 dev 100GE1_0_1",
        "address add 10.1.0.1/31 dev 100GE1_0_2",
    )


def test_a_vlan_comes_and_goes() -> None:
    inside = _link("25GE1_0_1", master="Vlanif110")
    outside = _link("25GE1_0_1")
    assert delta(_plan(outside), _plan(VLAN, inside)).ip == (
        "link add name Vlanif110 type bridge",
        "link set dev Vlanif110 mtu 1500",
        "link set dev Vlanif110 up",
        "link set dev 25GE1_0_1 master Vlanif110",
    )
    assert delta(_plan(VLAN, inside), _plan(outside)).ip == (
        "link del dev Vlanif110",
        "link set dev 25GE1_0_1 nomaster",
    )


def test_ports_are_for_who_lays_the_cables() -> None:
    change = delta(_plan(A), _plan(_link("100GE1_0_2")))
    assert (change.new_ports, change.gone_ports) == (("100GE1_0_2",), ("100GE1_0_1",))
    assert change.ip == ("link set dev 100GE1_0_2 up",)


def test_a_bond_takes_only_what_is_down() -> None:
    bond = LinkState(name="Eth-Trunk1", kind="bond", settings="mode 802.3ad")
    port = _link("25GE1_0_1")
    joined = port.model_copy(update={"master": "Eth-Trunk1"})
    assert delta(_plan(bond, port), _plan(bond, joined)).ip == (
        "link set dev 25GE1_0_1 down",
        "link set dev 25GE1_0_1 master Eth-Trunk1",
        "link set dev 25GE1_0_1 up",
    )


def test_filters_change_in_one_transaction_and_by_chain() -> None:
    before = _plan(
        chains=(("TP-A", ("counter drop",)), ("TP-B", ("return",)), ("forward", ("jump",)))
    )
    after = _plan(chains=(("TP-A", ("counter drop",)), ("forward", ())))
    assert delta(before, after).nft.splitlines() == [
        "add table ip rocefort",
        "add chain ip rocefort forward { type filter hook forward priority filter; policy accept; }",
        "flush chain ip rocefort forward",
        "delete chain ip rocefort TP-B",
    ]
    assert delta(after, _plan()).nft == "delete table ip rocefort\n"
    assert delta(_plan(), _plan()).nft == ""


def test_daemons_are_started_once() -> None:
    old, new = (
        _plan(daemons=(("zebra", "a\n"),)),
        _plan(daemons=(("zebra", "a\n"), ("bgpd", "b\n"))),
    )
    assert delta(old, new).start == (("bgpd", "b\n"),)
    assert (delta(new, old).start, delta(new, old).stop) == ((), ("bgpd",))


# --- a law: equal results for any order of small steps ---


def _shuffled(device: Device, seed: int) -> Device:
    """Return the device with some ports shut, and other MTUs."""
    rng = random.Random(seed)

    def drawn(interface: Interface) -> Interface:
        more: dict[str, object] = {
            "enabled": rng.random() < 0.7,
            "mtu": rng.choice((None, 1500, 9000)),
        }
        if interface.addresses and rng.random() < 0.3:
            more["addresses"] = (IPv4Interface(f"10.7.{rng.randrange(256)}.1/31"),)
        return interface.model_copy(update=more)

    return device.model_copy(update={"interfaces": tuple(map(drawn, device.interfaces))})


@pytest.mark.parametrize("seed", range(tries(20)))
def test_a_change_and_the_way_back_name_the_same_links(heps_network: Network, seed: int) -> None:
    device = heps_network.by_name["leaf01"].device
    old, new = plan_switch(device), plan_switch(_shuffled(device, seed))
    forward, back = delta(old, new), delta(new, old)
    touched = {line.split()[line.split().index("dev") + 1] for line in forward.ip}
    assert touched == {line.split()[line.split().index("dev") + 1] for line in back.ip}
    assert touched == {k.name for k in old.links if k != new.by_link[k.name]}
