"""The interpreter executes and refuses lines as the vendor's reference states."""

from __future__ import annotations

import re

import pytest
from canonical import canonical

from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.interpreter.interpreter import (
    VrpRefusal,
    apply_line,
    apply_lines,
    replay,
)
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree, tree_text
from rocefort.models.hardware.hardware import SyntaxFamily

V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2


def flat(lines: tuple[ConfigLine, ...], depth: int = 0) -> list[str]:
    """Return indented lines without separators, the form of the tables below."""
    rows: list[str] = []
    for line in lines:
        rows += [" " * depth + line.text, *flat(line.children, depth + 1)]
    return rows


def after(before: str, typed: str, family: SyntaxFamily = G1) -> list[str]:
    """Type lines (separated by ;) into a configuration (one line a row)."""
    config, refusals = replay(parse_tree(before), family)
    assert not refusals
    return flat(apply_lines(config, typed.split(";"), family))


PORT = "interface 100GE1/0/1\n undo portswitch\n mtu 1600\n ip address 10.0.0.1 255.255.255.254\n"
BGP = "bgp 65001\n group G external\n peer G as-number 65002\n peer 10.0.0.0 group G\n"


@pytest.mark.parametrize(
    ("before", "typed", "expected"),
    [
        pytest.param(
            PORT,
            "interface 100GE1/0/1;mtu 9000",
            [
                "interface 100GE1/0/1",
                " undo portswitch",
                " mtu 9000",
                " ip address 10.0.0.1 255.255.255.254",
            ],
            id="a line replaces the line of its key, in place",
        ),
        pytest.param(
            PORT,
            "interface 100GE1/0/1;undo mtu;ip address 10.0.0.9 30;ip address 10.9.9.9 24 sub",
            [
                "interface 100GE1/0/1",
                " undo portswitch",
                " ip address 10.0.0.9 255.255.255.252",
                " ip address 10.9.9.9 255.255.255.0 sub",
            ],
            id="a primary address replaces, sub adds, a length is saved as a mask",
        ),
        pytest.param(
            PORT,
            "interface 100GE1/0/1;mtu 1500;undo ip address;shutdown;undo shutdown",
            ["interface 100GE1/0/1", " undo portswitch"],
            id="what equals the default is not saved",
        ),
        pytest.param(
            "interface 100GE1/0/2\n",
            "interface 100GE 1/0/2;port default vlan 7;undo port default vlan",
            ["interface 100GE1/0/2"],
            id="a physical port stays when its last line goes",
        ),
        pytest.param(
            "interface Vlanif7\n ip address 10.7.0.1 255.255.255.0\n",
            "undo interface Vlanif7",
            [],
            id="a logical interface goes with all its lines",
        ),
        pytest.param(
            "",
            "vlan batch 10 20;vlan 21;description x;quit;vlan batch 22 to 23",
            ["vlan batch 10 20 to 23", "vlan 21", " description x"],
            id="VLANs are one list; a VLAN view is saved only for what it holds",
        ),
        pytest.param(
            "vlan batch 10 to 20\nvlan 12\n description x\n",
            "undo vlan batch 11 to 13;undo vlan 20",
            ["vlan batch 10 14 to 19"],
            id="undo takes numbers out of a list, and their views",
        ),
        pytest.param(
            "interface 100GE1/0/3\n port link-type trunk\n port trunk allow-pass vlan 10\n",
            "interface 100GE1/0/3;port trunk allow-pass vlan 11;undo port trunk allow-pass vlan 1",
            [
                "interface 100GE1/0/3",
                " port link-type trunk",
                " port trunk allow-pass vlan 10 to 11",
                " undo port trunk allow-pass vlan 1",
            ],
            id="VLAN 1 is on a trunk by default, so its removal is remembered",
        ),
        pytest.param(
            "",
            "dcb pfc;priority 4;undo priority 3",
            ["dcb pfc", " priority 4", " undo priority 3"],
            id="priority adds to queue 3; a line states that queue 3 is off",
        ),
        pytest.param(
            "dcb pfc\n priority 4\n undo priority 3\n",
            "dcb pfc;priority 3 5;undo priority 4",
            ["dcb pfc", " priority 5"],
            id="queue 3 back on is the default again",
        ),
        pytest.param(
            "interface 100GE1/0/1\n dcb pfc buffer 4 xon static 1 kbytes xoff static 2 kbytes\n",
            "interface 100GE1/0/1;dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes;"
            "dcb pfc buffer 5 xon static 1 kbytes xoff static 1 kbytes",
            [
                "interface 100GE1/0/1",
                " dcb pfc buffer 4 xon static 550 kbytes xoff static 600 kbytes",
                " dcb pfc buffer 5 xon static 1 kbytes xoff static 1 kbytes",
            ],
            id="thresholds are keyed by queue",
        ),
        pytest.param(
            "snmp-agent usm-user v3 u\nsnmp-agent usm-user v3 u group G\n"
            "snmp-agent usm-user v3 u authentication-mode sha2-256 cipher x\n"
            "snmp-agent usm-user v3 other\n",
            "undo snmp-agent usm-user v3 u",
            ["snmp-agent usm-user v3 other"],
            id="a user of SNMP goes with its keys",
        ),
        pytest.param(
            "interface 100GE1/0/1\n qos drr 0 to 5\n qos queue 4 drr weight 65\n",
            "interface 100GE1/0/1;qos queue 4 drr weight 1;undo qos drr 1 to 4",
            ["interface 100GE1/0/1", " qos drr 0 5"],
            id="a weight of 1 is the default; queues leave DRR by number",
        ),
        pytest.param(
            "interface 100GE1/0/1\n qos drr 0 to 5\n",
            "interface 100GE1/0/1;qos pq 5;qos pq 6 to 7",
            ["interface 100GE1/0/1", " qos drr 0 to 4", " qos pq 5 to 7"],
            id="a queue has one scheduler",
        ),
        pytest.param(
            "",
            "ai-service;ai-ecn;assign queue 4;assign queue 4 model ai_ecn_hpc;ai-ecn enable",
            ["ai-service", " ai-ecn", "  ai-ecn enable", "  assign queue 4 model ai_ecn_hpc"],
            id="assign queue is keyed by queue",
        ),
        pytest.param(
            "ip ip-prefix L index 10 permit 10.0.0.0 8\n",
            "ip ip-prefix L index 5 deny 0.0.0.0 0;ip ip-prefix L index 10 permit 10.0.0.0 8 "
            "less-equal 24;ip ip-prefix M index 10 permit 1.0.0.0 8;undo ip ip-prefix M",
            [
                "ip ip-prefix L index 5 deny 0.0.0.0 0",
                "ip ip-prefix L index 10 permit 10.0.0.0 8 less-equal 24",
            ],
            id="prefix lists are keyed by name and index, in the order of the index",
        ),
        pytest.param(
            "route-policy P permit node 10\n if-match ip-prefix L\nroute-policy P permit node 20\n",
            "route-policy P deny node 10;quit;undo route-policy P node 20",
            ["route-policy P deny node 10", " if-match ip-prefix L"],
            id="a node changes its mode and keeps its lines; undo names the node without mode",
        ),
        pytest.param(
            "bgp 65001\n",
            "bgp 65001;peer 10.0.0.0 as-number 65002;peer 10.0.0.0 as-number 65003;"
            "peer 10.0.0.0 bfd enable;peer 10.0.0.0 bfd min-tx-interval 300;"
            "peer 10.0.0.0 bfd detect-multiplier 3",
            [
                "bgp 65001",
                " peer 10.0.0.0 as-number 65003",
                " peer 10.0.0.0 bfd min-tx-interval 300 detect-multiplier 3",
                " peer 10.0.0.0 bfd enable",
                " ipv4-family unicast",
                "  peer 10.0.0.0 enable",
            ],
            id="a peer is enabled in the IPv4 family automatically; BFD settings share a line",
        ),
        pytest.param(
            "",
            "bgp 65001;group G external;peer G as-number 65002;peer 10.0.0.0 group G",
            [
                "bgp 65001",
                " group G external",
                " peer G as-number 65002",
                " peer 10.0.0.0 as-number 65002",
                " peer 10.0.0.0 group G",
                " ipv4-family unicast",
                "  peer G enable",
                "  peer 10.0.0.0 enable",
                "  peer 10.0.0.0 group G",
            ],
            id="the switch adds lines of its own for the members of a group",
        ),
        pytest.param(
            BGP,
            "bgp 65001;undo peer 10.0.0.0",
            [
                "bgp 65001",
                " group G external",
                " peer G as-number 65002",
                " ipv4-family unicast",
                "  peer G enable",
            ],
            id="undo peer takes all its lines, in the families too",
        ),
        pytest.param(
            "bgp 65537\n", "undo bgp 1.1", [], id="an AS number is one in either notation"
        ),
        pytest.param("", "undo bgp 65001", [], id="undo of no process is nothing"),
        pytest.param(
            BGP,
            "bgp 65001;ipv4-family unicast;maximum load-balancing 32;maximum load-balancing 1;"
            "network 10.0.0.0 24;network 10.0.1.0 255.255.255.0;undo network 10.0.0.0 24;"
            "#;sysname leaf01",
            [
                "sysname leaf01",
                "bgp 65001",
                " group G external",
                " peer G as-number 65002",
                " peer 10.0.0.0 as-number 65002",
                " peer 10.0.0.0 group G",
                " ipv4-family unicast",
                "  network 10.0.1.0 255.255.255.0",
                "  peer G enable",
                "  peer 10.0.0.0 enable",
                "  peer 10.0.0.0 group G",
            ],
            id="a left-aligned # leads back to the system view",
        ),
        pytest.param(
            "diffserv domain d\n ip-dscp-inbound 24 phb af4 green\n",
            "diffserv domain d;ip-dscp-inbound 24 phb af3;ip-dscp-inbound 25 phb cs6 green;"
            "undo ip-dscp-inbound 25",
            ["diffserv domain d", " ip-dscp-inbound 24 phb af3"],
            id="the map is keyed by DSCP",
        ),
        pytest.param("", "undo lldp enable;undo vlan batch 9", [], id="undo of nothing is nothing"),
    ],
)
def test_what_a_line_does(before: str, typed: str, expected: list[str]) -> None:
    assert after(before, typed) == expected


