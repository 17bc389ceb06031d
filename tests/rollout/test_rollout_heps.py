"""A change carried onto ten switches over SSH: confirmed, or rolled back; judged by the switches."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.dialects.vrp.tree import ConfigLine, parse_tree
from rocefort.errors import DeviceFailed, Refused
from rocefort.lab.switch import EmulatedSwitch, Fault
from rocefort.models.change import Plan
from rocefort.models.rollout import Applied, Event, Phase
from rocefort.rollout.plan import read_plan, write_plan
from rocefort.steps.changing import running_of
from rocefort.steps.rehearsal import BANDWIDTH, LATENCY, Rehearsal

EditHeps = Callable[..., Path]
PlanOf = Callable[[Path], Plan]
ApplyTo = Callable[[Plan], tuple[Applied, list[Event]]]
NEW = "xoff static 640"


def new_lines(switch: EmulatedSwitch) -> int:
    return sum(NEW in line.text for top in switch.running for _, line in top.walk())


def running(lab: Rehearsal) -> dict[str, tuple[ConfigLine, ...]]:
    return {name: switch.running for name, switch in lab.switches.items()}


def untouched(lab: Rehearsal, before: dict[str, tuple[ConfigLine, ...]]) -> bool:
    """Whether no switch runs anything else than before, has a trial or a candidate left."""
    quiet = all(
        switch.trial is None and not any(switch.dirty(s) for s in switch.sessions)
        for switch in lab.switches.values()
    )
    return quiet and running(lab) == before


def test_a_threshold_change_is_confirmed_read_back_and_saved_everywhere(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(raised)
    assert plan.waves[0].name == "canary"
    assert [wave.devices for wave in plan.waves[-2:]] == [("spine01",), ("spine02",)]
    applied, _ = apply_to(plan)
    assert applied.failure == ""
    assert len(applied.confirmed) == 10
    for switch in lab.switches.values():
        ports = len(
            [
                line
                for line in switch.running
                if line.text.startswith(("interface 100GE", "interface 25GE"))
            ]
        )
        assert new_lines(switch) == ports > 0
        assert switch.saved == switch.running
        assert switch.trial is None


def test_a_failing_gate_aborts_the_trial_and_nothing_else_moves(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    before = running(lab)
    plan = plan_of(raised)
    lab.replay(BANDWIDTH, "fail.udp4791_blocked")
    applied, events = apply_to(plan)
    assert applied.exit_code == 3
    assert applied.failure.startswith("wave canary: the RDMA gate failed: readout04 -> readout01")
    assert applied.rolled_back == ("leaf08",)
    assert applied.unknown == applied.confirmed == ()
    assert untouched(lab, before)
    assert {event.device for event in events if event.device} == {"leaf08"}


@pytest.mark.parametrize(
    ("tool", "sample"),
    [
        (BANDWIDTH, "fail.server_sigKILL_midrun"),
        (BANDWIDTH, "fail.no_rdma_device"),
        (LATENCY, "fail.lat_server_sigKILL_midrun"),
    ],
)
def test_every_kind_of_bad_run_fails_the_gate(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo, tool: str, sample: str
) -> None:
    before = running(lab)
    plan = plan_of(raised)
    lab.replay(tool, sample)
    applied, _ = apply_to(plan)
    assert applied.rolled_back == ("leaf08",)
    assert untouched(lab, before)


def test_every_act_is_in_the_journal_before_it_is_done(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo, tmp_path: Path
) -> None:
    plan = plan_of(raised)
    _, events = apply_to(plan)
    rows = sqlite3.connect(tmp_path / "journal").execute(
        "select device, act, phase from event where plan = ? order by id", (plan.digest,)
    )
    seen: set[tuple[str, str]] = set()
    written = list(rows)
    assert written == [(e.device, e.act, e.phase.value) for e in events]
    for device, act, phase in written:
        if phase == Phase.INTENT:
            seen.add((device, act))
        else:
            assert (device, act) in seen
    assert (tmp_path / "journal").stat().st_mode & 0o077 == 0


def test_applying_a_finished_plan_again_does_nothing(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(raised)
    apply_to(plan)
    points = {name: len(switch.points) for name, switch in lab.switches.items()}
    applied, events = apply_to(plan)
    assert len(applied.already) == 10
    assert events == []
    assert {name: len(switch.points) for name, switch in lab.switches.items()} == points


def test_a_plan_of_what_runs_already_has_no_waves(
    lab: Rehearsal, plan_of: PlanOf, heps_file: Path
) -> None:
    plan = plan_of(heps_file)
    assert plan.waves == ()
    assert all(change.empty for change in plan.changes)


def test_waves_hold_at_most_max_unavailable_switches(
    lab: Rehearsal, plan_of: PlanOf, apply_to: ApplyTo, edit_heps: EditHeps
) -> None:
    fabric = edit_heps(
        ("xoff_kbytes: 600", "xoff_kbytes: 640"), ("max_unavailable: 1", "max_unavailable: 3")
    )
    plan = plan_of(fabric)
    assert [len(wave.devices) for wave in plan.waves] == [1, 3, 3, 1, 1, 1]
    applied, _ = apply_to(plan)
    assert len(applied.confirmed) == 10


def test_a_refused_line_is_named_and_nothing_is_left_behind(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    before = running(lab)
    plan = plan_of(raised)
    lab.switches["leaf08"].faults = (Fault("refuse-line", NEW),)
    applied, _ = apply_to(plan)
    assert (
        "leaf08: line 2 'dcb pfc buffer 4 xon static 550 kbytes xoff static 640" in applied.failure
    )
    assert applied.rolled_back == ("leaf08",)
    assert untouched(lab, before)


def test_a_session_lost_on_commit_is_asked_again_and_rolled_back(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    before = running(lab)
    plan = plan_of(raised)
    lab.switches["leaf08"].faults = (Fault("drop-session-on-commit"),)
    applied, _ = apply_to(plan)
    assert "outcome unknown" in applied.failure
    assert applied.rolled_back == ("leaf08",)
    assert untouched(lab, before)


def test_a_later_wave_that_fails_leaves_the_earlier_ones_confirmed(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(raised)
    lab.switches["spine02"].faults = (Fault("refuse-line", NEW),)
    applied, _ = apply_to(plan)
    assert len(applied.confirmed) == 9
    assert applied.rolled_back == ("spine02",)
    assert new_lines(lab.switches["spine02"]) == 0
    assert new_lines(lab.switches["spine01"]) == 8


def test_lines_that_nobody_owns_stay(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    foreign = parse_tree("acl number 2000\n rule 5 permit source 10.255.0.0 0.0.0.255\n")
    leaf = lab.switches["leaf08"]
    leaf.running = (*leaf.running, *foreign)
    plan = plan_of(raised)
    assert plan.change("leaf08").kept == (
        "acl number 2000",
        "acl number 2000 / rule 5 permit source 10.255.0.0 0.0.0.255",
    )
    applied, _ = apply_to(plan)
    assert "leaf08" in applied.confirmed
    assert foreign[0].text in {line.text for line in leaf.running}


def test_running_that_changed_since_the_plan_is_refused(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(raised)
    leaf = lab.switches["leaf03"]
    leaf.running = (*leaf.running, *parse_tree("ntp unicast-server 10.255.0.9\n"))
    before = running(lab)
    applied, events = apply_to(plan)
    assert applied.exit_code == 4
    assert applied.failure == (
        "leaf03: its running configuration is not the one that the plan was made against; plan again"
    )
    assert events == []
    assert running(lab) == before


def test_a_wrong_switch_behind_an_address_is_refused(
    lab: Rehearsal, raised: Path, plan_of: PlanOf
) -> None:
    leaf = lab.switches["leaf03"]
    leaf.running = tuple(
        ConfigLine("sysname other") if line.text == "sysname leaf03" else line
        for line in leaf.running
    )
    with pytest.raises(Refused) as caught:
        plan_of(raised)
    assert str(caught.value) == (
        "leaf03: the switch calls itself 'other'; check its management address; nothing was changed"
    )


def test_a_fabric_that_changed_since_the_plan_is_refused(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(raised)
    raised.write_text(raised.read_text().replace("xoff_kbytes: 640", "xoff_kbytes: 620"))
    with pytest.raises(Refused) as caught:
        apply_to(plan)
    assert str(caught.value) == f"{raised}: the fabric has changed since the plan; plan again"


def test_a_fabric_with_errors_is_not_planned(
    lab: Rehearsal, plan_of: PlanOf, edit_heps: EditHeps
) -> None:
    fabric = edit_heps(("xon_kbytes: 550", "xon_kbytes: 595"))
    with pytest.raises(Refused, match="findings of severity error, the first: "):
        plan_of(fabric)


def test_a_plan_edited_by_one_byte_is_refused(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    plan = plan_of(raised)
    write_plan(plan, path)
    assert read_plan(path) == plan
    text = path.read_text()
    path.write_text(text.replace("static 640", "static 641", 1))
    with pytest.raises(Refused) as caught:
        read_plan(path)
    assert str(caught.value) == f"{path}: was changed after it was sealed; plan again"


def test_an_unreachable_switch_stops_the_plan_in_one_line(lab: Rehearsal, raised: Path) -> None:
    gone = lab.connections.devices[4]
    devices = [
        access.model_copy(update={"port": 1}) if access == gone else access
        for access in lab.connections.devices
    ]
    access = lab.connections.model_copy(update={"devices": tuple(devices)})
    with pytest.raises(DeviceFailed) as caught:
        running_of(raised, access, None)
    assert caught.value.exit_code == 3
    assert len(str(caught.value).splitlines()) == 1
    assert str(caught.value).startswith(f"{gone.name}: ")
    assert "127.0.0.1:1" in str(caught.value)
