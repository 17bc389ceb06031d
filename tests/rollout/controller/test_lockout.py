"""P14 to P17: hanging checks, wrong clocks, a lost management path, a stop at every point."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from crash_plans import STATES, Case
from crash_site import lines_of
from crashing import Trials, memory_directory, new_trials
from personalities import STUCK

from rocefort.base.errors import DeviceFailed
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.emulator.switch.personality import Personality
from rocefort.models.hardware.hardware import Family
from rocefort.rollout.controller.durations import result_within
from rocefort.rollout.controller.requests import request_abort, request_pause

SOME = [
    Personality("survives", "present"),
    Personality("dies-with-session", "absent"),
    STUCK,
]
DAY = timedelta(days=1)
RUN_ID = re.compile(r"[-/][0-9a-f]{8}\b")  # two rollouts are two runs


@pytest.fixture(scope="session")
def family(heps: DerivedNetwork) -> Family:
    families = [node.family for node in heps.network.nodes]
    return next(family for family in families if family and family.name == "v300-g1")


# --- P15 ------------------------------------------------------------------------------------------


def test_what_hangs_has_failed_when_its_time_is_up() -> None:
    began = time.monotonic()
    with pytest.raises(DeviceFailed) as failed:
        result_within(0.05, "the RDMA gate", lambda: time.sleep(5))
    assert str(failed.value) == ("the RDMA gate did not end within the 0 s that its trial leaves")
    assert time.monotonic() - began < 4
    with pytest.raises(DeviceFailed) as failed:
        result_within(-3, "the RDMA gate", lambda: pytest.fail("it was begun"))
    assert str(failed.value) == "the RDMA gate did not begin: the trial has no time left for it"
    with pytest.raises(ZeroDivisionError):
        result_within(5, "the RDMA gate", lambda: 1 // 0)
    assert result_within(5, "the RDMA gate", lambda: 7) == result_within(None, "it", lambda: 7) == 7


def test_a_gate_that_hangs_rolls_back(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is the time left on the switch, minus the time of a confirmation: settle, act."""
    limits: list[float | None] = []

    def hangs(seconds: float | None, what: str, _act: Any, _end: Any) -> Any:
        limits.append(seconds)
        raise DeviceFailed(f"{what} did not end within the {seconds:.0f} s that its trial leaves")

    monkeypatch.setattr("rocefort.rollout.controller.controller.result_within", hangs)
    trials = new_trials(
        Case((1,), Personality("survives", "absent"), fails="wave 1"), family, tmp_path / "it"
    )
    applied, _ = trials.life()
    assert limits == [300 - (5 + 15)]  # without a persist id, trials are the shorter ones
    assert (applied.failure, applied.rolled_back) == (
        "the RDMA gate did not end within the 280 s that its trial leaves",
        ("leaf01",),
    )
    trials.judge_end()


@pytest.mark.parametrize("off", [-DAY, DAY])
def test_the_controller_s_clock_may_be_a_day_off_and_jump(
    family: Family, tmp_path: Path, off: timedelta
) -> None:
    """Deadlines come from the time that each switch reports as left of its trial."""
    logs = []
    for name, shift in (("right", timedelta()), ("wrong", off)):
        trials = new_trials(
            Case((1, 1), Personality("survives", "absent")), family, tmp_path / name
        )
        looks = iter(range(10_000))

        def now(shift: timedelta = shift, looks: Iterator[int] = looks) -> datetime:
            return datetime.now(UTC) + shift * (next(looks) % 2)  # it jumps at every look

        applied, _ = trials.life(clock=now)
        assert applied.failure == ""
        trials.judge_end()
        logs.append([(device, RUN_ID.sub("", line)) for device, line in trials.site.log])
    assert logs[0] == logs[1]


# --- P16 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("personality", SOME, ids=str)
@pytest.mark.parametrize("drains", ["", "wave 1"])
def test_who_loses_the_way_to_a_switch_does_not_confirm_and_it_goes_back_alone(
    family: Family, tmp_path: Path, personality: Personality, drains: str
) -> None:
    case = Case((1,), personality, drains=drains)
    trials = new_trials(case, family, tmp_path / "it")
    site = trials.site
    switch = site.switches["leaf01"]
    leg = 1 if drains else 0  # cut on trial while it is drained
    applied, _ = trials.life(cut_at_trial=leg + 1)
    assert "a trial that runs there reverts automatically within 600 s" in applied.failure
    assert applied.unknown == ("leaf01",)
    assert site.log[-1][1].startswith("commit trial")
    site.now += 601
    switch.tick()
    assert (lines_of(switch), switch.trial) == (STATES[leg], None)
    site.cut = False
    applied, _ = trials.life()
    assert applied.failure == ""
    trials.judge_end()


# --- P17 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drains", ["", "wave 2"])
@pytest.mark.parametrize("personality", SOME, ids=str)
@pytest.mark.parametrize("ask", [request_pause, request_abort])
def test_it_may_be_stopped_at_every_row(
    family: Family,
    tmp_path: Path,
    ask: Callable[..., None],
    personality: Personality,
    drains: str,
) -> None:
    """The current act ends or is rolled back, no wave begins after it, and a resume works."""
    case = Case((1, 1), personality, drains=drains)
    with memory_directory(tmp_path) as directory:
        trials = new_trials(case, family, directory / "whole")
        rows = trials.life()[1].rows
        for at in range(1, rows, 7 if drains else 4):  # each pair of cases meets other rows
            first = at + len(personality.trial_mode) % 4
            trials = new_trials(case, family, directory / str(at))
            asks = partial(ask, trials.site.journal, trials.plan, "ann")
            applied, _ = trials.life(at_row=(first, asks))
            judge_whole(trials)
            assert applied.unknown == ()
            if applied.failure:
                applied, _ = trials.life()
            assert applied.failure == "", (at, applied)
            trials.judge_end()


def judge_whole(trials: Trials) -> None:
    """Nothing is left in between: every wave is old or new, and none after an old one is new."""
    states = []
    for wave in trials.plan.waves:
        (device,) = wave.devices
        switch = trials.site.switches[device]
        assert switch.trial is None
        assert switch.saved == switch.running
        states.append(STATES.index(lines_of(switch)))
    assert states in ([0, 0], [3, 0], [3, 3])
