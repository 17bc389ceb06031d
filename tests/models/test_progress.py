"""Words for the progress of a switch, by the events of its rollout."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from planned import make_event, unchanged

from rocefort.models.change.plan import Gate, Plan, Wave
from rocefort.rollout.journal.events import Act, ActPhase, Event
from rocefort.rollout.journal.history import RunProgress


def plan_of(name: str, *devices: str) -> Plan:
    gate = Gate(
        pairs=(),
        traffic_class=138,
        line_rate_fraction=0.9,
        latency_us=3.7,
        latency_tolerance=0.2,
        speed_judged=True,
    )
    wave = Wave(name=name, devices=devices, gate=gate)
    fields = {"fabric": "x", "source": "/x", "tool": "t", "intent_digest": "0"}
    return Plan(**fields, trial_s=600, changes=unchanged([wave]), waves=(wave,))


def after(progress: RunProgress, event: Event, at: float = 0.0) -> RunProgress:
    return replace(progress, history=progress.history.after(event, at))


def shown(*acts: tuple[Act, ActPhase, int, bool]) -> tuple[str, str]:
    """Return the word for a drained switch, and the state of its wave, after acts on its parts."""
    progress = RunProgress(plan_of("spine 1 of 1", "spine01"))
    for act, phase, part, back in acts:
        leg: dict[str, Any] = {"part": part, "of": 3, "back": back}
        progress = after(progress, make_event("spine 1 of 1", "spine01", act, phase, **leg))
    return progress.word("spine01"), progress.state_of(progress.plan.waves[0])


@pytest.mark.parametrize(
    ("act", "phase", "part", "back", "word", "state"),
    [
        (Act.TRIAL, ActPhase.DONE, 0, False, "on trial", "under way"),
        (Act.CONFIRM, ActPhase.DONE, 0, False, "drained, confirmed", "under way"),
        (Act.SAVE, ActPhase.DONE, 0, False, "drained, saved", "under way"),
        (Act.TRIAL, ActPhase.DONE, 1, False, "drained, on trial", "under way"),
        (Act.ABORT, ActPhase.DONE, 1, False, "drained, rolled back", "under way"),
        (Act.SAVE, ActPhase.DONE, 1, False, "drained, saved", "under way"),
        (Act.CHECK, ActPhase.DONE, 2, False, "drained, on trial, checked", "under way"),
        (Act.SAVE, ActPhase.DONE, 2, False, "saved", "done"),
        (Act.LOAD, ActPhase.DONE, 0, True, "drained, loaded", "under way"),
        (Act.SAVE, ActPhase.DONE, 0, True, "rolled back", "rolled back"),
        (Act.SAVE, ActPhase.DONE, 1, True, "drained, saved", "under way"),
        (Act.ABORT, ActPhase.FAILED, 1, False, "UNKNOWN", "UNKNOWN"),
    ],
)
def test_a_drained_switch_is_not_done_until_it_announces_again(
    act: Act, phase: ActPhase, part: int, back: bool, word: str, state: str
) -> None:
    assert shown((act, phase, part, back)) == (word, state)


def test_what_is_found_as_intended_by_who_goes_on_is_done() -> None:
    """A wave that ended before its controller stopped does not run again."""
    progress = RunProgress(plan_of("canary", "leaf01"))
    (wave,) = progress.plan.waves
    for event in (
        make_event("canary", "leaf01", Act.TRIAL, ActPhase.DONE),
        make_event("canary", "", "gate", ActPhase.INTENT),
        make_event("canary", "leaf01", "found", ActPhase.DONE, "as intended"),
    ):
        progress = after(progress, event)
    assert (progress.word("leaf01"), progress.state_of(wave), progress.left_s("leaf01", 1.0)) == (
        "saved",
        "done",
        None,
    )
    assert progress.gate(wave) == "did not end"
    event = make_event("canary", "leaf01", "found", ActPhase.DONE, "as intended, not saved")
    progress = after(progress, event)
    assert (progress.word("leaf01"), progress.state_of(wave)) == (
        "as intended, not saved",
        "under way",
    )


def test_the_seconds_left_of_a_trial_are_those_of_its_switch() -> None:
    progress = RunProgress(plan_of("canary", "leaf01"), scale=10)
    progress = after(progress, make_event("canary", "leaf01", Act.TRIAL, ActPhase.DONE), 7.0)
    assert progress.left_s("leaf01", 27.0) == 400


def test_a_gate_whose_wave_goes_back_is_not_running() -> None:
    progress = RunProgress(plan_of("canary", "leaf01"))
    (wave,) = progress.plan.waves
    progress = after(progress, make_event("canary", "", "gate", ActPhase.INTENT))
    assert progress.gate(wave) == "running"
    progress = after(progress, make_event("canary", "leaf01", Act.ABORT, ActPhase.INTENT))
    assert progress.gate(wave) == "did not end"
