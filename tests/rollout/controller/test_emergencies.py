"""Emergency requests of an operator: stop, and roll back."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.emulator.emulated_site import Rehearsal
from rocefort.models.change.plan import Plan
from rocefort.rollout.journal.events import ActPhase, ApplyRules, RunStarted
from rocefort.rollout.journal.journal import WITHOUT_HEAD, open_journal
from rocefort.rollout.operator import user
from rocefort.rollout.planning.sealed_files import write_plan

Command = Callable[..., Any]
WHO: dict[str, Any] = {"tool": "1", "host": "h", "process": 1, "user": "u"}
BEGUN = RunStarted(phase=ActPhase.INTENT, run="1", rules=ApplyRules(1), **WHO)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """A sealed plan of nothing, in its file."""
    made = Plan(
        fabric="x",
        source="x.yaml",
        tool="t",
        intent_digest="0",
        files=(),
        trial_s=600,
        changes=(),
        waves=(),
    ).seal()
    write_plan(made, tmp_path / "plan.json")
    return made


@pytest.mark.parametrize(
    ("word", "comes"),
    [
        ("abort", "the current wave is rolled back, except confirmed switches, then the run ends"),
        ("pause", "the current wave is completed, and no further wave begins"),
    ],
)
def test_a_controller_at_work_hears_it_though_the_journal_has_lost_its_head(
    plan: Plan, tmp_path: Path, command: Command, word: str, comes: str
) -> None:
    file, journal = tmp_path / "plan.json", tmp_path / "plan.json.journal"
    with open_journal(journal, plan.digest) as notes:
        notes.append(BEGUN)
        notes.append(BEGUN)
        (tmp_path / "plan.json.journal.head").unlink()
        ran = command(word, file)
        assert (ran.code, ran.err) == (0, "")
        assert re.sub(r"since \S+ \S+ UTC", "since TIME", ran.out) == (
            f"asked process {os.getpid()} of {user()} on {platform.node()}, since TIME: {comes}\n"
        )
        assert [each.kind for each in notes.requests()] == [word]
        newest = notes.head
    ran = command(word, file)  # no controller runs, and none can resume with this journal
    how = WITHOUT_HEAD.format(journal)
    assert (ran.code, ran.err) == (
        4,
        f"rocefort: {journal}: is damaged: its head file is lost, or empty; {how}\n",
    )
    for words in (("status", file), ("history", file)):  # what is printed now seals nothing
        for form in ("text", "json"):
            assert newest not in command(*words, "--format", form).out
    ran = command("history", "--journal", journal, "--restore-head", newest)
    assert ran.out.startswith(
        f"{journal}: its head is restored; its chain of 2 rows ends in {newest}\n"
    )
    assert (ran.code, "its chain holds" in ran.out) == (0, True)
    assert command(word, file).out.startswith("noted: ")


def test_the_way_back_asks_for_no_signers(
    lab: Rehearsal,
    described: Path,
    plan_of: Callable[[Path], Plan],
    kill: Callable[..., None],
    command: Command,
    tmp_path: Path,
) -> None:
    """Their file is lost while leaf08 is on trial: the run only rolls back."""
    signers, journal = tmp_path / "signers", tmp_path / "plan.json.journal"
    plan, file = plan_of(described), tmp_path / "plan.json"
    write_plan(plan, file)
    kill(plan, journal, "trial", ActPhase.DONE, rules=ApplyRules(1, signers=str(signers)))
    resume = ("resume", file, "--connections", lab.file)
    ran = command(*resume)
    assert (ran.code, ran.err) == (
        2,
        f"rocefort: {signers}: no such file of allowed signers; write lines of NAME KEYTYPE KEY, see "
        "ssh-keygen(1); to roll back without one: `rocefort abort`, then `rocefort resume`\n",
    )
    assert command("abort", file).code == 0
    ran = command(*resume)
    assert (ran.code, f"wave canary: aborted as requested by {user()}" in ran.words) == (5, True)
    leaf = lab.switches["leaf08"]
    assert (leaf.trial, leaf.saved == leaf.running) == (None, True)
    assert "1 switch rolled back to what ran before: leaf08" in ran.words
