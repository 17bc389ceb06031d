"""The gate of a wave leaves the record of an RDMA run; no record changes a verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.emulator.emulated_site import BANDWIDTH, BLOCKED, Rehearsal
from rocefort.models.change.plan import Plan
from rocefort.rdma import gate_record
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.rdma_plan import Suite
from rocefort.rdma.recorder import RunRecorder
from rocefort.rdma.results import MeasurementVerdict, RdmaResult
from rocefort.rdma.run_record import RunRecord
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import Event, RolloutOutcome
from rocefort.rollout.journal.run_directory import RunDirectory

ApplyTo = Callable[[Plan], tuple[RolloutOutcome, list[Event]]]
PlanOf = Callable[[Path], Plan]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return RunDirectory.of_journal(tmp_path / "journal").records


def runs(file: Path) -> list[RdmaResult]:
    """Return all stored runs, the oldest first."""
    with open_history(file) as past:
        return [past.load(line.id) for line in reversed(past.runs())]


def record_of(result: RdmaResult) -> RunRecord:
    assert result.record is not None
    return result.record


def gate_words(events: list[Event]) -> list[str]:
    return [e.detail for e in events if e.act == "gate" and e.detail]


def test_each_gate_leaves_what_ran_what_was_in_force_and_the_counters(
    described: Path,
    plan_of: PlanOf,
    apply_to: ApplyTo,
    records: Path,
    command: Callable[..., Any],
) -> None:
    plan = plan_of(described)
    applied, events = apply_to(plan)
    assert (applied.failure, len(applied.confirmed)) == ("", 2)
    stored = runs(records)
    assert records.stat().st_mode & 0o777 == 0o600
    assert [record_of(run).wave for run in stored] == [wave.name for wave in plan.waves]
    for run, wave, words in zip(stored, plan.waves, gate_words(events), strict=True):
        record = record_of(run)
        assert (record.plan, record.emulated, run.plan.suite) == (plan.digest, True, Suite.GATE)
        assert record.fabric.digest and record.fabric.source.endswith("fabric.yaml")
        assert (run.passed, run.judged[0].sentence) == (True, words)
        assert {host.name for host in run.plan.hosts} == set(wave.gate.servers)
        bandwidth, latency = run.measurements
        assert bandwidth.figures and bandwidth.figures.gbps and bandwidth.run.reach_gbps == 25
        assert latency.figures and latency.figures.latency_us and latency.run.iterations
        assert bandwidth.verdict is MeasurementVerdict.NOT_JUDGED
        assert {each.device for each in record.switches} == {"leaf07", "leaf08"}
        for each in record.switches:
            assert [setting.mode for setting in each.ecn] == ["dynamic"]
            assert [setting.queues for setting in each.pfc] == [(4,)]
        for reading in (record.before, record.after):
            for seen in reading.switches:
                assert (seen.failed, bool(seen.queues), bool(seen.pfc_counters)) == ((), True, True)
        assert run.began < record.after.at
    with open_history(records) as past:
        assert len(past.outputs(stored[0].id)) == 4
    shown = command("rdma", "show", "last", "--record", "--history", records)
    assert f"gate of wave {plan.waves[-1].name}" in shown.words


def test_a_failed_gate_leaves_one_too(
    lab: Rehearsal, described: Path, plan_of: PlanOf, apply_to: ApplyTo, records: Path
) -> None:
    lab.replay(BANDWIDTH, BLOCKED[BANDWIDTH])
    applied, _ = apply_to(plan_of(described))
    assert applied.rolled_back == ("leaf08",)
    (run,) = runs(records)
    assert (run.passed, run.complete) == (False, False)
    assert run.measurements[0].outcome == "zero-iterations"


def test_a_gate_whose_record_cannot_be_written_still_judges(
    described: Path, plan_of: PlanOf, apply_to: ApplyTo, records: Path
) -> None:
    records.write_text("no database\n")
    applied, events = apply_to(plan_of(described))
    assert (applied.failure, len(applied.confirmed)) == ("", 2)
    note = f"; its record is not stored: {records}: is no history of RDMA runs"
    assert [text.endswith(note) for text in gate_words(events)] == [True, True]
    assert records.read_text() == "no database\n"


def stuck(*_: object) -> RunRecord:
    raise RuntimeError("a defect of the reader")


@pytest.mark.parametrize("part", ["begin", "end"])
def test_what_cannot_be_read_is_in_the_record_and_changes_no_verdict(
    described: Path,
    plan_of: PlanOf,
    apply_to: ApplyTo,
    records: Path,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
) -> None:
    monkeypatch.setattr(RunRecorder, part, stuck)
    applied, events = apply_to(plan_of(described))
    assert (applied.failure, len(applied.confirmed)) == ("", 2)
    assert not any("record" in text for text in gate_words(events))
    what = {"begin": "switches and servers: ", "end": "counters after the gate: "}[part]
    for run in runs(records):
        assert (
            f"{what}an internal error: RuntimeError: a defect of the reader"
            in (record_of(run).unread[-1])
        )
        assert run.passed and not record_of(run).after.switches


def test_a_trial_without_time_to_read_is_not_read(
    described: Path,
    plan_of: PlanOf,
    apply_to: ApplyTo,
    records: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gate_record, "SPARE_S", 1e6)
    applied, _ = apply_to(plan_of(described))
    assert (applied.failure, len(applied.confirmed)) == ("", 2)
    why = ("switches and servers: its trial leaves no time for it",)
    assert [record_of(run).unread for run in runs(records)] == [why, why]


def test_a_rollout_without_pairs_leaves_no_file(
    lab: Rehearsal, described: Path, plan_of: PlanOf, records: Path, tmp_path: Path
) -> None:
    plan = plan_of(described)
    empty = {"pairs": (), "unmeasured": ("leaf08 has no server",)}
    waves = tuple(
        wave.model_copy(update={"gate": wave.gate.model_copy(update=empty)}) for wave in plan.waves
    )
    bare = plan.model_copy(update={"waves": waves}).seal()
    run = RunDirectory.of_journal(tmp_path / "journal")
    applied = apply_plan(bare, lab.connections, run, [], ApplyOptions(derives=False))
    assert (applied.failure, len(applied.confirmed)) == ("", 2)
    assert not records.exists()
