"""Roles in configurations without intent: they survive faults, and what is missing is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path
from typing import Any

import pytest
from text_faults import Found, Line, findings_of, with_faults, write_texts

from rocefort.design.infer import infer
from rocefort.design.subject import subject_of_texts
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import Bgp, BgpPeer
from rocefort.models.network.network import Network, Node, RoleEvidence, SwitchRole
from rocefort.validators.checks import check, rules
from rocefort.validators.rules.running.running_subject import VoteSubject

Rocefort = Callable[..., Any]
Saved = Callable[..., Path]
HEPS = {f"leaf{n:02}": SwitchRole.LEAF for n in range(1, 9)} | dict.fromkeys(
    ("spine01", "spine02"), SwitchRole.SPINE
)


def without_cable(leaf: int, subnet: int) -> list[Line]:
    """Edits that take the cable from a leaf to spine02 out of both texts."""
    ends = (
        (f"leaf{leaf:02}", f"651{leaf:02}", f"10.1.0.{subnet}", "spine02", "65000", "SPINE"),
        ("spine02", "65000", f"10.1.0.{subnet + 1}", f"leaf{leaf:02}", f"651{leaf:02}", "LEAF"),
    )
    ports = {"spine02": f"100GE1/1/{leaf}"}
    edits = []
    for name, asn, peer, far, far_asn, group in ends:
        view, family = f"bgp {asn}", " ipv4-family unicast"
        edits += [
            Line(name, "", f"interface {ports.get(name, '100GE1/0/26')}"),
            Line(name, view, f"peer {peer} as-number {far_asn}"),
            Line(name, view, f"peer {peer} group {group}"),
            Line(name, view, f"peer {peer} description {far}"),
            Line(name, family, f"peer {peer} enable"),
            Line(name, family, f"peer {peer} group {group}"),
        ]
    return edits


CABLES = [without_cable(4, 50), [*without_cable(4, 50), *without_cable(3, 34)]]


@pytest.mark.parametrize("edits", CABLES, ids=["one", "two"])
def test_a_missing_cable_is_named_and_hides_no_role(
    rocefort: Rocefort, saved: Saved, edits: list[Line]
) -> None:
    directory = saved(*edits)
    leaves = [f"leaf{n:02}" for n in (3, 4)][2 - len(edits) // 12 :]
    assert findings_of(rocefort, "check", "--configs", directory) == [
        Found(
            "TOP001",
            leaf,
            f"sysname {leaf}",
            "no link to spine02; every leaf needs 1 link to every spine",
        )
        for leaf in leaves
    ]
    network = subject_of_texts(directory).network
    assert {node.name: node.role for node in network.nodes} == HEPS
    ran = rocefort("verify", "--configs", directory)
    assert (ran.code, "BGP109" in ran.out) == (1, False)


def test_a_leaf_without_its_only_gateway_is_a_leaf_and_the_gateway_is_missed(
    rocefort: Rocefort, saved: Saved
) -> None:
    directory = saved(Line("leaf05", "", "interface Vlanif110"))
    assert Found(
        "TOP202",
        "leaf05",
        "port default vlan 110",
        "VLAN 110 has 1 port and no gateway; 9 of 10 VLANs with ports have one on their leaf",
    ) in findings_of(rocefort, "check", "--configs", directory)
    network = subject_of_texts(directory).network
    assert {node.name: node.role for node in network.nodes} == HEPS


@pytest.mark.parametrize(
    ("name", "at", "message"),
    [
        ("leaf05", "spine01", "leaf05 (AS 65105) is in no text, and 2 of 2 spines peer with it"),
        ("spine01", "leaf01", "spine01 (AS 65000) is in no text, and 8 of 8 leaves peer with it"),
    ],
)
def test_a_switch_without_a_text_is_named(
    rocefort: Rocefort, saved: Saved, name: str, at: str, message: str
) -> None:
    directory = saved()
    (directory / f"{name}.cfg").unlink()
    found = findings_of(rocefort, "check", "--configs", directory)
    (missing,) = [each for each in found if each.rule == "TOP201"]
    assert (missing.switch, missing.message) == (at, message)


@pytest.mark.parametrize(
    ("switches", "found"),
    [
        (["spine01"], []),
        (["leaf01", "leaf02"], []),
        (["leaf01", "leaf02", "leaf03", "leaf04"], [4]),
    ],
)
def test_a_peer_that_few_switches_have_is_outside_of_the_fabric(
    rocefort: Rocefort,
    heps_texts: Mapping[str, str],
    tmp_path: Path,
    switches: list[str],
    found: list[int],
) -> None:
    texts = dict(heps_texts)
    for name in switches:
        texts[name] = re.sub(
            r"(?m)^ router-id .*$", r"\g<0>\n peer 198.51.100.1 as-number 65999", texts[name]
        )
    directory = write_texts(texts, tmp_path / "texts")
    judged = findings_of(rocefort, "check", "--configs", directory)
    assert [each.message for each in judged if each.rule == "TOP201"] == [
        f"AS 65999 is in no text, and {count} of 8 leaves peer with it" for count in found
    ]


def test_roles_need_no_names(heps_texts: Mapping[str, str], tmp_path: Path) -> None:
    """Switches named by numbers: gateways and sessions are enough, also without one cable."""
    numbers = {name: f"sw{n}" for n, name in enumerate(HEPS)}
    texts = with_faults(heps_texts, CABLES[0])
    for old, new in numbers.items():
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    network = subject_of_texts(write_texts(texts, tmp_path / "texts")).network
    assert {node.name: node.role for node in network.nodes} == {
        numbers[name]: role for name, role in HEPS.items()
    }
    assert network.by_name["sw8"].role_by == (RoleEvidence.NEIGHBOURS, RoleEvidence.BGP)


def _pair(*names: str) -> Network:
    """Two switches with a BGP session and nothing else."""
    nodes = []
    for own, far, name in ((1, 2, names[0]), (2, 1, names[1])):
        port = Interface(
            name="100GE1/0/1", routed=True, addresses=(IPv4Interface(f"10.0.0.{own}/30"),)
        )
        peer = BgpPeer(address=IPv4Address(f"10.0.0.{far}"), asn=65000 + far, active=True)
        bgp = Bgp(asn=65000 + own, peers=(peer,))
        nodes.append(Node(device=Device(name=name, interfaces=(port,), bgp=bgp)))
    return infer("pair", nodes)


def _says(network: Network) -> list[str]:
    report = check(network, run=rules(("TOP203",), judges=VoteSubject))
    return [f"{f.severity} {f.where.device}: {f.message}" for f in report.findings]


def test_unknown_roles_beside_working_bgp_are_errors() -> None:
    sentence = (
        "its role is not known, though it has BGP sessions with 1 switch here: rules on spines "
        "and leaves judge nothing of it"
    )
    assert _says(_pair("one", "two")) == [f"error one: {sentence}", f"error two: {sentence}"]


def test_names_decide_where_nothing_else_does_and_are_weak_evidence() -> None:
    network = _pair("leaf1", "spine1")
    assert [node.role for node in network.nodes] == [SwitchRole.LEAF, SwitchRole.SPINE]
    assert _says(network) == [
        "info leaf1: taken as leaf by sessions and cables and name, without a gateway"
    ]
