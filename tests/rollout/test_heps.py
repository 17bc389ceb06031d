"""A change applied to switches over SSH: confirmed or rolled back, by the switches' state."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from planned import make_event

from rocefort.base.errors import BadInput, DeviceFailed, Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.vrp.text.config_tree import ConfigLine, parse_tree, tree_text
from rocefort.emulator.emulated_site import BANDWIDTH, BLOCKED, LATENCY, Rehearsal
from rocefort.emulator.switch.personality import LineFault
from rocefort.emulator.switch.switch import EmulatedSwitch, Trial
from rocefort.fleet.running_configs import running_of
from rocefort.models.change.plan import Plan
from rocefort.rdma.plan.gate_pairs import plan_gate
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.journal.events import ActPhase, Event, RolloutOutcome
from rocefort.rollout.journal.lock import one_controller
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.operator import user
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.planning.sealed_files import read_plan, write_plan
from rocefort.rollout.planning.waves import make_waves

Edit = Callable[..., Path]
PlanOf = Callable[[Path], Plan]
ApplyTo = Callable[[Plan], tuple[RolloutOutcome, list[Event]]]
NEW = "xoff static 640"
# What only more than two leaves show.
ON_HEPS = pytest.mark.parametrize("lab", ["heps_shared"], indirect=True)


def new_lines(switch: EmulatedSwitch) -> int:
    return sum(NEW in line.text for top in switch.running for _, line in top.walk())


def running(lab: Rehearsal) -> dict[str, tuple[ConfigLine, ...]]:
    return {name: switch.running for name, switch in lab.switches.items()}


def untouched(lab: Rehearsal, before: dict[str, tuple[ConfigLine, ...]]) -> bool:
    """Whether all switches run their baseline, without a trial or a candidate."""
    quiet = all(
        switch.trial is None and not any(switch.dirty(s) for s in switch.logins)
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
    assert applied.confirmed == ("leaf08", "leaf07", "spine01", "spine02")
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
    lab.replay(BANDWIDTH, BLOCKED[BANDWIDTH])
    applied, events = apply_to(plan)
    assert applied.exit_code == 3
    assert applied.failure.startswith("wave canary: the RDMA gate failed: readout04 -> readout03")
    assert applied.rolled_back == ("leaf08",)
    assert applied.unknown == applied.confirmed == ()
    assert untouched(lab, before)
    assert {event.device for event in events if event.device} == {"leaf08"}


@pytest.mark.parametrize(
    ("tool", "sample"),
    [
        (BANDWIDTH, "26.04/fail.server_sigKILL_midrun.ib_write_bw"),
        (BANDWIDTH, "26.04/fail.no_rdma_device"),
        (LATENCY, "4.5/fail.lat_server_sigKILL_midrun"),
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
    lab: Rehearsal, described: Path, plan_of: PlanOf, apply_to: ApplyTo, tmp_path: Path
) -> None:
    plan = plan_of(described)
    _, events = apply_to(plan)
    rows = sqlite3.connect(tmp_path / "journal").execute(
        "select device, act, phase from event where plan = ? order by id", (plan.digest,)
    )
    assert [wave.devices for wave in plan.waves] == [("leaf08",), ("leaf07",)]
    seen: set[tuple[str, str]] = set()
    written = list(rows)
    assert written == [(e.device, e.act, e.phase.value) for e in events]
    for device, act, phase in written:
        if phase == ActPhase.INTENT:
            seen.add((device, act))
        else:
            assert (device, act) in seen
    assert (tmp_path / "journal").stat().st_mode & 0o077 == 0


def test_applying_a_finished_plan_again_does_nothing(
    lab: Rehearsal, described: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(described)
    apply_to(plan)
    points = {name: len(switch.points) for name, switch in lab.switches.items()}
    applied, events = apply_to(plan)
    assert applied.already == ("leaf08", "leaf07")
    assert events == []
    assert {name: len(switch.points) for name, switch in lab.switches.items()} == points


def test_a_plan_of_what_runs_already_has_no_waves(
    lab: Rehearsal, plan_of: PlanOf, edit_hall: Edit
) -> None:
    plan = plan_of(edit_hall())
    assert plan.waves == ()
    assert all(change.empty for change in plan.changes)


def in_larger_waves(edit_heps: Edit) -> Path:
    return edit_heps(
        ("xoff_kbytes: 600", "xoff_kbytes: 640"), ("max_unavailable: 1", "max_unavailable: 3")
    )


@ON_HEPS
def test_waves_hold_at_most_max_unavailable_switches(
    lab: Rehearsal, plan_of: PlanOf, edit_heps: Edit
) -> None:
    plan = plan_of(in_larger_waves(edit_heps))
    assert [len(wave.devices) for wave in plan.waves] == [1, 2, 2, 2, 1, 1, 1]  # racks


@ON_HEPS
@pytest.mark.thorough
def test_ten_switches_are_confirmed_read_back_and_saved(
    lab: Rehearsal, plan_of: PlanOf, apply_to: ApplyTo, edit_heps: Edit
) -> None:
    applied, events = apply_to(plan_of(in_larger_waves(edit_heps)))
    assert (applied.failure, len(applied.confirmed)) == ("", 10)
    unconfirmed, most = set[str](), 0
    for event in events:
        if (event.act, event.phase) == ("trial", ActPhase.DONE):
            unconfirmed.add(event.device)
        if (event.act, event.phase) == ("confirm", ActPhase.DONE):
            unconfirmed.remove(event.device)
        most = max(most, len(unconfirmed))
    assert (most, unconfirmed) == (2, set())
    for switch in lab.switches.values():
        assert new_lines(switch) > 0
        assert (switch.saved, switch.trial) == (switch.running, None)


def test_a_refused_line_is_named_and_nothing_is_left_behind(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    before = running(lab)
    plan = plan_of(raised)
    lab.switches["leaf08"].faults = (LineFault("refuse-line", NEW),)
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
    lab.switches["leaf08"].faults = (LineFault("drop-session-on-commit"),)
    applied, _ = apply_to(plan)
    assert "outcome unknown" in applied.failure
    assert applied.rolled_back == ("leaf08",)
    assert untouched(lab, before)


def test_a_change_that_locks_us_out_is_taken_back_by_the_session_that_is_left(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    before = running(lab)
    plan = plan_of(raised)

    def lock_out(event: Event, /) -> None:
        if event.act == "trial" and event.phase is ActPhase.DONE:
            lab.switches[event.device].faults = (LineFault("refuse-login"),)

    applied = apply_plan(
        plan, lab.connections, RunDirectory.of_journal(tmp_path / "journal"), [lock_out]
    )
    assert applied.failure.startswith("leaf08: ")
    assert "no prompt after the login" in applied.failure
    assert applied.rolled_back == ("leaf08",)
    assert untouched(lab, before)


def test_a_later_wave_that_fails_leaves_the_earlier_ones_confirmed(
    lab: Rehearsal, described: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(described)
    assert [wave.devices for wave in plan.waves] == [("leaf08",), ("leaf07",)]
    before = lab.switches["leaf07"].running
    lab.switches["leaf07"].faults = (LineFault("refuse-line", "description detector 3"),)
    applied, _ = apply_to(plan)
    assert (applied.confirmed, applied.rolled_back) == (("leaf08",), ("leaf07",))
    assert "description detector 4" in tree_text(lab.switches["leaf08"].running)
    assert lab.switches["leaf07"].running == before


@pytest.mark.thorough
def test_a_last_spine_that_fails_leaves_all_before_it_confirmed(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(raised)
    lab.switches["spine02"].faults = (LineFault("refuse-line", NEW),)
    applied, _ = apply_to(plan)
    assert applied.confirmed == ("leaf08", "leaf07", "spine01")
    assert applied.rolled_back == ("spine02",)
    assert new_lines(lab.switches["spine02"]) == 0
    assert new_lines(lab.switches["spine01"]) == 2


def test_lines_that_nobody_owns_stay(
    lab: Rehearsal, described: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    foreign = parse_tree("acl number 4000\n rule 5 permit\n")
    leaf = lab.switches["leaf08"]
    leaf.running = leaf.saved = (*leaf.running, *foreign)
    plan = plan_of(described)
    assert plan.change("leaf08").kept == (
        "acl number 4000",
        "acl number 4000 / rule 5 permit",
    )
    applied, _ = apply_to(plan)
    assert "leaf08" in applied.confirmed
    assert foreign[0].text in {line.text for line in leaf.running}


def test_running_that_changed_since_the_plan_is_refused(
    lab: Rehearsal, raised: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(raised)
    leaf = lab.switches["leaf07"]
    leaf.running = (*leaf.running, *parse_tree("ntp unicast-server 10.255.0.9\n"))
    before = running(lab)
    applied, events = apply_to(plan)
    assert applied.exit_code == 4
    assert applied.failure == (
        "leaf07: its running configuration is not the one that the plan was made against; plan again"
    )
    assert events == []
    assert running(lab) == before


def test_a_wrong_switch_behind_an_address_is_refused(
    lab: Rehearsal, raised: Path, plan_of: PlanOf
) -> None:
    leaf = lab.switches["leaf07"]
    leaf.running = tuple(
        ConfigLine("sysname other") if line.text == "sysname leaf07" else line
        for line in leaf.running
    )
    with pytest.raises(Refused) as caught:
        plan_of(raised)
    assert str(caught.value) == (
        "leaf07: the switch reports the name 'other'; check its management address; nothing was changed"
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
    lab: Rehearsal, plan_of: PlanOf, edit_hall: Edit
) -> None:
    fabric = edit_hall(("xon_kbytes: 550", "xon_kbytes: 595"))
    with pytest.raises(Refused, match="findings of severity error, the first: "):
        plan_of(fabric)


def test_a_plan_of_another_test_is_the_one_that_would_be_made(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    """So tests may share it: see the fixture."""
    other = tmp_path / "other.yaml"
    other.write_bytes(described.read_bytes())
    assert plan_of(other).source == str(other)
    anew = make_plan(described, lab.connections, running_of(described, lab.connections, None))
    assert plan_of(described) == anew


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
    gone = lab.connections.devices[2]
    devices = [
        access.model_copy(update={"port": 1}) if access == gone else access
        for access in lab.connections.devices
    ]
    access = lab.connections.model_copy(update={"devices": tuple(devices)})
    with pytest.raises(DeviceFailed) as caught:
        running_of(raised, access, None)
    assert caught.value.exit_code == 3
    assert str(caught.value) == (
        f"{gone.name}: 127.0.0.1:1: no connection: it refuses connections; check the port, and that "
        "its SSH server runs (`stelnet server enable`)"
    )


# --- what happens while a wave is under way -------------------------------------------------------


def at(act: str, phase: ActPhase, do: Callable[[], object]) -> Callable[[Event], None]:
    """Listener that acts once, at one moment."""

    def listener(event: Event) -> None:
        if (event.act, event.phase) == (act, phase):
            do()

    return listener


def test_a_trial_that_someone_else_begins_meanwhile_is_left_alone(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    leaf = lab.switches["leaf08"]
    before = leaf.running
    theirs = (*before, *parse_tree("ntp unicast-server 10.255.0.9\n"))

    def begin() -> None:
        session = leaf.open_session("someone")
        leaf.trial = Trial(before, leaf.clock() + 600, session)
        leaf.running = theirs

    listener = at("load", ActPhase.DONE, begin)
    applied = apply_plan(
        plan_of(described),
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [listener],
    )
    assert applied.failure.startswith("leaf08: a trial is pending that this rollout did not start")
    assert applied.unknown == ("leaf08",)  # it runs neither what was planned nor what ran before
    assert leaf.trial is not None
    assert leaf.running == theirs


@ON_HEPS
@pytest.mark.parametrize("meddle", ["expires", "changed"])
def test_one_of_a_wave_that_cannot_be_confirmed_goes_back_and_the_others_stay(
    lab: Rehearsal, plan_of: PlanOf, edit_heps: Edit, tmp_path: Path, meddle: str
) -> None:
    fabric = edit_heps(
        *(
            (f"  - name: readout0{n}\n", f"  - name: readout0{n}\n    description: x\n")
            for n in (2, 3)
        ),
        ("max_unavailable: 1", "max_unavailable: 2"),
        ("canary: leaf08", "canary: leaf06"),
        ("  - name: readout04\n", "  - name: readout04\n    description: x\n"),
    )
    plan = plan_of(fabric)
    assert [wave.devices for wave in plan.waves] == [("leaf06",), ("leaf07", "leaf08")]
    leaf = lab.switches["leaf08"]
    before = leaf.running

    def end() -> None:
        if leaf.trial is None:
            return
        if meddle == "expires":
            leaf.trial = replace(leaf.trial, deadline=leaf.clock())
        else:
            leaf.running = (*leaf.running, *parse_tree("ntp unicast-server 10.255.0.9\n"))

    applied = apply_plan(
        plan,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [at("gate", ActPhase.DONE, end)],
    )
    assert applied.confirmed == ("leaf06", "leaf07")
    assert (applied.rolled_back, applied.unknown) == (("leaf08",), ())
    assert applied.failure == (
        "leaf08: after the trial commit, the switch does not run what was planned"
    )
    assert (leaf.running, leaf.trial) == (before, None)
    assert lab.switches["leaf07"].saved == lab.switches["leaf07"].running


def test_what_was_confirmed_and_not_saved_is_saved_by_the_next_run(
    lab: Rehearsal, described: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    leaf = lab.switches["leaf08"]
    before = leaf.saved
    plan = plan_of(described)
    apply_to(plan)
    leaf.saved = before  # the controller died between the confirmation and the save
    applied, events = apply_to(plan)
    assert applied.already == ("leaf08", "leaf07")
    assert [(e.device, e.act, e.phase.value) for e in events] == [
        ("leaf08", "save", "intent"), ("leaf08", "save", "done"),
    ]  # fmt: skip
    assert leaf.saved == leaf.running


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_rolls_the_wave_back_and_the_handlers_are_as_before(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path, number: signal.Signals
) -> None:
    before, handler = running(lab), signal.getsignal(number)
    listener = at("trial", ActPhase.DONE, lambda: os.kill(os.getpid(), number))
    applied = apply_plan(
        plan_of(described),
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [listener],
    )
    assert applied.failure == "wave canary: interrupted; apply the plan again to continue"
    assert (applied.rolled_back, applied.exit_code) == (("leaf08",), 5)
    assert untouched(lab, before)
    assert signal.getsignal(number) == handler


def test_a_second_controller_of_the_same_switches_is_refused_whatever_its_plan(
    lab: Rehearsal, described: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(described)
    addresses = [f"{access.host}:{access.port}" for access in lab.connections.devices]
    with one_controller(addresses), pytest.raises(Refused) as caught:
        apply_to(plan)
    assert f"another controller (process {os.getpid()} of {user()} on " in str(caught.value)
    assert str(caught.value).endswith(" UTC) applies a plan; wait for it to end")
    with one_controller(["192.0.2.1:22"]):  # of another site
        assert len(apply_to(plan)[0].confirmed) == 2


# --- plans ----------------------------------------------------------------------------------------


def test_a_plan_is_applied_from_any_directory(
    lab: Rehearsal,
    described: Path,
    apply_to: ApplyTo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(described.parent)
    here = Path(described.name)
    plan = make_plan(here, lab.connections, running_of(here, lab.connections, None))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(apply_to(plan)[0].confirmed) == 2


def test_a_leaf_without_roce_servers_is_rolled_out_and_said_not_to_be_measured(
    lab: Rehearsal, edit_hall: Edit, tmp_path: Path
) -> None:
    fabric = edit_hall(("  - name: readout04\n", "  - name: readout04\n    roce: false\n"))
    access = lab.connections
    plan = make_plan(fabric, access, running_of(fabric, access, None))
    (wave,) = plan.waves
    assert (wave.gate.pairs, wave.gate.unmeasured) == ((), ("leaf08 has no RoCE server",))
    events: list[Event] = []
    applied = apply_plan(
        plan, access, RunDirectory.of_journal(tmp_path / "journal"), [events.append]
    )
    assert applied.confirmed == ("leaf08",)
    assert (
        make_event("canary", "", "gate", ActPhase.DONE, "not measured: leaf08 has no RoCE server")
        in events
    )


def test_a_leaf_whose_servers_cannot_be_logged_in_to_is_not_planned(
    lab: Rehearsal, described: Path
) -> None:
    servers = tuple(s for s in lab.connections.servers if s.name != "readout04")
    access = lab.connections.model_copy(update={"servers": servers})
    with pytest.raises(Refused) as caught:
        make_plan(described, access, running_of(described, access, None))
    assert str(caught.value) == (
        "leaf08: its RoCE servers, or all on other leaves, cannot be logged in to;"
        " add readout04, and one on another leaf, to the connections' servers"
    )


@pytest.mark.parametrize(
    ("changed", "waves"),
    [
        (["leaf01", "leaf02", "leaf08"], [("leaf08",), ("leaf01", "leaf02")]),
        (["leaf01", "leaf02", "leaf03"], [("leaf01",), ("leaf02", "leaf03")]),
        (["spine01", "spine02"], [("spine01",), ("spine02",)]),
        ([], []),
    ],
)
def test_one_leaf_goes_first_also_where_the_canary_does_not_change(
    heps: DerivedNetwork, changed: list[str], waves: list[tuple[str, ...]]
) -> None:
    gate = plan_gate(heps.network, heps.fabric.rdma)
    made = make_waves(heps.network, changed, "leaf08", 3, lambda *_: gate)
    assert [wave.devices for wave in made] == waves


def test_a_plan_is_for_its_owner_alone_and_of_this_format(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    path.touch(mode=0o644)
    write_plan(plan_of(described), path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text(path.read_text().replace('"format": 5', '"format": 6'))
    with pytest.raises(Refused, match="is not a plan of this version; plan again"):
        read_plan(path)
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        read_plan(tmp_path)
