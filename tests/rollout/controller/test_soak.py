"""No trial is confirmed before delayed faults of its change had time to show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocefort.base.errors import Refused
from rocefort.change.effects.switch_configs import ADVERTISE_S, LACP_S, MARGIN_S, soak_of
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.fleet.running_configs import running_of
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Plan, Soak
from rocefort.models.device.routing import HOLD_S
from rocefort.rdma.plan.gate_pairs import gate_s
from rocefort.reports.writers.terminal import text_of
from rocefort.rollout.apply import apply
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.apply.operate import status_of_plan
from rocefort.rollout.controller import requests
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import Act, ActPhase, ApplyRules, Event, RolloutOutcome
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan import make_plan as rollout_plan
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.report.plan_report import plan_report

EditHeps = Callable[..., Path]
PlanOf = Callable[[Path], Plan]
ApplyTo = Callable[[Plan], tuple[RolloutOutcome, list[Event]]]

HOLD = 30  # of HEPS
PAIR = (
    "\nsecurity:",
    "\nlinks:\n  - spine: spine01\n    leaf: leaf08\n"
    "    authentication: {password: 'env:BGP_PASSWORD_OF_A_TEST'}\n\nsecurity:",
)


@pytest.fixture(autouse=True)
def _one_wave_may_be_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans here are a part of what is derived again: tests/rollout/planning/test_forged_plans.py shows their refusal."""
    monkeypatch.setattr(apply, "refuse_forged", lambda *_, **__: None)


def only(plan: Plan, wave: str) -> Plan:
    """One wave of a plan."""
    waves = tuple(each for each in plan.waves if each.name == wave)
    return plan.model_copy(update={"waves": waves}).seal()


def unguarded(lab: Rehearsal, fabric: Path) -> Plan:
    """Plan that no other test shares."""
    return make_plan(fabric, lab.connections, running_of(fabric, lab.connections, None))


