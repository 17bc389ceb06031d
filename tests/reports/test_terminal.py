"""Terminal report: grouped, in columns, complete except for omissions that it states."""

from __future__ import annotations

import re

import click
from hypothesis import given
from hypothesis import strategies as st
from page_contents import FACT, SHOWN

from rocefort.models.finding import Finding, NotJudged, Report, Severity, Where
from rocefort.reports.writers.terminal import text_of
from rocefort.verification.findings import findings_report


def as_text(
    report: Report, titles: dict[str, str] | None = None, *, width: int = 80, colour: bool = False
) -> str:
    return text_of(*findings_report(report, titles or {}), width=width, colour=colour)


TITLES = {"PFC004": "Deadlock timers can be set, and are as intended"}


def _finding(
    message: str, where: Where, severity: Severity = Severity.ERROR, rule: str = "PFC004"
) -> Finding:
    return Finding(rule=rule, severity=severity, where=where, message=message, hint="fix it")


def _report(*verdicts: Finding | NotJudged) -> Report:
    return Report(
        network="heps",
        rules=("PFC004", "BUF002"),
        findings=tuple(v for v in verdicts if isinstance(v, Finding)),
        not_judged=tuple(v for v in verdicts if isinstance(v, NotJudged)),
    )


def test_findings_are_grouped_by_rule_severity_and_sentence() -> None:
    file = "inventory/heps/fabric.yaml"
    long = (
        "deadlock detection time 10000 ms cannot be set on v300-g1 (10 to 1500 ms), "
        "which is less than intended"
    )
    report = _report(
        _finding(long, Where(device="leaf03", file=file, line=49)),
        _finding(long, Where(device="leaf04", file=file, line=49)),
        _finding("other", Where(device="leaf04", interface="100GE1/0/2", file=file, line=50)),
        _finding("other", Where(device="leaf04", interface="100GE1/0/1", file=file, line=51)),
        _finding("other", Where(device="leaf04", interface="100GE1/0/7", file=file, line=51)),
        _finding("other", Where(device="leaf05", interface="Vlanif10")),
        _finding("note", Where(), Severity.INFO),
        *(
            NotJudged(
                rule="BUF002",
                where=Where(device=f"leaf0{n}"),
                missing=FACT,
                reason="no buffer is known",
            )
            for n in range(1, 9)
        ),
    )
    assert as_text(report, TITLES) == (
        "ERROR PFC004 Deadlock timers can be set, and are as intended\n"
        "    deadlock detection time 10000 ms cannot be set on v300-g1 (10 to 1500 ms),\n"
        "    which is less than intended\n"
        "        at: leaf03, leaf04\n"
        "        in: inventory/heps/fabric.yaml:49\n"
        "        fix: fix it\n"
        "    other\n"
        "        at: leaf04 100GE1/0/1-2,7, leaf05 Vlanif10\n"
        "        in: inventory/heps/fabric.yaml:50, 51\n"
        "        fix: fix it\n"
        "\n"
        "INFO PFC004 Deadlock timers can be set, and are as intended\n"
        "    note\n"
        "        fix: fix it\n"
        "\n"
        "NOT JUDGED: 8 because no buffer is known\n"
        "    BUF002\n"
        "        at: leaf01 to leaf08\n"
        f"        missing: {SHOWN}\n"
        "\n"
        "heps: 2 rules, 6 errors, 0 warnings, 1 info, 8 not judged because no buffer is\n"
        "  known -- failed\n"
    )


def test_rules_with_the_same_cause_and_places_share_an_entry() -> None:
    silent, mute = Where(device="k8sgn12"), Where(device="k8sgn09")
    report = _report(
        *(
            NotJudged(rule=r, where=silent, missing=FACT, reason="not read")
            for r in ("HST102", "HST103", "HST105")
        ),
        NotJudged(rule="HST103", where=mute, missing=FACT, reason="no tool"),
        NotJudged(rule="HST104", where=silent, missing=FACT, reason="not read"),
        NotJudged(rule="HST104", where=mute, missing=FACT, reason="not read"),
    )
    assert as_text(report) == (
        "NOT JUDGED: 5 because not read\n"
        "    HST102, HST103, HST105\n"
        "        at: k8sgn12\n"
        f"        missing: {SHOWN}\n"
        "    HST104\n"
        "        at: k8sgn12, k8sgn09\n"
        f"        missing: {SHOWN}\n"
        "\n"
        "NOT JUDGED: 1 because no tool\n"
        "    HST103\n"
        "        at: k8sgn09\n"
        f"        missing: {SHOWN}\n"
        "\n"
        "heps: 2 rules, 0 errors, 0 warnings, 0 info, 6 not judged: 5 because not read, 1\n"
        "  because no tool\n"
    )


