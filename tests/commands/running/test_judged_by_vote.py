"""`check --configs DIR` without intent: who differs from most others is reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from text_faults import Found, Line, findings_of, write_texts

from rocefort.design.derive.derive import derive
from rocefort.dialects.network_text import render_all
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface, InterfacePfc
from rocefort.models.device.lossless_queue import AiEcn, AiEcnQueue, Pfc, PfcProfile
from rocefort.models.device.routing import Bgp
from rocefort.models.network.network import Network, Node, SwitchRole
from rocefort.models.vote import Vote
from rocefort.validators.checks import check, rules
from rocefort.validators.rules.running import kind_settings
from rocefort.validators.rules.running.running_subject import VoteSubject

Rocefort = Callable[..., Any]
Saved = Callable[..., Path]
SAMPLES = Path(__file__).parents[2] / "samples"

# A fault, with the finding at its switch and line: its rule, its line, its message.
FAULTS: list[tuple[Line, tuple[str, str, str]]] = [
    (
        Line("leaf03", "dcb pfc", "priority 4", "priority 5"),
        ("PFC201", "priority 5", "pauses queue 5, but queue 4 is paused on 9 of 10 switches"),
    ),
    (
        Line("leaf03", "dcb pfc", "undo priority 3"),
        ("PFC201", "dcb pfc", "pauses queues 3 and 4, but queue 4 is paused on 9 of 10 switches"),
    ),
    (
        Line("leaf05", "interface 100GE1/0/1", "mtu 9000", "mtu 1500"),
        (
            "TXT203",
            "mtu 1500",
            "mtu is 1500 here, and 9000 at 7 of 8 100GE fabric ports of leaves like leaf05",
        ),
    ),
    (
        Line("leaf05", "", "ntp unicast-server 10.255.0.250", "ntp unicast-server 10.255.0.99"),
        (
            "TXT203",
            "ntp unicast-server 10.255.0.99",
            "ntp_servers[10.255.0.99] is here, but 3 of 4 leaves like leaf05 do not have it",
        ),
    ),
    (
        Line("leaf05", "", "lldp enable"),
        ("TXT203", "sysname leaf05", "lldp is off here, and on at 3 of 4 leaves like leaf05"),
    ),
    (
        Line("leaf02", "user-interface vty 0 4", "idle-timeout 15 0", "idle-timeout 600 0"),
        (
            "TXT203",
            "idle-timeout 600 0",
            "vty[0].idle_timeout_s is 36000 here, and 900 at 7 of 8 leaves",
        ),
    ),
]


@pytest.mark.parametrize(("edit", "expected"), FAULTS, ids=lambda case: getattr(case, "old", ""))
def test_who_differs_from_most_is_a_finding_at_its_line(
    rocefort: Rocefort, saved: Saved, edit: Line, expected: tuple[str, str, str]
) -> None:
    words = ("check", "--configs", saved(edit), "--select", "PFC201,TXT203")
    rule, line, message = expected
    assert Found(rule, edit.switch, line, message) in findings_of(rocefort, *words)


def test_like_switches_have_one_sentence_on_what_is_agreed(
    rocefort: Rocefort, saved: Saved
) -> None:
    """Two leaves of HEPS have another release: they differ alike, and are no findings."""
    words = ("check", "--configs", saved(), "--select", "PFC201,TXT203")
    assert findings_of(rocefort, *words) == []
    ran = rocefort(*words)
    assert ran.code == 0
    assert (
        "queue 4 is taken as lossless, as it is paused on 10 of 10 switches: agreed, not right: "
        "no intent confirms it" in ran.words
    )
    assert "PFC201" not in rocefort("check", "heps").out


def test_one_odd_switch_silences_no_rule(rocefort: Rocefort, saved: Saved) -> None:
    """The queue of most switches is judged on all: PFC, ECN and pauses of other queues."""
    edit = Line("leaf03", "dcb pfc", "priority 4", "priority 5")
    ran = rocefort("check", "--configs", saved(edit))
    assert ran.code == 1
    found = {each.rule for each in findings_of(rocefort, "check", "--configs", saved(edit))}
    assert found >= {"PFC201", "ECN001"}
    assert "the lossless queue is not known" not in ran.out


def _switch(name: str, *queues: int, **fields: object) -> Node:
    profile = PfcProfile(queues=tuple(queues))
    port = Interface(name="100GE1/0/1", pfc=InterfacePfc() if queues else None)
    device = Device.model_validate(
        {"name": name, "pfc": Pfc(profiles=(profile,) if queues else ()), "interfaces": (port,)}
        | fields
    )
    return Node(device=device)


def _says(rule: str, *nodes: Node) -> list[str]:
    network = Network(name="texts", origin="text", nodes=nodes)
    report = check(network, run=rules((rule,), judges=VoteSubject))
    return [f"{f.severity} {f.where.device or '-'}: {f.message}" for f in report.findings]


def test_a_tie_is_an_error_of_the_lossless_queue_and_named() -> None:
    assert _says("PFC201", _switch("a", 4), _switch("b", 5)) == [
        "error -: the switches do not agree on the lossless queue: queue 4 on a and queue 5 on b; "
        "of this tie, queue 4 is taken",
        "error b: pauses queue 5, but queue 4 is paused on 1 of 2 switches",
    ]


def test_switches_that_are_prepared_for_pfc_and_pause_nothing_are_errors() -> None:
    ecn = AiEcn(enabled=True, queues=(AiEcnQueue(queue=4),))
    assert _says("PFC201", _switch("a", ai_ecn=ecn), _switch("b")) == [
        "error a: it has a line of AI-ECN, but no port of any switch pauses a queue"
    ]


def test_a_leaf_without_pauses_differs() -> None:
    leaf = {"role": SwitchRole.LEAF}
    nodes = [
        _switch(name, *queues).model_copy(update=leaf)
        for name, queues in (("a", (4,)), ("b", (4,)), ("c", ()))
    ]
    assert _says("PFC201", *nodes) == [
        "error c: pauses no queue, but queue 4 is paused on 2 of 3 switches"
    ]


def test_ties_of_settings_are_information() -> None:
    nodes = [_switch(name, 4, lldp=name in "ab") for name in "abcd"]
    assert _says("TXT203", *nodes) == [
        "info -: lldp: 4 switches do not agree: on (a and b) and off (c and d)"
    ]


def test_every_field_of_a_device_is_shared_or_its_own() -> None:
    assert {*kind_settings.SHARED, *kind_settings.OWN} == {*Device.model_fields}
    assert not {*kind_settings.SHARED} & {*kind_settings.OWN}
    assert {*kind_settings.OWN_OF_BGP} < {*Bgp.model_fields}
    assert {*kind_settings.SHARED_OF_PORT} < {*Interface.model_fields}


@pytest.mark.parametrize(
    ("values", "taken", "count", "clear", "tied"),
    [
        ({"a": 1, "b": 1, "c": 2}, 1, 2, True, False),
        ({"a": 1, "b": 2}, 1, 1, False, True),
        ({"a": 2, "b": 1, "c": 1, "d": 2}, 2, 2, False, True),
        ({"a": 1, "b": 1, "c": 1, "d": 2, "e": 2}, 1, 3, False, False),
    ],
)
def test_a_vote(values: Mapping[str, int], taken: int, count: int, clear: bool, tied: bool) -> None:
    vote = Vote(values)
    assert (vote.taken, vote.count, vote.clear, vote.tied) == (taken, count, clear, tied)


PAIR = [  # a line that leaf01 and leaf02 have as the only ones of a release
    (
        Line("leaf01", "", "telnet server disable", "telnet server enable"),
        "telnet_off[ipv4]: 2 leaves like leaf01 do not agree: not set (leaf01) and on (leaf02)",
    ),
    (
        Line("leaf01", "dcb pfc", "priority 4 deadlock-detect time 10 deadlock-recovery time 10"),
        "pfc.profiles[default].timers[4]: 2 leaves like leaf01 do not agree: not set (leaf01) and "
        "on (leaf02)",
    ),
]


@pytest.mark.parametrize(("edit", "expected"), PAIR)
def test_a_kind_of_two_that_splits_blames_neither(
    rocefort: Rocefort, saved: Saved, edit: Line, expected: str
) -> None:
    found = findings_of(rocefort, "check", "--configs", saved(edit), "--select", "TXT203")
    assert [(each.switch, each.message) for each in found] == [("", expected)]


def test_the_last_switch_of_a_release_is_not_compared_with_another_release(
    rocefort: Rocefort, saved: Saved
) -> None:
    texts = saved()
    (texts / "leaf03.cfg").unlink()
    assert findings_of(rocefort, "check", "--configs", texts, "--select", "TXT203") == []


def test_a_map_of_priorities_without_any_paused_queue_is_a_warning() -> None:
    switch = _switch("a", domains=({"name": "roce", "dscp": ({"value": 32, "phb": "be"},)},))
    assert _says("PFC201", switch, _switch("b")) == [
        "warning a: map of priorities roce is here, but no port of any switch pauses a queue"
    ]


POLICY = """  policy:
    entries:
      - {id: 1, action: deny, source: [compute], destination: [storage]}