@pytest.fixture
def one_sided(lab: Rehearsal, edit_hall: EditHeps, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan that gives leaf08 a password that its spine lacks, with the refusal bypassed."""
    monkeypatch.setenv("BGP_PASSWORD_OF_A_TEST", "s3cret")
    monkeypatch.setattr(rollout_plan, "refuse_two_sided", lambda *_: None)
    return only(unguarded(lab, edit_hall(PAIR)), "canary")


def test_a_password_at_one_end_is_never_confirmed(
    lab: Rehearsal, one_sided: Plan, tmp_path: Path
) -> None:
    """The session stays up until its hold time is over: only a wait reveals its end.

    What `status` shows of its trial behind the soak is what the switch shows, in the lab's seconds.
    """
    canary, journal = lab.switches["leaf08"], tmp_path / "journal"
    before, events, seconds_left = canary.running, list[Event](), list[tuple[int, int | None]]()

    def look(event: Event) -> None:
        if (event.act, event.phase) == (Act.SOAK, ActPhase.DONE):
            standing = status_of_plan(one_sided, journal)
            shown = standing.progress.left_s("leaf08", standing.now.timestamp())
            seconds_left.append((canary.trial_left(), shown))

    applied = apply_plan(
        one_sided, lab.connections, RunDirectory.of_journal(journal), [events.append, look]
    )
    ((own, shown),) = seconds_left
    assert shown is not None and abs(own - shown) < HOLD / 2 < one_sided.trial_s - own
    assert "leaf08: BGP sessions did not come back: 10.1.0.112" in applied.failure
    assert (applied.exit_code, applied.confirmed, applied.rolled_back) == (3, (), ("leaf08",))
    assert canary.running == canary.saved == before
    soaks = [event for event in events if event.act == Act.SOAK]
    assert [event.phase for event in soaks] == [ActPhase.INTENT, ActPhase.DONE]
    assert soaks[0].detail == ("35 s: BGP's hold time of peer 10.1.0.112 (30 s), and 5 s more")


def test_the_seconds_are_those_of_the_switch_whatever_this_machine_takes_them_for(
    lab: Rehearsal, one_sided: Plan, tmp_path: Path
) -> None:
    """A connections file with a wrong, faster time scale shortens no soak."""
    scale = 3 * lab.connections.time_scale
    faster = lab.connections.model_copy(update={"time_scale": scale})
    applied = apply_plan(one_sided, faster, RunDirectory.of_journal(tmp_path / "journal"), [])
    assert "leaf08: BGP sessions did not come back: 10.1.0.112" in applied.failure


def test_what_changes_at_both_ends_in_two_waves_is_refused(
    edit_hall: EditHeps, plan_of: PlanOf
) -> None:
    with pytest.raises(Refused) as caught:
        plan_of(edit_hall(PAIR))
    assert str(caught.value) == (
        "leaf08: its BGP session with spine01 ends within the hold time of 30 s after its "
        "change, because spine01 changes in a later wave: the authentication differs meanwhile; close the "
        "session first (drain the spine, `peer .. ignore`), then plan, apply with `--allow-unhealthy` and "
        "open it: `rocefort review` lists the steps"
    )


def test_a_session_that_is_closed_on_purpose_gets_its_password_at_both_ends(
    lab: Rehearsal,
    edit_hall: EditHeps,
    plan_of: PlanOf,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No traffic depends on it, so it may take two waves; then a user opens it again."""
    monkeypatch.setenv("BGP_PASSWORD_OF_A_TEST", "s3cret")
    spine = lab.switches["spine01"]
    spine.running = spine.saved = closed(spine.running)
    assert session(lab) == "Idle"
    plan, sick = plan_of(edit_hall(PAIR)), ApplyRules(1, allow_sick=True)
    applied = apply_plan(
        plan,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [],
        ApplyOptions(rules=sick),
    )
    assert (applied.failure, applied.confirmed) == ("", ("leaf08", "spine01"))
    assert session(lab) == "Idle"
    spine.running = opened(spine.running)
    assert session(lab) == "Established"


LEAF08 = "10.1.0.113"


def closed(running: Lines, peer: str = LEAF08) -> Lines:
    """Running text of spine01, with a session closed by a line that Rocefort does not own."""
    return tuple(
        ConfigLine(line.text, 0, (*line.children, ConfigLine(f"peer {peer} ignore")))
        if line.text == "bgp 65000"
        else line
        for line in running
    )


def opened(running: Lines) -> Lines:
    """The same without that line."""
    return tuple(
        ConfigLine(line.text, 0, tuple(c for c in line.children if not c.text.endswith(" ignore")))
        for line in running
    )


def session(lab: Rehearsal) -> str:
    """State of the session of leaf08 with spine01, as the leaf has it."""
    peers = lab.model.peers("leaf08")
    return next(peer.state for peer in peers if str(peer.address) == "10.1.0.112")


def test_one_password_of_the_whole_fabric_is_refused_with_the_number_of_its_sessions(
    edit_hall: EditHeps, plan_of: PlanOf
) -> None:
    whole = ("  hold_s: 30\n", "  hold_s: 30\n  authentication: {password: 'env:BGP_PASSWORD'}\n")
    with pytest.raises(Refused) as caught:
        plan_of(edit_hall(whole))
    assert "the authentication differs meanwhile (4 sessions in all); " in str(caught.value)


def test_addresses_of_links_that_move_are_refused_too(edit_hall: EditHeps, plan_of: PlanOf) -> None:
    with pytest.raises(Refused) as caught:
        plan_of(edit_hall(("  links: 10.1.0.0/22", "  links: 10.2.0.0/22")))
    assert "leaf07: its BGP session with spine01 ends" in str(caught.value)
    assert "an address or an AS number differs meanwhile" in str(caught.value)


def test_the_plan_shows_it_and_all_checks_are_made_again_behind_it(
    edit_hall: EditHeps, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = only(plan_of(edit_hall(("xoff_kbytes: 600", "xoff_kbytes: 640"))), "canary")
    sentence = "soaks on trial: leaf08 6 s, a PFC deadlock is found and ended (1 s), and 5 s more"
    assert sentence in " ".join(text_of(*plan_report(plan), width=80).split())
    applied, events = apply_to(plan)
    assert applied.confirmed == ("leaf08",)
    done = [str(event.act) for event in events if event.phase is ActPhase.DONE]
    checks = ["check", "health", "gate"]
    assert done == ["health", "precheck", "load", "trial", *checks, "soak", *checks, "confirm",
                    "save", "health"]  # fmt: skip


@pytest.fixture
def half_soaking(described: Path, plan_of: PlanOf) -> Plan:
    """Plan of one wave of two leaves: leaf08 needs a soak, leaf07 does not."""
    plan = plan_of(described)
    both = plan.waves[0].model_copy(update={"devices": ("leaf07", "leaf08")})
    assert [plan.change(leaf).soak for leaf in both.devices] == [None, None]
    soaks = {"leaf08": Soak(seconds=6, why="a timer")}
    changes = tuple(
        change.model_copy(update={"soak": soaks.get(change.device)}) for change in plan.changes
    )
    return plan.model_copy(update={"waves": (both,), "changes": changes}).seal()


def test_all_switches_of_a_wave_are_checked_again_behind_its_soak(
    lab: Rehearsal, half_soaking: Plan, tmp_path: Path
) -> None:
    events: list[Event] = []
    applied = apply_plan(
        half_soaking,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [events.append],
        ApplyOptions(rules=ApplyRules(2)),
    )
    assert (applied.failure, applied.confirmed) == ("", ("leaf07", "leaf08"))
    for leaf, soak in ("leaf07", "6 s: leaf08: a timer"), ("leaf08", "6 s: a timer"):
        own = [event for event in events if event.device == leaf]
        assert [str(event.act) for event in own if event.phase is ActPhase.DONE] == [
            "precheck", "load", "trial", "check", "soak", "check", "confirm", "save",
        ]  # fmt: skip
        assert [e.detail for e in own if (e.act, e.phase) == (Act.SOAK, ActPhase.INTENT)] == [soak]


def test_what_a_soak_shows_on_a_switch_without_one_takes_the_wave_back(
    lab: Rehearsal, half_soaking: Plan, tmp_path: Path
) -> None:
    spine = lab.switches["spine01"]

    def close(event: Event) -> None:
        if (event.act, event.phase) == (Act.SOAK, ActPhase.INTENT):
            spine.running = closed(spine.running, "10.1.0.97")

    applied = apply_plan(
        half_soaking,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [close],
        ApplyOptions(rules=ApplyRules(2)),
    )
    assert applied.failure == "leaf07: BGP sessions did not come back: 10.1.0.96"
    assert (applied.confirmed, applied.rolled_back) == ((), ("leaf07", "leaf08"))


def test_what_breaks_nothing_later_does_not_soak(
    described: Path, plan_of: PlanOf, apply_to: ApplyTo
) -> None:
    plan = plan_of(described)
    assert [change.soak for change in plan.changes] == [None] * len(plan.changes)
    _, events = apply_to(plan)
    assert Act.SOAK not in {event.act for event in events}


def test_who_goes_on_soaks_again_in_full(
    lab: Rehearsal,
    edit_hall: EditHeps,
    plan_of: PlanOf,
    kill: Callable[..., None],
    tmp_path: Path,
) -> None:
    """The next controller does not count the wait of a dead one."""
    plan = only(plan_of(edit_hall(("xoff_kbytes: 600", "xoff_kbytes: 640"))), "canary")
    journal = tmp_path / "journal"
    kill(plan, journal, "soak", ActPhase.DONE)
    events: list[Event] = []
    applied = apply_plan(
        plan,
        lab.connections,
        RunDirectory.of_journal(journal),
        [events.append],
        ApplyOptions(resume=True),
    )
    assert applied.confirmed == ("leaf08",)
    done = [str(event.act) for event in events if event.phase is ActPhase.DONE]
    assert done.index("soak") < done.index("confirm")


def test_a_wish_to_stop_ends_the_soak(
    one_sided: Plan, lab: Rehearsal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal"

    def listener(event: Event) -> None:
        if (event.act, event.phase) == (Act.SOAK, ActPhase.INTENT):
            requests.request_abort(journal, one_sided, "ada")

    applied = apply_plan(
        one_sided,
        lab.connections,
        RunDirectory.of_journal(journal),
        [listener],
        ApplyOptions(rules=ApplyRules(1)),
    )
    assert applied.failure == "wave canary: aborted as requested by ada"
    assert applied.rolled_back == ("leaf08",)


def test_a_trial_is_as_long_as_the_soak_needs_or_the_plan_is_refused(
    edit_hall: EditHeps, lab: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BGP_PASSWORD_OF_A_TEST", "s3cret")
    monkeypatch.setattr(rollout_plan, "refuse_two_sided", lambda *_: None)

    def plan(hold_s: int) -> Plan:
        timers = ("  hold_s: 30\n", f"  hold_s: {hold_s}\n")
        keepalive = ("keepalive_s: 10", f"keepalive_s: {hold_s // 3}")
        return unguarded(lab, edit_hall(PAIR, timers, keepalive))

    assert plan(180).trial_s == 600
    longer = plan(6000)
    (canary, *_) = longer.waves
    assert longer.soak_s(canary) == 6000 + MARGIN_S
    checks = 2 * 45 + max(gate_s(wave.gate) for wave in longer.waves)
    assert longer.trial_s == 6000 + MARGIN_S + 2 * checks + 45  # all of them twice, and confirm
    with pytest.raises(Refused) as caught:
        plan(65535)
    assert str(caught.value) == (
        "wave canary: no trial can last the required 65781 s: leaf08: BGP's hold time of peer "
        "10.1.0.112 (65535 s), and 5 s more; lower that timer first; a trial lasts 65535 s at most"
    )


@pytest.mark.parametrize(
    ("path", "seconds"),
    [
        ("interfaces[100GE1/0/1].description", None),
        ("interfaces[25GE1/0/1].mtu", None),  # no session is over it
        ("interfaces[100GE1/0/1].mtu", HOLD),
        ("interfaces[100GE1/0/1].enabled", HOLD),
        ("interfaces[100GE1/0/1].thresholds[4].xoff_kbytes", 1),
        ("interfaces[25GE1/0/1].eth_trunk", LACP_S),
        ("bgp.peers[10.1.0.112].password", HOLD),
        ("bgp.groups[SPINE].hold_s", HOLD),
        ("bgp.groups[SPINE].export_policy", ADVERTISE_S),
        ("bgp.networks[10.64.7.0/24]", ADVERTISE_S),
        ("bgp.maximum_paths", None),
        ("interfaces[Vlanif107].addresses[10.64.7.1/24]", None),
        ("ntp_servers[10.0.0.1]", None),
    ],
)
def test_the_time_is_that_of_what_an_edit_may_break(
    heps: DerivedNetwork, path: str, seconds: int | None
) -> None:
    node = heps.network.by_name["leaf08"]
    assert node.family is not None
    soak = soak_of(node.device, node.device, [Edit(path=path, before="a", after="b")], node.family)
    assert (soak and soak.seconds - MARGIN_S) == seconds


def test_a_hold_time_that_nobody_says_is_the_vendors_default(heps: DerivedNetwork) -> None:
    node = heps.network.by_name["leaf08"]
    bgp = node.device.bgp
    assert bgp is not None and node.family is not None
    groups = tuple(g.model_copy(update={"hold_s": None, "keepalive_s": None}) for g in bgp.groups)
    device = node.device.model_copy(update={"bgp": bgp.model_copy(update={"groups": groups})})
    edit = Edit(path="bgp.peers[10.1.0.112].password", after="env:A")
    soak = soak_of(device, device, [edit], node.family)
    assert soak is not None and soak.seconds == HOLD_S + MARGIN_S
