"""`check FABRIC --configs DIR` and `verify FABRIC --configs DIR`: what runs, judged by the intent."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from text_faults import Found, Line, findings_of, write_texts

Rocefort = Callable[..., Any]
Saved = Callable[..., Path]

BGP = "bgp 65102"
# A fault, and findings that name its switch and its line.
FAULTS: list[tuple[Line, list[tuple[str, str, str]]]] = [
    (
        Line("leaf02", " ipv4-family unicast", "maximum load-balancing 32"),
        [
            (
                "BGP002",
                BGP,
                "`maximum load-balancing` is 1, but there are 2 equal paths",
            ),
            (
                "TXT202",
                BGP,
                "bgp.maximum_paths is the default, the fabric intends 32",
            ),
        ],
    ),
    (
        Line("leaf03", "interface Vlanif120", "mtu 9000"),
        [
            (
                "TOP004",
                "interface Vlanif120",
                "MTU 1500 on the gateway of server k8sgn12, which sends up to 9000",
            ),
            ("TXT202", "interface Vlanif120", "mtu is the default, the fabric intends 9000"),
        ],
    ),
    (
        Line("leaf04", "", "ntp unicast-server 10.255.0.250", "ntp unicast-server 10.255.0.99"),
        [
            (
                "TXT202",
                "ntp unicast-server 10.255.0.99",
                "ntp_servers[10.255.0.99] is here, the fabric does not intend it",
            )
        ],
    ),
]


@pytest.mark.parametrize(("edit", "expected"), FAULTS, ids=lambda case: getattr(case, "old", ""))
def test_a_fault_is_found_at_its_line_and_beside_its_intent(
    rocefort: Rocefort, saved: Saved, edit: Line, expected: list[tuple[str, str, str]]
) -> None:
    findings = findings_of(rocefort, "check", "heps", "--configs", saved(edit))
    for rule, line, message in expected:
        assert Found(rule, edit.switch, line, message) in findings


def test_texts_as_intended_have_no_findings_of_their_own(rocefort: Rocefort, saved: Saved) -> None:
    ran = rocefort("check", "heps", "--configs", saved())
    assert ran.code == 0
    assert "TXT20" not in ran.out
    ran = rocefort("verify", "heps", "--configs", saved(), "--failures", "none")
    assert (ran.code, "TXT201" in ran.out) == (0, False)
    assert "server pairs delivered by every path: 124 of 124 that the policy allows" in ran.out


def test_a_place_has_the_line_of_the_text_and_of_the_fabric(
    rocefort: Rocefort, saved: Saved
) -> None:
    edit = Line("leaf02", " ipv4-family unicast", "maximum load-balancing 32")
    words = ("check", "heps", "--configs", saved(edit), "--select", "BGP002")
    text = rocefort(*words).out
    assert "in: " in text
    assert "leaf02.cfg:" in text
    assert "intended in: inventory/heps/fabric.yaml:" in text.replace("\n        ", "")
    (found,) = json.loads(rocefort(*words, "--format", "json").out)["findings"]
    assert found["where"]["intent"]["file"].endswith("heps/fabric.yaml")
    (result,) = json.loads(rocefort(*words, "--format", "sarif").out)["runs"][0]["results"]
    (related,) = result["relatedLocations"]
    uri = related["physicalLocation"]["artifactLocation"]["uri"]
    assert (uri.endswith("heps/fabric.yaml"), related["message"]["text"]) == (True, "the intent")
    assert "intended in" in rocefort(*words, "--format", "markdown").out
    assert "intended in" in rocefort(*words, "--format", "junit").out


def test_missing_texts_strangers_and_other_names_are_errors(
    rocefort: Rocefort, saved: Saved
) -> None:
    directory = saved(Line("leaf03", "", "sysname leaf03", "sysname leaf33"))
    (directory / "leaf05.cfg").unlink()
    stranger = "#\nsysname leaf99\n#\nlldp enable\n#\nreturn\n"
    (directory / "other.cfg").write_text(stranger, encoding="utf-8")
    expected = [
        ("leaf99", "the fabric has no switch leaf99: its configuration is not judged"),
        ("leaf03", "the sysname is leaf33, but by its addresses or its file this is leaf03"),
        (
            "leaf05",
            f"no configuration of leaf05 in {directory}: it is judged as the fabric intends it",
        ),
    ]
    for command in (("check",), ("verify", "--failures", "none")):
        found = findings_of(rocefort, *command, "heps", "--configs", directory)
        rows = [(each.switch, each.message) for each in found if each.rule == "TXT201"]
        assert sorted(rows) == sorted(expected)
        assert rocefort(*command, "heps", "--configs", directory).code == 1


def test_configurations_have_one_source(rocefort: Rocefort, saved: Saved, tmp_path: Path) -> None:
    ran = rocefort(
        "check", "heps", "--configs", saved(), "--connections", tmp_path / "connections.yaml"
    )
    assert ran.code == 2
    assert "both --configs and --connections say where the running configurations are" in ran.err


def test_rules_on_the_intent_need_configurations(rocefort: Rocefort) -> None:
    ran = rocefort("check", "heps", "--select", "TXT202")
    assert ran.code == 2
    assert "no rule or family 'TXT202'" in ran.err


UPLINK = "interface 100GE1/0/57"
UNDONE: list[tuple[str, str, str, str]] = [
    (UPLINK, "trust upstream roce", "undo ip address", "the connected subnets"),
    (UPLINK, "trust upstream roce", "undo dcb pfc enable", ""),
    ("", "stelnet server enable", "undo stelnet server enable", ""),
    ("", "stelnet server enable", "undo bgp 65101", "the routes that BGP uses or announces"),
    ("", "lldp enable", "undo interface Vlanif120", "the interfaces and VLANs in use"),
]


@pytest.mark.parametrize(("view", "after", "line", "effect"), UNDONE)
def test_an_undo_of_a_modelled_line_is_a_warning_that_quotes_it(
    rocefort: Rocefort, saved: Saved, view: str, after: str, line: str, effect: str
) -> None:
    """No switch saves such a line; without a reading of it, a routing engine refuses it."""
    texts = saved(Line("leaf01", view, after, f"{after}\n{line}"))
    why = (
        f"may change {effect}" if effect else "removes a setting; no switch saves such a line"
    ) + ", and nothing judges it"
    shown = f"`{line}` in {view}" if view else f"`{line}`"
    words = ("check", "heps", "--configs", texts, "--select", "TXT004")
    assert findings_of(rocefort, *words) == [Found("TXT004", "leaf01", line, f"{shown} {why}")]
    ran = rocefort("verify", "heps", "--configs", texts)
    assert ran.code == (4 if effect and "BGP" not in effect else 0)
    assert (f"`{line}` may change {effect}" in " ".join(ran.err.split())) is bool(effect)


STOPPED = [
    (UPLINK, "undo portswitch", "undo portswitch\nshutdown", 1),
    ("interface 100GE1/0/2", "port default vlan 120", "port default vlan 140", 1),
    ("interface Vlanif120", "mtu 9000", "mtu 9000\nshutdown", 1),
    ("interface Vlanif120", "ip address 10.65.0.1 255.255.255.0", "", 1),
    ("", "route-policy EXPORT permit node 10", "route-policy EXPORT deny node 10", 1),
    ("bgp 65101", "peer 10.1.0.0 as-number 65000", "peer 10.1.0.0 as-number 65001", 1),
    ("interface Vlanif120", "mtu 9000", "", 0),
    ("", "ntp unicast-server 10.255.0.250", "", 0),
]


@pytest.mark.parametrize(("view", "old", "new", "code"), STOPPED)
def test_a_difference_that_stops_traffic_is_an_error(
    rocefort: Rocefort, saved: Saved, view: str, old: str, new: str, code: int
) -> None:
    texts = saved(Line("leaf01", view, old, new) if new else Line("leaf01", view, old))
    words = ("check", "heps", "--configs", texts, "--select", "TXT202")
    assert findings_of(rocefort, *words)
    assert rocefort(*words).code == code


def test_a_telnet_server_is_one_finding_beside_the_difference(
    rocefort: Rocefort, saved: Saved
) -> None:
    line = "telnet server enable"
    texts = saved(Line("leaf01", "", "telnet server disable", line))
    words = ("check", "heps", "--configs", texts, "--select", "SEC014,TXT002")
    plain = "the Telnet server runs: passwords and files cross the network as text"
    assert findings_of(rocefort, *words) == [Found("SEC014", "leaf01", line, plain)]


def test_a_wrong_address_makes_no_peer_external(rocefort: Rocefort, saved: Saved) -> None:
    address = "ip address 10.1.0.{} 255.255.255.254"
    texts = saved(Line("leaf01", UPLINK, address.format(1), address.format(9)))
    words = ("check", "heps", "--configs", texts, "--select")
    assert findings_of(rocefort, *words, "BGP003") == []
    assert findings_of(rocefort, *words, "BGP001")


def test_a_loopback_of_another_leaf_hides_the_intended_prefix(
    rocefort: Rocefort, heps_texts: Mapping[str, str], tmp_path: Path
) -> None:
    texts = {**heps_texts, "leaf02": heps_texts["leaf02"].replace("10.0.1.2", "10.0.1.1")}
    words = ("verify", "heps", "--configs", write_texts(texts, tmp_path / "texts"))
    messages = [each.message for each in findings_of(rocefort, *words)]
    assert "7 leaves lack paths to 10.0.1.2/32 of leaf02: leaf02 has no network line for it" in (
        messages
    )


STATIC = "ip route-static 10.66.3.0 255.255.255.0 {}"


@pytest.mark.parametrize(
    ("hop", "rules"), [("NULL0", ["BGP103"]), ("10.1.0.0", ["BGP102", "BGP203"])]
)
def test_a_static_route_in_place_of_bgp_is_named_at_its_line(
    rocefort: Rocefort, saved: Saved, hop: str, rules: list[str]
) -> None:
    line = STATIC.format(hop)
    texts = saved(Line("leaf01", "", "lldp enable", f"lldp enable\n{line}"))
    found = findings_of(rocefort, "verify", "heps", "--configs", texts, "--failures", "none")
    assert {(each.rule, each.line) for each in found} == {(rule, line) for rule in rules}


def _sysname(text: str, name: str) -> str:
    assert text.count("sysname ") == 1
    return re.sub(r"sysname \S+", f"sysname {name}", text)


def _news(rocefort: Rocefort, directory: Path, clean: Path) -> list[str]:
    """Findings that clean texts do not have."""
    rows = []
    for texts in (clean, directory):
        ran = rocefort("check", "heps", "--configs", texts, "--format", "json")
        rows.append([f"{f['rule']} {f['message']}" for f in json.loads(ran.out)["findings"]])
    return [row for row in rows[1] if row not in rows[0]]


def test_two_swapped_texts_are_one_finding(
    rocefort: Rocefort, saved: Saved, tmp_path: Path
) -> None:
    clean = saved()
    swapped = shutil.copytree(clean, tmp_path / "swapped")
    for name, other in (("leaf02", "leaf03"), ("leaf03", "leaf02")):
        text = (clean / f"{other}.cfg").read_text(encoding="utf-8")
        (swapped / f"{name}.cfg").write_text(_sysname(text, name), encoding="utf-8")
    (finding,) = _news(rocefort, swapped, clean)
    assert re.fullmatch(
        "TXT201 leaf02 and leaf03 have each other's text: leaf02 runs that of leaf03, and leaf03 "
        "that of leaf02, by all addresses; each text is judged as that of the switch whose "
        r"addresses it has, and [1-9]\d+ differences as a consequence are not listed",
        finding,
    )


def test_texts_in_a_circle_are_one_finding(
    rocefort: Rocefort, saved: Saved, tmp_path: Path
) -> None:
    clean = saved()
    swapped = shutil.copytree(clean, tmp_path / "swapped")
    for name, other in (("leaf02", "leaf03"), ("leaf03", "leaf04"), ("leaf04", "leaf02")):
        text = (clean / f"{other}.cfg").read_text(encoding="utf-8")
        (swapped / f"{name}.cfg").write_text(_sysname(text, name), encoding="utf-8")
    (finding,) = _news(rocefort, swapped, clean)
    assert re.fullmatch(
        "TXT201 leaf02, leaf03 and leaf04 have each other's texts: leaf02 runs that of leaf03, "
        "leaf03 that of leaf04, and leaf04 that of leaf02, by all addresses; each text is judged "
        r"as that of the switch whose addresses it has, and [1-9]\d+ differences as a consequence "
        "are not listed",
        finding,
    )


def test_a_copy_of_another_text_is_one_finding(
    rocefort: Rocefort, saved: Saved, tmp_path: Path
) -> None:
    clean = saved()
    copied = shutil.copytree(clean, tmp_path / "copied")
    text = (clean / "leaf02.cfg").read_text(encoding="utf-8")
    (copied / "leaf03.cfg").write_text(_sysname(text, "leaf03"), encoding="utf-8")
    (finding,) = _news(rocefort, copied, clean)
    assert re.fullmatch(
        "TXT201 leaf03 runs the text of leaf02: all addresses in it are those of leaf02; leaf03 is "
        r"judged as the fabric intends it, and [1-9]\d+ differences as a consequence are not listed",
        finding,
    )
