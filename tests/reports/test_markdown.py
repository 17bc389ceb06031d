"""Markdown: grouped and folded, no markup from a message, and short enough for a comment."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.models.finding import Finding, NotJudged, Report, Severity, Where
from rocefort.reports.fabric.findings import findings_comment
from rocefort.reports.writers.markdown import LIMIT, markdown_of

TITLES = {"PFC004": "Deadlock timers can be set"}
FILE = "inventory/heps/fabric.yaml"


def as_markdown(report: Report, titles: dict[str, str] | None = None, *, limit: int = LIMIT) -> str:
    return markdown_of(findings_comment(report, titles or {}), limit=limit)


def _finding(
    message: str,
    severity: Severity = Severity.ERROR,
    device: str = "leaf03",
    interface: str | None = None,
) -> Finding:
    where = Where(device=device, interface=interface, file=FILE, line=49)
    return Finding(rule="PFC004", severity=severity, where=where, message=message, hint="fix it")


def _report(*verdicts: Finding | NotJudged) -> Report:
    return Report(
        network="heps",
        rules=("PFC004", "BUF002"),
        findings=tuple(v for v in verdicts if isinstance(v, Finding)),
        not_judged=tuple(v for v in verdicts if isinstance(v, NotJudged)),
    )


def test_it_is_grouped_like_the_terminal_and_folded() -> None:
    report = _report(
        _finding("set `undo x`", interface="100GE1/0/1"),
        _finding("set `undo x`", interface="100GE1/0/2"),
        _finding("set `undo x`", device="leaf04"),
        _finding("odd", Severity.WARNING),
        _finding("note", Severity.INFO),
        NotJudged(rule="BUF002", where=Where(device="spine01"), reason="unknown"),
    )
    assert as_markdown(report, TITLES) == (
        "### Rocefort: heps: failed\n\n"
        "2 rules, 3 errors, 1 warning, 1 info, 1 not judged because unknown\n"
        "\n#### Errors\n"
        "\n##### PFC004 Deadlock timers can be set\n\n"
        "- set <code>undo x</code><br>\n"
        "  at: leaf03 100GE1/0/1-2, leaf04<br>\n"
        f"  in: {FILE}:49<br>\n"
        "  fix: fix it\n"
        "\n#### Warnings\n"
        "\n##### PFC004 Deadlock timers can be set\n\n"
        f"- odd<br>\n  at: leaf03<br>\n  in: {FILE}:49<br>\n  fix: fix it\n"
        "\n<details><summary>1 info</summary>\n"
        "\n##### PFC004 Deadlock timers can be set\n\n"
        f"- note<br>\n  at: leaf03<br>\n  in: {FILE}:49<br>\n  fix: fix it\n"
        "\n</details>\n"
        "\n<details><summary>1 not judged, which is no pass</summary>\n"
        "\n##### 1 because unknown\n\n"
        "- BUF002<br>\n  at: spine01\n"
        "\n</details>\n"
    )


def test_a_clean_report_is_its_summary() -> None:
    assert as_markdown(_report()) == (
        "### Rocefort: heps: no errors found\n\n"
        "2 rules, 0 errors, 0 warnings, 0 info, 0 not judged\n"
    )


def test_a_long_report_is_cut_and_says_so() -> None:
    report = _report(
        *(_finding(f"number {n}: {'long ' * 20}") for n in range(900)),
        *(_finding(f"more {n}", Severity.INFO) for n in range(900)),
    )
    text = as_markdown(report)
    assert 55_000 < len(text) < LIMIT
    shown = len(re.findall("^- ", text, re.MULTILINE))
    left = re.search(r"\*\*Cut here: (\d+) parts more would make", text)
    assert left is not None
    assert shown + int(left[1]) == 1800
    assert "number 0:" in text
    assert "more 0" not in text


def test_a_cut_never_leaves_a_fold_open() -> None:
    report = _report(*(_finding(f"more {n} {'x ' * 50}", Severity.INFO) for n in range(900)))
    text = as_markdown(report, limit=5000)
    assert len(text) < 5000
    assert text.count("<details>") == text.count("</details>") == 1
    assert text.index("</details>") < text.index("Cut here")


def test_very_many_places_are_cut() -> None:
    text = as_markdown(_report(*(_finding("bad", device=f"leaf{n:03}x") for n in range(500))))
    assert "leaf039x and 460 more" in text
    assert "leaf040x" not in text


def test_a_limit_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="a limit of 1999 characters leaves no room"):
        as_markdown(_report(), limit=1999)


@pytest.mark.parametrize(
    "message",
    [
        "<img src=x onerror=alert(1)>",
        "</details><script>alert(1)</script>",
        "[a](javascript:alert(1)) ![b](http://x)",
        "@everyone see #12 and **bold** _it_ ~~no~~ | cell |",
        "`a` and one ` alone",
        "code `</code><b>` here",
        "1. not a list",
        "- not a list",
    ],
)
def test_a_message_is_text_and_never_markup(message: str) -> None:
    line = next(
        line for line in as_markdown(_report(_finding(message))).splitlines() if line[:2] == "- "
    )
    body = line.removeprefix("- ").removesuffix("<br>")
    plain = re.sub(r"</?code>", "", body)
    assert not re.search(r"[<>@*_\[\]()|~`]|&(?!#\d+;)|(?<!&)#|^[-+]|^\d+\. ", plain)
    assert html.unescape(plain) in (message, message.replace("`", ""))


@given(
    messages=st.lists(st.text(max_size=3000), max_size=30),
    severity=st.sampled_from(Severity),
)
def test_no_report_is_too_long(messages: list[str], severity: Severity) -> None:
    report = _report(*(_finding(message, severity) for message in messages))
    assert len(as_markdown(report, limit=4000)) <= 4000
