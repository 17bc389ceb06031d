"""`rocefort check` with --select, --ignore and waivers in the fabric, as a user types it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from outputs import messages
from pydantic import TypeAdapter

from rocefort.models.finding import Finding, Severity
from rocefort.tasks import app

EditHeps = Callable[..., Path]
WAIVER = """\
waivers:
  - rule: PFC004
    why: the site was asked on {asked}
    until: {until}
rollout:
"""


def _run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["rocefort", *arguments])
    with pytest.raises(SystemExit) as ended:
        app()
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def _checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, dict[str, object]]:
    code, out, _ = _run(monkeypatch, capsys, "check", *arguments, "--format", "json")
    return code, json.loads(out)


def test_select_and_ignore(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = _checked(
        monkeypatch, capsys, "heps", "--select", "PFC,DLK001", "--ignore", "PFC004"
    )
    assert code == 0
    pfc = [f"PFC00{number}" for number in (1, 2, 3, 5, 6, 7, 8)]
    assert report["rules"] == [*pfc, "DLK001"]


@pytest.mark.parametrize(
    ("replaced", "rule", "message", "line"),
    [
        pytest.param(
            ("{queue: 5, weight: 1}", "{queue: 6, weight: 1}"),
            "QOS004",
            "queue 6, which CNP uses, is served by weight; it must have strict priority",
            "{queue: 6, weight: 1}",
            id="weight of the queue of CNP",
        ),
        pytest.param(
            (
                "    leaf: leaf03\n    port: 100GE1/0/1\n",
                "    leaf: leaf03\n    bond:\n      ports: [100GE1/0/1, 100GE1/0/5]\n"
                "      minimum_links: 3\n",
            ),
            "LAG005",
            "2 members, but 3 must be up; it never comes up",
            "minimum_links: 3",
            id="more links than a bond has",
        ),
    ],
)
def test_intent_that_a_rule_judges_is_a_finding_at_its_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    edit_heps: EditHeps,
    replaced: tuple[str, str],
    rule: str,
    message: str,
    line: str,
) -> None:
    path = edit_heps(replaced)
    code, report = _checked(monkeypatch, capsys, str(path), "--select", rule)
    lines = path.read_text(encoding="utf-8").splitlines()
    (number,) = (n for n, text in enumerate(lines, 1) if line in text)
    assert code == 1
    findings = TypeAdapter(tuple[Finding, ...]).validate_python(report["findings"])
    assert {(f.rule, f.severity, f.message) for f in findings} == {(rule, Severity.ERROR, message)}
    assert {(f.where.file, f.where.line) for f in findings} == {(str(path), number)}


def test_an_unknown_rule_names_the_nearest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, capsys, "check", "heps", "--ignore", "BUF01") == (
        2,
        "",
        "rocefort: no rule or family 'BUF01'; did you mean 'BUF001'?\n",
    )


def test_a_waiver_shows_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], edit_heps: EditHeps
) -> None:
    written = WAIVER.format(asked="2026-11-20", until="9999-12-31")
    path = str(edit_heps(("rollout:\n", written)))
    code, out, _ = _run(monkeypatch, capsys, "check", path, "--select", "PFC004")
    assert code == 0
    assert "WAIVED PFC004 Deadlock timers are in range, and are as intended\n" in out
    assert "        until 9999-12-31: the site was asked on 2026-11-20\n" in out
    assert "0 errors, 0 warnings, 0 info, " in out
    assert " waived, " in out
    code, report = _checked(monkeypatch, capsys, path, "--select", "PFC004")
    waived = report["waived"]
    assert isinstance(waived, list)
    assert {(w["why"], w["until"], w["finding"]["rule"]) for w in waived} == {
        ("the site was asked on 2026-11-20", "9999-12-31", "PFC004")
    }
    assert report["summary"] == {
        "error": 0,
        "warning": 0,
        "info": 0,
        "not_judged": 8,
        "waived": len(waived),
    }


def test_an_expired_waiver_fails_at_its_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], edit_heps: EditHeps
) -> None:
    path = edit_heps(("rollout:\n", WAIVER.format(asked="2000-01-01", until="2000-12-31")))
    line = path.read_text(encoding="utf-8").splitlines().index("  - rule: PFC004") + 1
    code, report = _checked(monkeypatch, capsys, str(path))
    assert code == 1
    findings = report["findings"]
    assert isinstance(findings, list)
    errors = [f for f in findings if f["severity"] == "error"]
    assert [(f["where"]["line"], f["message"]) for f in errors] == [
        (line, "the waiver of PFC004 expired after 2000-12-31 (the site was asked on 2000-01-01)")
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "until: 9999-12-31",
            "until: 31.12.2026",
            "waivers[0].until: '31.12.2026' is not a day; write YYYY-MM-DD",
        ),
        (
            "until: 9999-12-31",
            "until: 2026-02-30",
            "waivers[0].until: there is no day 2026-02-30; check month and day",
        ),
        (
            "why: the",
            "interface: 100GE1/0/1\n    why: the",
            "waivers[0]: a waiver names an interface, but no device; add device",
        ),
        (
            "why: the",
            "device: leaf1\n    why: the",
            "waivers[0].device: no switch 'leaf1'; did you mean 'leaf01'?",
        ),
        ("rule: PFC004", "rule: PFC04", "no rule 'PFC04'; did you mean 'PFC004'?"),
        (
            "    why: the site was asked on x\n",
            "",
            "waivers[0].why: 'why' is missing; add it, for example why: the cable is replaced in the next shutdown",
        ),
    ],
)
def test_a_wrong_waiver(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    edit_heps: EditHeps,
    old: str,
    new: str,
    says: str,
) -> None:
    waiver = WAIVER.format(asked="x", until="9999-12-31")
    assert waiver.count(old) == 1
    path = edit_heps(("rollout:\n", waiver.replace(old, new)))
    code, out, err = _run(monkeypatch, capsys, "check", str(path))
    assert (code, out) == (2, "")
    assert messages(err).rstrip().endswith(says)
    assert f"{path}:" in err
