"""Live checks of a rollout against a running HEPS: refusal of a wave, and its stop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from rocefort.base.clock import utc_now
from rocefort.base.errors import DeviceFailed, Refused
from rocefort.design.subject import ReadNetwork, subject_of
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.state.state_faults import read_state_fault
from rocefort.fleet.nornir_session import open_fleet
from rocefort.models.finding import Finding, Report, Severity, Where
from rocefort.models.network.network import Network
from rocefort.models.network.observed import Observed
from rocefort.rollout.live.checks import IntendedFabric, LiveChecks, new_errors, with_neighbours
from rocefort.rollout.live.readings import observe

Typing = Callable[..., None]
RAISED = "dcb pfc buffer 4 xon static 550 kbytes xoff static 640 kbytes"


@dataclass
class Time:
    """Seconds that pass only while the checks wait; `then` happens at the first wait."""

    now: float = 0.0
    waits: list[float] = field(default_factory=list)
    then: Callable[[], None] = lambda: None

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.waits.append(seconds)
        if len(self.waits) == 1:
            self.then()


@pytest.fixture
def read(
    lab: Rehearsal, subject: ReadNetwork
) -> Iterator[Callable[[Sequence[str], Sequence[str]], Observed]]:
    with open_fleet(subject.network, lab.connections) as nornir:
        yield lambda names, beside: observe(nornir, subject.network, names, beside=beside)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def checks(read: Callable[[Sequence[str], Sequence[str]], Observed], time: Time) -> LiveChecks:
    return LiveChecks(read, settle_s=3.0, pause_s=1.0, sleep=time.sleep, monotonic=time)


def test_a_wave_is_asked_with_its_neighbours(subject: ReadNetwork) -> None:
    names = with_neighbours(subject.network, ["leaf03", "leaf07"])
    assert names == ("spine01", "spine02", "leaf03", "leaf07")


def test_a_wave_in_a_fabric_that_is_well_goes_on(checks: LiveChecks, subject: ReadNetwork) -> None:
    before = checks(subject.network, ["leaf03"])
    assert (before.refusal(), before.new) == (None, ())
    assert [d.name for d in before.observed.devices] == ["spine01", "spine02", "leaf03"]
    after = checks(subject.network, ["leaf03"], before)
    assert (after.refusal(), after.new, after.old) == (None, (), ())


def test_a_sick_neighbour_refuses_a_wave_unless_it_is_allowed(
    checks: LiveChecks, subject: ReadNetwork, lab: Rehearsal
) -> None:
    lab.model.inject("spine01", read_state_fault("wrong-mtu", "100GE1/1/3=1500"))
    before = checks(subject.network, ["leaf03"])
    refusal = before.refusal()
    assert isinstance(refusal, Refused)
    assert str(refusal) == (
        "spine01 100GE1/1/3: 1 error of the live checks, the first: LIV009 MTU: 1500 bytes, "
        "intended 9000; fix it first (`rocefort health` lists all), or use `--allow-unhealthy`"
    )
    assert before.refusal(allow_sick=True) is None
    after = checks(subject.network, ["leaf03"], before)
    assert (after.refusal(), after.new) == (None, ())
    assert [finding.rule for finding in after.old] == ["LIV009"]


def test_only_a_new_error_stops_a_wave(
    checks: LiveChecks, subject: ReadNetwork, lab: Rehearsal, time: Time
) -> None:
    lab.model.inject("spine01", read_state_fault("wrong-mtu", "100GE1/1/3=1500"))
    before = checks(subject.network, ["leaf03"])
    lab.model.inject("leaf03", read_state_fault("ai-ecn-abnormal", "100GE1/0/25"))
    after = checks(subject.network, ["leaf03"], before)
    stopped = after.refusal(allow_sick=True)  # which is about what was there before
    assert isinstance(stopped, DeviceFailed)
    assert str(stopped) == (
        "leaf03 100GE1/0/25: 1 new error of the live checks, the first: LIV017 queue 4 AI-ECN: its "
        "mode is abnormal (-), intended ai_ecn_hpc; check `display ai-service model`, and PFC of "
        "the queue"
    )
    assert time.waits == [1.0, 1.0, 1.0]  # it was given the time to settle


def test_what_settles_in_time_stops_nothing(
    checks: LiveChecks, subject: ReadNetwork, lab: Rehearsal, time: Time
) -> None:
    before = checks(subject.network, ["leaf03"])
    lab.model.inject("leaf03", read_state_fault("link-down", "100GE1/0/25"))
    time.then = lab.model.faults.clear
    after = checks(subject.network, ["leaf03"], before)
    assert (after.new, time.waits) == ((), [1.0])


def test_a_clock_of_this_machine_that_is_set_blames_no_switch(
    checks: LiveChecks, subject: ReadNetwork, lab: Rehearsal
) -> None:
    """One switch changes; its neighbours prove that its clock was not set."""
    before = checks(subject.network, ["leaf03"])
    for switch in lab.switches.values():
        switch.now = lambda: utc_now() + timedelta(days=1)
    after = checks(subject.network, ["leaf03"], before)
    assert after.refusal() is None
    (finding,) = after.report.findings
    assert re.fullmatch(
        r"this machine's clock: all 3 switches are 8640\d s ahead of it", finding.message
    )


def test_errors_that_rise_during_a_wave_stop_it(
    checks: LiveChecks, subject: ReadNetwork, lab: Rehearsal
) -> None:
    lab.model.inject("leaf03", read_state_fault("input-errors", "100GE1/0/25=7"))
    before = checks(subject.network, ["leaf03"])
    assert before.refusal() is None  # old ones
    lab.model.inject("leaf03", read_state_fault("input-errors", "100GE1/0/25=7"))
    after = checks(subject.network, ["leaf03"], before)
    assert [finding.rule for finding in after.new] == ["LIV010"]


def _report(*findings: tuple[str, str, str], severity: Severity = Severity.ERROR) -> Report:
    return Report(
        network="heps",
        rules=(),
        findings=tuple(
            Finding(rule=rule, severity=severity, where=Where(device=device), message=message)
            for rule, device, message in findings
        ),
    )


def test_the_same_thing_with_other_numbers_is_not_new() -> None:
    baseline = _report(
        ("LIV013", "leaf03", "queue 4: xoff 640 KB"), ("LIV003", "leaf03", "peer A: down")
    )
    now = _report(
        ("LIV013", "leaf03", "queue 4: xoff 700 KB"),  # the same queue
        ("LIV013", "leaf03", "queue 5: xoff 640 KB"),
        ("LIV013", "leaf04", "queue 4: xoff 640 KB"),
        ("LIV003", "leaf03", "peer B: down"),
    )
    new, old = new_errors(now, baseline)
    assert (new, old) == (now.findings[1:], now.findings[:1])
    assert new_errors(baseline, baseline) == ((), baseline.findings)


def test_a_warning_that_becomes_an_error_is_new() -> None:
    drops = ("LIV015", "leaf03", "queue 4 drops: 3 packets")
    assert len(new_errors(_report(drops), _report(drops, severity=Severity.WARNING))[0]) == 1
    assert new_errors(_report(drops, severity=Severity.WARNING), _report()) == ((), ())


@pytest.fixture
def raised(edit_heps: Callable[..., Path]) -> Network:
    """HEPS with another threshold, which no switch runs yet."""
    return subject_of(edit_heps(("xoff_kbytes: 600", "xoff_kbytes: 640")), None).network


def test_a_switch_that_is_not_changed_yet_is_meant_to_run_what_it_ran(
    checks: LiveChecks, subject: ReadNetwork, lab: Rehearsal, raised: Network, typing: Typing
) -> None:
    """A threshold is raised on leaf03: no switch is unhealthy before; only leaf03 has it after."""
    before = checks(IntendedFabric(raised)(subject.texts), ["leaf03"])
    assert before.refusal() is None
    changed = IntendedFabric(raised)(subject.texts, ["leaf03"])
    after = checks(changed, ["leaf03"], before)
    assert {(f.rule, f.where.device) for f in after.new} == {("LIV013", "leaf03")}  # not done yet
    for interface in ("100GE1/0/1", "100GE1/0/2", "100GE1/0/25", "100GE1/0/26"):
        typing(lab.switches["leaf03"], f"interface {interface}", RAISED)
    assert checks(changed, ["leaf03"], before).refusal() is None


def test_a_change_that_did_not_take_is_new_even_where_the_old_value_was_wrong(
    checks: LiveChecks, subject: ReadNetwork, lab: Rehearsal, raised: Network, typing: Typing
) -> None:
    """The baseline is compared with the intent of that time, not with the present one."""
    before = checks(IntendedFabric(raised)(subject.texts), ["leaf03"])
    after = checks(raised, ["leaf03"], before)
    # Of the spines, which stand beside the change, thresholds are not read.
    assert {f.where.device for f in after.new} == {"leaf03"}


def test_a_trial_is_not_saved_and_that_stops_nothing(
    checks: LiveChecks, subject: ReadNetwork, lab: Rehearsal
) -> None:
    before = checks(subject.network, ["leaf03"])
    lab.switches["leaf03"].saved = lab.switches["leaf03"].saved[:-1]
    assert checks(subject.network, ["leaf03"], before).refusal() is None
    assert isinstance(checks(subject.network, ["leaf03"]).refusal(), Refused)
