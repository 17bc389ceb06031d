"""Approvals of a change that changes them: text, page, `apply` and `status` have one sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from planned import git, unreached

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.models.fabric.approvals import Approvals
from rocefort.rollout.planning.plan_policy import PlanPolicy

Command = Callable[..., Any]
EditHeps = Callable[..., Path]
LIMIT = "  max_unavailable: 1\n"
RAISED = ("xoff_kbytes: 600", "xoff_kbytes: 640")
ONE, TWO = "{required: true}", "{required: true, count: 2}"
ONE_TEXT = "1 person per wave, not the plan's author, valid for 24 h"
TWO_TEXT = ONE_TEXT.replace("1 person", "2 people")
NEXT = ", which holds from the next change on"
BEFORE = "(policy of fabric.yaml at COMMIT, before this change)"
OWN = "(policy of the fabric itself: git has no earlier version of it)"


def fabric_of(edit: EditHeps, approvals: str, *words: tuple[str, str]) -> Path:
    policy = f"  approvals: {approvals}\n" if approvals else ""
    return edit((LIMIT, LIMIT + policy), *words)


@pytest.mark.parametrize(
    ("before", "after", "committed", "sentence"),
    [
        ("", ONE, 2, f"none {BEFORE}; this change introduces {ONE_TEXT}{NEXT}"),
        (ONE, "", 2, f"{ONE_TEXT} {BEFORE}; this change removes them{NEXT}"),
        (TWO, ONE, 2, f"{TWO_TEXT} {BEFORE}; this change loosens them to {ONE_TEXT}{NEXT}"),
        (ONE, TWO, 2, f"{ONE_TEXT} {BEFORE}; this change tightens them to {TWO_TEXT}{NEXT}"),
        (ONE, ONE, 2, f"{ONE_TEXT} {BEFORE}"),
        ("", ONE, 1, f"none {BEFORE}; this change introduces {ONE_TEXT}{NEXT}"),  # uncommitted
        ("", ONE, 0, f"{ONE_TEXT} {OWN}"),
    ],
    ids=["introduces", "removes", "loosens", "tightens", "unchanged", "uncommitted", "no base"],
)
def test_plan_page_apply_and_status_have_the_same_policy(
    before: str,
    after: str,
    committed: int,
    sentence: str,
    hall: DerivedNetwork,
    edit_hall: EditHeps,
    command: Command,
    tmp_path: Path,
) -> None:
    texts, at, file = tmp_path / "texts", tmp_path / "at.yaml", tmp_path / "plan.json"
    texts.mkdir()
    for name, text in render_all(hall.network).items():
        (texts / f"{name}.cfg").write_text(text, encoding="utf-8")
    access = unreached(hall.network).model_dump(mode="json", exclude_defaults=True)
    at.write_text(json.dumps(access), encoding="utf-8")
    commit = ""
    if committed:
        git(tmp_path, "init", "--quiet")
    for number, words in enumerate(((before, ()), (after, (RAISED,)))):
        fabric = fabric_of(edit_hall, words[0], *words[1])
        if number < committed:
            git(tmp_path, "add", "fabric.yaml")
            git(tmp_path, "commit", "--quiet", "-m", "fabric")
            commit = commit or git(tmp_path, "rev-parse", "HEAD").strip()[:12]
    expected = f"approvals: {sentence}".replace("COMMIT", commit)
    page = tmp_path / "page.html"
    ran = command(
        "plan", fabric, "--connections", at, "--running", texts, "--out", file, "--html", page
    )
    assert (ran.code, f" {expected} sealed in " in ran.words) == (0, True), ran
    shown = unescape(re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8")))
    assert f"A{expected[1:]}." in " ".join(shown.split())
    assert f" {expected} rehearsal: none" in command("status", file).words
    assert command("apply", file, "--connections", at).words == expected  # no switch answers


def test_a_change_that_introduces_approvals_needs_none_itself_and_the_next_one_does(
    lab: Rehearsal, edit_hall: EditHeps, command: Command, tmp_path: Path
) -> None:
    """With `test_a_change_that_relaxes_the_policy_is_judged_by_the_one_before`, both directions."""
    git(tmp_path, "init", "--quiet")
    file, at = tmp_path / "plan.json", ("--connections", lab.file)
    port = ("  - name: readout04\n", "  - name: readout04\n    description: detector 4\n")
    for policy, words in (("", ()), (ONE, (port,))):
        fabric = fabric_of(edit_hall, policy, *words)
        git(tmp_path, "add", "fabric.yaml")
        git(tmp_path, "commit", "--quiet", "-m", "fabric")
    assert command("plan", fabric, *at, "--out", file).code == 0
    ran = command("apply", file, *at)
    assert (ran.code, "1 switch confirmed, read back and saved: leaf08" in ran.words) == (0, True)
    assert f"this change introduces {ONE_TEXT}{NEXT}" in command("status", file).words
    fabric_of(edit_hall, ONE, (port[0], port[1].replace("detector 4", "detector 5")))
    assert command("plan", fabric, *at, "--out", file).code == 0
    ran = command("apply", file, *at)
    assert (ran.code, "wave canary waits for its approval" in ran.words) == (5, True)
    assert ran.words.startswith(f"approvals: {ONE_TEXT} (policy of fabric.yaml at ")


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (Approvals(), Approvals(expires_h=1), ""),  # of no effect without `required`
        (Approvals(required=True), Approvals(required=True, expires_h=1), "tightens"),
        (Approvals(required=True, count=2), Approvals(required=True, expires_h=1), "changes"),
        (Approvals(required=True, from_switches=1), Approvals(required=True, from_switches=3), "loosens"),
    ],
)  # fmt: skip
def test_the_direction_of_a_change_of_the_policy(
    old: Approvals, new: Approvals, change: str
) -> None:
    text = PlanPolicy(approvals=old, origin="x", own=new).change_of_policy
    assert text == (f"this change {change} them to {new}{NEXT}" if change else "")
