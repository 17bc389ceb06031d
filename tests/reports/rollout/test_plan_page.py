"""Page of a plan: its order, its risk, equal changes once, the way back, and no secret."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from page_contents import LOOKS
from planned import unreached

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.models.change.plan import Plan, PlanLimit
from rocefort.models.fabric.approvals import Approvals
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.planning.plan_policy import PlanPolicy
from rocefort.rollout.report.plan_page import PlanPageContent, plan_page

Violations = Callable[..., list[list[str]]]
EditHeps = Callable[..., Path]
MADE = datetime(2026, 11, 23, 20, 29, tzinfo=UTC)
SECRET = "s3cret-of-a-test"
NO_POLICY = PlanPolicy(approvals=Approvals(), origin="policy of fabric.yaml at 1a2b3c4")
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; });"


@pytest.fixture
def content(raised: Plan) -> PlanPageContent:
    return PlanPageContent(raised, "plan.json", "", MADE, NO_POLICY)


def text_of(page: str) -> str:
    """Words of a page outside of its style, its script and its tags."""
    body = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_the_page_has_the_order_the_risk_and_the_way_back(content: PlanPageContent) -> None:
    text = text_of(plan_page(content))
    for words in (
        "Plan for heps affects service 10 switches change in 10 waves · 600 s commit trial",
        "10 switches affected in service 2 drained first",
        "Made : 2026-11-23 20:29 UTC",
        "canary 1 switch leaf08",
        "leaves 7 waves of 1 switch leaf01 to leaf07",
        "spine 2 waves of 1 switch spine01, spine02 drained first",
        "rocefort abort plan.json",
        "rocefort rollback plan.json",
        "rocefort plan-console plan.json",
    ):
        assert words.replace(" :", "") in text.replace(" :", ""), words


def test_equal_commands_are_on_the_page_once(content: PlanPageContent, raised: Plan) -> None:
    page = unescape(plan_page(content))
    (first, *_) = raised.change("leaf01").patch
    assert raised.change("leaf01").patch == raised.change("leaf02").patch
    assert "leaf01, leaf02: modifying, 8 commands" in page
    blocks = re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    plain = [re.sub(r"<[^>]+>", "", block) for block in blocks]
    assert plain.count("\n".join(raised.change("leaf01").patch)) == 1
    assert first in plain[0]


def test_warnings_that_differ_in_the_own_switch_only_are_one(content: PlanPageContent) -> None:
    text = text_of(plan_page(content))
    assert text.count("without its switch to 914%") == 1
    assert "(spine 1 of 2, spine 2 of 2)" in text


def test_a_limited_plan_begins_with_what_it_leaves_out(content: PlanPageContent) -> None:
    limit = PlanLimit(switches=("spine*",), left_out=("leaf01", "leaf02"), warnings=("too small",))
    plan = content.plan.model_copy(update={"limit": limit})
    page = plan_page(replace(content, plan=plan))
    head = text_of(page.partition("</header>")[0])
    assert "limited to spine*; not in this plan: 2 switches that differ: leaf01, leaf02" in head
    assert "of the fabric that results: too small" in head
    assert "Left out Limited to spine*" in text_of(page)


@pytest.mark.parametrize(
    ("approvals", "words"),
    [
        (
            Approvals(),
            "Approvals: none (policy of fabric.yaml at 1a2b3c4). rocefort apply --approve-each-wave "
            "waits before every wave.",
        ),
        (
            Approvals(required=True, count=2),
            "Approvals: 2 people per wave, not the plan's author, valid for 24 h (policy of "
            "fabric.yaml at 1a2b3c4). Every wave waits for its approval: rocefort approve plan.json "
            "--wave canary",
        ),
        (
            Approvals(required=True, not_author=False),
            "Approvals: 1 person per wave, valid for 24 h (policy of fabric.yaml at 1a2b3c4). "
            "Every wave waits for its approval: rocefort approve plan.json --wave canary",
        ),
        (None, "Approvals: not known: policy of fabric.yaml at 1a2b3c4."),
    ],
)
def test_the_page_has_the_approvals_that_a_wave_needs(
    content: PlanPageContent, approvals: Approvals | None, words: str
) -> None:
    policy = NO_POLICY.model_copy(update={"approvals": approvals})
    assert words in text_of(plan_page(replace(content, policy=policy)))


def test_a_secret_is_its_reference(
    heps: DerivedNetwork,
    edit_heps: EditHeps,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BGP_OF_A_TEST", SECRET)
    pair = (
        "\nsecurity:",
        "\nlinks:\n  - spine: spine01\n    leaf: leaf08\n"
        "    authentication: {password: 'env:BGP_OF_A_TEST'}\n\nsecurity:",
    )
    fabric = edit_heps(pair)
    texts = render_all(heps.network)
    texts = {
        name: re.sub(r"\n peer 10\.1\.0\.11[23] .*", "", text)
        if name in ("leaf08", "spine01")
        else text
        for name, text in texts.items()
    }
    plan = make_plan(fabric, unreached(heps.network), texts)
    page = unescape(plan_page(PlanPageContent(plan, "plan.json", "", MADE, NO_POLICY)))
    assert "password cipher <secret env:BGP_OF_A_TEST>" in page
    assert SECRET not in page


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing(
    violations: Violations, content: PlanPageContent, width: int, dark: bool
) -> None:
    assert violations(plan_page(content), width, dark=dark, first=OPEN) == []
