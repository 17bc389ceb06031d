"""Controllers over SSH that die, are paused or get requests, and their remaining files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from planned import make_event

from rocefort.base.errors import BadInput, ExitCode, Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.emulator.emulated_site import BANDWIDTH, BLOCKED, Rehearsal
from rocefort.emulator.switch.personality import Personality
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.change.plan import ChangeKind, Plan
from rocefort.rollout.apply import apply
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.controller.requests import approve, request_abort, request_pause
from rocefort.rollout.journal.events import ActPhase, ApplyRules, Event, RolloutOutcome
from rocefort.rollout.journal.history import history_of
from rocefort.rollout.journal.journal import open_journal
from rocefort.rollout.journal.pending_trials import persist_id
from rocefort.rollout.journal.run_directory import KeptTexts, RunDirectory
from rocefort.rollout.journal.runs import status
from rocefort.rollout.plan.rollback_plan import plan_back

PlanOf = Callable[[Path], Plan]
Kill = Callable[..., None]


def described_lines(switch: EmulatedSwitch) -> int:
    return sum("detector" in str(line) for top in switch.running for line in top.children)


DEATHS = [
    ("load", ActPhase.INTENT),
    ("load", ActPhase.DONE),
    ("trial", ActPhase.INTENT),
    ("trial", ActPhase.DONE),
    ("check", ActPhase.DONE),
    ("confirm", ActPhase.INTENT),
    ("confirm", ActPhase.DONE),
    ("save", ActPhase.INTENT),
]
TAKEN_UP = ("trial", ActPhase.DONE)  # for tests that depend on support of `persist`
# One for each state of the switch: loaded, on trial, confirmation sent, not saved. The tests in
# tests/rollout/crashes/test_crash_points.py cover a death at every row.
QUICK = (DEATHS[1], TAKEN_UP, *DEATHS[5:7])


@pytest.mark.parametrize(
    ("act", "phase", "persist"),
    [
        *((*death, "present") for death in QUICK),
        (*TAKEN_UP, "absent"),
        *(
            pytest.param(*death, persist, marks=pytest.mark.thorough)
            for persist, quick in (("present", QUICK), ("absent", (TAKEN_UP,)))
            for death in DEATHS
            if death not in quick
        ),
    ],
)
def test_over_ssh_the_next_controller_goes_on_where_one_died(
    lab: Rehearsal,
    described: Path,
    plan_of: PlanOf,
    kill: Kill,
    tmp_path: Path,
    act: str,
    phase: ActPhase,
    persist: str,
) -> None:
    for switch in lab.switches.values():
        switch.personality = Personality(
            "survives", "present" if persist == "present" else "absent"
        )
    plan, journal = plan_of(described), tmp_path / "journal"
    kill(plan, journal, act, phase)
    with pytest.raises(Refused) as caught:
        apply_plan(plan, lab.connections, RunDirectory.of_journal(journal), [])
    assert str(caught.value) == (
        f"{journal}: its run of this plan is unfinished; `rocefort resume` continues it"
    )
    events: list[Event] = []
    applied = apply_plan(
        plan,
        lab.connections,
        RunDirectory.of_journal(journal),
        [events.append],
        ApplyOptions(resume=True),
    )
    assert (applied.failure, applied.confirmed) == ("", ("leaf08", "leaf07"))
    for name in ("leaf07", "leaf08"):
        switch = lab.switches[name]
        assert described_lines(switch) == 1
        assert switch.saved == switch.running and switch.trial is None
    done = {(event.device, event.act) for event in events}
    if (act, phase, persist) == ("trial", ActPhase.DONE, "present"):
        assert ("leaf08", "trial") not in done  # it was taken up
        assert make_event("canary", "leaf08", "check", ActPhase.DONE) in events
    if (act, phase, persist) == ("trial", ActPhase.DONE, "absent"):
        assert ("leaf08", "abort") in done and ("leaf08", "trial") in done
    with pytest.raises(Refused, match="its run of this plan is finished; nothing is left to do"):
        apply_plan(
            plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
        )


# --- asked from elsewhere -------------------------------------------------------------------------


def when(act: str, do: Callable[[], object]) -> Callable[[Event], None]:
    """Listener that lets another process send a request during this act of leaf08."""

    def listener(event: Event) -> None:
        if (event.device, event.act, event.phase) == ("leaf08", act, ActPhase.DONE):
            do()

    return listener


def test_a_pause_lets_the_wave_end_and_resume_goes_on(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, journal = plan_of(described), tmp_path / "journal"
    pause = when("load", lambda: request_pause(journal, plan, "ann"))
    applied = apply_plan(plan, lab.connections, RunDirectory.of_journal(journal), [pause])
    assert applied == RolloutOutcome(
        confirmed=("leaf08",),
        failure="paused before wave leaves 1 of 1 as requested by ann; `rocefort resume` continues",
        exit_code=ExitCode.STOPPED,
        unfinished=True,
    )
    applied = apply_plan(
        plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
    )
    assert (applied.failure, applied.confirmed) == ("", ("leaf08", "leaf07"))


def test_an_abort_takes_the_wave_under_way_back(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, journal = plan_of(described), tmp_path / "journal"
    abort = when("trial", lambda: request_abort(journal, plan, "ann"))
    applied = apply_plan(plan, lab.connections, RunDirectory.of_journal(journal), [abort])
    assert (applied.failure, applied.rolled_back) == (
        "wave canary: aborted as requested by ann",
        ("leaf08",),
    )
    assert (applied.exit_code, applied.unfinished) == (ExitCode.STOPPED, False)
    assert described_lines(lab.switches["leaf08"]) == 0
    assert (
        len(apply_plan(plan, lab.connections, RunDirectory.of_journal(journal), []).confirmed) == 2
    )  # asked once


def test_a_wave_waits_for_its_approval_which_is_of_this_plan(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, journal = plan_of(described), tmp_path / "journal"
    rules = ApplyRules(max_unavailable=1, approve=("leaves 1 of 1",))
    applied = apply_plan(
        plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(rules=rules)
    )
    assert applied.confirmed == ("leaf08",)
    assert applied.failure == (
        "wave leaves 1 of 1 waits for its approval; `rocefort approve`, then `rocefort resume`"
    )
    with pytest.raises(Refused) as refused:
        approve(journal, plan, "leaves 1 of 1", "ann", "0" * 64)
    assert str(refused.value) == (
        "leaves 1 of 1: the approval is for another plan; review this plan, then approve it"
    )
    with pytest.raises(BadInput) as bad:
        approve(journal, plan, "leaves", "ann", plan.digest)
    assert str(bad.value) == "the plan has no wave 'leaves'; its waves are canary, leaves 1 of 1"
    approve(journal, plan, "leaves 1 of 1", "ann", plan.digest)
    assert apply_plan(
        plan, lab.connections, RunDirectory.of_journal(journal), [], ApplyOptions(resume=True)
    ).confirmed == ("leaf08", "leaf07")


def test_status_reads_a_running_journal_and_writes_nothing(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, journal = plan_of(described), tmp_path / "journal"
    seen = []

    def look() -> None:
        before = {file: file.read_bytes() for file in tmp_path.glob("journal*") if file.is_file()}
        seen.append(status(journal))
        assert {f: f.read_bytes() for f in tmp_path.glob("journal*") if f.is_file()} == before

    apply_plan(plan, lab.connections, RunDirectory.of_journal(journal), [when("trial", look)])
    (reading,) = seen
    assert reading.damage == ""
    assert reading.history(plan.digest).running
    history = reading.history(plan.digest)
    begun = make_event("canary", "leaf08", "trial", ActPhase.DONE)
    assert reading.entries[-1].event == begun.like(trial_id=persist_id(plan.digest, history.run))
    ended = status(journal)
    assert not ended.history(plan.digest).running
    with open_journal(journal, plan.digest) as opened:
        assert opened.head == ended.head


def test_a_request_is_outside_the_chain_and_taken_once(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, journal = plan_of(described), tmp_path / "journal"
    with pytest.raises(BadInput, match="no such journal; `rocefort apply` creates it"):
        request_pause(journal, plan, "ann")
    with open_journal(journal, plan.digest) as notes:
        head = notes.head
        request_pause(journal, plan, "ann")
        (request,) = notes.requests()
        assert notes.head == head
        notes.append(make_event("", "", "pause", ActPhase.DONE, "ann"), request)
        assert notes.requests() == []
        assert history_of(notes.events()).paused == "ann"
    with sqlite3.connect(journal) as rows:
        assert rows.execute("select id, taken from request").fetchall() == [(1, 1)]
    rows.close()


# --- the way back ---------------------------------------------------------------------------------


def test_what_ran_before_is_kept_as_the_switch_showed_it(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    plan, journal = plan_of(described), tmp_path / "journal"
    apply_plan(plan, lab.connections, RunDirectory.of_journal(journal), [])
    texts = KeptTexts(RunDirectory.of_journal(journal).texts)
    files = sorted(texts.directory.iterdir())
    assert len(files) == 2
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert texts.directory.stat().st_mode & 0o777 == 0o700
    assert {"sysname leaf07", "sysname leaf08"} == {
        line
        for f in files
        for line in texts.read(f.name).splitlines()
        if line.startswith("sysname")
    }
    shown = files[0].read_text(encoding="utf-8")
    files[0].write_text("something else")
    with pytest.raises(BadInput, match="was changed after it was stored"):
        texts.read(files[0].name)
    assert texts.keep(shown) == files[0].name  # a damaged text is stored again
    assert texts.read(files[0].name) == shown
    with pytest.raises(BadInput, match="is not stored, or cannot be read"):
        KeptTexts(tmp_path).read("0" * 64)


def test_a_plan_back_restores_what_ran(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path, hall: DerivedNetwork
) -> None:
    before = {name: switch.running for name, switch in lab.switches.items()}
    plan, journal = plan_of(described), tmp_path / "journal"
    applied = apply_plan(plan, lab.connections, RunDirectory.of_journal(journal), [])
    families = {n.name: n.family for n in hall.network.nodes if n.family}
    back = plan_back(plan, applied.confirmed, families)
    assert back.digest == back.computed_digest() != plan.digest
    assert [(w.name, w.devices) for w in back.waves] == [
        ("back: leaves 1 of 1", ("leaf07",)),
        ("back: canary", ("leaf08",)),
    ]
    assert back.change("leaf08").kind is {
        ChangeKind.ADDITIVE: ChangeKind.REMOVING, ChangeKind.MODIFYING: ChangeKind.MODIFYING, ChangeKind.REMOVING: ChangeKind.ADDITIVE,
    }[plan.change("leaf08").kind]  # fmt: skip
    options = ApplyOptions(derives=False)  # a plan back is not derived
    beside = RunDirectory.of_journal(tmp_path / "back")
    assert apply_plan(back, lab.connections, beside, [], options).confirmed == (
        "leaf07",
        "leaf08",
    )
    assert {name: switch.running for name, switch in lab.switches.items()} == before
    with pytest.raises(Refused, match="nothing of this plan was applied"):
        plan_back(plan, (), families)


def believed(*_: object, **__: object) -> None:
    """Every plan."""


SPINE = "spine 1 of 1"
SICK = ApplyRules(max_unavailable=1, allow_sick=True)  # the leaves do not run what is intended yet
DRAIN_LEGS = ("drain", "change while drained", "end of the drain")


@pytest.fixture
def of_one_spine(raised: Path, plan_of: PlanOf, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """The part of a plan that changes spine01, which is drained for it."""
    monkeypatch.setattr(apply, "refuse_forged", believed)  # it is derived whole
    plan = plan_of(raised)
    wave = next(wave for wave in plan.waves if wave.devices == ("spine01",))
    assert [each.device for each in wave.drained] == ["spine01"]
    only = wave.model_copy(update={"name": SPINE})
    return plan.model_copy(update={"waves": (only,)}).seal()


def described_commits(switch: EmulatedSwitch) -> list[str]:
    return [point.description.partition(", ")[2] for point in switch.points if point.description]


def test_a_spine_is_drained_changed_and_let_back_and_the_plan_back_does_the_same(
    lab: Rehearsal, of_one_spine: Plan, tmp_path: Path, hall: DerivedNetwork
) -> None:
    spine, events = lab.switches["spine01"], list[Event]()
    before = spine.running
    applied = apply_plan(
        of_one_spine,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [events.append],
        ApplyOptions(rules=SICK),
    )
    assert (applied.failure, applied.confirmed) == ("", ("spine01",))
    assert described_commits(spine) == list(DRAIN_LEGS)
    assert spine.saved == spine.running != before
    health = [e.detail.partition(":")[0] for e in events if (e.act, e.phase) == ("health", "done")]
    assert health == ["before", *["during"] * 6, "after"]  # on each leg before it soaks and after
    again = apply_plan(
        of_one_spine,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [],
        ApplyOptions(rules=SICK),
    )  # P21
    assert (again.already, again.confirmed) == (("spine01",), ())
    families = {n.name: n.family for n in hall.network.nodes if n.family}
    back = plan_back(of_one_spine, ["spine01"], families)
    applied = apply_plan(
        back,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "back"),
        [],
        ApplyOptions(rules=SICK),
    )
    assert (applied.failure, applied.confirmed) == ("", ("spine01",))
    assert spine.saved == spine.running == before
    assert described_commits(spine) == [*DRAIN_LEGS, *DRAIN_LEGS]


def test_a_fault_while_a_spine_is_drained_takes_the_change_back_and_lifts_the_drain(
    lab: Rehearsal, of_one_spine: Plan, tmp_path: Path
) -> None:
    """P14: the gate fails when spine01 runs its change; nothing of it stays."""
    spine = lab.switches["spine01"]
    before = spine.running

    def spoil(event: Event) -> None:
        changed = (event.act, event.phase, event.detail) == ("check", ActPhase.DONE, DRAIN_LEGS[1])
        if changed:
            lab.replay(BANDWIDTH, BLOCKED[BANDWIDTH])

    applied = apply_plan(
        of_one_spine,
        lab.connections,
        RunDirectory.of_journal(tmp_path / "journal"),
        [spoil],
        ApplyOptions(rules=SICK),
    )
    assert (applied.rolled_back, applied.unknown, applied.exit_code) == (("spine01",), (), 3)
    assert f"wave {SPINE}: the RDMA gate failed: " in applied.failure
    assert spine.saved == spine.running == before
    assert described_commits(spine) == [*DRAIN_LEGS[:2], "drain undone"]
