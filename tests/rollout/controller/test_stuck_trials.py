"""Trials that only their own session can end: their controller dies, or loses the session."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from personalities import STUCK

from rocefort.base.clock import utc_now
from rocefort.base.errors import ExitCode
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply import apply
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller import controller
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import ActPhase, Event
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import rollout_status
from rocefort.rollout.report.event_lines import WaveLines

PlanOf = Callable[[Path], Plan]
Kill = Callable[..., None]


@pytest.fixture
def stuck(lab: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> Callable[[Event], None]:
    """Switches without `persist`; a listener lets a trial end soon once it is waited for."""
    for switch in lab.switches.values():
        switch.personality = STUCK
    monkeypatch.setattr(controller, "LOOK_S", 2.0)

    def hasten(event: Event) -> None:
        if (event.act, event.phase, bool(event.device)) == ("wait", ActPhase.INTENT, True):
            switch = lab.switches[event.device]
            assert switch.trial
            switch.trial = replace(switch.trial, deadline=switch.clock() + 3)

    return hasten


WHO = (
    "; this release has no `commit trial persist ID`, so only the session that began it can end it: it restores "
    "its configuration itself"
)


def test_resume_waits_for_a_trial_that_no_other_session_can_end(
    lab: Rehearsal,
    described: Path,
    plan_of: PlanOf,
    kill: Kill,
    tmp_path: Path,
    stuck: Callable[[Event], None],
) -> None:
    plan, run = plan_of(described), RunDirectory.of_journal(tmp_path / "journal")
    switch = lab.switches["leaf08"]
    before = switch.running
    kill(plan, run.journal, "trial", ActPhase.DONE)
    assert switch.trial and switch.trial_left() <= plan.plain_trial_s < plan.trial_s
    (text,) = rollout_status(plan, run.journal, utc_now()).trials
    assert re.fullmatch(rf"leaf08 stays on trial until [\d:]+ UTC \(\d min \d+ s\){WHO}", text)
    other = RunDirectory.of_journal(tmp_path / "other")
    refused = apply_plan(plan, lab.connections, other, [])  # of another controller
    assert refused.exit_code == ExitCode.REFUSED
    assert re.search(r"has a trial pending, \d min \d+ s left; one run at", refused.failure)
    lines: list[str] = []
    resumed = ApplyOptions(resume=True)
    applied = apply_plan(plan, lab.connections, run, [stuck, WaveLines(lines.append)], resumed)
    assert (applied.failure, applied.confirmed) == ("", ("leaf08", "leaf07"))
    waits = [" ".join(line.split()) for line in lines if " wait " in line]
    assert waits[0].startswith("canary wait leaf08 stays on trial until")
    assert waits[-1] == "canary wait as before the change"
    assert switch.running != before and switch.trial is None


def test_an_interrupted_wait_leaves_all_as_it_is(
    lab: Rehearsal,
    described: Path,
    plan_of: PlanOf,
    kill: Kill,
    tmp_path: Path,
    stuck: Callable[[Event], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan, run = plan_of(described), RunDirectory.of_journal(tmp_path / "journal")
    kill(plan, run.journal, "trial", ActPhase.DONE)
    before = lab.switches["leaf08"].trial
    signals: list[str] = []

    def interrupt(event: Event) -> None:
        if event.act == "wait":
            signals.append("Ctrl-C")

    @contextmanager
    def stops() -> Iterator[Callable[[], int]]:
        yield lambda: len(signals)

    with monkeypatch.context() as patch:
        patch.setattr(apply, "count_signals", stops)
        applied = apply_plan(plan, lab.connections, run, [interrupt], ApplyOptions(resume=True))
    assert (applied.exit_code, applied.unfinished) == (ExitCode.STOPPED, True)
    assert applied.unknown == ()
    assert applied.failure == (
        "stopped while it waits for the trial of leaf08; nothing is changed; "
        "`rocefort resume` waits again, then continues"
    )
    (text,) = applied.on_trial
    assert text.startswith("leaf08 stays on trial until ") and text.endswith(WHO)
    assert lab.switches["leaf08"].trial == before
    applied = apply_plan(plan, lab.connections, run, [stuck], ApplyOptions(resume=True))
    assert applied.confirmed == ("leaf08", "leaf07")


def test_a_session_lost_on_trial_is_waited_out_and_its_wave_goes_back(
    lab: Rehearsal,
    described: Path,
    plan_of: PlanOf,
    tmp_path: Path,
    stuck: Callable[[Event], None],
) -> None:
    switch = lab.switches["leaf08"]
    before = switch.running

    def lose(event: Event) -> None:
        if (event.device, event.act, event.phase) == ("leaf08", "check", ActPhase.DONE):
            for login in list(switch.logins.values()):
                switch.kill(login.vty)

    events: list[Event] = []
    run = RunDirectory.of_journal(tmp_path / "journal")
    applied = apply_plan(plan_of(described), lab.connections, run, [lose, stuck, events.append])
    assert applied.failure == (
        "leaf08: the session that began its trial is lost, and no other session can confirm it"
    )
    assert (applied.rolled_back, applied.unknown, applied.on_trial) == (("leaf08",), (), ())
    assert "confirm" not in {event.act for event in events}
    waits = [event.detail for event in events if event.act == "wait" and event.device]
    assert waits[0].endswith(WHO) and waits[-1] == "as before the change"
    assert switch.running == before and switch.trial is None
