"""JUnit: errors fail a case, what is not judged skips it, and nothing breaks the document."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from page_contents import FACT, SHOWN

from rocefort.models.finding import Finding, NotJudged, Report, Severity, Where
from rocefort.reports.formats.ci_reports import as_junit
from rocefort.reports.formats.rule_text import RuleText

RULES = tuple(
    RuleText(id=name, title=f"Title of {name}", severity=Severity.ERROR)
    for name in ("ADR001", "PFC004", "BUF002", "TOP001")
)
LEAF = Where(device="leaf03", file="fabric.yaml", line=49)


def _finding(
    severity: Severity = Severity.ERROR, rule: str = "PFC004", message: str = "bad"
) -> Finding:
    return Finding(rule=rule, severity=severity, where=LEAF, message=message, hint="fix it")


def _suite(*verdicts: Finding | NotJudged) -> ET.Element:
    report = Report(
        network="heps",
        rules=tuple(rule.id for rule in RULES),
        findings=tuple(v for v in verdicts if isinstance(v, Finding)),
        not_judged=tuple(v for v in verdicts if isinstance(v, NotJudged)),
    )
    (suite,) = ET.fromstring(as_junit(report, RULES))
    return suite


def _case(suite: ET.Element, rule: str) -> ET.Element:
    (case,) = (c for c in suite if c.get("name", "").startswith(rule))
    return case


def test_one_case_a_rule_with_counts() -> None:
    suite = _suite(
        _finding(),
        _finding(Severity.WARNING, "ADR001"),
        NotJudged(
            rule="BUF002", where=Where(device="spine01"), missing=FACT, reason="no buffer is known"
        ),
    )
    assert suite.attrib == {
        "name": "heps",
        "tests": "4",
        "failures": "1",
        "skipped": "1",
        "errors": "0",
    }
    assert [case.get("name") for case in suite] == [f"{r.id} {r.title}" for r in RULES]
    assert {case.get("classname") for case in suite} == {"rocefort.heps"}
    assert list(_case(suite, "TOP001")) == []


def test_errors_fail_and_are_all_told() -> None:
    suite = _suite(_finding(), _finding(message="worse"), _finding(Severity.INFO, message="by the"))
    case = _case(suite, "PFC004")
    failure, output = case
    assert (failure.tag, output.tag) == ("failure", "system-out")
    assert failure.attrib == {"message": "2 errors", "type": "PFC004"}
    assert failure.text == (
        "error: leaf03 (fabric.yaml:49): bad; fix: fix it\n"
        "error: leaf03 (fabric.yaml:49): worse; fix: fix it"
    )
    assert output.text == "info: leaf03 (fabric.yaml:49): by the; fix: fix it"


def test_one_error_is_its_own_message() -> None:
    failure = _case(_suite(_finding()), "PFC004").find("failure")
    assert failure is not None
    assert failure.get("message") == "bad"


def test_not_judged_is_skipped_and_never_hides_an_error() -> None:
    unknown = NotJudged(rule="PFC004", where=Where(), missing=FACT, reason="no range")
    skipped = _case(_suite(unknown), "PFC004").find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "not judged in 1 place"
    assert skipped.text == f"not judged: no range; missing: {SHOWN}"
    both = _case(_suite(unknown, _finding()), "PFC004")
    assert [part.tag for part in both] == ["failure", "system-out"]
    assert both[1].text == f"not judged: no range; missing: {SHOWN}"


def test_warnings_pass() -> None:
    case = _case(_suite(_finding(Severity.WARNING)), "PFC004")
    assert [part.tag for part in case] == ["system-out"]


@given(st.text())
def test_any_message_gives_a_document(message: str) -> None:
    failure = _case(_suite(_finding(message=message)), "PFC004").find("failure")
    assert failure is not None
    assert (failure.text or "").endswith("; fix: fix it")


def test_control_characters_are_spelled() -> None:
    failure = _case(_suite(_finding(message="a\x00<b>&\x1b")), "PFC004").find("failure")
    assert failure is not None
    assert failure.get("message") == r"a\u0000<b>&\u001b"
