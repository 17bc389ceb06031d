"""P15: a live check that hangs: its sessions are closed, and the abort uses others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import DeviceFailed
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.personality import LineFault
from rocefort.fleet.inventory import NEW_SESSION, SESSION
from rocefort.fleet.nornir_session import end_fleet, open_fleet
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.journal.events import ActPhase, Event
from rocefort.rollout.journal.run_directory import RunDirectory

PlanOf = Callable[[Path], Plan]
ONLY_LIVE = "display dcb pfc"  # no other part of a rollout reads that
LEFT_S = 205  # of the trial when its checks begin; 45 are for the confirmation


def test_what_hangs_is_ended_and_the_abort_goes_on_without_it(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, canary = plan_of(described), lab.switches["leaf08"]
    before, clock, began = canary.running, canary.clock, time.monotonic()
    hung: list[threading.Thread] = []

    def spoil(event: Event) -> None:
        if (event.device, event.act, event.phase) == ("leaf08", "check", ActPhase.INTENT):
            canary.clock = lambda: clock() + 600 - LEFT_S
            canary.faults = (LineFault("hang", ONLY_LIVE),)
        if (event.device, event.act, event.phase) == ("leaf08", "abort", ActPhase.INTENT):
            hung.extend(t for t in threading.enumerate() if t.name == "the live check")

    applied = apply_plan(
        plan, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), [spoil]
    )
    assert canary.strikes[LineFault("hang", ONLY_LIVE)] == 1  # it asked once, and never again
    assert applied.failure.startswith("the live check did not end within the ")
    assert (applied.rolled_back, applied.unknown, applied.exit_code) == (("leaf08",), (), 3)
    assert canary.running == canary.saved == before
    assert canary.trial is None
    assert time.monotonic() - began < 40  # the 60 s for which a silent command is waited
    for thread in hung:
        thread.join(5)
        assert not thread.is_alive()


def test_an_ended_fleet_opens_no_session_again(lab: Rehearsal, hall: DerivedNetwork) -> None:
    with open_fleet(hall.network, lab.connections) as fleet:
        host, other = (fleet.inventory.hosts[name] for name in ("leaf07", "leaf08"))
        driver = host.get_connection(SESSION, fleet.config)
        assert driver.is_alive()["is_alive"]
        end_fleet(fleet)
        assert not driver.is_alive()["is_alive"]
        for each, session in ((host, SESSION), (host, NEW_SESSION), (other, SESSION)):
            with pytest.raises(DeviceFailed) as caught:
                each.get_connection(session, fleet.config)
            assert str(caught.value) == (
                f"{each.name}: its sessions were closed after their time limit"
            )
