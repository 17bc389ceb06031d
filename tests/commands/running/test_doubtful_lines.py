"""A line whose effect is uncertain: the rest of a directory is judged, what it may change named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from text_faults import Line, findings_of

Rocefort = Callable[..., Any]
Saved = Callable[..., Path]

BGP, FAMILY = "bgp 65102", " ipv4-family unicast"
POLICY = "route-policy EXPORT permit node 10"
VERIFY = ("verify", "--engine", "embedded", "--failures", "none")
# A fault elsewhere, which stays an error whatever the line does.
FAULT = Line("leaf05", "interface Vlanif110", "ip address 10.64.4.1 255.255.255.0")
# Lines of leaf02; the rules whose answers depend on them, and the words that name them.
UNCERTAIN: list[tuple[Line, set[str], str]] = [
    (
        Line("leaf02", FAMILY, "peer SPINE route-policy EXPORT export",
             "peer SPINE route-policy NONE export"),
        {"BGP102", "PAIRS"},
        "route-policy NONE, which is not defined",
    ),
    (
        Line("leaf02", POLICY, "if-match ip-prefix LOCAL", "if-match ip-prefix NONE"),
        {"BGP102", "PAIRS"},
        "prefix list NONE, which is not defined",
    ),
    (
        Line("leaf02", BGP, "", "peer 10.1.0.16 ebgp-max-hop 2"),
        {"BGP101"},
        "`peer 10.1.0.16 ebgp-max-hop 2`",
    ),
    (
        Line("leaf02", FAMILY, "", "peer 10.1.0.16 allow-as-loop"),
        {"BGP102"},
        "`peer 10.1.0.16 allow-as-loop`",
    ),
    (
        Line("leaf02", FAMILY, "", "filter-policy 2000 export"),
        {"BGP102", "PAIRS"},
        "`filter-policy 2000 export`",
    ),
    (
        Line("leaf02", FAMILY, "", "import-route ospf 1"),
        {"BGP102", "PAIRS"},
        "`import-route ospf 1`",
    ),
    (Line("leaf02", POLICY, "", "if-match tag 5"), {"BGP102", "PAIRS"}, "`if-match tag 5`"),
]  # fmt: skip
CERTAIN = [
    (Line("leaf02", BGP, "", "peer 10.1.0.16 ignore"), "peer 10.1.0.16 ignore"),
    (
        Line("leaf02", FAMILY, "peer 10.1.0.16 enable", "undo peer 10.1.0.16 enable"),
        "undo peer 10.1.0.16 enable",
    ),
]


def unjudged(ran: Any) -> list[dict[str, Any]]:
    """Verdicts that were not reached, of a command's JSON."""
    rows: list[dict[str, Any]] = json.loads(ran.out)["not_judged"]
    return rows


@pytest.mark.parametrize("fabric", [(), ("heps",)])
@pytest.mark.parametrize(("line", "rules", "name"), UNCERTAIN)
def test_the_rest_of_the_directory_is_judged(
    rocefort: Rocefort,
    saved: Saved,
    fabric: tuple[str, ...],
    line: Line,
    rules: set[str],
    name: str,
) -> None:
    words = (*VERIFY, *fabric, "--configs", saved(FAULT))
    known = {(each.rule, each.switch) for each in findings_of(rocefort, *words)}
    saved(line, FAULT)
    ran = rocefort(*words, "--format", "json")
    rows = [row for row in unjudged(ran) if row["reason"].endswith(f"depending on {name}")]
    pairs = "BGP103" if fabric else "BGP201"  # of servers, or of segments
    assert {row["rule"] for row in rows} >= {pairs if rule == "PAIRS" else rule for rule in rules}
    assert all("leaf02" in f"{row['where']} {row['reason']}" for row in rows if not fabric)
    found = {(each.rule, each.switch) for each in findings_of(rocefort, *words)}
    assert found <= known
    assert {switch for _, switch in known - found} <= {"leaf02"}  # its pairs depend on the line
    assert ("BGP102", "leaf05") in known
    assert ran.code == 1
    text = rocefort(*words)
    assert "not judged" in text.words
    assert "answers that it may change are not judged" in " ".join(text.err.split())


@pytest.mark.parametrize("fabric", [(), ("heps",)])
@pytest.mark.parametrize(("line", "text"), CERTAIN)
def test_a_closed_session_is_an_error_at_its_line(
    rocefort: Rocefort, saved: Saved, fabric: tuple[str, ...], line: Line, text: str
) -> None:
    words = (*VERIFY, *fabric, "--configs", saved(line))
    (session,) = [each for each in findings_of(rocefort, *words) if each.rule == "BGP101"]
    assert (session.switch, session.line) == ("leaf02", text)
    assert f"leaf02 closes it by `{text}`" in session.message
    assert not any("depending on" in row["reason"]
                   for row in unjudged(rocefort(*words, "--format", "json")))  # fmt: skip


@pytest.mark.parametrize("line", [line for line, *_ in UNCERTAIN] + [line for line, _ in CERTAIN])
def test_a_check_judges_deadlock_beside_the_line(
    rocefort: Rocefort, saved: Saved, line: Line
) -> None:
    """All spines share one AS, so that no path bounces whatever the line does."""
    ran = rocefort("check", "--configs", saved(line), "--select", "DLK001", "--format", "json")
    assert [row for row in unjudged(ran) if row["rule"] == "DLK001"] == []


def test_figures_count_what_is_certain(rocefort: Rocefort, saved: Saved) -> None:
    line = Line("leaf02", BGP, "", "peer 10.1.0.16 ebgp-max-hop 2")
    ran = rocefort(*VERIFY, "--configs", saved(line))
    assert "BGP sessions established: 30 of 32 ends, 2 not judged" in ran.words


def test_failures_are_judged_in_every_reading(rocefort: Rocefort, saved: Saved) -> None:
    line = Line("leaf02", FAMILY, "", "filter-policy 2000 export")
    words = ("verify", "--engine", "embedded", "--configs", saved(line), "--format", "json")
    rows = [row for row in unjudged(rocefort(*words)) if "depending on" in row["reason"]]
    assert {row["rule"] for row in rows} == {"BGP102", "BGP201"}
