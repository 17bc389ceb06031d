"""Texts of designs that no fabric describes: one sentence in each command, and no wrong verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocefort.design.derive.derive import derive
from rocefort.design.subject import subject_of_texts
from rocefort.dialects.network_text import render_all
from rocefort.validators.checks import check

Rocefort = Callable[..., Any]
Edit = Callable[[str], str]
BGP = re.compile(r"#\nbgp (?:.|\n)*?(?=^#)", re.MULTILINE)
ADDRESSED = re.compile(r"^interface \d+GE\S+\n(?: .*\n)*? ip address .*\n", re.MULTILINE)
WRONG = ("leave the line out", "peers with another", "looks like a fabric", "is not understood")


def _with(lines: str) -> Edit:
    return lambda text: text.replace("#\nreturn", f"#\n{lines}\n#\nreturn")


def _without_bgp(lines: str, of_port: str) -> Edit:
    def edit(text: str) -> str:
        text = ADDRESSED.sub(lambda port: f"{port[0]} {of_port}\n", BGP.sub("", text))
        return _with(lines)(text)

    return edit


def _in_bgp(lines: str, others: str = "") -> Edit:
    family = "\n #\n ipv4-family unicast"
    return lambda text: _with(others)(text.replace(family, f"\n{lines}{family}", 1))


def _over_ipv6(text: str) -> str:
    text = re.sub(r"(?m)^( peer 10\.|  peer 10\.).*\n", "", text)
    text = re.sub(r"(interface \d+GE\S+\n(?: .*\n)*?) ip address .*\n", r"\1 ipv6 enable\n", text)
    return _in_bgp(" peer 2001:DB8::2 as-number 65002")(text)


@dataclass(frozen=True)
class Design:
    """Edit of every text, the design in words, its answer and its verdicts."""

    edit: Edit
    name: str
    routes: bool  # whether it decides on routes, so that `verify` refuses
    imported: bool
    not_judged: Mapping[str, str]


SHARES = {"ADR001": "VXLAN may give two switches one address, and is not modelled"}
ANYCAST = "ip address 10.99.0.1 255.255.255.0"
DESIGNS = {
    "OSPF": Design(
        _without_bgp("ospf 1\n area 0.0.0.0", "ospf enable 1 area 0.0.0.0"),
        "OSPF", True, False,
        {"BGP001": "no BGP process: OSPF may route instead, and is not modelled"},
    ),
    "IS-IS": Design(
        _without_bgp("isis 1\n is-level level-2", "isis enable 1"),
        "IS-IS", True, False,
        {"BGP001": "no BGP process: IS-IS may route instead, and is not modelled"},
    ),
    "EVPN": Design(
        _in_bgp(" #\n l2vpn-family evpn\n  policy vpn-target", "evpn-overlay enable"),
        "EVPN", True, True, {},
    ),
    "VXLAN": Design(
        _with(f"bridge-domain 10\n vxlan vni 10\n#\ninterface Vbdif10\n {ANYCAST}"),
        "VXLAN", True, True, SHARES,
    ),
    "M-LAG": Design(
        _with(f"dfs-group 1\n priority 150\n#\nvlan batch 99\n#\ninterface Vlanif99\n {ANYCAST}"),
        "M-LAG", True, False,
        {"ADR001": "M-LAG may give two switches one address, and is not modelled"},
    ),
    "stack": Design(_with("stack\n stack member 1 domain 10"), "a stack", False, True, {}),
    "MPLS": Design(_with("mpls lsr-id 10.0.1.1\n#\nmpls ldp"), "MPLS", False, True, {}),
    "both": Design(
        _in_bgp(" peer 2001:DB8::1 as-number 65001\n #\n ipv6-family unicast\n"
                "  peer 2001:DB8::1 enable"),
        "IPv6", False, True, {},
    ),
    "IPv6": Design(
        _over_ipv6, "IPv6", True, False,
        {"BGP002": "no peer has an IPv4 address: IPv6 is not modelled"},
    ),
}  # fmt: skip


@pytest.fixture
def texts(two_leaves: Path) -> dict[str, str]:
    return render_all(derive(two_leaves).network)


def _write(directory: Path, texts: Mapping[str, str]) -> Path:
    directory.mkdir()
    for name, text in texts.items():
        (directory / f"{name}.cfg").write_text(text)
    return directory


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_is_one_sentence_in_each_command(
    rocefort: Rocefort, texts: dict[str, str], tmp_path: Path, name: str
) -> None:
    design = DESIGNS[name]
    edited = {switch: design.edit(text) for switch, text in texts.items()}
    assert all(edited[switch] != text for switch, text in texts.items())
    configs = _write(tmp_path / "configs", edited)
    sentence = re.compile(
        rf"{design.name} is not modelled: \d+ lines on 4 switches "
        r"\(leaf07, leaf08, spine01 and spine02\); \w"
    )
    checked = rocefort("check", "--configs", configs)
    verified = rocefort(
        "verify", "--configs", configs, "--engine", "embedded", "--failures", "none"
    )
    imported = rocefort("import", configs, "--out", tmp_path / "site")
    assert (verified.code == 4) is design.routes
    assert (imported.code == 0) is design.imported
    for done in (checked, verified, imported):
        shown = " ".join((done.out + done.err).split())
        assert len(sentence.findall(shown)) == 1, shown
        assert not [words for words in WRONG if words in shown]


@pytest.mark.parametrize("name", DESIGNS)
def test_no_switch_of_another_design_is_accused(
    texts: dict[str, str], tmp_path: Path, name: str
) -> None:
    design, reports = DESIGNS[name], []
    for folder, edit in (("plain", str), ("edited", design.edit)):
        edited = {switch: edit(text) for switch, text in texts.items()}
        subject = subject_of_texts(_write(tmp_path / folder, edited))
        reports.append(check(subject.network, subject.sources))
    plain, report = reports
    errors = {(f.rule, f.message) for f in report.findings if f.severity == "error"}
    assert errors <= {(f.rule, f.message) for f in plain.findings}
    reasons = {(n.rule, n.reason) for n in report.not_judged}
    assert design.not_judged.items() <= reasons


@pytest.mark.parametrize("switches", [["leaf07"], ["leaf07", "leaf08"]], ids=str)
def test_a_design_of_one_switch_is_found_at_that_switch(
    texts: dict[str, str], tmp_path: Path, switches: list[str]
) -> None:
    edited = texts | {name: _with("dfs-group 1")(texts[name]) for name in switches}
    subject = subject_of_texts(_write(tmp_path / "configs", edited))
    report = check(subject.network, subject.sources)
    (found,) = [each for each in report.findings if "M-LAG is not modelled" in each.message]
    assert found.where.device == (switches[0] if len(switches) == 1 else None)


def test_roles_that_another_protocol_hides_are_not_asked_from_bgp(tmp_path: Path) -> None:
    text = "#\nsysname {}\n#\ninterface LoopBack0\n ospf enable 1 area 0\n#\nospf 1\n#\nreturn\n"
    names = ("agg1", "agg2")
    subject = subject_of_texts(_write(tmp_path / "c", {n: text.format(n) for n in names}))
    roles = [
        n
        for n in check(subject.network, subject.sources).not_judged
        if n.reason.startswith("whether")
    ]
    assert {n.reason for n in roles} == {
        "whether this switch is a spine or a leaf is not known: OSPF is not modelled"
    }
    assert {n.missing.ask for n in roles} == {""}


def test_a_line_of_no_design_is_no_reason_to_change_a_switch(
    rocefort: Rocefort, texts: dict[str, str], tmp_path: Path
) -> None:
    texts["leaf07"] = _with("policy-based-route a\n apply next-hop 10.0.0.1")(texts["leaf07"])
    configs = _write(tmp_path / "configs", texts)
    done = rocefort("verify", "--configs", configs, "--engine", "embedded")
    assert done.code == 4
    assert done.err.strip().endswith(
        "may change the paths of packets and is not modelled; no routing engine models it"
    )
