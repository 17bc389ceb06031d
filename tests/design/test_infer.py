"""A directory of configurations gets the same verdicts as the fabric, if text has the facts."""

from __future__ import annotations

from ipaddress import IPv4Interface
from pathlib import Path

import pytest

from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.infer import infer
from rocefort.design.new import Size, new_fabric
from rocefort.design.subject import ReadNetwork, subject_of_derived, subject_of_texts, write_texts
from rocefort.dialects.network_text import render_all
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.finding import Finding, NotJudged, Report
from rocefort.models.network.network import Network, Node
from rocefort.validators import engine_choice
from rocefort.validators.checks import check, rules
from rocefort.validators.routing.engine import solve
from rocefort.validators.rules.missing import Need

# Facts that configurations do not contain; `display version` adds hardware and family.
BEYOND_TEXT = {
    *(Need.SERVERS, Need.LOSSLESS, Need.RESERVED, Need.OVERSUBSCRIPTION, Need.MEDIA, Need.NICS),
    *(Need.SEGMENTS, Need.EXITS),
}
HARDWARE = {Need.HARDWARE, Need.FAMILY}
ALONE = {"SEC010"}  # it requires a policy if there are segments, which is no `Need`


@pytest.fixture
def from_text(heps: DerivedNetwork, tmp_path: Path) -> ReadNetwork:
    write_texts(render_all(heps.network), tmp_path)
    return subject_of_texts(tmp_path)


def verdicts_of(report: Report, rule: str) -> list[tuple[object, ...]]:
    """Return findings and open verdicts of a rule, without their file."""
    findings = [f for f in report.findings if f.rule == rule]
    open_ = [n for n in report.not_judged if n.rule == rule]
    return [
        *((f.severity, f.where.device, f.where.interface, f.message, f.hint) for f in findings),
        *((n.where.device, n.where.interface, n.reason) for n in open_),
    ]


def test_the_cables_of_heps_follow_from_its_addresses(
    heps: DerivedNetwork, from_text: ReadNetwork
) -> None:
    assert {frozenset((k.a, k.b)) for k in from_text.network.links or ()} == {
        frozenset((k.a, k.b)) for k in heps.network.links or ()
    }
    assert from_text.network.loose_ends == ()


@pytest.mark.parametrize("with_versions", [False, True], ids=["configurations", "and versions"])
def test_what_text_can_answer_it_answers_as_the_fabric_does(
    heps: DerivedNetwork, from_text: ReadNetwork, tmp_path: Path, with_versions: bool
) -> None:
    """Rules with enough facts in text give the fabric's verdict; others name the missing fact."""
    judged = from_text
    if with_versions:
        write_versions(heps, tmp_path)
        judged = subject_of_texts(tmp_path)
    beyond = BEYOND_TEXT if with_versions else BEYOND_TEXT | HARDWARE
    whole = subject_of_derived(heps)
    ours = check(judged.network, judged.sources)
    theirs = check(whole.network, whole.sources)
    silent = {n.rule for n in ours.not_judged}
    for rule in rules():
        if {*rule.needs, *rule.wants} & beyond or rule.id in ALONE:
            assert rule.id in silent, rule.id
        else:
            assert verdicts_of(ours, rule.id) == verdicts_of(theirs, rule.id), rule.id
    assert {"TOP001", "TOP002", "TOP007", "ADR002", "ADR003", "BGP001", "BGP002"} <= {
        rule.id for rule in rules() if not {*rule.needs, *rule.wants} & beyond
    } - silent


def write_versions(heps: DerivedNetwork, directory: Path) -> None:
    """Write `display version` of every switch, in the form of its release."""
    for node in heps.network.nodes:
        assert node.hardware is not None
        platform = "YunShan OS" if str(node.software).startswith("V3") else "VRP (R) software"
        (directory / f"{node.name}.version.txt").write_text(
            f"<{node.name}>display version\nHuawei Versatile Routing Platform Software\n"
            f"{platform}, Version 8.0 (CE {node.software})\n"
            f"HUAWEI {node.hardware.model} uptime is 1 day, 2 hours, 3 minutes\n"
        )


def test_models_and_releases_are_those_of_the_fabric(
    heps: DerivedNetwork, from_text: ReadNetwork, tmp_path: Path
) -> None:
    assert {node.hardware for node in from_text.network.nodes} == {None}
    write_versions(heps, tmp_path)
    inferred = subject_of_texts(tmp_path).network
    for node in heps.network.nodes:
        read = inferred.by_name[node.name]
        assert (read.hardware, read.family, read.role) == (node.hardware, node.family, node.role)
        assert str(read.software) == str(node.software)


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
            "MTU 8000 here, 9000 at spine01 100GE1/1/5; both ends of a link need the same",
        ),
    ],
)
def test_a_fault_in_a_text_is_found_with_its_line(
    heps: DerivedNetwork, tmp_path: Path, device: str, old: str, new: str, sentence: str
) -> None:
    texts = render_all(heps.network)
    assert old in texts[device]
    texts[device] = texts[device].replace(old, new)
    write_texts(texts, tmp_path)
    subject = subject_of_texts(tmp_path)
    report = check(subject.network, subject.sources)
    findings = [f for f in report.findings if f.message == sentence]
    assert {f.where.device for f in findings} == {device}
    assert {f.where.file for f in findings} == {str(tmp_path / f"{device}.cfg")}


