"""A report page of HEPS with a fault, as the command that writes it puts it together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocefort.design.derive import Derived
from rocefort.dialects.vrp.parse import parse, sources_of
from rocefort.dialects.vrp.texts import render_all
from rocefort.models.finding import Finding, Severity, Where
from rocefort.models.network import Position, Sources
from rocefort.reports.page import DeviceBudget, PageContent, PortBudget
from rocefort.validators import check, titles


@pytest.fixture(scope="session")
def heps_content(heps: Derived) -> PageContent:
    """HEPS as it is: no errors, two warnings, and much that is not judged."""
    texts = render_all(heps.network)
    table: dict[str, Position] = {}
    for name, text in texts.items():
        table |= sources_of(parse(text, f"{name}.cfg"), f"{name}.cfg")
    budget = DeviceBudget(
        device="leaf01",
        buffer_kbytes=43008,
        buffer_confirmed=False,
        buffer_source="third-party table",
        xoff_kbytes=600,
        headroom_kbytes=49,
        ports=(PortBudget(interface="100GE1/0/1", speed_gbps=100, xoff_kbytes=600),),
    )
    return PageContent(
        network=heps.network,
        report=check(heps.network, heps.sources),
        text_report=check(heps.network, Sources(table)),
        texts=texts,
        titles=titles(),
        budgets=(
            budget,
            budget.model_copy(update={"device": "leaf02"}),
            DeviceBudget(
                device="spine01", buffer_kbytes=None, xoff_kbytes=4800, headroom_kbytes=392
            ),
        ),
    )


@pytest.fixture(scope="session")
def failed_content(heps_content: PageContent) -> PageContent:
    """The same with an error at both ends of one link."""
    wheres = (
        Where(device="spine01", interface="100GE1/0/3", file="fabric.yaml", line=108),
        Where(device="leaf03", interface="100GE1/0/25", file="fabric.yaml", line=108),
    )
    errors = tuple(
        Finding(rule="ADR003", severity=Severity.ERROR, where=where, message="no", hint="mend")
        for where in wheres
    )
    report = heps_content.report
    return replace(
        heps_content, report=report.model_copy(update={"findings": (*errors, *report.findings)})
    )
