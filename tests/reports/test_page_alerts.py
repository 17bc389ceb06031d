"""Head of the report page: errors, and warnings of the whole fabric, with their switches and line."""

from __future__ import annotations

import re
from html import unescape

from page_contents import clos, content_of, error_at

from rocefort.models.finding import Finding, Severity, Where
from rocefort.verification.page.fabric_page import page

LINE = {"file": "fabric.yaml", "line": 51}


def alerts(*findings: Finding) -> list[str]:
    """Words of each alert of a fabric of 2 spines and 4 leaves."""
    head = page(content_of(clos(2, 4), *findings)).partition("</header>")[0]
    listed = re.search(r'<ul class="alerts".*?</ul>', head, re.DOTALL)
    items = re.findall(r"<li.*?</li>", listed[0], re.DOTALL) if listed else []
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", item)).split()) for item in items]


def finding(severity: Severity, device: str | None = None, **where: object) -> Finding:
    place = Where.model_validate({"device": device, **LINE, **where})
    return Finding(
        rule="PFC004", severity=severity, where=place, message="too long", hint="set 100 ms"
    )


def test_an_error_of_every_leaf_is_one_alert_with_its_line() -> None:
    found = [finding(Severity.ERROR, f"l{n}", interface="100GE1/0/1") for n in range(1, 5)]
    assert alerts(*found) == [
        "error PFC004 all 4 leaves, from fabric.yaml:51 too long. Fix: set 100 ms"
    ]


def test_a_warning_of_the_fabric_as_a_whole_is_an_alert() -> None:
    assert alerts(finding(Severity.WARNING)) == [
        "warning PFC004 the fabric as a whole, from fabric.yaml:51 too long. Fix: set 100 ms"
    ]


def test_a_warning_of_some_switches_and_an_info_are_none() -> None:
    assert alerts(finding(Severity.WARNING, "l1"), finding(Severity.INFO)) == []


def test_errors_of_some_switches_name_them() -> None:
    found = [error_at(f"l{n}", message=f"no {n}") for n in (1, 2, 3)]
    assert alerts(*found) == ["error PFC004 3 switches: l1 to l3 no 1 (and 2 other messages)"]
    assert alerts(*found, error_at("s1"), error_at("s2"), error_at("l4")) == [
        "error PFC004 all 6 switches no 1 (and 3 other messages)"
    ]


def test_an_alert_leads_to_its_findings() -> None:
    text = page(content_of(clos(2, 4), error_at("l1")))
    assert '<a href="#error-PFC004">' in text
    assert text.count('id="error-PFC004"') == 1
