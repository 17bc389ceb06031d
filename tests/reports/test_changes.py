"""Output of a rollout while it runs, for every outcome of a wave."""

from __future__ import annotations

import pytest
from planned import make_event

from rocefort.reports.writers.terminal import text_of
from rocefort.rollout.controller.config import APPLY_AGAIN
from rocefort.rollout.journal.events import ActPhase, Event, RolloutOutcome
from rocefort.rollout.report.event_lines import WaveLines, WaveSummary, applied_report

INTENT, DONE, FAILED = ActPhase.INTENT, ActPhase.DONE, ActPhase.FAILED


def act(name: str, *ends: tuple[str, ActPhase, str]) -> list[Event]:
    """Intents of all devices, then how the act ended on each."""
    wave = "leaves 1 of 2"
    return [
        *(make_event(wave, device, name, INTENT) for device, _, _ in ends),
        *(make_event(wave, device, name, phase, detail) for device, phase, detail in ends),
    ]


GOOD = [
    *act("load", ("leaf01", DONE, ""), ("leaf02", DONE, "")),
    *act("gate", ("", DONE, "1 pair measured")),
    *act("confirm", ("leaf01", DONE, ""), ("leaf02", DONE, "")),
]
BAD_LOAD = [
    *act("load", ("leaf01", FAILED, "line 2 refused"), ("leaf02", DONE, "")),
    *act("abort", ("leaf01", DONE, ""), ("leaf02", DONE, "")),
]
HALF_CONFIRMED = [
    *act("confirm", ("leaf01", DONE, ""), ("leaf02", FAILED, "the trial expired")),
    *act("abort", ("leaf01", DONE, "was confirmed"), ("leaf02", DONE, "")),
]
DRAINED = [
    *act("gate", ("", DONE, "1 pair measured")),
    *act("confirm", ("leaf01", DONE, "end of the drain")),
]
LOST = act("abort", ("leaf01", FAILED, "no session"))


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        (
            GOOD,
            [
                "leaves 1 of 2  load     ok",
                "leaves 1 of 2  gate     1 pair measured",
                "leaves 1 of 2  confirm  ok",
            ],
        ),
        (BAD_LOAD, ["leaves 1 of 2  load     FAILED line 2 refused", "leaves 1 of 2  abort    ok"]),
        (LOST, ["leaves 1 of 2  abort    FAILED no session"]),
    ],
)
def test_each_act_of_a_wave_is_one_line(events: list[Event], lines: list[str]) -> None:
    said: list[str] = []
    listener = WaveLines(said.append)
    for event in events:
        listener(event)
    assert said == lines


@pytest.mark.parametrize(
    ("events", "sentences"),
    [
        (GOOD, ["leaf01, leaf02: trial, read back, 1 pair measured, confirmed"]),
        (DRAINED, ["leaf01 (end of the drain): trial, read back, 1 pair measured, confirmed"]),
        (BAD_LOAD, ["leaf01, leaf02 rolled back; load: line 2 refused"]),
        (LOST, ["leaf01 in an unknown state; abort: no session"]),
    ],
)
def test_each_wave_is_one_sentence(events: list[Event], sentences: list[str]) -> None:
    said: list[tuple[str, str]] = []
    listener = WaveSummary(lambda kind, text: said.append((kind, text)))
    for event in events:
        listener(event)
    assert said == [("leaves", sentence) for sentence in sentences]


def test_a_switch_that_had_taken_its_confirmation_is_not_called_rolled_back() -> None:
    said: list[str] = []
    listener = WaveSummary(lambda _, text: said.append(text))
    for event in HALF_CONFIRMED:
        listener(event)
    (sentence,) = said
    assert sentence == "leaf01 confirmed; leaf02 rolled back; confirm: the trial expired"


def test_how_a_rollout_ended_is_said_for_every_switch() -> None:
    applied = RolloutOutcome(
        confirmed=("a",), already=("b", "c"), rolled_back=("d",), unknown=("e",), failure="x: y"
    )
    assert text_of(*applied_report(applied), width=80).splitlines() == [
        "stopped: x: y",
        "1 switch confirmed, read back and saved: a",
        "2 switches ran as intended before: b, c",
        "1 switch rolled back to what ran before: d",
        "1 switch IN AN UNKNOWN STATE, look at them: e",
        "to continue: find the cause (`rocefort history PLAN` lists every step), correct",
        "  it, and plan again; confirmed changes stay",
    ]


@pytest.mark.parametrize(
    ("applied", "is_hinted"),
    [
        (RolloutOutcome(confirmed=("a",)), False),
        (RolloutOutcome(failure="x: y; z", exit_code=4), False),  # no switch was touched
        (RolloutOutcome(failure="an internal error: x", exit_code=70), True),
        (RolloutOutcome(unknown=("a",), failure="x", exit_code=3, unfinished=True), True),
        (
            RolloutOutcome(
                failure="paused; `rocefort resume` continues", exit_code=5, unfinished=True
            ),
            False,
        ),
        (RolloutOutcome(rolled_back=("a",), failure="wave 1: the gate failed", exit_code=3), True),
        (
            RolloutOutcome(rolled_back=("a",), failure=f"interrupted; {APPLY_AGAIN}", exit_code=3),
            False,
        ),
    ],
)
def test_a_failure_after_a_change_has_one_hint_to_continue(
    applied: RolloutOutcome, is_hinted: bool
) -> None:
    lines = text_of(*applied_report(applied), width=80).splitlines()
    assert any(line.startswith("to continue: ") for line in lines) == is_hinted
    assert " ".join(lines).count("to continue") == (is_hinted or bool(applied.rolled_back))
    assert all(len(line) <= 80 for line in lines)