def test_trust_dscp_is_refused_on_a_routed_port_and_taken_on_a_switched_one() -> None:
    with pytest.raises(VrpRefusal, match="'trust dscp': Error: Unrecognized command"):
        after(PORT, "interface 100GE1/0/1;trust dscp")
    assert " trust dscp" in after("", "interface 100GE1/0/1;trust dscp")


@pytest.mark.parametrize(
    ("before", "typed", "message"),
    [
        (PORT, "interface 100GE1/0/1;portswitch", "has 'ip address 10.0.0.1 255.255.255.254'"),
        (
            "interface 100GE1/0/1\n port default vlan 7\n",
            "interface 100GE1/0/1;undo portswitch",
            "has 'port default vlan 7'",
        ),
        (
            "interface 100GE1/0/1\n undo port trunk allow-pass vlan 1\n",
            "interface 100GE1/0/1;undo portswitch",
            "has 'undo port trunk allow-pass vlan 1'",
        ),
    ],
)
def test_a_port_keeps_its_mode_while_it_has_lines_of_that_mode(
    before: str, typed: str, message: str
) -> None:
    with pytest.raises(VrpRefusal, match=re.escape(f"Error: The interface still {message}.")):
        after(before, typed)


@pytest.mark.parametrize(
    "line",
    ["peer 10.0.0.9 bfd enable", "peer H description x", "ipv4-family unicast;peer H enable"],
)
def test_a_peer_is_made_before_it_is_set(line: str) -> None:
    with pytest.raises(VrpRefusal, match=r"Error: (10\.0\.0\.9|H) does not exist\."):
        after(BGP, f"bgp 65001;{line}")
    created = f"bgp 65001;group H external;peer 10.0.0.9 as-number 65009;{line}"
    assert line.rpartition(";")[2] in [row.strip() for row in after(BGP, created)]


