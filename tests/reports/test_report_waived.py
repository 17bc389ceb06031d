"""Waived findings in the reports: still told, with the reason and the day, and no failure."""

from __future__ import annotations

import json
from datetime import date

from rocefort.models.finding import Finding, Report, Severity, Waived, Where
from rocefort.reports.as_json import as_json
from rocefort.reports.terminal import as_rich, as_text


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
    assert as_text(REPORT, {"PFC003": "PFC is in manual mode"}) == (
        "WAIVED PFC003  PFC is in manual mode\n"
        "    PFC mode is auto\n"
        "        at: leaf01 100GE1/0/1-2\n"
        "        in: fabric.yaml:7\n"
        "        until 2026-12-31: no rain before spring\n"
        "    PFC mode is auto\n"
        "        at: leaf01 100GE1/0/9\n"
        "        in: fabric.yaml:7\n"
        "        until 2026-12-31: other\n"
        "\n"
        "heps: 1 rules, 0 errors, 0 warnings, 0 info, 3 waived, 0 not judged\n"
    )
    assert as_rich(REPORT).plain.startswith("WAIVED PFC003\n")


def test_json() -> None:
    content = json.loads(as_json(REPORT))
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
