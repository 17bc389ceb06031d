"""Waived findings in reports: listed with the reason and the day, and not a failure."""

from __future__ import annotations

import json
from datetime import date
from xml.etree import ElementTree as ET

from rocefort.models.device.device import Device
from rocefort.models.finding import Finding, Report, Severity, Waived, Where
from rocefort.models.network.network import Network, Node
from rocefort.reports.formats.ci_reports import as_junit, as_sarif
from rocefort.reports.formats.json_report import findings_output
from rocefort.reports.writers.markdown import markdown_of
from rocefort.reports.writers.terminal import text_of
from rocefort.verification.findings import findings_comment, findings_report
from rocefort.verification.page.fabric_page import PageContent, page


def _waived(port: str, why: str = "no rain before spring") -> Waived:
    where = Where(device="leaf01", interface=port, file="fabric.yaml", line=7)
    finding = Finding(
        rule="PFC003", severity=Severity.ERROR, where=where, message="PFC mode is auto", hint="h"
    )
    return Waived(finding=finding, why=why, until=date(2026, 12, 31))


REPORT = Report(
    network="heps",
    rules=("PFC003",),
    waived=(_waived("100GE1/0/1"), _waived("100GE1/0/2"), _waived("100GE1/0/9", "other")),
)


def test_text() -> None:
    assert not REPORT.failed
    assert text_of(*findings_report(REPORT, {"PFC003": "PFC is in manual mode"}), width=80) == (
        "WAIVED PFC003 PFC is in manual mode\n"
        "    PFC mode is auto\n"
        "        at: leaf01 100GE1/0/1-2\n"
        "        in: fabric.yaml:7\n"
        "        until 2026-12-31: no rain before spring\n"
        "    PFC mode is auto\n"
        "        at: leaf01 100GE1/0/9\n"
        "        in: fabric.yaml:7\n"
        "        until 2026-12-31: other\n"
        "\n"
        "heps: 1 rule, 0 errors, 0 warnings, 0 info, 3 waived, 0 not judged\n"
    )
    assert text_of(*findings_report(REPORT, {}), colour=True).startswith("\x1b[2mWAIVED PFC003")


def test_json() -> None:
    content = findings_output(REPORT).model_dump(mode="json")
    assert content["failed"] is False
    assert content["summary"]["waived"] == 3
    assert content["waived"][0] == {
        "finding": {
            "rule": "PFC003",
            "severity": "error",
            "where": {
                "device": "leaf01",
                "interface": "100GE1/0/1",
                "file": "fabric.yaml",
                "line": 7,
            },
            "message": "PFC mode is auto",
            "hint": "h",
        },
        "why": "no rain before spring",
        "until": "2026-12-31",
    }


def _one_error_more() -> Report:
    """The same with a finding that no waiver covers."""
    standing = REPORT.waived[0].finding.model_copy(update={"where": Where(device="leaf02")})
    return REPORT.model_copy(update={"findings": (standing,)})


def test_sarif_suppresses_them_with_the_reason() -> None:
    (run,) = json.loads(as_sarif(_one_error_more(), ()))["runs"]
    standing, *waived = run["results"]
    assert "suppressions" not in standing
    assert [result["suppressions"] for result in waived] == [
        [
            {
                "kind": "external",
                "status": "accepted",
                "justification": f"{why} (waived until 2026-12-31)",
            }
        ]
        for why in ("no rain before spring", "no rain before spring", "other")
    ]
    assert waived[0]["message"] == {"text": "leaf01 100GE1/0/1: PFC mode is auto. Fix: h"}
    alone = REPORT.model_copy(update={"rules": ()})
    (rule,) = json.loads(as_sarif(alone, ()))["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["id"], rule["defaultConfiguration"]) == ("PFC003", {"level": "error"})


def test_sarif_knows_a_finding_by_the_same_print_when_it_is_waived() -> None:
    finding = REPORT.waived[0].finding
    prints = [
        json.loads(as_sarif(report, ()))["runs"][0]["results"][0]["partialFingerprints"]
        for report in (
            Report(network="heps", rules=("PFC003",), findings=(finding,)),
            REPORT.model_copy(update={"waived": REPORT.waived[:1]}),
        )
    ]
    assert prints[0] == prints[1]


def test_junit_skips_the_rule_with_the_reason() -> None:
    (suite,) = ET.fromstring(as_junit(REPORT, ()))
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    skipped = suite.find("testcase/skipped")
    assert skipped is not None
    assert skipped.get("message") == (
        "3 waived: no rain before spring (until 2026-12-31), other (until 2026-12-31)"
    )
    assert (skipped.text or "").splitlines()[2] == (
        "waived until 2026-12-31: leaf01 100GE1/0/9 (fabric.yaml:7): PFC mode is auto; why: other"
    )


def test_junit_fails_where_an_error_stands_beside_them() -> None:
    (suite,) = ET.fromstring(as_junit(_one_error_more(), ()))
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")
    output = suite.find("testcase/system-out")
    assert output is not None
    assert (output.text or "").count("waived until 2026-12-31") == 3


def test_markdown_folds_them() -> None:
    assert markdown_of(findings_comment(REPORT, {})) == (
        "### Rocefort: heps: no errors found\n\n"
        "1 rule, 0 errors, 0 warnings, 0 info, 3 waived, 0 not judged\n"
        "\n<details><summary>3 waived</summary>\n"
        "\n##### PFC003\n\n"
        "- PFC mode is auto\n"
        "  - at: leaf01 100GE1/0/1-2\n"
        "  - in: fabric.yaml:7\n"
        "  - until 2026-12-31: no rain before spring\n"
        "- PFC mode is auto\n"
        "  - at: leaf01 100GE1/0/9\n"
        "  - in: fabric.yaml:7\n"
        "  - until 2026-12-31: other\n"
        "\n</details>\n"
    )


def test_the_page_shows_them_and_draws_no_error() -> None:
    nodes = (Node(device=Device(name="leaf01")),)
    network = Network(name="heps", origin="fabric", nodes=nodes)
    texts = {"leaf01": "sysname leaf01\n#\ninterface 100GE1/0/2\n"}
    text = page(PageContent(network=network, report=REPORT, texts=texts))
    assert '<li class="waived">3 waived</li>' in text
    assert "Waived until 2026-12-31: no rain before spring" in text
    assert '<span class="badge waived">3 waived</span>' in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert data["topology"]["switches"]["kind"] == {"cells": ["none"]}
    assert [(group["kind"], group["places"][-1][:3]) for group in data["groups"]] == [
        ("waived", ["leaf01", "100GE1/0/2", 3]),
        ("waived", ["leaf01", "100GE1/0/9", 1]),
    ]
