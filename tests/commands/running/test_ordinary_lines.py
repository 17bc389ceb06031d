"""Ordinary lines of real configurations: no false finding, and no refusal without need."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from text_faults import Line, findings_of

Rocefort = Callable[..., Any]
Saved = Callable[..., Path]

BGP, FAMILY, PEER = "bgp 65102", " ipv4-family unicast", "10.1.0.16"
OVERLAY = Line(
    "leaf02",
    BGP,
    "",
    "peer 10.0.0.1 as-number 65000\npeer 10.0.0.1 connect-interface LoopBack0\n"
    "l2vpn-family evpn\n policy vpn-target\n peer 10.0.0.1 enable",
)
DISABLED = [
    Line("leaf02", FAMILY, f"peer {group} enable", f"undo peer {group} enable")
    for group in (PEER, "SPINE")
]
NOT_ENABLED = "is not enabled in the IPv4 family, so it brings no routes"

# Lines, and the findings of BGP001.
SESSIONS: list[tuple[list[Line], list[str]]] = [
    ([OVERLAY], []),
    ([OVERLAY, Line("leaf02", FAMILY, "", "undo peer 10.0.0.1 enable")], []),
    (  # of no other family
        [Line("leaf02", BGP, "", "peer 10.0.0.1 as-number 65000")],
        [
            f"peer 10.0.0.1 {NOT_ENABLED}",
            "no interface here is in one subnet with peer 10.0.0.1 of spine01",
        ],
    ),
    (  # to a loopback, but not from one
        [
            OVERLAY,
            Line(
                "leaf02",
                BGP,
                "peer 10.0.0.1 connect-interface LoopBack0",
                "peer 10.0.0.1 connect-interface MEth0/0/0",
            ),
        ],
        ["no interface here is in one subnet with peer 10.0.0.1 of spine01"],
    ),
    (DISABLED, [f"peer {PEER} {NOT_ENABLED}"]),
]


@pytest.mark.parametrize(("edits", "expected"), SESSIONS)
def test_sessions_of_an_overlay_are_not_those_of_links(
    rocefort: Rocefort, saved: Saved, edits: list[Line], expected: list[str]
) -> None:
    found = findings_of(rocefort, "check", "--configs", saved(*edits), "--select", "BGP001")
    assert sorted(each.message for each in found) == sorted(expected)


def test_peers_of_an_overlay_do_not_differ_from_those_of_links(
    rocefort: Rocefort, saved: Saved
) -> None:
    found = findings_of(rocefort, "check", "--configs", saved(OVERLAY), "--select", "TXT203")
    assert found == []
    plain = Line("leaf02", BGP, "", "peer 10.0.0.1 as-number 65000")
    words = ("check", "--configs", saved(plain), "--select", "TXT203")
    assert "peer 10.0.0.1: group is not set (keepalive_s is 60 for 10" in rocefort(*words).words


def test_a_session_between_loopbacks_is_not_judged(rocefort: Rocefort, saved: Saved) -> None:
    words = ("check", "--configs", saved(OVERLAY), "--select", "BGP001")
    output = json.loads(rocefort(*words, "--format", "json").out)
    reasons = {row["reason"] for row in output["not_judged"]}
    assert "a session between loopbacks is not modelled" in reasons


def test_a_peer_without_an_enabling_line_may_be_disabled_by_one(
    rocefort: Rocefort, saved: Saved
) -> None:
    """The group lends the peer its `enable`, so its own `undo` changes the session."""
    peer, group = DISABLED
    words = ("verify", "--failures", "none", "--configs")
    assert rocefort(*words, saved(group)).code == 0
    closed, down = rocefort(*words, saved(peer)), rocefort(*words, saved(peer, group))
    assert (closed.code, down.code) == (1, 1)
    assert "leaf02 closes it by `undo peer 10.1.0.16 enable`" in closed.words
    assert "leaf02 does not enable the peer 10.1.0.16 for IPv4" in down.words


# Lines of the IPv4 family that change no answer here, and whether their effect is certain.
STATIC = Line("leaf02", "", "", "ip route-static 172.16.0.0 255.240.0.0 10.65.1.250")
OF_STATIC: list[tuple[list[Line], bool]] = [
    ([Line("leaf02", FAMILY, "", "preference 20 200 200")], True),
    ([Line("leaf02", FAMILY, "", "import-route static")], True),
    ([STATIC, Line("leaf02", FAMILY, "", "preference 20 200 200")], False),
    ([STATIC, Line("leaf02", FAMILY, "", "preference 61 200 200")], True),  # 60 wins
    ([STATIC, Line("leaf02", FAMILY, "", "import-route static")], True),
    ([Line("leaf02", FAMILY, "", "import-route direct")], True),
    ([Line("leaf02", FAMILY, "", "preference route-policy P")], True),
]


@pytest.mark.parametrize(("edits", "certain"), OF_STATIC)
def test_preferences_matter_beside_static_routes(
    rocefort: Rocefort, saved: Saved, edits: list[Line], certain: bool
) -> None:
    ran = rocefort("verify", "--failures", "none", "--configs", saved(*edits))
    assert ran.code == 0
    named = (
        f"`{edits[-1].new}` may change the routes that BGP uses or announces and is not modelled"
    )
    assert (named in " ".join(ran.err.split())) is not certain


VERSION = """<leaf03>display version
Huawei Versatile Routing Platform Software
YunShan OS, Version 1.23.0.1 (CE6800 V300R023C00SPC500)
HUAWEI CE8851-32CQ8DQ-P uptime is 3 days
"""
SOURCE = "ssh server-source -i MEth0/0/0"


def test_an_ssh_server_without_a_source_is_judged_by_its_release(
    rocefort: Rocefort, saved: Saved
) -> None:
    directory = saved(Line("leaf01 leaf03", "", SOURCE))
    (directory / "leaf03.txt").write_text(VERSION, encoding="utf-8")
    words = ("check", "--configs", directory, "--select", "SEC002")
    found = findings_of(rocefort, *words)
    assert [(each.switch, each.message) for each in found] == [
        ("leaf03", "the SSH server has no source interface, so no interface accepts a session")
    ]
    output = json.loads(rocefort(*words, "--format", "json").out)
    assert [(row["where"]["device"], row["reason"]) for row in output["not_judged"]] == [
        ("leaf01", "no `ssh server-source -i`, and the release's default is not confirmed")
    ]


def test_members_are_named_by_short_ports_or_in_the_view_of_the_trunk(
    rocefort: Rocefort, tmp_path: Path
) -> None:
    text = """#
