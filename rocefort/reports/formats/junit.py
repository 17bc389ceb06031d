"""A Report as JUnit XML, for test dashboards: one test case a rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from napalm_cloudengine.text import visible
from rocefort.base.errors import Problem
from rocefort.models.finding import Finding, NotJudged, Report, Severity, Waived
from rocefort.models.wording import count_of
from rocefort.reports.formats.rule_text import RuleText, rules_of
from rocefort.reports.problem_results import ProblemsOutput

NOT_XML = re.compile("[\ufffe\uffff]")  # XML 1.0, 2.2; other such characters are spelled


def as_junit(report: Report, rules: Sequence[RuleText]) -> str:
    """The report as one test suite; same report, same bytes.

    A rule with errors is a failure. A rule with waived findings or results that are not judged, but
    without errors, is skipped: it has not passed. The case's output has warnings and information.
    """
    texts = rules_of(report, rules)
    suite = ET.Element("testsuite", name=_clean(report.network))
    for rule in texts:
        findings = [f for f in report.findings if f.rule == rule.id]
        unjudged = [n for n in report.not_judged if n.rule == rule.id]
        waived = [w for w in report.waived if w.finding.rule == rule.id]
        suite.append(_case(report.network, rule, findings, unjudged, waived))
    for attribute, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("errors", "0")
    suite.set("tests", str(len(texts)))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def problems_junit(found: ProblemsOutput) -> str:
    """Problems that ended a command as one test suite: its only test case has an error."""
    root = ET.Element("testsuites")
    counts = {"tests": "1", "errors": "1", "failures": "0", "skipped": "0"}
    suite = ET.SubElement(root, "testsuite", {"name": "rocefort", **counts})
    case = ET.SubElement(suite, "testcase", classname="rocefort", name="input")
    lines = [str(Problem(**dict(problem))) for problem in found.problems]
    message = lines[0] if len(lines) == 1 else count_of(len(lines), "problem")
    _add(case, "error", lines, message=message, type="input")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _case(
    network: str,
    rule: RuleText,
    findings: Sequence[Finding],
    unjudged: Sequence[NotJudged],
    waived: Sequence[Waived],
) -> ET.Element:
    case = ET.Element(
        "testcase", classname=_clean(f"rocefort.{network}"), name=_clean(f"{rule.id} {rule.title}")
    )
    errors = [f for f in findings if f.severity is Severity.ERROR]
    others = [f for f in findings if f.severity is not Severity.ERROR]
    open_ends = (*_waived(waived), *_unjudged(unjudged))
    if errors:
        message = count_of(len(errors), "error") if len(errors) > 1 else errors[0].message
        _add(case, "failure", _failure_elements(errors), message=message, type=rule.id)
        _add(case, "system-out", (*_failure_elements(others), *open_ends))
    elif open_ends:
        _add(case, "skipped", open_ends, message="; ".join(_skip_elements(unjudged, waived)))
        _add(case, "system-out", _failure_elements(others))
    else:
        _add(case, "system-out", _failure_elements(others))
    return case


def _skip_elements(unjudged: Sequence[NotJudged], waived: Sequence[Waived]) -> Iterator[str]:
    if waived:
        reasons = dict.fromkeys(f"{w.why} (until {w.until})" for w in waived)
        yield f"{len(waived)} waived: {', '.join(reasons)}"
    if unjudged:
        yield f"not judged in {count_of(len(unjudged), 'place')}"


def _add(case: ET.Element, tag: str, lines: Iterable[str], **attributes: str) -> None:
    text = "\n".join(map(_clean, lines))
    if text:
        clean = {name: _clean(value) for name, value in attributes.items()}
        ET.SubElement(case, tag, clean).text = text


def _failure_elements(findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        fix = f"; fix: {finding.hint}" if finding.hint else ""
        yield f"{finding.severity}: {_place_text(finding)}{finding.message}{fix}"


def _waived(entries: Iterable[Waived]) -> Iterator[str]:
    for entry in entries:
        finding = entry.finding
        yield (
            f"waived until {entry.until}: {_place_text(finding)}{finding.message}; why: {entry.why}"
        )


def _unjudged(entries: Iterable[NotJudged]) -> Iterator[str]:
    for entry in entries:
        yield f"not judged: {_place_text(entry)}{entry.reason}; missing: {entry.missing}"


def _place_text(verdict: Finding | NotJudged) -> str:
    return f"{verdict.where}: " if str(verdict.where) else ""


def _clean(text: str) -> str:
    """Visible text without the characters that no XML document may hold."""
    return NOT_XML.sub("\ufffd", visible(text))
