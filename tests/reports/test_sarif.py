"""SARIF: what code scanning needs of each result, and what is not judged kept out of the alerts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from page_contents import FACT, SHOWN

from rocefort.models.finding import Finding, NotJudged, Report, Severity, Where
from rocefort.reports.formats.ci_reports import as_sarif
from rocefort.reports.formats.rule_text import RuleText

RULES = (
    RuleText(
        id="PFC004",
        title="Deadlock timers can be set",
        severity=Severity.ERROR,
        explanation="A deadlocked queue is emptied.",
        source="V300R023C00",
    ),
    RuleText(id="BUF002", title="All fits", severity=Severity.WARNING),
)
PORT = Where(device="leaf03", interface="100GE1/0/1", file="inventory/a b/fabric.yaml", line=49)


def _finding(
    where: Where, severity: Severity = Severity.ERROR, message: str = "10000 ms"
) -> Finding:
    return Finding(rule="PFC004", severity=severity, where=where, message=message, hint="ask")


def _run(*verdicts: Finding | NotJudged, base: Path | None = None) -> dict[str, Any]:
    report = Report(
        network="heps",
        rules=("PFC004", "BUF002"),
        findings=tuple(v for v in verdicts if isinstance(v, Finding)),
        not_judged=tuple(v for v in verdicts if isinstance(v, NotJudged)),
    )
    log = json.loads(as_sarif(report, RULES, base=base, subject="inventory/heps/fabric.yaml"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_a_finding_is_a_result_at_its_line() -> None:
    (result,) = _run(_finding(PORT))["results"]
    fingerprint = result.pop("partialFingerprints")["primaryLocationLineHash"]
    assert fingerprint.endswith(":1")
    assert result == {
        "ruleId": "PFC004",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "leaf03 100GE1/0/1: 10000 ms. Fix: ask"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "inventory/a%20b/fabric.yaml"},
                    "region": {"startLine": 49},
                },
                "logicalLocations": [
                    {"name": "leaf03", "fullyQualifiedName": "leaf03", "kind": "device"},
                    {
                        "name": "100GE1/0/1",
                        "fullyQualifiedName": "leaf03/100GE1/0/1",
                        "kind": "interface",
                    },
                ],
            }
        ],
    }


def test_levels_are_sarifs_words() -> None:
    results = _run(*(_finding(PORT, severity) for severity in Severity))["results"]
    assert [result["level"] for result in results] == ["error", "warning", "note"]


def test_rules_carry_their_help() -> None:
    rules = _run()["tool"]["driver"]["rules"]
    assert rules[0] == {
        "id": "PFC004",
        "shortDescription": {"text": "Deadlock timers can be set"},
        "fullDescription": {"text": "A deadlocked queue is emptied."},
        "help": {"text": "A deadlocked queue is emptied.\n\nSource: V300R023C00"},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["PFC"]},
    }
    assert rules[1]["help"] == {"text": "All fits"}


def test_a_long_explanation_is_whole_in_the_help_only() -> None:
    long = RULES[0].model_copy(update={"explanation": "x" * 1025, "source": ""})
    report = Report(network="heps", rules=("PFC004",))
    log = json.loads(as_sarif(report, (long,)))
    (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
    assert rule["fullDescription"]["text"] == "x" * 1023 + "\u2026"
    assert rule["help"]["text"] == "x" * 1025


def test_a_rule_without_words_has_its_id_and_its_worst_severity() -> None:
    alien = [
        Finding(rule="VER001", severity=severity, where=PORT, message="m")
        for severity in (Severity.WARNING, Severity.ERROR, Severity.INFO)
    ]
    run = _run(*alien)
    rule = run["tool"]["driver"]["rules"][2]
    assert (rule["id"], rule["shortDescription"]["text"]) == ("VER001", "VER001")
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert {result["ruleIndex"] for result in run["results"]} == {2}


def test_not_judged_is_a_notification_and_no_alert() -> None:
    run = _run(
        NotJudged(rule="BUF002", where=Where(device="spine01"), missing=FACT, reason="no buffer")
    )
    assert run["results"] == []
    (invocation,) = run["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["associatedRule"] == {"id": "BUF002", "index": 1}
    assert notification["level"] == "note"
    assert notification["message"] == {"text": f"not judged: spine01: no buffer. Missing: {SHOWN}"}


def test_a_place_without_a_line_is_the_fabrics_file() -> None:
    (result,) = _run(_finding(Where()))["results"]
    assert result["message"]["text"] == "10000 ms. Fix: ask"
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "inventory/heps/fabric.yaml"},
                "region": {"startLine": 1},
            }
        }
    ]


def test_absolute_names_are_told_from_the_base(tmp_path: Path) -> None:
    inside = _finding(Where(file=str(tmp_path / "x" / "fabric.yaml"), line=2))
    outside = _finding(Where(file="/elsewhere/fabric.yaml", line=2))
    uris = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in _run(inside, outside, base=tmp_path)["results"]
    ]
    assert uris == ["x/fabric.yaml", "file:///elsewhere/fabric.yaml"]


def test_fingerprints_outlive_moved_lines_and_changed_figures() -> None:
    def prints(*findings: Finding) -> list[str]:
        found = _run(*findings)["results"]
        return [result["partialFingerprints"]["primaryLocationLineHash"] for result in found]

    (before,) = prints(_finding(PORT))
    moved = PORT.model_copy(update={"line": 90})
    assert prints(_finding(moved, message="9000 ms")) == [before]
    elsewhere = PORT.model_copy(update={"device": "leaf04"})
    first, second, third = prints(_finding(PORT), _finding(moved), _finding(elsewhere))
    assert first == before
    assert second == before.replace(":1", ":2")
    assert third.endswith(":1")
    assert third != before