@pytest.mark.parametrize(
    ("header", "port", "family"),
    [
        ("!Software Version V200R005C10SPC800\n", "10GE1/0/1", "v200"),
        ("!Software Version V200R011C10SPC500\n", "GigabitEthernet0/0/1", None),
        ("!Software Version V300R023C00\n", "100GE1/0/1", None),  # only hardware decides G1 or G2
        ("", "100GE1/0/1", None),
    ],
)
def test_a_header_alone_tells_the_family_where_all_models_have_one(
    tmp_path: Path, header: str, port: str, family: str | None
) -> None:
    (tmp_path / "a.cfg").write_text(f"{header}sysname a\ninterface {port}\nreturn\n")
    (node,) = subject_of_texts(tmp_path).network.nodes
    assert (node.hardware, node.syntax) == (None, family)


def test_a_fixed_switch_saves_its_model_as_its_board(tmp_path: Path) -> None:
    board = "device board 1 board-type CE8850-64CQ-EI\n"
    for text, model in ((board, "CE8850-64CQ-EI"), (board.replace("64CQ", "99CQ"), None)):
        (tmp_path / "a.cfg").write_text(f"sysname a\n{text}return\n")
        (node,) = subject_of_texts(tmp_path).network.nodes
        assert (node.hardware.model if node.hardware else None) == model


@pytest.mark.parametrize("links", [1, 2])
@pytest.mark.parametrize(("spines", "leaves"), [(1, 2), (2, 3), (4, 7)])
def test_text_tells_the_cables_and_roles_of_any_fabric(
    tmp_path: Path, spines: int, leaves: int, links: int
) -> None:
    size = Size(spines, leaves, 1, links_per_pair=links)
    text = new_fabric("made", size, "CE8851-32CQ8DQ-P", "CE9860-4C-EI")
    (tmp_path / "fabric.yaml").write_text(text)
    meant = derive(tmp_path / "fabric.yaml").network
    write_texts(render_all(meant), tmp_path / "configs")
    read = subject_of_texts(tmp_path / "configs").network
    assert {frozenset((k.a, k.b)) for k in read.cabling or ()} == {
        frozenset((k.a, k.b)) for k in meant.links or ()
    }
    assert {n.name: n.role for n in read.nodes} == {n.name: n.role for n in meant.nodes}
    assert not [f for f in check(read).findings if f.rule == "TOP007"]


def test_verify_answers_for_sessions_and_routes_and_says_what_it_does_not_know(
    heps: DerivedNetwork, from_text: ReadNetwork
) -> None:
    done = engine_choice.run(from_text.network, from_text.sources, engine_choice.Engine.EMBEDDED)
    whole = solve(heps.network)
    assert (done.state.sessions, done.state.routes) == (whole.sessions, whole.routes)
    assert done.report.findings == ()
    assert [(n.rule, n.reason) for n in done.report.not_judged] == [
        ("BGP103", "the servers are not known"),
    ]


def _reasons(report: Report, rule: str) -> list[str]:
    verdicts = [n for n in report.not_judged if n.rule == rule]
    return [f"{n.where.device or ''} {n.where.interface or ''}: {n.reason}" for n in verdicts]


def test_a_port_whose_far_end_no_text_has_is_not_passed(heps: DerivedNetwork) -> None:
    """The text of one switch is missing: the far ends of its neighbours' ports are unknown."""
    nodes = [Node(device=n.device) for n in heps.network.nodes if n.name != "spine02"]
    report = check(infer("part", nodes))
    unknown = ": the addresses do not show the port's other end"
    for rule in ("TOP004", "PFC002", "QOS001"):
        assert [r for r in _reasons(report, rule) if r.endswith(unknown)] == [
            f"leaf{n:02} 100GE1/0/{26 if n in (3, 4) else 58 if n < 3 else 2}{unknown}"
            for n in range(1, 9)
        ]
    assert report.findings == ()


def test_one_text_alone_knows_no_cables(heps: DerivedNetwork) -> None:
    network = infer("one", [Node(device=heps.network.nodes[0].device)])
    assert network.links is None
    assert all(not isinstance(v, Finding) for v in check(network).findings)
    reasons = [n.reason for n in check(network).not_judged if n.rule == "TOP004"]
    assert "the cabling is not known, so nothing between two ports can be judged" in reasons


def _pair(length: int) -> list[Node]:
    """Return two switches with one routed port each, in one subnet."""
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
