"""Live errors around a rollout: old ones refuse a wave, new ones roll it back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.state.state_faults import read_state_fault
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import ActPhase, ApplyRules, Event
from rocefort.rollout.journal.run_directory import RunDirectory

PlanOf = Callable[[Path], Plan]
NO_ECN = read_state_fault("ai-ecn-abnormal", "100GE1/0/1")
SAID = "error of the live checks, the first: LIV017 queue 4 AI-ECN: its mode is abnormal"


def test_sick_before_refused_or_allowed_sick_on_trial_taken_back(
    lab: Rehearsal, edit_hall: Callable[..., Path], plan_of: PlanOf, tmp_path: Path
) -> None:
    """One lab for both cases of one rule: the errors before the wave decide."""
    port = "  - name: readout04\n"  # at leaf08, the canary
    plan = plan_of(
        edit_hall(
            (port, f"{port}    description: detector 4\n"),
            ("  trial_s: 600\n", "  trial_s: 600\n  settle_s: 1\n"),
        )
    )
    canary = lab.switches["leaf08"]
    before, events = canary.running, list[Event]()

    lab.model.inject("leaf08", NO_ECN)
    applied = apply_plan(
        plan, lab.connections, RunDirectory.of_journal(tmp_path / "sick"), [events.append]
    )
    assert applied.failure.startswith("wave canary: the live checks before it failed: leaf08 ")
    assert f"1 {SAID}" in applied.failure
    assert applied.failure.endswith(
        "; fix it first (`rocefort health` lists all), or use `--allow-unhealthy`"
    )
    assert (applied.exit_code, applied.confirmed, applied.rolled_back) == (4, (), ())
    assert {event.act for event in events} == {"health"}  # no switch was touched

    lab.model.faults.clear()

    def fills(event: Event) -> None:
        if (event.device, event.act, event.phase) == ("leaf08", "trial", ActPhase.DONE):
            lab.model.inject("leaf08", NO_ECN)

    sick = ApplyRules(max_unavailable=1, allow_sick=True)  # that is of what was there before
    applied = apply_plan(
        plan,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "new"),
        [fills],
        ApplyOptions(rules=sick),
    )
    assert applied.failure.startswith("wave canary: the live checks during it failed: leaf08 ")
    assert f"1 new {SAID}" in applied.failure
    assert (applied.exit_code, applied.rolled_back) == (3, ("leaf08",))
    assert canary.running == canary.saved == before
    assert canary.trial is None

    applied = apply_plan(
        plan,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "old"),
        [],
        ApplyOptions(rules=sick),
    )  # still there
    assert (applied.failure, applied.confirmed) == ("", ("leaf08",))