sysname access1
#
vlan batch 10
#
interface Eth-Trunk1
 port default vlan 10
#
interface Eth-Trunk2
 port default vlan 10
 trunkport 10GE 1/0/3 to 1/0/4
#
interface Eth-Trunk3
 port default vlan 10
#
interface GE1/0/1
 eth-trunk 1
#
return
"""
    (tmp_path / "access1.cfg").write_text(text, encoding="utf-8")
    words = ("check", "--configs", tmp_path, "--select", "LAG005")
    found = findings_of(rocefort, *words)
    assert [(each.line, each.message) for each in found] == [
        ("interface Eth-Trunk3", "no member, but 1 must be up; it never comes up")
    ]
    output = json.loads(rocefort(*words, "--format", "json").out)
    assert [(row["where"]["interface"], row["reason"]) for row in output["not_judged"]] == [
        ("Eth-Trunk2", "`trunkport 10GE 1/0/3 to 1/0/4` may add members, and is not read")
    ]


def outside(asn: int) -> list[Line]:
    """Edits that add a port and a peer that no other text has."""
    port = "interface 100GE1/0/50\n undo portswitch\n ip address 192.0.2.1 255.255.255.254"
    return [
        Line("leaf02", "", "", port),
        Line("leaf02", BGP, "", f"peer 192.0.2.0 as-number {asn}"),
        Line("leaf02", FAMILY, "", "peer 192.0.2.0 enable"),
    ]


def test_a_peer_outside_the_texts_is_not_judged(rocefort: Rocefort, saved: Saved) -> None:
    words = ("verify", "--failures", "none", "--configs")
    ran = rocefort(*words, saved(*outside(64900)), "--format", "json")
    output = json.loads(ran.out)
    assert ran.code == 0
    rows = [row for row in output["not_judged"] if row["rule"] == "BGP101"]
    assert [row["reason"] for row in rows] == ["the configuration of a peer is not among the texts"]
    found = findings_of(rocefort, *words, saved(*outside(65101)))  # the AS of leaf01
    assert [(each.rule, each.line) for each in found] == [
        ("BGP101", "peer 192.0.2.0 as-number 65101")
    ]
