"""A Report for a CI system: SARIF 2.1.0 for code scanning, JUnit XML for test dashboards.

What is not judged becomes a notification of the run and not a result: code scanning shows every
result as an alert, whatever its `kind`, so `open` would read as a violation. A waived finding is a
result with a suppression; code scanning closes its alert only by its action `dismiss-alerts`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from napalm_cloudengine.text import visible
from rocefort.base.errors import Problem
from rocefort.models.finding import Finding, NotJudged, Report, Severity, Waived, Where, family_of
from rocefort.models.wording import count_of
from rocefort.reports.formats.rule_text import RuleText, rules_of
from rocefort.reports.problem_results import ProblemOutput, ProblemsOutput

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


SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
DESCRIPTION_LIMIT = 1024  # characters, code scanning
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

INPUT = "input"  # id of the rule of all problems that are no findings

Json = dict[str, Any]


def as_sarif(
    report: Report,
    rules: Sequence[RuleText],
    *,
    base: Path | None = None,
    subject: str = "fabric.yaml",
) -> str:
    """The report as one SARIF run; same report, same bytes.

    base: the directory that file names are relative to (default: the current one; in a pull
    request that is the root of the repository). subject: the file for a result without a known
    line, because code scanning refuses a result without a location.
    """
    texts = rules_of(report, rules)
    index = {rule.id: number for number, rule in enumerate(texts)}
    places = _SarifLocations(base or Path.cwd(), subject)
    found = (*report.findings, *(entry.finding for entry in report.waived))
    suppressions = (*(None for _ in report.findings), *map(_suppression, report.waived))
    run: Json = {
        "tool": {"driver": {"name": "Rocefort", "rules": [_rule(rule) for rule in texts]}},
        "automationDetails": {"id": f"rocefort/{report.network}/"},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    _notification(entry, index[entry.rule], places) for entry in report.not_judged
                ],
            }
        ],
        "columnKind": "utf16CodeUnits",
        "results": [
            _result(finding, index[finding.rule], places, fingerprint) | (suppression or {})
            for finding, fingerprint, suppression in zip(
                found, _fingerprints(found), suppressions, strict=True
            )
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def problems_sarif(found: ProblemsOutput, *, base: Path | None = None) -> str:
    """Problems that ended a command as one SARIF run without rules that ran.

    A problem of a file is a result at its line; another one is a notification.
    """
    rule = RuleText(id=INPUT, title="The input can be used", severity=Severity.ERROR)
    places = _SarifLocations(base or Path.cwd(), "")
    notifications = [
        {"level": "error", "message": {"text": _problem_text(problem)}}
        for problem in found.problems
        if not problem.file
    ]
    run: Json = {
        "tool": {"driver": {"name": "Rocefort", "rules": [_rule(rule)]}},
        "automationDetails": {"id": "rocefort/input/"},
        "invocations": [
            {
                "executionSuccessful": False,
                "exitCode": found.exit_code,
                "toolExecutionNotifications": notifications,
            }
        ],
        "columnKind": "utf16CodeUnits",
        "results": [_problem_result(each, places) for each in found.problems if each.file],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _problem_result(problem: ProblemOutput, places: _SarifLocations) -> Json:
    location = places.location(Where(file=problem.file, line=problem.line or None))
    if problem.column:
        location["physicalLocation"]["region"]["startColumn"] = problem.column
    return {
        "ruleId": INPUT,
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": _problem_text(problem)},
        "locations": [location],
    }


def _problem_text(problem: ProblemOutput) -> str:
    what = ": ".join(filter(None, (problem.subject, problem.what)))
    return f"{what}. Fix: {problem.how}" if problem.how else what


def _rule(rule: RuleText) -> Json:
    source = f"Source: {rule.source}" if rule.source else ""
    help_text = "\n\n".join(part for part in (*rule.paragraphs, source) if part) or rule.title
    return {
        "id": rule.id,
        "shortDescription": {"text": _short_text(rule.title)},
        "fullDescription": {"text": _short_text(rule.explanation or rule.title)},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": [family_of(rule.id)]},
    }


def _short_text(text: str) -> str:
    return text if len(text) <= DESCRIPTION_LIMIT else text[: DESCRIPTION_LIMIT - 1] + "\u2026"


def _result(finding: Finding, index: int, places: _SarifLocations, fingerprint: str) -> Json:
    fix = f". Fix: {finding.hint}" if finding.hint else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{_located_text(finding.where, finding.message)}{fix}"},
        "locations": [places.location(finding.where)],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    } | places.related(finding.where)


def _suppression(entry: Waived) -> Json:
    """Return the suppression of a waived result; `external`: the waiver is at another line."""
    justification = f"{entry.why} (waived until {entry.until})"
    accepted = {"kind": "external", "status": "accepted", "justification": justification}
    return {"suppressions": [accepted]}


def _notification(entry: NotJudged, index: int, places: _SarifLocations) -> Json:
    text = f"{_located_text(entry.where, entry.reason)}. Missing: {entry.missing}"
    return {
        "associatedRule": {"id": entry.rule, "index": index},
        "level": "note",
        "message": {"text": f"not judged: {text}"},
        "locations": [places.location(entry.where)],
    }


def _located_text(where: Where, text: str) -> str:
    """A sentence with its device and port: an alert shows the file's line only."""
    place = " ".join(part for part in (where.device, where.interface) if part)
    return f"{place}: {text}" if place else text


class _SarifLocations:
    """Places as SARIF locations."""

    def __init__(self, base: Path, subject: str) -> None:
        self._base = base.resolve()
        self._subject = subject

    def location(self, where: Where) -> Json:
        """File and line, and the device and interface as logical locations."""
        physical: Json = {
            "artifactLocation": {"uri": self._uri(where.file or self._subject)},
            "region": {"startLine": where.line or 1},
        }
        logical = self._logical(where)
        found: Json = {"physicalLocation": physical}
        return found | {"logicalLocations": logical} if logical else found

    def related(self, where: Where) -> Json:
        """Return the line of the fabric that intends the value, if the result has one."""
        if where.intent is None:
            return {}
        intent = self.location(Where(file=where.intent.file, line=where.intent.line))
        return {"relatedLocations": [intent | {"message": {"text": "the intent"}}]}

    def _uri(self, file: str) -> str:
        path = Path(file)
        if not path.is_absolute():
            return quote(path.as_posix(), errors="surrogateescape")
        if path.resolve().is_relative_to(self._base):
            inner = path.resolve().relative_to(self._base).as_posix()
            return quote(inner, errors="surrogateescape")  # a name of the file system is bytes
        return path.as_uri()

    @staticmethod
    def _logical(where: Where) -> list[Json]:
        """The device, then its interface, each by its full name."""
        found: list[Json] = []
        if where.device:
            found.append(
                {"name": where.device, "fullyQualifiedName": where.device, "kind": "device"}
            )
        if where.interface:
            full = "/".join(part for part in (where.device, where.interface) if part)
            found.append({"name": where.interface, "fullyQualifiedName": full, "kind": "interface"})
        return found


def _fingerprints(findings: Sequence[Finding]) -> list[str]:
    """One for each finding, which outlives moved lines and changed figures.

    It is made of the rule, the place and the sentence without its numbers; those that are alike
    even so are counted.
    """
    seen: Counter[str] = Counter()
    found = []
    for finding in findings:
        where = finding.where
        sentence = re.sub(r"\d+", "#", finding.message)
        parts = (finding.rule, where.device or "", where.interface or "", sentence)
        digest = hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]
        seen[digest] += 1
        found.append(f"{digest}:{seen[digest]}")
    return found
