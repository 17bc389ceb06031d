"""The registry of rules: conditions to load, fields of every rule, position of a finding."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.dialects.words import in_words
from rocefort.models.finding import Severity
from rocefort.models.network.network import Position, Sources
from rocefort.models.units import kbytes
from rocefort.models.wording import count_of, listing, ranges
from rocefort.validators.checks import check, rules
from rocefort.validators.rules.live.switch_readings import LiveSubject
from rocefort.validators.rules.missing import NIC
from rocefort.validators.rules.registry import (
    FAMILIES,
    Rule,
    Subject,
    Verdict,
    registered,
    rule,
    sections_of,
)
from rocefort.validators.rules.servers.server_subject import HostSubject

FILES = [
    path
    for folder in (
        Path(__file__).parents[1],
        Path(__file__).parents[2] / "hosts",
        Path(__file__).parents[2] / "commands" / "running",
    )
    for path in sorted(folder.rglob("*.py"))
]
TESTS = "".join(path.read_text(encoding="utf-8") for path in FILES)
STRINGS = "\n".join(
    node.value
    for path in FILES
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.Constant) and isinstance(node.value, str)
)
# Their messages quote a line of a switch, which no rule names; these sets only get smaller.
WITHOUT_EXAMPLE = {"CHG201", "TXT002", "TXT003"}
WITHOUT_FIX = {"TXT004"}  # it only informs


def _silent(subject: Subject) -> Iterator[Verdict]:
    yield subject.not_judged(None, "no reason", NIC)


def test_a_rule_without_docstring_does_not_load() -> None:
    with pytest.raises(TypeError, match="rule TOP900 has no docstring or no source"):
        rule("TOP900", severity=Severity.ERROR, source="RFC 1")(_silent)


def test_a_rule_without_source_does_not_load() -> None:
    def documented(subject: Subject) -> Iterator[Verdict]:
        """Yield nothing."""
        yield from _silent(subject)

    with pytest.raises(TypeError, match="rule TOP900 has no docstring or no source"):
        rule("TOP900", severity=Severity.ERROR, source=" ")(documented)
    with pytest.raises(TypeError, match="rule id TOP001 is taken, or of no known family"):
        rule("TOP001", severity=Severity.ERROR, source="RFC 1")(documented)
    with pytest.raises(TypeError, match="rule id XYZ001 is taken, or of no known family"):
        rule("XYZ001", severity=Severity.ERROR, source="RFC 1")(documented)


def test_ids_have_one_pattern_and_one_order() -> None:
    ids = [one.id for one in registered()]
    assert all(re.fullmatch(r"[A-Z]{3}\d{3}", name) for name in ids)
    families = list(FAMILIES)
    assert ids == sorted(ids, key=lambda name: (families.index(name[:3]), name))
    assert {name[:3] for name in ids} == set(FAMILIES)
    assert {one.judges for one in registered()} > {Subject, LiveSubject, HostSubject}


@pytest.mark.parametrize("one", registered(), ids=lambda one: one.id)
def test_every_rule_explains_itself_and_is_tested(one: Rule) -> None:
    """The example of a rule is a message that one of the tests asserts, word by word."""
    assert one.explanation
    assert not one.title.endswith(".")
    assert max(map(len, one.explanation.splitlines())) <= 96
    if one.judges in (Subject, LiveSubject, HostSubject):
        assert len(one.title) <= 62  # fits a line of a terminal with its id and severity
        assert f"{one.id}: list[tuple[Change, list[str]]] = [" in TESTS
        cases = (f'.says("{one.id}")', f'"{one.id}": {one.id},', f'"{one.id}": {one.id}\n')
        assert any(case in TESTS for case in cases)
    assert (not one.example) == (one.id in WITHOUT_EXAMPLE)
    assert (not one.fix) == (one.id in WITHOUT_FIX)
    assert in_words(one.example) in STRINGS


def test_a_docstring_has_sections() -> None:
    text = """Title.\n\nWhy: so.\n\nMore.\n\nExample: a\n  b\nFix: Repair it,\nor not.\n"""
    sections = {"Example": "a b", "Fix": "Repair it, or not."}
    assert sections_of(text) == ("Title", "Why: so.\n\nMore.", sections)
    assert sections_of("Title.") == ("Title", "", {})


def test_a_sound_fabric_is_silent(small: Any) -> None:
    report = check(small.network)
    assert (report.findings, report.failed) == ((), False)
    assert {n.rule for n in report.not_judged} == {"ECN002"}  # AI-ECN keeps its thresholds
    assert report.rules == tuple(r.id for r in rules())


def test_a_network_that_is_only_text_is_never_silently_passed(small: Any) -> None:
    """Every rule that needs information beyond the text reports it."""
    nodes = tuple(
        n.model_copy(update={"role": None, "hardware": None, "family": None})
        for n in small.network.nodes
    )
    names = [
        "links",
        "servers",
        "segments",
        "lossless",
        "spines",
        "reserved",
        "oversubscription",
        "exits",
    ]
    unknown = dict.fromkeys([*names, "hosts"])
    report = check(small.change(nodes=nodes, origin="text", **unknown).network)
    assert report.findings == ()
    assert {n.rule for n in report.not_judged} >= {r.id for r in rules() if r.needs or r.wants}


def test_a_finding_names_device_interface_file_and_line(small: Any) -> None:
    table = {
        "leaf01/": Position("fabric.yaml", 10),
        "leaf01/interfaces[100GE1/0/1].thresholds": Position("fabric.yaml", 20),
        "/lossless.detect_ms": Position("fabric.yaml", 30),
    }
    spoiled = small.row("leaf01", "100GE1/0/1", xon_kbytes=601).pfc("leaf01", detect_ms=5)
    spoiled = replace(spoiled.lossless(detect_ms=1001), sources=Sources(table))
    assert [line.partition(": ")[0] for line in spoiled.says("PFC001")] == [
        "error leaf01 100GE1/0/1 (fabric.yaml:20)"
    ]
    where = [line.partition(": ")[0] for line in spoiled.says("PFC004")]
    assert where[:2] == ["error leaf01 (fabric.yaml:10)", "warning fabric.yaml:30"]


def test_findings_come_in_the_same_order_however_the_nodes_do(small: Any) -> None:
    spoiled = small.bgp("leaf02", asn=65000).pfc("leaf01", detect_ms=5).device("leaf01", bfd=False)
    turned = spoiled.change(nodes=spoiled.network.nodes[::-1], links=spoiled.network.links[::-1])
    assert check(spoiled.network) == check(turned.network)


@given(st.permutations(range(4)), st.sampled_from(range(10)))
def test_no_sentence_hangs_on_the_order_of_the_nodes(
    small: Any, order: list[int], fault: int
) -> None:
    """Of two owners of an address or a number, always the same one has the finding."""
    one = (IPv4Interface("10.1.1.2/31"),)
    spoiled = [
        small.port("leaf02", "LoopBack0", addresses=(IPv4Interface("10.0.1.1/32"),)),
        small.bgp("leaf02", router_id=IPv4Address("10.0.1.1")),
        small.bgp("leaf01", router_id=IPv4Address("10.9.9.9")).bgp(
            "leaf02", router_id=IPv4Address("10.9.9.9")
        ),
        small.port("spine02", "100GE1/0/1", addresses=one),  # spine01's towards leaf01
        small.port("leaf02", "100GE1/0/31", addresses=one),
        small.bgp("leaf02", asn=65101),
        small.bgp("spine02", asn=65101),
        small.server(1, address=IPv4Interface("10.10.1.1/24")),
        small.unpeer("leaf01", "10.1.1.2").port(  # neither of two owners peers back
            "leaf02", "LoopBack0", addresses=(IPv4Interface("10.1.1.3/32"),)
        ),
        small.unpeer("leaf01", "10.1.1.2").link(0, b=small.network.links[3].b),
    ][fault]
    turned = spoiled.change(nodes=tuple(spoiled.network.nodes[i] for i in order))
    assert check(spoiled.network).failed
    assert check(turned.network) == check(spoiled.network)


def test_wording() -> None:
    assert [listing(x) for x in ([], [1], [1, 2], [1, 2, 3])] == ["", "1", "1 and 2", "1, 2 and 3"]
    assert [count_of(n, "link") for n in (0, 1, 2)] == ["0 links", "1 link", "2 links"]
    assert count_of(4, "change of lossless values") == "4 changes of lossless values"
    assert list(ranges([])) == []
    assert list(ranges([35, 33, 32, 39])) == ["32-33", "35", "39"]
    assert [kbytes(n) for n in (0, 1, 1024, 1025)] == [0, 1, 1, 2]
