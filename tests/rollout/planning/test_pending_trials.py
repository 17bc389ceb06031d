"""Notes of a plan on switches with a pending trial: its run, and the cure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.errors import DeviceFailed
from rocefort.models.rollout.events import Phase
from rocefort.models.rollout.plan import Plan
from rocefort.rollout.controller.trial_label import run_on_switch
from rocefort.rollout.journal.status import status
from rocefort.rollout.planning.pending_trials import ForeignTrial, trial_notes
from rocefort.steps.lab.emulated_site import Rehearsal

WAY_OUT = (
    "so the running configuration may change; `rocefort resume` with that plan continues it, "
    "`rocefort abort` and then `rocefort resume` rolls it back, then plan again"
)


@pytest.mark.parametrize(
    ("persist", "description", "told"),
    [
        ("rocefort-0123456789ab-7f7f7f7f", "", ("0123456789ab", "7f7f7f7f")),
        ("", "rocefort 0123456789ab/7f7f7f7f", ("0123456789ab", "7f7f7f7f")),
        ("", "rocefort 0123456789ab/7f7f7f7f, drain", ("0123456789ab", "7f7f7f7f")),
        (
            "mine",
            "rocefort 0123456789ab/7f7f7f7f",
            ("", ""),
        ),  # the id has precedence over the description
        ("", "by hand", ("", "")),
        ("", "", ("", "")),
    ],
)
def test_a_trial_is_told_by_its_id_or_by_its_commit(
    persist: str, description: str, told: tuple[str, str]
) -> None:
    assert run_on_switch(persist, description) == told


def test_one_sentence_for_each_run() -> None:
    trials = {
        "leaf01": ForeignTrial(300, "0123456789ab", "7f7f7f7f"),
        "leaf02": None,
        "leaf03": ForeignTrial(310, "0123456789ab", "7f7f7f7f"),
        "leaf04": ForeignTrial(60),
        "leaf05": DeviceFailed("does not show whether a trial runs", where="leaf05"),
    }
    assert list(trial_notes(trials)) == [
        "leaf01, leaf03: 2 switches on a trial for plan 0123456789ab, run 7f7f7f7f, at most "
        f"5 min 10 s left, {WAY_OUT}",
        "leaf04: 1 switch on a trial that shows no run of Rocefort, at most 1 min 0 s left, so "
        "the running configuration may change; wait for its timer, or let the session that began "
        "it confirm or abort it, then plan again",
        "leaf05: does not show whether a trial runs",
    ]
    assert list(trial_notes({"leaf02": None})) == []


def test_plan_says_that_a_switch_is_on_trial_of_a_run_that_died(
    lab: Rehearsal,
    described: Path,
    plan_of: Callable[[Path], Plan],
    kill: Callable[..., None],
    command: Callable[..., Any],
    tmp_path: Path,
) -> None:
    sealed, journal = plan_of(described), tmp_path / "journal"
    plan = ("plan", described, "--connections", lab.file, "--out", tmp_path / "new.json")
    assert command(*plan).err == ""
    kill(sealed, journal, "trial", Phase.DONE)
    run = status(journal).history(sealed.digest).run
    ran = command(*plan)
    (note,) = ran.err.splitlines()
    begins = f"leaf08: 1 switch on a trial for plan {sealed.digest[:12]}, run {run[:8]}, at most "
    assert (ran.code, note.startswith(begins), note.endswith(WAY_OUT)) == (0, True, True)