@pytest.mark.parametrize("family", list(SyntaxFamily))
@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("undo bgp", "'undo bgp': Error: Incomplete command found at '^' position."),
        ("undo bgp 1", "'undo bgp 1': Error: BGP runs with AS number 65001."),
        ("undo bgp 1.65001", "'undo bgp 1.65001': Error: BGP runs with AS number 65001."),
    ],
)
def test_an_undo_of_bgp_names_its_as_number(family: SyntaxFamily, typed: str, message: str) -> None:
    with pytest.raises(VrpRefusal, match=re.escape(message)):
        after(BGP, typed, family)


@pytest.mark.parametrize("view", ["", "ipv4-family unicast;"])
@pytest.mark.parametrize(
    ("peer", "group"),
    [
        ("10.0.0.0", "NONE"),  # that the peer has an AS number does not help
        ("10.0.0.0", "g"),  # case-sensitive
        ("10.0.0.9", "NONE"),
    ],
)
def test_a_peer_joins_no_group_that_is_not_there(view: str, peer: str, group: str) -> None:
    line = f"peer {peer} group {group}"
    with pytest.raises(VrpRefusal, match=rf"'{line}': Error: {group} does not exist\."):
        after(BGP, f"bgp 65001;{view}{line}")
    created = f"bgp 65001;group {group} external;peer {group} as-number 65002;{view}{line}"
    assert line in [row.strip() for row in after(BGP, created)]


