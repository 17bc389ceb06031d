"""Parsing of VRP text: every typed form, unmodelled lines, and refusals with their line."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface

import pytest

from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.device.device import Device
from rocefort.models.device.interface import NO_DOMAIN, Interface, PfcThreshold
from rocefort.models.device.lossless_queue import PfcProfile, PfcTimer
from rocefort.models.device.routing import Bfd
from rocefort.models.network.network import TextLine

HEAD = "sysname a\n"
PORT = f"{HEAD}interface 100GE1/0/1\n"
PEER = f"{HEAD}bgp 65001\n peer 10.0.0.1 as-number 65002\n"


def device(text: str) -> Device:
    """Device of a text in which every line is understood."""
    parsed = parse(text, "a.cfg")
    assert parsed.unmodelled == ()
    return parsed.device


def port(*lines: str) -> Interface:
    return device(PORT + "".join(f" {line}\n" for line in lines)).interfaces[0]


def profile(*lines: str) -> PfcProfile:
    return device(f"{HEAD}dcb pfc\n" + "".join(f" {line}\n" for line in lines)).pfc.profiles[0]


@pytest.mark.parametrize(
    ("typed", "saved"),
    [
        ("100GE1/0/1", "100GE1/0/1"),
        ("100GE 1/0/1", "100GE1/0/1"),
        ("100ge  1/0/1", "100GE1/0/1"),
        ("100ge1/0/1:2", "100GE1/0/1:2"),
        ("vlanif 10", "Vlanif10"),
        ("VLANIF10", "Vlanif10"),
        ("loopback 0", "LoopBack0"),
        ("meth 0/0/0", "MEth0/0/0"),
        ("eth-trunk 5", "Eth-Trunk5"),
        ("null0", "NULL0"),
    ],
)
def test_interface_names_as_saved(typed: str, saved: str) -> None:
    assert device(f"{HEAD}interface {typed}\n").interfaces[0].name == saved


@pytest.mark.parametrize(
    ("line", "vlans"),
    [
        ("vlan batch 10", (10,)),
        ("vlan batch 30 10 20 to 22", (10, 20, 21, 22, 30)),
        ("vlan batch 10 to 12 11", (10, 11, 12)),
        ("vlan batch 10\nvlan batch 20", (10, 20)),
        ("vlan 10", (10,)),
    ],
)
def test_vlan_lists(line: str, vlans: tuple[int, ...]) -> None:
    assert device(f"{HEAD}{line}\n").vlans == vlans


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        (["ip address 10.0.0.1 255.255.255.0"], "addresses", ("10.0.0.1/24",)),
        (["ip address 10.0.0.1 24"], "addresses", ("10.0.0.1/24",)),
        (["ip address 10.0.0.1 31", "ip address 9.0.0.1 8 sub"], "addresses", None),
        (["undo shutdown"], "enabled", True),
        (["shutdown"], "enabled", False),
        (["undo portswitch"], "routed", True),
        (["portswitch"], "routed", False),
        ([], "link_type", "access"),
        (["port link-type access"], "link_type", "access"),  # the default, typed
        (["port link-type trunk"], "link_type", "trunk"),
        (["description  two   blanks # and ! more"], "description", "two blanks # and ! more"),
        (["port trunk allow-pass vlan 10 20 to 22"], "trunk_vlans", (10, 20, 21, 22)),
        (["mtu 9000", "mtu 9000"], "mtu", 9000),
    ],
)
def test_interface_lines(lines: list[str], field: str, value: object) -> None:
    read = getattr(port(*lines), field)
    if field == "addresses":
        expected = value or ("10.0.0.1/31", "9.0.0.1/8")
        assert isinstance(expected, tuple)
        value = tuple(map(IPv4Interface, expected))
    assert read == value


@pytest.mark.parametrize(
    ("line", "profile_name", "mode"),
    [
        ("dcb pfc enable", "default", "manual"),
        ("dcb pfc enable mode auto", "default", "auto"),
        ("dcb pfc enable mode manual", "default", "manual"),
        ("dcb pfc enable server", "server", "manual"),
        ("dcb pfc enable server mode auto", "server", "auto"),
    ],
)
def test_pfc_of_a_port(line: str, profile_name: str, mode: str) -> None:
    pfc = port(line).pfc
    assert pfc is not None
    assert (pfc.profile, pfc.mode) == (profile_name, mode)


@pytest.mark.parametrize(
    ("lines", "xon", "xoff", "headroom"),
    [
        (["dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes"], 550, 600, None),
        (["dcb pfc buffer 4 xon static 1 mbytes xoff static 2 mbytes"], 1024, 2048, None),
        (["dcb pfc buffer 4 xoff static 600 kbytes xon offset 50 kbytes"], 550, 600, None),
        (["dcb pfc buffer 4 xoff static 600 kbytes"], 594, 600, None),  # offset defaults to 6
        (
            ["dcb pfc buffer 4 hdrm 256", "dcb pfc buffer 4 xoff static 600 kbytes"],
            594,
            600,
            256,
        ),
    ],
)
def test_thresholds_of_all_families(
    lines: list[str], xon: int, xoff: int, headroom: int | None
) -> None:
    expected = PfcThreshold(queue=4, xon_kbytes=xon, xoff_kbytes=xoff, headroom_kbytes=headroom)
    assert port(*lines).thresholds == (expected,)


@pytest.mark.parametrize(
    ("lines", "queues"),
    [
        ([], (3,)),
        (["priority 4"], (3, 4)),
        (["priority 4", "undo priority 3"], (4,)),
        (["undo priority 3", "priority 4 5"], (4, 5)),
        (["undo priority 3"], ()),
        (["priority 3"], (3,)),
    ],
)
def test_a_profile_pauses_queue_3_until_told_otherwise(
    lines: list[str], queues: tuple[int, ...]
) -> None:
    assert profile(*lines).queues == queues


@pytest.mark.parametrize(
    "lines",
    [
        ["priority 4 deadlock-detect time 10 deadlock-recovery time 15"],
        ["priority 4 deadlock-detect time 10", "priority 4 deadlock-recovery time 15"],
    ],
)
def test_deadlock_timers_of_a_queue(lines: list[str]) -> None:
    read = profile(*lines)
    assert read.timers == (PfcTimer(queue=4, detect_time=10, recovery_time=15),)
    assert read.queues == (3,)  # a timer does not make a queue lossless


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("dcb pfc deadlock-detect timer 10", "detect_ms", 10),
        ("dcb pfc deadlock-recovery timer 20", "recovery_ms", 20),
        ("dcb pfc deadlock-detect interval 1000", "interval_ms", 1000),
        ("dcb pfc dscp-mapping enable slot 1", "dscp_mapping", True),
        ("qos buffer headroom-pool size 4 mbytes slot 1", "headroom_pool_kbytes", 4096),
        ("qos buffer headroom-pool size 64 kbytes slot 1", "headroom_pool_kbytes", 64),
    ],
)
def test_pfc_of_the_switch(line: str, field: str, value: object) -> None:
    assert getattr(device(f"{HEAD}{line}\n").pfc, field) == value


def test_a_queue_without_a_model_is_told_from_one_with() -> None:
    text = f"{HEAD}ai-service\n #\n ai-ecn\n  ai-ecn enable\n  assign queue 3\n"
    read = device(f"{text}  assign queue 4 model ai_ecn_hpc\n").ai_ecn
    assert read.enabled
    assert [(q.queue, q.model) for q in read.queues] == [(3, None), (4, "ai_ecn_hpc")]


@pytest.mark.parametrize("colour", ["", " green"])
def test_a_priority_map_is_green_by_default(colour: str) -> None:
    read = device(f"{HEAD}diffserv domain roce\n ip-dscp-inbound 24 phb af4{colour}\n")
    assert read.domains[0].dscp[0].colour == "green"


@pytest.mark.parametrize(
    ("timers", "bfd"),
    [
        ("min-tx-interval 300 min-rx-interval 200 detect-multiplier 4", (300, 200, 4)),
        ("detect-multiplier 4 min-tx-interval 300", (300, 1000, 4)),
        ("min-rx-interval 200", (1000, 200, 3)),
    ],
)
def test_bfd_timers_in_any_order(timers: str, bfd: tuple[int, int, int]) -> None:
    bgp = device(f"{PEER} peer 10.0.0.1 bfd {timers}\n").bgp
    assert bgp is not None
    tx, rx, multiplier = bfd
    assert bgp.peers[0].bfd == Bfd(min_tx_ms=tx, min_rx_ms=rx, multiplier=multiplier)


def test_groups_and_peers_in_both_views() -> None:
    text = f"""{HEAD}bgp 1.1
 group SPINE external
 peer SPINE as-number 65001
 peer 10.0.0.1 group SPINE
 maximum load-balancing 4
 ipv4-family unicast
  peer SPINE enable
  peer SPINE route-policy OUT export
  peer 10.0.0.1 enable
  peer 10.0.0.1 group SPINE
  network 10.1.0.0 16
