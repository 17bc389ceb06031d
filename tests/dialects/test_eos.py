"""The EOS translation of a Device: names both ways, semantics, and refused parts."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rocefort.base.errors import BadInput, Refused
from rocefort.dialects.eos import EosNames, render_eos
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import (
    Bfd,
    Bgp,
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
)

PEER = IPv4Address("10.0.0.0")
PEER_LINE = f"   neighbor {PEER} "


def network(text: str) -> IPv4Network:
    return IPv4Network(text)


def leaf(**fields: Any) -> Device:
    return Device(**{"name": "leaf1", "vlans": (110,), **fields})


def interface_lines(device: Device, name: str) -> list[str]:
    """The lines of one interface, without their indent."""
    section = render_eos(device).split(f"\ninterface {name}\n")[1].split("\n!\n")[0]
    return [line.strip() for line in section.splitlines()]


def peer_lines(bgp: Bgp, **fields: Any) -> list[str]:
    port = Interface(name="100GE1/0/1", routed=True, addresses=(IPv4Interface("10.0.0.1/31"),))
    lines = render_eos(leaf(bgp=bgp, interfaces=(port,), **fields)).splitlines()
    return [line.removeprefix(PEER_LINE) for line in lines if line.startswith(PEER_LINE)]


NAMES = [
    ("100GE1/0/1", "Ethernet100/1/0/1"),
    ("25GE1/0/1", "Ethernet25/1/0/1"),
    ("25GE1/0/12:3", "Ethernet25/1/0/12/3"),
    ("Vlanif110", "Vlan110"),
    ("LoopBack0", "Loopback0"),
    ("Eth-Trunk0", "Port-Channel0"),
    ("MEth0/0/0", "Management1"),
]


@pytest.mark.parametrize(("vrp", "eos"), NAMES)
def test_interface_names_translate_both_ways(vrp: str, eos: str) -> None:
    assert EosNames.is_known(vrp)
    assert EosNames.to_eos(vrp) == eos
    assert EosNames.to_vrp(eos) == vrp


ports = st.builds(
    lambda speed, slot, card, port, lane: f"{speed}GE{slot}/{card}/{port}{lane}",
    st.sampled_from((10, 25, 40, 50, 100, 200, 400, 800)),
    st.integers(0, 16),
    st.integers(0, 3),
    st.integers(0, 128),
    st.sampled_from(("", ":1", ":4", ":8")),
)
numbered = st.builds(
    lambda kind, number: f"{kind}{number}",
    st.sampled_from(("Vlanif", "LoopBack", "Eth-Trunk")),
    st.integers(0, 4094),
)


@given(st.lists(ports | numbered, min_size=2, max_size=2, unique=True))
def test_no_two_interfaces_become_one(names: list[str]) -> None:
    translated = [EosNames.to_eos(name) for name in names]
    assert [EosNames.to_vrp(name) for name in translated] == names
    assert len(set(translated)) == 2


def test_names_without_a_counterpart_are_refused() -> None:
    with pytest.raises(BadInput, match="interface Tunnel1 has no counterpart in EOS; Ethernet"):
        EosNames.to_eos("Tunnel1")
    with pytest.raises(BadInput, match="EOS interface Ethernet1 is not one that a VRP name"):
        EosNames.to_vrp("Ethernet1")


GOLDEN = """\
!RANCID-CONTENT-TYPE: arista
!
hostname leaf1
!
service routing protocols model multi-agent
!
ip routing
!
vlan 110
!
interface Ethernet25/1/0/1
   switchport mode access
   switchport access vlan 110
!
interface Ethernet100/1/0/1
   no switchport
   mtu 9216
   ip address 10.0.0.1/31
!
interface Vlan110
   ip address 10.1.1.1/24
!
ip prefix-list PL-OWN
   seq 10 permit 10.1.0.0/16 ge 24 le 24
!
route-map RP-OUT permit 10
   match ip address prefix-list PL-OWN
!
router bgp 65101
   router-id 10.9.0.1
   no bgp bestpath as-path multipath-relax
   bgp advertise-inactive
   maximum-paths 2 ecmp 2
   neighbor PG-SPINES peer group
   neighbor 10.0.0.0 peer group PG-SPINES
   neighbor 10.0.0.0 remote-as 65000
   neighbor 10.0.0.0 route-map RP-OUT out
   network 10.1.1.0/24