def test_not_judged_is_grouped_by_the_cause_that_reasons_share() -> None:
    cause = "facts of v200 are unconfirmed"
    leaf, spine = Where(device="leaf01"), Where(device="spine01")
    report = _report(
        NotJudged(rule="BUF002", where=leaf, missing=FACT, reason="no buffer is known"),
        *(
            NotJudged(rule="PFC004", where=where, missing=FACT, reason=reason, shared_cause=cause)
            for where in (leaf, spine)
            for reason in ("no unit", "no range")
        ),
        NotJudged(
            rule="BUF002", where=spine, missing=FACT, reason="no headroom", shared_cause=cause
        ),
        NotJudged(rule="PFC004", where=leaf, missing=FACT, reason="no queue"),
    )
    assert as_text(report, TITLES) == (
        "NOT JUDGED: 5 because facts of v200 are unconfirmed\n"
        f"    PFC004 {TITLES['PFC004']}\n"
        "        no unit\n"
        "        no range\n"
        "        at: leaf01, spine01\n"
        f"        missing: {SHOWN}\n"
        "    BUF002\n"
        "        no headroom\n"
        "        at: spine01\n"
        f"        missing: {SHOWN}\n"
        "\n"
        "NOT JUDGED: 1 because no buffer is known\n"
        "    BUF002\n"
        "        at: leaf01\n"
        f"        missing: {SHOWN}\n"
        "\n"
        "NOT JUDGED: 1 because no queue\n"
        f"    PFC004 {TITLES['PFC004']}\n"
        "        at: leaf01\n"
        f"        missing: {SHOWN}\n"
        "\n"
        "heps: 2 rules, 0 errors, 0 warnings, 0 info, 7 not judged: 5 because facts of\n"
        "  v200 are unconfirmed, 1 because no buffer is known, 1 for 1 other cause\n"
    )


def test_a_clean_report_is_one_line() -> None:
    assert as_text(_report()) == "heps: 2 rules, 0 errors, 0 warnings, 0 info, 0 not judged\n"


def test_one_error_is_counted_in_the_singular_and_fails() -> None:
    text = as_text(_report(_finding("bad", Where(device="leaf01"))))
    assert text.endswith("heps: 2 rules, 1 error, 0 warnings, 0 info, 0 not judged -- failed\n")
    warned = as_text(_report(_finding("odd", Where(device="leaf01"), Severity.WARNING)))
    assert warned.endswith("heps: 2 rules, 0 errors, 1 warning, 0 info, 0 not judged\n")


def test_very_many_places_are_cut_and_it_is_said() -> None:
    places = [Where(device=f"leaf{n:03}") for n in range(0, 1000, 2)]  # no two are neighbours
    text = " ".join(as_text(_report(*(_finding("bad", where) for where in places))).split())
    assert "leaf076, leaf078 and 460 more (all of them: --format json)" in text
    assert "leaf080" not in text


def test_colour_changes_no_letter() -> None:
    report = _report(
        _finding("bad", Where(device="leaf01")),
        NotJudged(rule="BUF002", where=Where(device="leaf02"), missing=FACT, reason="unknown"),
    )
    coloured = as_text(report, TITLES, colour=True)
    assert click.unstyle(coloured) == as_text(report, TITLES)
    heading, *_ = coloured.splitlines()
    assert heading == f"\x1b[1;31mERROR PFC004 {TITLES['PFC004']}\x1b[0m"
    assert "\x1b[35mNOT JUDGED: 1 because unknown" in coloured


def test_messages_about_the_same_places_name_them_once() -> None:
    where = Where(device="leaf01", file="fabric.yaml", line=7)
    report = _report(_finding("first", where), _finding("second", where))
    assert as_text(report, TITLES).splitlines()[1:6] == [
        "  - first",
        "  - second",
        "        at: leaf01",
        "        in: fabric.yaml:7",
        "        fix: fix it",
    ]


WORD = st.text("abcdefghij0123456789", min_size=1, max_size=20)


@given(
    words=st.lists(WORD, min_size=1, max_size=40),
    devices=st.lists(WORD, min_size=1, max_size=30, unique=True),
    width=st.integers(60, 120),
)
def test_lines_keep_the_width_and_every_word(
    words: list[str], devices: list[str], width: int
) -> None:
    message = " ".join(words)
    text = as_text(_report(*(_finding(message, Where(device=d)) for d in devices)), width=width)
    assert all(len(line) <= width for line in text.splitlines())
    assert all(line == line.rstrip() for line in text.splitlines())
    assert message in " ".join(text.split())
    (listed,) = re.findall(r"at: (.*?) fix:", " ".join(text.split()))
    assert listed.split(", ") == devices
