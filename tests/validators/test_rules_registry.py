"""The registry of rules: what loads, what every rule has, where a finding points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.models.finding import Severity
from rocefort.models.network import Position, Sources
from rocefort.models.units import kbytes
from rocefort.models.wording import counted, listing, ranges
from rocefort.validators import check, rules
from rocefort.validators.rules import Subject, Verdict, rule

TESTS = "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("test_rules_*.py")))


def _silent(subject: Subject) -> Iterator[Verdict]:
    yield subject.not_judged(None, "no reason")


def test_a_rule_without_docstring_does_not_load() -> None:
    with pytest.raises(TypeError, match="rule TOP900 has no docstring or no source"):
        rule("TOP900", severity=Severity.ERROR, source="RFC 1")(_silent)


def test_a_rule_without_source_does_not_load() -> None:
    def documented(subject: Subject) -> Iterator[Verdict]:
        """Say nothing."""
        yield from _silent(subject)

    with pytest.raises(TypeError, match="rule TOP900 has no docstring or no source"):
        rule("TOP900", severity=Severity.ERROR, source=" ")(documented)
    with pytest.raises(TypeError, match="rule id TOP001 is taken, or of no known family"):
        rule("TOP001", severity=Severity.ERROR, source="RFC 1")(documented)
    with pytest.raises(TypeError, match="rule id XYZ001 is taken, or of no known family"):
        rule("XYZ001", severity=Severity.ERROR, source="RFC 1")(documented)


def test_the_rules_and_their_order() -> None:
    assert [r.id for r in rules()] == [
        *("TOP001", "TOP002", "TOP003", "TOP004", "TOP005", "TOP006"),
        *("TOP007", "TOP010", "TOP011", "TOP012"),
        *("LAG001", "LAG002", "LAG003", "LAG004", "LAG005", "LAG006"),
        *("ADR001", "ADR002", "ADR003", "ADR004", "ADR005"),
        *("BGP001", "BGP002", "BGP003", "BGP004", "BGP005"),
        *("PFC001", "PFC002", "PFC003", "PFC004", "PFC005", "PFC006", "PFC007", "ECN001", "ECN002"),
        *("ECN003", "ECN004", "ECN005", "ECN006", "ECN007"),
        *("BUF001", "BUF002", "QOS001", "QOS002", "QOS003", "QOS004", "DLK001"),
        *("SEC001", "SEC002", "SEC003", "SEC004", "SEC008", "SEC010", "SEC011", "SEC012", "SEC013"),
        *("HST001", "HST002", "HST003", "HST004", "HST005", "HST006", "HST007"),
        *("TXT001", "TXT002", "TXT003", "TXT004", "TXT005"),
    ]


@pytest.mark.parametrize("rule_id", [r.id for r in rules()])
def test_every_rule_explains_itself_and_is_tested(rule_id: str) -> None:
    one = next(r for r in rules() if r.id == rule_id)
    assert one.explanation
    assert len(one.title) <= 62  # fits a line of a terminal with its id and severity
    assert not one.title.endswith(".")
    assert f"{rule_id}: list[tuple[Change, list[str]]] = [" in TESTS
    assert f'.says("{rule_id}")' in TESTS or f'"{rule_id}": {rule_id},' in TESTS


def test_a_sound_fabric_is_silent(small: Any) -> None:
    report = check(small.network)
    assert (report.findings, report.failed) == ((), False)
    assert {n.rule for n in report.not_judged} == {"ECN002"}  # AI-ECN keeps its thresholds
    assert report.rules == tuple(r.id for r in rules())


def test_a_network_that_is_only_text_is_never_silently_passed(small: Any) -> None:
    """Every rule that needs what text does not say reports it."""
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
    text_alone = {
        "LAG001",
        "LAG002",
        "LAG003",
        "LAG004",
        "LAG005",
        "ADR005",
        "BGP003",
        "BGP005",
        "PFC003",
        "PFC005",
        "PFC006",
        "PFC007",
        "ECN001",
        "SEC001",
        "SEC002",
        "SEC003",
        "SEC004",
        "SEC008",
        "SEC011",
        "SEC012",
        "SEC013",
        "TOP007",
        "TXT002",
        "TXT004",
        "TXT005",
    }  # what these ask, text answers
    assert set(report.rules) - {n.rule for n in report.not_judged} == text_alone


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
    """Of two that share an address or a number it is always the same one that must change."""
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
    assert [counted(n, "link") for n in (0, 1, 2)] == ["0 links", "1 link", "2 links"]
    assert list(ranges([])) == []
    assert list(ranges([35, 33, 32, 39])) == ["32-33", "35", "39"]
    assert [kbytes(n) for n in (0, 1, 1024, 1025)] == [0, 1, 1, 2]
