"""Any Nornir program over a fabric: the real plugins, on emulated switches over SSH."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from nornir import InitNornir
from nornir.core import Nornir
from nornir_napalm.plugins.tasks import napalm_get

from rocefort.base.errors import Refused
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.models.change.plan import Plan
from rocefort.rollout.controller.nornir_events import (
    EventProcessor,
    audit_processor,
    journal_processor,
)
from rocefort.rollout.journal.events import ActPhase, Event
from rocefort.rollout.journal.journal import open_journal
from rocefort.rollout.journal.runs import status
from rocefort.rollout.nornir_plugins import FabricInventory
from rocefort.rollout.planning.sealed_files import write_plan
from rocefort.rollout.report.event_lines import JsonLines

PlanOf = Callable[[Path], Plan]


@pytest.fixture
def nornir(lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path) -> Nornir:
    write_plan(plan_of(described), tmp_path / "plan.json")
    options = {
        "fabric": str(described),
        "connections": str(lab.file),
        "plan": str(tmp_path / "plan.json"),
    }
    return InitNornir(
        inventory={"plugin": "FabricInventory", "options": options},
        runner={"plugin": "WaveRunner", "options": {"max_unavailable": 2}},
        logging={"enabled": False},
    )


def names(nornir: Nornir, group: str) -> list[str]:
    return [n for n, host in nornir.inventory.hosts.items() if host.has_parent_group(group)]


def test_a_fabric_is_an_inventory_of_any_nornir_program(nornir: Nornir) -> None:
    assert names(nornir, "spine") == ["spine01", "spine02"]
    assert names(nornir, "wave:canary") == ["leaf08"]
    assert names(nornir, "wave:leaves 1 of 1") == ["leaf07"]
    assert names(nornir, "hardware:CE6866-48S8CQ-P") == ["leaf07", "leaf08"]
    assert "emulated-only" not in json.dumps(nornir.inventory.dict())


def test_tasks_are_events_for_progress_journal_and_audit(
    nornir: Nornir, lab: Rehearsal, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal, lines, heard = tmp_path / "notes", list[str](), list[Event]()
    two = nornir.filter(filter_func=lambda host: "wave" in host.data)
    with open_journal(journal, "0" * 64) as notes, caplog.at_level(logging.INFO, "rocefort.audit"):
        chain = [EventProcessor([JsonLines(lines.append), heard.append])]
        chain += [journal_processor(notes), audit_processor()]
        with two:  # its closing is a task of Nornir, which has no listener here
            results = two.with_processors(list(chain)).run(task=napalm_get, getters=["facts"])
    assert {n: r[0].result["facts"]["hostname"] for n, r in results.items()} == {
        "leaf07": "leaf07",
        "leaf08": "leaf08",
    }
    order = [(e.wave, e.device, e.act, e.phase) for e in heard]
    assert order == [
        ("canary", "leaf08", "task:napalm_get", ActPhase.INTENT),
        ("canary", "leaf08", "task:napalm_get", ActPhase.DONE),
        ("leaves 1 of 1", "leaf07", "task:napalm_get", ActPhase.INTENT),
        ("leaves 1 of 1", "leaf07", "task:napalm_get", ActPhase.DONE),
    ]
    assert [json.loads(line)["device"] for line in lines] == [
        "leaf08",
        "leaf08",
        "leaf07",
        "leaf07",
    ]
    reading = status(journal)
    assert (reading.damage, [entry.event for entry in reading.entries]) == ("", heard)
    audited = [json.loads(record.message) for record in caplog.records]
    assert [(a["host"], a["task"], a["phase"]) for a in audited] == [
        ("leaf08", "napalm_get", "intent"), ("leaf08", "napalm_get", "done"),
        ("leaf07", "napalm_get", "intent"), ("leaf07", "napalm_get", "done"),
    ]  # fmt: skip


def test_a_journal_that_cannot_be_written_keeps_every_task_from_running(nornir: Nornir) -> None:
    def full(_: Event) -> None:
        raise OSError("disk full")

    ran: list[str] = []
    watched = nornir.with_processors([EventProcessor([full])])
    with pytest.raises(OSError, match="disk full"):
        watched.run(task=lambda task: ran.append(task.host.name), name="change")
    assert ran == []


def test_a_plan_of_another_fabric_is_refused(
    lab: Rehearsal, described: Path, plan_of: PlanOf, tmp_path: Path
) -> None:
    other = plan_of(described).model_copy(update={"fabric": "elsewhere"}).seal()
    write_plan(other, tmp_path / "other.json")
    with pytest.raises(Refused) as caught:
        FabricInventory(described, lab.file, tmp_path / "other.json").load()
    assert str(caught.value) == (
        f"{tmp_path}/other.json: plan is for fabric elsewhere, not for heps; "
        "give a plan of this fabric"
    )
