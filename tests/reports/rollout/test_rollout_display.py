"""Live display of a rollout: every wave and the remaining trial times, in 80 columns."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from planned import make_event, unchanged
from rich.console import Console

from rocefort.base.json_output import OUTPUT_VERSION
from rocefort.models.change.plan import Gate, Plan, Wave
from rocefort.reports.writers.terminal import text_of
from rocefort.rollout.journal.events import ActPhase, ApplyRules, Event, RolloutOutcome
from rocefort.rollout.journal.history import RunHistory, RunProgress
from rocefort.rollout.journal.runs import JournalContents, RolloutStatus
from rocefort.rollout.report.event_lines import JsonLines, applied_report, ended_output, seal_report
from rocefort.rollout.report.live_progress import LiveProgress
from rocefort.rollout.report.status_report import status_output, status_report

GATE = Gate(
    pairs=(),
    traffic_class=138,
    line_rate_fraction=0.9,
    latency_us=3.7,
    latency_tolerance=0.2,
    speed_judged=True,
)


def plan(waves: int = 2, devices: int = 2) -> Plan:
    made = tuple(
        Wave(
            name=f"leaves {w} of {waves}",
            devices=tuple(f"leaf{w:02}-{d:02}" for d in range(devices)),
            gate=GATE,
        )
        for w in range(1, waves + 1)
    )
    return Plan(
        fabric="heps",
        source="/f",
        tool="t",
        intent_digest="0",
        trial_s=600,
        changes=unchanged(made),
        waves=made,
    ).seal()


def done(wave: Wave) -> list[Event]:
    acts = [("gate", [""]), ("save", wave.devices)]
    return [make_event(wave.name, d, act, ActPhase.DONE) for act, names in acts for d in names]


class Screen:
    """A terminal of 80 columns, and a clock."""

    def __init__(self, sealed: Plan, waits: frozenset[str] = frozenset()) -> None:
        self.now = 0.0
        self.out = io.StringIO()
        console = Console(file=self.out, width=80, force_terminal=False)
        progress = RunProgress(sealed, RunHistory(rules=ApplyRules(1, tuple(waits))))
        self.live = LiveProgress(sealed, progress, console, clock=lambda: self.now)

    def lines(self) -> list[str]:
        capture = Console(width=80, file=io.StringIO(), record=True)
        capture.print(self.live.drawn())
        return [line.rstrip() for line in capture.export_text().splitlines()]


def test_the_wave_under_way_is_shown_with_its_timers() -> None:
    sealed = plan()
    screen = Screen(sealed, frozenset({"leaves 2 of 2"}))
    for event in (
        make_event("leaves 1 of 2", "leaf01-00", "trial", ActPhase.INTENT),
        make_event("leaves 1 of 2", "leaf01-00", "trial", ActPhase.DONE),
        make_event("leaves 1 of 2", "leaf01-01", "load", ActPhase.DONE),
        make_event("leaves 1 of 2", "", "gate", ActPhase.INTENT),
    ):
        screen.live(event)
    screen.now = 300
    assert screen.lines() == [
        f"plan {sealed.digest[:12]} of heps: 0 of 4 switches done",
        "  leaves 1 of 2    under way       gate: running",
        "    leaf01-00      on trial             ==========           300 s left",
        "    leaf01-01      loaded",
        "  leaves 2 of 2    needs approval",
    ]
    screen.live(make_event("leaves 1 of 2", "leaf01-00", "abort", ActPhase.DONE))
    screen.live(make_event("leaves 1 of 2", "leaf01-01", "abort", ActPhase.FAILED, "no answer", 3))
    assert screen.lines()[1:4] == [
        "  leaves 1 of 2    UNKNOWN         gate: did not end",
        "    leaf01-00      rolled back",
        "    leaf01-01      UNKNOWN",
    ]
    assert screen.lines()[-1] == "  no answer"


def test_what_is_waited_for_stands_below_until_it_goes_on() -> None:
    sealed = plan()
    screen, wave = Screen(sealed), sealed.waves[0].name
    command = f"`rocefort approve /srv/site-a/plan-of-the-week.json --wave '{wave}'`"
    waits = f"waits up to 600 s for an approval by another person than ada: {command}"
    screen.live(make_event(wave, "", "approve", ActPhase.INTENT, waits))
    asks = screen.lines()[3:]
    assert " ".join(line.strip() for line in asks) == f"wave {wave} {waits}"
    assert any("/srv/site-a/plan-of-the-week.json" in line for line in asks)  # whole
    screen.live(
        make_event(wave, "", "approve", ActPhase.FAILED, "the approval by ada is by ada", 0)
    )
    assert screen.lines()[3:] == [*asks, "  the approval by ada is by ada"]
    screen.live(make_event(wave, "", "approve", ActPhase.DONE, "by bob"))
    assert screen.lines()[3:] == ["  the approval by ada is by ada"]


def test_an_approval_stands_until_it_expires() -> None:
    sealed = plan()
    (name, *_) = (wave.name for wave in sealed.waves)
    progress = RunProgress(sealed, RunHistory(rules=ApplyRules(1, (name,))))
    told = []
    for phase, detail, over in (
        (ActPhase.DONE, "by bob", False),
        (ActPhase.FAILED, "the approval by ada is for a wave that is approved already", False),
        (ActPhase.FAILED, "has expired", True),
    ):
        event = make_event(name, "", "approve", phase, detail, expired=over)
        progress = replace(progress, history=progress.history.after(event))
        told.append((progress.approval(sealed.waves[0]), progress.state_of(sealed.waves[0])))
    assert told == [("by bob", "waiting"), ("by bob", "waiting"), ("", "needs approval")]


def test_many_waves_and_many_switches_fit_a_terminal() -> None:
    sealed = plan(waves=40, devices=60)
    screen = Screen(sealed)
    for wave in sealed.waves[:20]:
        for event in done(wave):
            screen.live(event)
    screen.live(make_event("leaves 21 of 40", "leaf21-00", "load", ActPhase.FAILED, "x" * 300, 3))
    lines = screen.lines()
    assert lines[1] == "  19 waves done"
    assert "    and more: 48 waiting" in lines
    assert "  and 15 waves more" in lines
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_the_display_starts_and_ends_on_a_terminal() -> None:
    sealed = plan()
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True)
    with LiveProgress(sealed, console=console) as live:
        for wave in sealed.waves:
            for event in done(wave):
                live(event)
    assert "4 of 4 switches done" in out.getvalue()


def test_json_lines_have_every_event_and_the_end() -> None:
    said: list[str] = []
    JsonLines(said.append)(
        make_event("canary", "leaf08", "load", ActPhase.FAILED, "refused", 3, part=1)
    )
    (line,) = map(json.loads, said)
    assert line.pop("at").endswith("+00:00")
    del line["command"]  # that of the process
    assert line == {
        "schema_version": OUTPUT_VERSION,
        "wave": "canary",
        "device": "leaf08",
        "act": "load",
        "phase": "failed",
        "detail": "refused",
        "code": 3,
    }
    ended = ended_output(RolloutOutcome(("leaf08",)), Path("j"), "ab").model_dump(mode="json")
    assert (ended["ended"]["confirmed"], ended["head"]) == (["leaf08"], "ab")


def test_a_status_in_80_columns_and_as_data() -> None:
    sealed = plan()
    at = datetime(2026, 5, 4, tzinfo=UTC)
    trial = make_event("leaves 1 of 2", "leaf01-00", "trial", ActPhase.DONE)
    trouble = make_event("leaves 1 of 2", "leaf01-01", "load", ActPhase.FAILED, "line 3 " * 30, 3)
    history = RunHistory().after(trial, at.timestamp() - 100).after(trouble, at.timestamp())
    progress = RunProgress(sealed, history)
    told = JournalContents("plan.json.journal", (), 9, "ab" * 32)
    status = RolloutStatus(sealed.digest, "heps", "under way", "", progress, None, told, at)
    lines = text_of(*status_report(status), width=80).splitlines()
    assert lines[:5] == [
        f"plan {sealed.digest[:12]} of heps",
        "state: under way",
        "",
        "leaves 1 of 2  failed    leaf01-00, leaf01-01",
        "  leaf01-00    on trial  500 s left of its trial",
    ]
    assert lines[-3:] == [
        "journal plan.json.journal: 9 rows, its newest link is",
        "    " + "ab" * 32,
        "This is the state in the journal; no switch was read.",
    ]
    assert max(map(len, lines)) <= 80
    data = status_output(status).model_dump(mode="json")
    assert data["waves"][0]["devices"][0] == {
        "name": "leaf01-00",
        "state": "on trial",
        "trial_left_s": 500,
        "trial_id": None,
        "trouble": "",
    }


def test_an_end_keeps_paths_whole() -> None:
    path = "/a-long-directory/of-some-site/with-many-words/in-its-name/and-more-of-them/plan-7.json"
    ended = applied_report(RolloutOutcome(failure=f"{path}: is gone; look", exit_code=3))
    text = text_of(*ended, width=80).splitlines()
    assert path in "".join(line.strip() for line in text if path in line)
    damage = "its head file is lost, or empty"
    seal = "journal j: 2 rows, its newest link is\n    ab\n"
    assert text_of(*seal_report(Path("j"), 2, "ab"), width=80) == seal
    assert text_of(*seal_report(Path("j"), 2, "ab", damage), width=80) == (
        f"THE JOURNAL IS DAMAGED: {damage}\n\n{seal}"
    )