def test_a_group_without_an_as_number_gives_a_new_peer_none() -> None:
    with pytest.raises(VrpRefusal, match=re.escape("Error: The peer group has no AS number.")):
        after("bgp 65001\n group H external\n", "bgp 65001;peer 10.0.0.9 group H")


def test_each_family_has_its_own_form_of_the_thresholds_and_timers() -> None:
    offset = "interface 100GE1/0/1;dcb pfc buffer 4 xoff static 600 kbytes xon offset 50 kbytes"
    for family in (G2, V200):
        assert after("", offset, family)[1] == " " + offset.partition(";")[2]
    one_line = "dcb pfc;priority 4 deadlock-detect time 10 deadlock-recovery time 10"
    assert after("", one_line, V200) == ["dcb pfc", " " + one_line.partition(";")[2]]
    two_lines = "dcb pfc;priority 4 deadlock-detect time 12;priority 4 deadlock-recovery time 12"
    assert len(after("", two_lines, G2)) == 3


def test_a_queue_with_settings_of_its_own_cannot_leave_pfc() -> None:
    before = "dcb pfc\n priority 4\n priority 4 turn-off threshold 20\n"
    with pytest.raises(VrpRefusal, match="Queue 4 has settings of its own"):
        after(before, "dcb pfc;undo priority 4")
    typed = "dcb pfc;undo priority 4 turn-off threshold 20;undo priority 4"
    assert after(before, typed) == ["dcb pfc"]


def test_a_view_can_be_entered_from_a_view_beside_it_but_not_a_setting_made() -> None:
    entered = after("", "interface 100GE1/0/1;shutdown;interface 100GE1/0/2;shutdown")
    assert entered == ["interface 100GE1/0/1", " shutdown", "interface 100GE1/0/2", " shutdown"]
    with pytest.raises(VrpRefusal):
        after("", "interface 100GE1/0/1;lldp enable")


@pytest.mark.parametrize(
    ("before", "view", "line", "question"),
    [
        (BGP, (), "undo bgp 65001", "All BGP configurations will be deleted"),
        (BGP, ("bgp 65001",), "undo peer 10.0.0.0", "related to the BGP peer will be deleted"),
        (BGP, ("bgp 65001",), "router-id 1.1.1.1", "resets the peer session"),
        ("bgp 65001\n", ("bgp 65001",), "router-id 1.1.1.1", None),
        (BGP, ("bgp 65001", "ipv4-family unicast"), "peer G enable", None),
        (BGP, ("bgp 65001", "ipv4-family unicast"), "undo peer G enable", "reset the peer session"),
        ("bfd\n", (), "undo bfd", "The BFD process will be deleted"),
        ("", (), "undo bfd", None),
        ("", (), "dcb pfc global disable", "disable PFC on all ports"),
    ],
)
def test_questions_are_asked_where_something_is_lost(
    before: str, view: tuple[str, ...], line: str, question: str | None
) -> None:
    config, _ = replay(parse_tree(before), G1)
    question_text = apply_line(config, view, line, G1).question
    assert question_text is None if question is None else question in (question_text or "")
    assert question_text is None or question_text.endswith("[Y/N]:")


