"""Markdown: grouped and folded, no markup from a message, and short enough for a comment."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from page_contents import FACT, SHOWN

from rocefort.models.finding import Finding, NotJudged, Report, Severity, Where
from rocefort.reports.blocks import (
    Block,
    Code,
    CollapsibleSection,
    Items,
    Note,
    Section,
    Table,
    columns,
)
from rocefort.reports.writers.markdown import LIMIT, QUICK_ACTION, markdown_of, prose
from rocefort.verification.findings import findings_comment

TITLES = {"PFC004": "Deadlock timers can be set"}
FILE = "inventory/heps/fabric.yaml"
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
REFERENCES = re.compile(r"[@#!~$%^&]\w|\$|://|www\.|:\w+:")  # what a platform makes a link of
HOSTILE = st.text(
    st.sampled_from("`*_[]()<>@#!~$|&\\-+=.:/1a\t ")
    | st.characters(exclude_categories=("Cc", "Cs")),
    max_size=40,
)


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
        NotJudged(rule="BUF002", where=Where(device="spine01"), missing=FACT, reason="unknown"),
    )
    assert as_markdown(report, TITLES) == (
        "### Rocefort: heps: failed\n\n"
        "2 rules, 3 errors, 1 warning, 1 info, 1 not judged because unknown\n"
        "\n#### Errors\n"
        "\n##### PFC004 Deadlock timers can be set\n\n"
        "- set `undo x`\n"
        "  - at: leaf03 100GE1/0/1-2, leaf04\n"
        f"  - in: {FILE}:49\n"
        "  - fix: fix it\n"
        "\n#### Warnings\n"
        "\n##### PFC004 Deadlock timers can be set\n\n"
        f"- odd\n  - at: leaf03\n  - in: {FILE}:49\n  - fix: fix it\n"
        "\n<details><summary>1 info</summary>\n"
        "\n##### PFC004 Deadlock timers can be set\n\n"
        f"- note\n  - at: leaf03\n  - in: {FILE}:49\n  - fix: fix it\n"
        "\n</details>\n"
        "\n<details><summary>1 not judged, which is no pass</summary>\n"
        "\n##### 1 because unknown\n\n"
        f"- BUF002\n  - at: spine01\n  - missing: {SHOWN}\n"
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
    assert 50_000 < len(text) < LIMIT
    shown = len(re.findall("^- ", text, re.MULTILINE))
    left = [int(number) for number in re.findall(r"^and (\d+) more lines$", text, re.MULTILINE)]
    assert len(left) == 1  # of the errors: what only informs is shorter
    assert shown + sum(left) == 1800
    assert "number 0:" in text


def test_a_cut_never_leaves_a_fold_open() -> None:
    report = _report(*(_finding(f"more {n} {'x ' * 50}", Severity.INFO) for n in range(900)))
    text = as_markdown(report, limit=5000)
    assert len(text) < 5000
    assert text.count("<details>") == text.count("</details>") == 1
    assert re.search(r"\nand \d+ more lines\n\n</details>\n$", text)


def test_very_many_places_are_cut() -> None:
    text = as_markdown(_report(*(_finding("bad", device=f"leaf{n:03}x") for n in range(500))))
    assert "leaf039x and 460 more" in text
    assert "leaf040x" not in text


def test_a_limit_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="a limit of 1999 characters leaves no room"):
        as_markdown(_report(), limit=1999)


def _shown(markdown: str) -> list[tuple[str, str]]:
    """Kind and text of each part of a document, as a reader of CommonMark finds them."""
    blocks = READER.parse(markdown)
    tokens = (t for b in blocks for t in ((b.children or ()) if b.type == "inline" else (b,)))
    return [(token.type, token.content) for token in tokens if token.content or not token.nesting]


def _is_plain(message: str, markdown: str) -> None:
    parts = _shown(markdown)
    assert {kind for kind, _ in parts} <= {"text", "code_inline"}, parts
    assert not any(REFERENCES.search(text) for kind, text in parts if kind == "text"), parts
    text = "".join(text for _, text in parts)
    assert re.sub(r"[\s`]", "", text) == re.sub(r"[\s`]", "", message)


@pytest.mark.parametrize(
    "message",
    [
        "<img src=x onerror=alert(1)>",
        "</details><script>alert(1)</script>",
        "[a](javascript:alert(1)) ![b](http://x)",
        "@everyone see #12 and **bold** _it_ ~~no~~ | cell |",
        "`a` and one ` alone",
        "code `</code><b>` here",
        "code `a`@all`b` touches",
        "/close",
        "``/close",
        "` `- not a list",
        "1. not a list",
        "- not a list",
        "--- a rule",
        "===",
        "&amp; &#62; a & b",
        "costs $5 and $6, see www.example.org or a@b.org",
    ],
)
def test_a_message_is_text_and_never_markup(message: str) -> None:
    line = next(
        line for line in as_markdown(_report(_finding(message))).splitlines() if line[:2] == "- "
    )
    _is_plain(message, line)


@given(HOSTILE)
def test_no_text_is_markup_wherever_it_stands(text: str) -> None:
    shown = prose(text)
    for place in (f"- {shown}", shown, f"> {shown}", f"## {shown}", f"a\n\n- b\n  - {shown}"):
        _is_plain(f"ab{text}" if place.startswith("a\n") else text, place)
    assert not re.search(r"&#?\w+;", shown) or "&" in text  # no noise for who reads the source


@given(
    st.sampled_from(["/close", " /close", "``/close", "` ` /close", "/a@b", "`/close`"]), HOSTILE
)
@example("` ` ` ` `", "/close")
def test_no_text_is_a_command_of_gitlab_wherever_it_stands(start: str, rest: str) -> None:
    text = start + rest
    document = markdown_of(
        Section(text, (Note(text), Items((text,)), Items((text,), code=True)), lead=text),
        CollapsibleSection(text, (Code((text, f"  {text}")), Items((text,), details=(text,)))),
        Table(columns(text, "b"), ((text, text),)),
        Note(text),
        whole=text,
        limit=10**6,
    )
    assert not QUICK_ACTION.search(document)
    assert not re.search(r"^\s{0,3}/\w", document, re.MULTILINE)
    _is_plain(text, prose(text))


def test_a_sentence_is_readable_as_it_is() -> None:
    for text in (
        "BGP password: env:BGP_A -> env:BGP_B (10.255.0.13/24), 87.5% of the bisection",
        "spine01 100GE1/1/1 - leaf01: width 2 -> 1, at inventory/heps/fabric.yaml:49",
        "type `display bgp peer` on spine01; queue=4, weight={65}",
    ):
        assert prose(text) == text


BLOCKS = st.recursive(
    st.builds(Note, HOSTILE)
    | st.builds(lambda lines, code: Items(tuple(lines), code=code),
                st.lists(HOSTILE, max_size=30), st.booleans())
    | st.builds(lambda lines: Code(tuple(lines)),
                st.lists(st.text("`~a <", max_size=30), min_size=1, max_size=200))
    | st.builds(lambda rows: Table(columns("a", "b"), tuple(rows)),
                st.lists(st.tuples(HOSTILE, st.integers()), max_size=9)),
    lambda inner: st.builds(
        lambda title, blocks, fold, noun, size: CollapsibleSection(title, tuple(blocks), noun)
        if fold else Section(title, tuple(blocks), noun=noun, size=size),
        HOSTILE, st.lists(inner, max_size=6), st.booleans(), st.sampled_from(["", "switch"]),
        st.integers(1, 9),
    ),
    max_leaves=30,
)  # fmt: skip


@given(st.lists(BLOCKS, max_size=8), st.integers(2000, 9000))
def test_a_document_of_any_length_is_whole_where_it_is_cut(blocks: list[Block], limit: int) -> None:
    """Within the limit, every fold closed and no fence or table cut, and the verdict complete."""
    verdict = Section("", (Items(("CHG104: redundancy", "risk: none")),), "verdict", uncut=True)
    document = Section("title", (verdict, *blocks))
    text = markdown_of(document, limit=limit, page="https://example.org/p")
    assert len(text) <= limit
    assert text.startswith("### title\n\nverdict\n\n- CHG104: redundancy\n- risk: none\n")
    tags = [token.content for token in READER.parse(text) if token.type == "html_block"]
    depth = 0
    for tag in tags:
        depth += tag.count("<details>") - tag.count("</details>")
        assert depth >= 0
    assert depth == 0
    whole = _shown(markdown_of(document, limit=10**9))
    fences = {content for kind, content in whole if kind == "fence"}
    assert {content for kind, content in _shown(text) if kind == "fence"} <= fences


def test_what_is_left_out_is_counted_by_its_name() -> None:
    switches = tuple(
        Section(f"leaf{n:03}", (Code(("x" * 200,)),), size=2 if n == 119 else 1) for n in range(120)
    )
    document = Section("", (CollapsibleSection("Switches", switches, "switch"),))
    text = markdown_of(document, limit=5000, page="https://example.org/p(1)")
    shown = text.count("leaf")
    assert f"\nand {121 - shown} more switches: see the page\n\n</details>\n" in text
    assert text.endswith("\n[The whole as a page](https://example.org/p%281%29)\n")
    with pytest.raises(ValueError, match="no room for the verdict"):
        markdown_of(Section("", (Items(("x" * 3000,)),), uncut=True), Note("y" * 3000), limit=2500)


@given(
    messages=st.lists(st.text(max_size=3000), max_size=30),
    severity=st.sampled_from(Severity),
)
def test_no_report_is_too_long(messages: list[str], severity: Severity) -> None:
    report = _report(*(_finding(message, severity) for message in messages))
    assert len(as_markdown(report, limit=4000)) <= 4000


def test_the_page_is_named_only_where_there_is_one() -> None:
    patch = Code(tuple(f"vlan {number}" for number in range(150)))
    assert markdown_of(patch).endswith("\nvlan 119\n```\n\nand 30 more lines\n")
    assert "\nand 30 more lines: see the page\n" in markdown_of(patch, page="review.html")
    assert "\nand 30 more lines: All of it: `x`.\n" in markdown_of(patch, whole="All of it: `x`.")
