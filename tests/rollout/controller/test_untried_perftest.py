"""A perftest that is newer than all tried versions is named before the first wave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.emulator.emulated_site import Rehearsal
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply import apply
from rocefort.rollout.journal.events import Event, RolloutOutcome

ApplyTo = Callable[[Plan], tuple[RolloutOutcome, list[Event]]]


@pytest.mark.parametrize(("version", "notes"), [("7.01", 1), ("6.06", 0)])
def test_a_newer_perftest_is_named_before_the_canary(
    lab: Rehearsal,
    plan_of: Callable[[Path], Plan],
    described: Path,
    apply_to: ApplyTo,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    notes: int,
) -> None:
    monkeypatch.setattr(apply, "refuse_forged", lambda *_, **__: None)  # one wave of the plan
    whole = plan_of(described)
    plan = whole.model_copy(update={"waves": whole.waves[:1]}).seal()
    pair = plan.waves[0].gate.pairs[0]
    monkeypatch.setattr(lab.hosts, "versions", {pair.client: version, pair.server: version})
    outcome, events = apply_to(plan)
    assert outcome.exit_code == 0
    found = [event for event in events if event.act == "note"]
    assert len(found) == notes
    if notes:
        assert events[0] is found[0]
        assert found[0].detail.startswith("perftest 7.01 on ")
        assert pair.client in found[0].detail
        assert pair.server in found[0].detail
