"""Apply a plan whose last run was rolled back or stopped: refused, or with a note."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.dialects.vrp.text.config_tree import tree_text
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.rollout.operator import host, user

Command = Callable[..., Any]


def changed(lab: Rehearsal) -> list[str]:
    return [name for name, s in lab.switches.items() if "detector" in tree_text(s.running)]


def without_time(text: str) -> str:
    return re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", "TIME", " ".join(text.split()))


@pytest.fixture
def plan(lab: Rehearsal, described: Path, command: Command, tmp_path: Path) -> Path:
    """A sealed plan of two waves that was applied."""
    file, at = tmp_path / "plan.json", ("--connections", lab.file)
    assert command("plan", described, *at, "--out", file).code == 0
    assert command("apply", file, *at).code == 0
    return file


def test_a_plan_that_was_rolled_back_is_applied_again_only_on_request(
    lab: Rehearsal, plan: Path, command: Command, tmp_path: Path
) -> None:
    at, back = ("--connections", lab.file), tmp_path / "other name.json"
    rolled_back = f"this plan was rolled back on 2 switches, TIME by {user()} on {host()}"
    assert command("rollback", plan, "--out", back).code == 0
    ran = command("apply", plan, *at)
    assert (ran.code, ran.err) == (0, "")  # the rollback plan is only sealed
    assert command("apply", back, *at).code == 0
    assert changed(lab) == []

    for detached in ((), ("--detach",)):
        ran = command("apply", plan, *at, *detached)
        assert (ran.code, ran.out, changed(lab)) == (4, "", [])
        expected = f"rocefort: {plan}: {rolled_back}; to apply it again: --again"
        assert without_time(ran.err) == expected
    ran = command("apply", plan, *at, "--again")
    assert (ran.code, without_time(ran.err)) == (0, f"note: {rolled_back}")
    assert changed(lab) == ["leaf07", "leaf08"]
    ran = command("apply", plan, *at)  # its last run is younger than the rollback
    assert (ran.code, ran.err) == (0, "")

    # The rollback plan is a plan, too: it was undone by its own rollback.
    assert command("apply", back, *at).code == 0
    assert command("rollback", back, "--apply", *at).code == 0
    assert changed(lab) == ["leaf07", "leaf08"]
    ran = command("apply", back, *at)
    assert (ran.code, changed(lab)) == (4, ["leaf07", "leaf08"])
    assert without_time(ran.err).startswith(f"rocefort: {back}: {rolled_back};")


def test_a_rollback_of_another_plan_in_the_same_folder_does_not_count(
    lab: Rehearsal, plan: Path, command: Command, edit_hall: Callable[..., Path], tmp_path: Path
) -> None:
    at, other = ("--connections", lab.file), tmp_path / "other.json"
    assert command("rollback", plan, "--apply", *at).code == 0
    port = "  - name: readout03\n"
    fabric = edit_hall((port, f"{port}    description: detector 7\n"))
    assert command("plan", fabric, *at, "--out", other).code == 0
    ran = command("apply", other, *at)
    assert (ran.code, ran.err) == (0, "")


def test_a_plan_that_was_aborted_is_applied_again_with_a_note(
    lab: Rehearsal, described: Path, command: Command, tmp_path: Path
) -> None:
    at, plan = ("--connections", lab.file), tmp_path / "plan.json"
    assert command("plan", described, *at, "--out", plan).code == 0
    waiting = ("--approve-each-wave",)
    assert command("apply", plan, *at, *waiting).code == 5
    assert command("abort", plan).code == 0
    assert command("resume", plan, *at).code == 5
    ran = command("apply", plan, *at)
    assert (ran.code, changed(lab)) == (0, ["leaf07", "leaf08"])
    assert without_time(ran.err) == (
        f"note: the last run of this plan stopped TIME by {user()} on {host()}: "
        f"wave canary: aborted as requested by {user()}"
    )
