"""A Report as SARIF 2.1.0, for code scanning: findings at the lines of the intent or of the text.

What is not judged becomes a notification of the run and not a result: code scanning shows every
result as an alert, whatever its `kind`, so `open` would read as a violation. A waived finding is a
result with a suppression; code scanning closes its alert only by its action `dismiss-alerts`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rocefort.models.finding import Finding, NotJudged, Report, Severity, Waived, Where
from rocefort.reports.formats.rule_text import RuleText, rules_of
from rocefort.reports.problem_results import ProblemOutput, ProblemsOutput

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
        "properties": {"tags": [rule.id[:3]]},
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
