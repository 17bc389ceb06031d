"""Page of a rollout: its state and what to do, its waves over time, live and ended."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from itertools import pairwise

import pytest
from page_contents import LOOKS
from planned import begun, make_event, run_of, status_of, wave_events

from rocefort.models.change.plan import Plan
from rocefort.rollout.journal.events import ActPhase, ApplyRules, Event, RunEnded
from rocefort.rollout.journal.runs import RolloutStatus
from rocefort.rollout.report.rollout_page import RolloutPageContent, rollout_page
from rocefort.rollout.report.timeline import timeline_of

Violations = Callable[..., list[list[str]]]
HOLDER = "process 4711 of ada on ops1, since 2026-11-23 20:29:00 UTC"
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; });"
PROBE = """
window.addEventListener("load", () => setTimeout(() => {
  parent.postMessage(JSON.stringify({
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    rows: document.querySelectorAll("[data-table=events] tbody tr").length,
    left: document.querySelector("[data-left]").textContent,
    renew: document.getElementById("renew").textContent,
    age: document.getElementById("age").textContent,
  }), "*");
}, 1500));
"""


def text_of(page: str) -> str:
    """Words of a page outside of its style, its script and its tags."""
    body = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def page_of(status: RolloutStatus, *, live: bool = False) -> str:
    return rollout_page(RolloutPageContent(status, ["plan.json"], live))


def until_trial(plan: Plan) -> list[Event]:
    """Events of a run whose canary is on trial."""
    events = list(wave_events(plan, plan.waves[0]))
    trial = next(i for i, e in enumerate(events) if (e.act, e.phase) == ("trial", ActPhase.DONE))
    return [begun(), *events[: trial + 1]]


@pytest.fixture
def under_way(raised: Plan) -> RolloutStatus:
    """The canary is done, and the next wave on trial."""
    events = [*wave_events(raised, raised.waves[0]), *wave_events(raised, raised.waves[1])]
    last = max(i for i, e in enumerate(events) if (e.act, e.phase) == ("trial", ActPhase.DONE))
    run = run_of(raised, begun(), *events[: last + 1])
    return status_of(raised, run, f"in progress by {HOLDER}", HOLDER)


@pytest.fixture
def failed(raised: Plan) -> RolloutStatus:
    """The gate of the canary failed, and it was rolled back."""
    wave = raised.waves[0]
    why = "bandwidth of k8sgn08 > k8sgn09 is 0 Gb/s of 97 Gb/s"
    events = [
        *until_trial(raised),
        make_event(wave.name, "", "gate", ActPhase.FAILED, why, 3),
        make_event(wave.name, wave.devices[0], "abort", ActPhase.INTENT),
        make_event(wave.name, wave.devices[0], "abort", ActPhase.DONE),
        RunEnded(phase=ActPhase.DONE, ended=why, code=3),
    ]
    return status_of(raised, run_of(raised, *events), why)


@pytest.fixture
def finished(raised: Plan) -> RolloutStatus:
    """All waves are confirmed."""
    events = [event for wave in raised.waves for event in wave_events(raised, wave)]
    end = RunEnded(phase=ActPhase.DONE, ended="finished")
    return status_of(raised, run_of(raised, begun(), *events, end), "finished")


def test_a_rollout_under_way_has_its_states_timers_and_commands(under_way: RolloutStatus) -> None:
    page = page_of(under_way, live=True)
    text = text_of(page)
    assert text.startswith("under way: rollout on heps")
    assert "1 of 10 switches done · 10 waves · 600 s commit trial" in text
    assert "1 saved 1 on trial 8 waiting" in text
    assert "leaves 1 of 7 leaf01 on trial 596 s left of 600 s" in text
    assert "gate: 1 pair measured, speed not judged · health before: 3 switches read" in text
    assert "rocefort pause plan.json" in text
    assert '<noscript><meta http-equiv="refresh"' in page
    assert '"live":true' in page


def test_a_page_that_no_process_renews_does_not_load_itself_again(under_way: RolloutStatus) -> None:
    page = page_of(under_way)
    assert 'http-equiv="refresh"' not in page
    assert '"live":false' in page
    assert "The rollout runs; this page is of 2026-11-23 20:30:48 UTC" in text_of(page)


def test_an_ended_rollout_is_not_live(finished: RolloutStatus) -> None:
    page = page_of(finished, live=True)
    assert 'http-equiv="refresh"' not in page
    assert "finished" in text_of(page.partition("</h1>")[0])
    assert "rocefort rollback plan.json" in text_of(page)


def test_a_failed_rollout_begins_with_the_wave_the_cause_and_what_to_do(
    failed: RolloutStatus,
) -> None:
    text = text_of(page_of(failed))
    why = "Wave canary: bandwidth of k8sgn08 > k8sgn09 is 0 Gb/s of 97 Gb/s."
    assert (
        text.index(why) < text.index("To continue: find the cause") < text.index("canary 1 switch")
    )
    assert "canary leaf08 rolled back" in text
    assert text.count("is 0 Gb/s of 97 Gb/s.") == 1


@pytest.mark.parametrize(
    ("event", "state", "code", "verdict", "command"),
    [
        (None, "interrupted", 3, "interrupted", "rocefort resume plan.json --connections FILE"),
        (
            make_event("", "", "pause", ActPhase.DONE, "by ada"),
            "paused as requested by ada",
            5,
            "paused",
            "rocefort resume plan.json --connections FILE",
        ),
    ],
)
def test_an_unfinished_rollout_shows_how_it_continues(
    raised: Plan, event: Event | None, state: str, code: int, verdict: str, command: str
) -> None:
    run = run_of(raised, *until_trial(raised), *([event] if event else []))
    text = text_of(page_of(replace(status_of(raised, run, state), code=code)))
    assert text.startswith(f"{verdict}: rollout on heps")
    assert command in text


def test_a_wave_that_waits_has_the_command_that_approves_it(raised: Plan) -> None:
    rules = ApplyRules(1, approve=tuple(wave.name for wave in raised.waves))
    canary = [e for e in wave_events(raised, raised.waves[0]) if e.act != "health"]
    waits = make_event("leaves 1 of 7", "", "approve", ActPhase.INTENT, "waits for an approval")
    given = make_event("canary", "", "approve", ActPhase.DONE, "ada", until="2027-01-01T00:00:00")
    run = run_of(raised, begun(rules), given, *canary, waits)
    text = text_of(page_of(status_of(raised, run, "in progress", HOLDER), live=True))
    assert text.startswith("waits for approval")
    assert "rocefort approve plan.json --wave 'leaves 1 of 7'" in text
    assert "approved ada" in text


def test_a_plan_without_a_run_shows_its_waves(raised: Plan) -> None:
    status = status_of(raised, None, "not begun; `rocefort apply` begins it")
    text = text_of(page_of(status))
    assert "rocefort apply plan.json --connections FILE" in text
    assert "leaves 7 waves of 1 switch: 7 waiting" in text


def test_the_spans_of_a_switch_are_in_the_order_of_its_acts(finished: RolloutStatus) -> None:
    stages = timeline_of(finished).stages
    (leaf,) = stages[0].waves[0].rows
    kinds = [span.kind for span in leaf.spans]
    assert kinds == ["check", "load", "trial", "soak", "confirm"]
    (spine,) = stages[2].waves[0].rows
    assert [span.kind for span in spine.spans].count("soak") == 3
    ends = [(span.begin, span.begin + span.width) for span in leaf.spans]
    for (_, end), (begin, _) in pairwise(ends):
        assert end == pytest.approx(begin)


def test_a_long_stage_is_folded_but_for_the_wave_under_way(raised: Plan) -> None:
    leaf = raised.waves[1]
    names = [f"leaf{n:03}" for n in range(1, 120)]
    waves = tuple(
        leaf.model_copy(update={"name": f"leaves {n} of 119", "devices": (name,)})
        for n, name in enumerate(names, 1)
    )
    change = raised.change("leaf01")
    changes = tuple(change.model_copy(update={"device": name}) for name in names)
    plan = raised.model_copy(update={"waves": waves, "changes": changes}).seal()
    events = [event for wave in waves[:30] for event in wave_events(plan, wave)]
    run = run_of(plan, begun(), *events[:-6])
    page = page_of(status_of(plan, run, "in progress", HOLDER), live=True)
    before, folded = page.split("<details", 1)
    assert "leaves 30 of 119" in before
    assert "leaves 29 of 119" not in text_of(before)
    assert "119 waves" in folded
    assert before.count('title="leaf') == 119


def test_details_are_escaped(raised: Plan) -> None:
    wave = raised.waves[0]
    bad = make_event(wave.name, wave.devices[0], "check", ActPhase.FAILED, "<img src=x> & more", 3)
    run = run_of(raised, *until_trial(raised), bad)
    page = page_of(status_of(raised, run, "in progress", HOLDER))
    assert "<img src=x>" not in page
    assert "&lt;img src=x&gt; &amp; more" in page
    data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert "<img src=x> & more" in json.dumps(json.loads(data[1]))


@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_works_in_a_browser(
    browse: Callable[..., dict[str, object]], under_way: RolloutStatus, width: int
) -> None:
    seen = browse(page_of(under_way, live=True), PROBE, width, dark=False)
    assert seen["overflow"] == 0
    assert under_way.run is not None
    assert seen["rows"] == sum(e.event.phase is not ActPhase.INTENT for e in under_way.run.events)
    assert seen["renew"] == "Pause renewal"
    assert seen["age"] == "Written over a minute ago: the controller may be gone."
    assert seen["left"] == "0"


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing(
    violations: Violations,
    under_way: RolloutStatus,
    failed: RolloutStatus,
    width: int,
    dark: bool,
) -> None:
    assert violations(page_of(failed), width, dark=dark, first=OPEN) == []
    assert violations(page_of(under_way, live=True), width, dark=dark, first=OPEN) == []
