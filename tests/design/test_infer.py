"""A directory of configurations is judged like the fabric, as far as text can tell."""

from __future__ import annotations

from ipaddress import IPv4Interface
from pathlib import Path

import pytest

from rocefort.design.derive import Derived, derive
from rocefort.design.infer import infer
from rocefort.dialects.vrp.texts import render_all
from rocefort.models.device import Device
from rocefort.models.finding import Finding, NotJudged, Report
from rocefort.models.interface import Interface
from rocefort.models.network import Network, Node
from rocefort.steps.judging import Subject, subject_of_derived, subject_of_texts, write_texts
from rocefort.validators import check, engines, rules
from rocefort.validators.routing import solve
from rocefort.validators.rules import Need

BEYOND_TEXT = {Need.CABLING, Need.SERVERS, Need.LOSSLESS, Need.ROLE, Need.HARDWARE, Need.FAMILY}


@pytest.fixture
def from_text(heps: Derived, tmp_path: Path) -> Subject:
    write_texts(render_all(heps.network), tmp_path)
    return subject_of_texts(tmp_path)


def said(report: Report, rule: str) -> list[tuple[object, ...]]:
    """What a rule finds and cannot judge, without the file that it names."""
    found = [f for f in report.findings if f.rule == rule]
    open_ = [n for n in report.not_judged if n.rule == rule]
    return [
        *((f.severity, f.where.device, f.where.interface, f.message, f.hint) for f in found),
        *((n.where.device, n.where.interface, n.reason) for n in open_),
    ]


def test_the_cables_of_heps_follow_from_its_addresses(heps: Derived, from_text: Subject) -> None:
    assert {frozenset((k.a, k.b)) for k in from_text.network.links or ()} == {
        frozenset((k.a, k.b)) for k in heps.network.links or ()
    }
    assert from_text.network.loose_ends == ()


def test_what_text_can_answer_it_answers_as_the_fabric_does(
    heps: Derived, from_text: Subject
) -> None:
    whole = subject_of_derived(heps)
    ours = check(from_text.network, from_text.sources)
    theirs = check(whole.network, whole.sources)
    silent = {n.rule for n in ours.not_judged}
    for rule in rules():
        if not {*rule.needs, *rule.wants} & BEYOND_TEXT:
            assert said(ours, rule.id) == said(theirs, rule.id)
        else:
            assert rule.id in silent
    assert {r.id for r in rules()} - silent == {
        *("BGP001", "PFC003", "PFC005", "ECN001", "DLK001"),
        *("SEC001", "SEC002", "SEC003", "TXT002"),
    }


@pytest.mark.parametrize(
    ("device", "old", "new", "sentence"),
    [
        (
            "leaf03",
            " peer 10.1.0.32 as-number 65000\n",
            " peer 10.1.0.32 as-number 65009\n",
            "peer 10.1.0.32 is expected in AS 65009, but spine01 is AS 65000",
        ),
        (
            "leaf04",
            " dcb pfc enable mode manual\n",
            " dcb pfc enable mode auto\n",
            "PFC mode is auto, where the neighbour decides by DCBX; it must be manual",
        ),
        (
            "leaf04",
            "  assign queue 4 model ai_ecn_hpc\n",
            "",
            "AI-ECN does not mark lossless queue 4; it is assigned to no queue",
        ),
        (
            "leaf05",
            " mtu 9000\n",
            " mtu 8000\n",
            "MTU 8000 here, 9000 at spine01 100GE1/0/5; both ends of a link need the same",
        ),
    ],
)
def test_a_fault_in_a_text_is_found_with_its_line(
    heps: Derived, tmp_path: Path, device: str, old: str, new: str, sentence: str
) -> None:
    texts = render_all(heps.network)
    assert old in texts[device]
    texts[device] = texts[device].replace(old, new)
    write_texts(texts, tmp_path)
    subject = subject_of_texts(tmp_path)
    report = check(subject.network, subject.sources)
    found = [f for f in report.findings if f.message == sentence]
    assert {f.where.device for f in found} == {device}
    assert {f.where.file for f in found} == {str(tmp_path / f"{device}.cfg")}


def test_verify_answers_for_sessions_and_routes_and_says_what_it_does_not_know(
    heps: Derived, from_text: Subject
) -> None:
    done = engines.run(from_text.network, from_text.sources, engines.Engine.EMBEDDED, "", 0)
    whole = solve(heps.network)
    assert (done.state.sessions, done.state.routes) == (whole.sessions, whole.routes)
    assert done.report.findings == ()
    assert [(n.rule, n.reason) for n in done.report.not_judged] == [
        ("BGP102", "which switches are spines and leaves is not known"),
        ("BGP103", "the servers are not known"),
    ]


def _reasons(report: Report, rule: str) -> list[str]:
    found = [n for n in report.not_judged if n.rule == rule]
    return [f"{n.where.device or ''} {n.where.interface or ''}: {n.reason}" for n in found]


def test_a_port_whose_far_end_no_text_has_is_not_passed(heps: Derived) -> None:
    """One switch's text is missing: what its neighbours' ports lead to is said to be unknown."""
    nodes = [Node(device=n.device) for n in heps.network.nodes if n.name != "spine02"]
    report = check(infer("part", nodes))
    unknown = ": the addresses do not tell what is at the port's other end"
    for rule in ("TOP004", "PFC002", "QOS001"):
        assert [r for r in _reasons(report, rule) if r.endswith(unknown)] == [
            f"leaf{n:02} 100GE1/0/{26 if n in (3, 4) else 58 if n < 3 else 2}{unknown}"
            for n in range(1, 9)
        ]
    assert report.findings == ()


def test_one_text_alone_knows_no_cables(heps: Derived) -> None:
    network = infer("one", [Node(device=heps.network.nodes[0].device)])
    assert network.links is None
    assert all(not isinstance(v, Finding) for v in check(network).findings)
    reasons = [n.reason for n in check(network).not_judged if n.rule == "TOP004"]
    assert (
        "the cabling is not known, so nothing that lies between two ports can be judged" in reasons
    )


def _pair(length: int) -> list[Node]:
    """Two switches with one routed port each, in one subnet."""
    return [
        Node(
            device=Device(
                name=name,
                interfaces=(
                    Interface(
                        name="100GE1/0/1",
                        routed=True,
                        addresses=(IPv4Interface(f"10.0.0.{host}/{length}"),),
                    ),
                ),
            )
        )
        for name, host in (("one", 1), ("two", 2))
    ]


@pytest.mark.parametrize("length", [24, 29, 30])
def test_two_routed_ports_in_one_subnet_are_a_cable_whatever_its_length(length: int) -> None:
    (link,) = infer("pair", _pair(length)).links or ()
    assert (str(link.a), str(link.b)) == ("one 100GE1/0/1", "two 100GE1/0/1")


def test_three_ports_in_one_subnet_are_no_cable_and_not_passed() -> None:
    third = _pair(24)[0].device.model_copy(update={"name": "three"})
    network: Network = infer("lan", [*_pair(24), Node(device=third)])
    assert network.links is None
    reasons: list[NotJudged] = [n for n in check(network).not_judged if n.rule == "TOP004"]
    assert reasons


def test_the_fabric_itself_has_no_loose_ends(heps_file: Path) -> None:
    assert derive(heps_file).network.loose_ends == ()