!
end
"""


def test_a_leaf_becomes_this_text() -> None:
    spines = BgpGroup(
        name="SPINES", asn=65000, bfd_enabled=True, bfd=Bfd(), export_policy="OUT", active=True
    )
    entry = PrefixEntry(index=7, prefix=network("10.1.0.0/16"), greater_equal=24, less_equal=24)
    uplink = Interface(
        name="100GE1/0/1", routed=True, mtu=9216, addresses=(IPv4Interface("10.0.0.1/31"),)
    )
    device = leaf(
        interfaces=(
            uplink,
            Interface(name="25GE1/0/1", link_type="access", access_vlan=110, trust_dscp=True),
            Interface(name="Vlanif110", addresses=(IPv4Interface("10.1.1.1/24"),)),
        ),
        prefix_lists=(PrefixList(name="OWN", entries=(entry,)),),
        route_policies=(
            RoutePolicy(name="OUT", nodes=(PolicyNode(node=5, match_prefix_list="OWN"),)),
        ),
        bgp=Bgp(
            asn=65101,
            router_id=IPv4Address("10.9.0.1"),
            groups=(spines,),
            peers=(BgpPeer(address=PEER, group="SPINES"),),
            networks=(network("10.1.1.0/24"),),
            maximum_paths=2,
        ),
    )
    assert render_eos(device) == GOLDEN


PORTS = [
    ({"name": "25GE1/0/1"}, ["switchport mode access", "switchport access vlan 1"]),
    (
        {"name": "25GE1/0/1", "link_type": "trunk", "trunk_vlans": (110, 120)},
        # VLAN 1 passes every trunk; 120 is not created on the switch.
        ["switchport mode trunk", "switchport trunk allowed vlan 1,110"],
    ),
    (
        {"name": "25GE1/0/1", "access_vlan": 120},
        ["shutdown", "switchport mode access", "switchport access vlan 120"],
    ),
    (
        {"name": "25GE1/0/1", "enabled": False, "routed": True},
        ["shutdown", "no switchport"],
    ),
    (
        {"name": "25GE1/0/1", "addresses": (IPv4Interface("10.0.0.1/31"),)},
        ["switchport mode access", "switchport access vlan 1"],
    ),
    (
        {
            "name": "25GE1/0/1",
            "routed": True,
            "addresses": (IPv4Interface("10.0.2.1/24"), IPv4Interface("10.0.1.1/24")),
        },
        ["no switchport", "ip address 10.0.2.1/24", "ip address 10.0.1.1/24 secondary"],
    ),
]


@pytest.mark.parametrize(("fields", "lines"), PORTS)
def test_a_port_does_what_it_does_on_a_cloudengine(
    fields: dict[str, Any], lines: list[str]
) -> None:
    device = leaf(interfaces=(Interface(**fields),))
    assert interface_lines(device, "Ethernet25/1/0/1") == lines


def test_a_vlanif_without_its_vlan_is_down() -> None:
    addresses = (IPv4Interface("10.1.1.1/24"),)
    device = leaf(interfaces=(Interface(name="Vlanif120", addresses=addresses),))
    assert interface_lines(device, "Vlan120") == ["shutdown", "ip address 10.1.1.1/24"]


POLICIES = (RoutePolicy(name="IN"), RoutePolicy(name="OUT"))
PEERS = [
    # A peer's own settings win over its group's; the group provides the others.
    (
        {"import_policy": "OUT", "asn": 65009},
        {"name": "G", "asn": 65000, "import_policy": "IN", "export_policy": "OUT"},
        ["peer group PG-G", "remote-as 65009", "route-map RP-OUT in", "route-map RP-OUT out"],
    ),
    ({}, {"name": "G", "external": False}, ["peer group PG-G", "remote-as 65101"]),
    ({"asn": 65000, "active": False}, {"name": "G", "active": False}, []),
    ({}, {"name": "G"}, []),
]


@pytest.mark.parametrize(("peer", "group", "lines"), PEERS)
def test_a_peer_has_its_effective_settings(
    peer: dict[str, Any], group: dict[str, Any], lines: list[str]
) -> None:
    bgp = Bgp(
        asn=65101,
        groups=(BgpGroup(**{"active": True, **group}),),
        peers=(BgpPeer(address=PEER, group="G", **peer),),
    )
    assert peer_lines(bgp, route_policies=POLICIES) == lines


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        (
            {},
            [
                "no bgp bestpath as-path multipath-relax",
                "bgp advertise-inactive",
                "maximum-paths 1 ecmp 1",
            ],
        ),
        (
            {"as_path_relax": True, "maximum_paths": 16},
            [
                "bgp bestpath as-path multipath-relax",
                "bgp advertise-inactive",
                "maximum-paths 16 ecmp 16",
            ],
        ),
    ],
)
def test_ecmp_is_said_even_at_its_default(fields: dict[str, Any], lines: list[str]) -> None:
    text = render_eos(leaf(bgp=Bgp(asn=65101, **fields)))
    assert [line.strip() for line in text.split("router bgp 65101\n")[1].splitlines()[:3]] == lines


entries = st.builds(
    lambda prefix, low, high: PrefixEntry(
        index=1, prefix=prefix, greater_equal=low, less_equal=high
    ),
    st.sampled_from(
        [network(p) for p in ("0.0.0.0/0", "10.0.0.0/8", "10.1.1.0/24", "10.1.1.1/32")]
    ),
    st.none() | st.integers(0, 32),
    st.none() | st.integers(0, 32),
)
routes = st.sampled_from(
    [network(p) for p in ("0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.1.0/24", "10.1.1.1/32")]
)


def eos_matches(line: str, route: IPv4Network) -> bool:
    """EOS semantics of `seq N permit PREFIX [ge A] [le B]` (Arista EOS manual, ip prefix-list)."""
    words = line.split()
    prefix, bounds = network(words[3]), dict(zip(words[4::2], map(int, words[5::2]), strict=True))
    if not bounds:
        return route == prefix
    low, high = bounds.get("ge", prefix.prefixlen), bounds.get("le", 32)
    return route.subnet_of(prefix) and low <= route.prefixlen <= high


@given(entries, routes)
def test_a_prefix_list_permits_the_same_routes(entry: PrefixEntry, route: IPv4Network) -> None:
    low = max(entry.greater_equal or 0, entry.prefix.prefixlen)
    assume(entry.less_equal is None or entry.less_equal >= low)
    text = render_eos(leaf(prefix_lists=(PrefixList(name="L", entries=(entry,)),)))
    line = next(line for line in text.splitlines() if line.startswith("   seq "))
    assert eos_matches(line, route) == entry.matches(route)


def test_a_list_and_a_policy_without_entries_deny_all() -> None:
    text = render_eos(leaf(prefix_lists=(PrefixList(name="L"),), route_policies=POLICIES))
    assert "ip prefix-list PL-L\n   seq 10 deny 0.0.0.0/0 le 32\n" in text
    assert "route-map RP-IN deny 10\n" in text


def missing(what: str, group: str | None = None, **fields: Any) -> tuple[dict[str, Any], str]:
    peer = BgpPeer(address=PEER, asn=65000, active=True, group=group, **fields)
    return {"bgp": Bgp(asn=65101, peers=(peer,))}, f"leaf1 peer 10.0.0.0: {what}"


REFUSED = [
    missing(
        "its session starts from LoopBack0, not from the link; let it start from the link, or leave "
        "the line out",
        source_interface="LoopBack0",
    ),
    missing("group G does not exist; define it with `group`", group="G"),
    missing(
        "route-policy IN does not exist; define it, or remove the reference", import_policy="IN"
    ),
    (
        {
            "route_policies": (
                RoutePolicy(name="R", nodes=(PolicyNode(node=10, match_prefix_list="L"),)),
            )
        },
        "leaf1 route-policy R node 10: ip-prefix L does not exist; define it, or remove the "
        "reference",
    ),
    (
        {"interfaces": (Interface(name="Tunnel1", addresses=(IPv4Interface("10.0.0.1/31"),)),)},
        "leaf1 Tunnel1: EOS has no such interface, and it carries traffic; Ethernet ports, "
        "Eth-Trunk, Vlanif, LoopBack and MEth0/0/0 are translated",
    ),
    (
        {
            "prefix_lists": (
                PrefixList(
                    name="L",
                    entries=(PrefixEntry(index=7, prefix=network("10.1.1.0/24"), less_equal=16),),
                ),
            )
        },
        "leaf1 ip-prefix L index 7: no route is in 10.1.1.0/24 and at most /16 long; "
        "use length <= greater-equal <= less-equal",
    ),
    (
        {"name": "leaf 1"},
        "leaf 1: the sysname is not one word; use letters, digits, '.', '_' and '-'",
    ),
    (
        {"prefix_lists": (PrefixList(name="a b"),)},
        "leaf1 ip-prefix 'a b': not one word of EOS; use letters, digits, '.', '_' and '-'",
    ),
]


@pytest.mark.parametrize(("fields", "sentence"), REFUSED)
def test_what_eos_cannot_say_is_an_error(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refused) as caught:
        render_eos(leaf(**fields))
    assert str(caught.value) == sentence


def test_an_interface_that_carries_nothing_needs_no_counterpart() -> None:
    assert "NULL0" not in render_eos(leaf(interfaces=(Interface(name="NULL0"),)))
