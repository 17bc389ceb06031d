"""The JSON report: everything that the Report has, in the same bytes every time."""

from __future__ import annotations

from page_contents import FACT

from rocefort.models.finding import Finding, NotJudged, Report, Severity, Where
from rocefort.reports.formats.json_report import findings_output

WHERE = Where(device="leaf01", interface="100GE1/0/1", file="fabric.yaml", line=7)
REPORT = Report(
    network="heps",
    rules=("PFC001", "BUF002"),
    findings=(
        Finding(rule="PFC001", severity=Severity.WARNING, where=WHERE, message="m", hint="h"),
    ),
    not_judged=(
        NotJudged(
            rule="BUF002",
            where=Where(device="spine01"),
            missing=FACT,
            reason="unknown",
            shared_cause="no facts",
        ),
    ),
)


def test_content() -> None:
    assert findings_output(REPORT).model_dump(mode="json") == {
        "failed": False,
        "summary": {"error": 0, "warning": 1, "info": 0, "not_judged": 1, "waived": 0},
        "network": "heps",
        "rules": ["PFC001", "BUF002"],
        "findings": [
            {
                "rule": "PFC001",
                "severity": "warning",
                "where": {
                    "device": "leaf01",
                    "interface": "100GE1/0/1",
                    "file": "fabric.yaml",
                    "line": 7,
                },
                "message": "m",
                "hint": "h",
            }
        ],
        "not_judged": [
            {
                "rule": "BUF002",
                "where": {"device": "spine01", "interface": None, "file": None, "line": None},
                "reason": "unknown",
                "missing": {
                    "fact": "the size",
                    "ask": "display size",
                    "key": "size",
                    "run": "",
                },
            }
        ],
        "waived": [],
    }


def test_an_error_fails_and_the_text_reads_back() -> None:
    error = REPORT.findings[0].model_copy(update={"severity": Severity.ERROR})
    content = findings_output(REPORT.model_copy(update={"findings": (error,)})).model_dump()
    assert content["failed"] is True
    assert content["summary"]["error"] == 1
    kept = {key: content[key] for key in Report.model_fields}
    assert Report.model_validate(kept).findings == (error,)