"""
DENY = " rule 10130 deny ip source 10.65.0.0 0.0.255.255 destination 10.66.0.0 0.0.255.255\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            DENY,
            "filters.acls[VLAN120].rules[10130] is missing, but 2 of 3 Vlanif120 gateways have it",
        ),
        (
            " traffic-policy VLAN120 inbound\n",
            "interfaces[Vlanif120].filter_in is not set here, and VLAN120 at 2 of 3 Vlanif120 "
            "gateways",
        ),
    ],
)
def test_a_filter_that_one_gateway_of_a_vlan_lacks_is_a_finding(
    rocefort: Rocefort, tmp_path: Path, line: str, message: str
) -> None:
    users = "    - {name: netops, level: 3}\n"
    file = tmp_path / "fabric.yaml"
    text = (SAMPLES / "border" / "fabric.yaml").read_text(encoding="utf-8")
    file.write_text(text.replace(users, users + POLICY), encoding="utf-8")
    texts = dict(render_all(derive(file).network))
    assert line in texts["leaf04"]
    texts["leaf04"] = texts["leaf04"].replace(line, "")
    directory = write_texts(texts, tmp_path / "texts")
    found = findings_of(rocefort, "check", "--configs", directory, "--select", "TXT203")
    assert ("leaf04", message) in [(each.switch, each.message) for each in found]
    assert {each.switch for each in found} == {"leaf04"}