def test_a_start_up_leaves_out_what_it_refuses_and_goes_on() -> None:
    text = "sysname a\ninterface 100GE1/0/1\n mtu 1\n shutdown\nwhat is this\nlldp enable\n"
    config, refusals = replay(parse_tree(text), G1)
    assert flat(config) == ["sysname a", "lldp enable", "interface 100GE1/0/1", " shutdown"]
    assert [refusal.line for refusal in refusals] == ["mtu 1", "what is this"]
    with pytest.raises(VrpRefusal, match="'mtu 1'"):
        canonical(parse_tree(text), G1)


def test_lines_below_one_that_opens_no_view_are_lines_of_that_view() -> None:
    text = "vlan batch 10\nvlan batch 20\n lldp enable\n what is this\n"
    config, refusals = replay(parse_tree(text), G1)
    assert flat(config) == ["vlan batch 10 20", "lldp enable"]
    assert [refusal.line for refusal in refusals] == ["what is this"]


def test_order_and_defaults_make_no_difference_to_the_canonical_tree() -> None:
    one = "vlan 10\nvlan 20\ninterface 100GE1/0/2\n shutdown\n mtu 1500\nsysname a\n"
    two = "sysname a\nvlan batch 10 20\ninterface 100GE1/0/2\n undo portswitch\n portswitch\n shutdown\n"
    assert canonical(parse_tree(one), G1) == canonical(parse_tree(two), G1)


def test_every_row_names_its_source_and_every_default_is_a_line_of_its_row() -> None:
    for view, rows in rows_by_view().items():
        for row in rows:
            assert row.source, f"{view}: {row.format}"
            assert row.undo_nodes
            if row.kind == "set" and row.default:
                assert row.default.split()[0] in row.first_words, row.format
            for command in (*row.on_set, *row.on_undo):
                assert not re.search(r"\{(?!self|asn|peer|ip|name|1-4094)", command), command


POOL = "qos buffer headroom-pool size 4 mbytes slot 1"
NO_POOL = "undo qos buffer headroom-pool slot 1"


def test_a_headroom_pool_stays_while_a_port_applies_a_pfc_profile() -> None:
    """G2 only (V300R023C00, `qos buffer headroom-pool`): the profile goes first."""
    pfc = [POOL, "interface 100GE1/0/1", "dcb pfc enable mode manual", "quit"]
    with pytest.raises(VrpRefusal, match="is in use"):
        apply_lines((), [*pfc, NO_POOL], G2)
    off = ["interface 100GE1/0/1", "undo dcb pfc enable", "quit"]
    assert POOL not in tree_text(apply_lines((), [*pfc, *off, NO_POOL], G2))
    pfc[0] = POOL.replace("4", "2")  # the most that G1 takes
    assert pfc[0] not in tree_text(apply_lines((), [*pfc, NO_POOL], G1))


def test_a_version_of_snmp_has_an_undo_in_v200_and_none_in_v300() -> None:
    lines = ["snmp-agent sys-info version v2c v3", "undo snmp-agent sys-info version v2c"]
    assert [x.text for x in apply_lines((), lines, V200)] == ["snmp-agent sys-info version v3"]
    for family in (G1, G2):
        with pytest.raises(VrpRefusal, match="Unrecognized command"):
            apply_lines((), lines, family)


def test_what_is_built_in_is_not_deleted_and_stands_in_no_saved_text() -> None:
    for family in (V200, G1, G2):
        assert apply_lines((), ["diffserv domain default", "quit"], family) == ()
        with pytest.raises(VrpRefusal, match="Wrong parameter"):
            apply_lines((), ["undo diffserv domain default"], family)