"""
    bgp = device(text).bgp
    assert bgp is not None
    assert (bgp.asn, bgp.maximum_paths) == (65537, 4)
    effective = bgp.settings(bgp.peers[0])
    assert (effective.asn, effective.active, effective.export_policy) == (65001, True, "OUT")
    assert [str(network) for network in bgp.networks] == ["10.1.0.0/16"]


@pytest.mark.parametrize("line", ["level 3", "privilege level 3"])
def test_user_levels_of_both_releases(line: str) -> None:
    assert device(f"{HEAD}aaa\n local-user ops {line}\n").users[0].level == 3


@pytest.mark.parametrize("line", ["stelnet server enable", "stelnet ipv4 server enable"])
def test_stelnet_of_both_releases(line: str) -> None:
    assert device(f"{HEAD}{line}\n").ssh.stelnet


def test_vty_of_one_line() -> None:
    vty = device(f"{HEAD}user-interface vty 3\n").vty[0]
    assert (vty.first, vty.last) == (3, 3)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_header_separators_and_return_say_nothing(start: str, end: str) -> None:
    lines = ["!Software Version V300R023C00", "!Last configuration was updated", "#", "sysname a"]
    parsed = parse(start + end.join([*lines, "#", "return", ""]), "a.cfg")
    assert parsed.device == Device(name="a")
    assert (parsed.unmodelled, parsed.total_lines) == ((), 1)
    assert parsed.lines == {"": 4, "name": 4}


def test_a_view_may_be_entered_twice() -> None:
    assert port("mtu 9000", "#", "description b").mtu == 9000
    text = f"{PORT} mtu 9000\ninterface 100GE 1/0/1\n shutdown\n"
    assert device(text).interfaces == (Interface(name="100GE1/0/1", mtu=9000, enabled=False),)


@pytest.mark.parametrize(
    ("lines", "weights"),
    [
        (["qos drr 0 to 2", "qos queue 1 drr weight 15"], {0: 1, 1: 15, 2: 1}),
        (["qos queue 4 drr weight 65", "qos drr 0 4 to 5"], {0: 1, 4: 65, 5: 1}),
        (["qos drr 0", "qos drr 4"], {0: 1, 4: 1}),
        (["qos pq 6 to 7 drr 0 to 1"], {0: 1, 1: 1}),
        (["qos pq 0 to 7"], {}),  # the default
    ],
)
def test_queues_served_by_weight(lines: list[str], weights: dict[int, int]) -> None:
    assert {row.queue: row.weight for row in port(*lines).drr} == weights


def test_a_port_that_maps_no_priority_says_so() -> None:
    (port,) = device(f"{PORT} trust upstream none\n").interfaces
    assert port.domain == NO_DOMAIN


# -- what is kept unmodelled ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "qos lpq 0 to 5",
        "qos queue 4 drr weight 65",  # a weight of a queue that has strict priority
        "ip address dhcp-alloc",
        "ip address unnumbered interface LoopBack0",
        "ip address 10.0.0.1 24 sub",  # no primary that it could stand beside
        "port link-type hybrid",
        "trust 8021p outer",
        "dcb pfc buffer 4 guaranteed 25 kbytes",
        "dcb pfc buffer 4 hdrm 256 kbytes",  # headroom alone: a threshold has an xoff
        "undo port trunk allow-pass vlan 1",
        "mtu",
        "mtu 9000 9000",
        "привет",
    ],
)
def test_a_line_that_a_port_cannot_hold_is_kept(line: str) -> None:
    parsed = parse(f"{PORT} {line}\n", "a.cfg")
    assert parsed.unmodelled == (TextLine(("interface 100GE1/0/1",), line, 3),)
    assert parsed.device.interfaces == (Interface(name="100GE1/0/1"),)
    assert 3 not in parsed.lines.values()


@pytest.mark.parametrize(
    "line",
    [
        "peer 2001:db8::1 as-number 65002",
        "peer MISSING as-number 65002",  # a group that no line makes
        "peer 10.0.0.9 description unknown",  # a peer without AS and group
        "maximum load-balancing ebgp 8",
        "graceful-restart",
    ],
)
def test_a_line_that_bgp_cannot_hold_is_kept(line: str) -> None:
    parsed = parse(f"{PEER} {line}\n", "a.cfg")
    assert parsed.unmodelled == (TextLine(("bgp 65001",), line, 4),)
    assert parsed.device.bgp is not None
    assert [p.address for p in parsed.device.bgp.peers] == [IPv4Address("10.0.0.1")]
    assert parsed.device.bgp.groups == ()


def test_all_below_an_unknown_view_is_kept_with_its_path() -> None:
    text = f"{HEAD}acl number 4000\n rule 5 permit ip\nbgp 1\n ipv6-family unicast\n  mtu 9000\n"
    assert parse(text, "a.cfg").unmodelled == (
        TextLine((), "acl number 4000", 2),
        TextLine(("acl number 4000",), "rule 5 permit ip", 3),
        TextLine(("bgp 1",), "ipv6-family unicast", 5),
        TextLine(("bgp 1", "ipv6-family unicast"), "mtu 9000", 6),
    )


@pytest.mark.parametrize("bound_at", [0, 1, 2])
def test_an_address_in_a_vpn_instance_says_which(bound_at: int) -> None:
    lines = ["ip address 10.0.0.1 24", "ip address 10.0.1.1 24 sub"]
    lines.insert(bound_at, "ip binding vpn-instance storage")
    parsed = parse(PORT + "".join(f" {line}\n" for line in ["mtu 9000", *lines]), "a.cfg")
    (port,) = parsed.device.interfaces
    assert (port.vrf, [str(a) for a in port.addresses]) == (
        "storage",
        ["10.0.0.1/24", "10.0.1.1/24"],
    )
    assert parsed.unmodelled == ()
    assert parsed.lines["interfaces[100GE1/0/1].vrf"] == 4 + bound_at


@pytest.mark.parametrize(
    "text",
    [
        "dcb pfc global disable\ninterface 100GE1/0/1\n dcb pfc enable nof mode manual\n",
        "interface 100GE1/0/1\n dcb pfc enable nof mode manual\ndcb pfc global disable\n",
    ],
)
def test_no_port_has_pfc_while_the_switch_has_none(text: str) -> None:
    parsed = parse(f"{HEAD}{text}dcb pfc nof\n priority 4\n", "a.cfg")
    assert parsed.device.interfaces == (Interface(name="100GE1/0/1"),)
    assert {line.text for line in parsed.unmodelled} == {
        "dcb pfc global disable",
        "dcb pfc enable nof mode manual",
    }
    assert [p.name for p in parsed.device.pfc.profiles] == ["nof"]
    (off,) = (line for line in parsed.unmodelled if line.text == "dcb pfc global disable")
    assert parsed.lines["interfaces[100GE1/0/1].pfc"] == off.line  # where a finding leads to


def test_a_subinterface_and_a_second_source_are_kept() -> None:
    text = f"{HEAD}interface 100GE1/0/1.10\n mtu 9000\n"
    text += "ssh server-source -i MEth 0/0/0\nssh server-source -i LoopBack0\n"
    parsed = parse(text, "a.cfg")
    assert [line.line for line in parsed.unmodelled] == [2, 3, 5]
    assert parsed.device.interfaces == ()
    assert parsed.device.ssh.source_interface == "MEth0/0/0"
