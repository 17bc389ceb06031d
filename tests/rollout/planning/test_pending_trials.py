"""No plan while a switch is on trial: the run of the trial, its end, and the cure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from nornir.core import Nornir

from rocefort.base.errors import DeviceFailed
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.models.change.plan import Plan
from rocefort.rollout.journal.events import ActPhase
from rocefort.rollout.journal.pending_trials import ForeignTrial, run_on_switch, trial_problems
from rocefort.rollout.journal.runs import status
from rocefort.rollout.plan import make_plan as plan_module
from rocefort.rollout.plan.make_plan import running_at_rest

ID = "rocefort-0123456789ab-7f7f7f7f"
MAY_CHANGE = "its end may change the configuration that was read"
WAIT = "only the session that began it can end it before; wait for its end, then plan again"


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


def test_one_problem_for_each_run() -> None:
    trials = {
        "leaf01": ForeignTrial(300, "0123456789ab", "7f7f7f7f", ID),
        "leaf02": None,
        "leaf03": ForeignTrial(310, "0123456789ab", "7f7f7f7f", ID),
        "leaf04": ForeignTrial(60),
        "leaf05": DeviceFailed("does not show whether a trial runs", where="leaf05"),
        "leaf06": ForeignTrial(None, "0123456789ab", "7f7f7f7f"),
    }
    now = datetime(2026, 11, 27, 14, 0, tzinfo=UTC)
    assert list(map(str, trial_problems(trials, now, 10))) == [
        "leaf05: does not show whether a trial runs",
        "leaf01, leaf03: on a trial of plan 0123456789ab, run 7f7f7f7f, until 14:00:31 UTC at the "
        f"latest (5 min 10 s): {MAY_CHANGE}; `rocefort resume` with that plan continues it, "
        "`rocefort abort` and then `rocefort resume` rolls it back; then plan again",
        "leaf04: on a trial that shows no run of Rocefort, until 14:00:06 UTC at the latest "
        f"(1 min 0 s): {MAY_CHANGE}; {WAIT}",
        "leaf06: on a trial of plan 0123456789ab, run 7f7f7f7f, for an unknown time: "
        f"{MAY_CHANGE}; {WAIT}",
    ]
    assert list(trial_problems({"leaf02": None}, now, 1)) == []


def test_no_plan_while_a_switch_is_on_a_trial_of_a_run_that_died(
    lab: Rehearsal,
    described: Path,
    plan_of: Callable[[Path], Plan],
    kill: Callable[..., None],
    command: Callable[..., Any],
    tmp_path: Path,
) -> None:
    sealed, journal, new = plan_of(described), tmp_path / "journal", tmp_path / "new.json"
    plan = ("--quiet", "plan", described, "--connections", lab.file, "--out", new)
    assert command(*plan).err == ""
    new.unlink()
    kill(sealed, journal, "trial", ActPhase.DONE)
    run = status(journal).history(sealed.digest).run
    ran = command(*plan)
    begins = f"rocefort: leaf08: on a trial of plan {sealed.digest[:12]}, run {run[:8]}, until "
    assert (ran.code, ran.err.startswith(begins), MAY_CHANGE in ran.err) == (4, True, True), ran
    assert not new.exists()


def test_a_trial_that_begins_while_a_plan_reads_is_seen(
    lab: Rehearsal, described: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial is in what was read, or read itself: the trials are read on both sides of it."""
    calls: list[str] = []
    for name in ("collect_trials", "collect_running"):
        real = getattr(plan_module, name)

        def noted(nornir: Nornir, names: list[str], name: str = name, real: Any = real) -> object:
            calls.append(name)
            return real(nornir, names)

        monkeypatch.setattr(plan_module, name, noted)
    running_at_rest(described, lab.connections)
    assert calls == ["collect_trials", "collect_running", "collect_trials"]
