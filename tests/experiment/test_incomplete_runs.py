"""Runs of a measured experiment: incomplete and emulated ones, cells left out, and restore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import BadInput, DeviceFailed, Stopped
from rocefort.experiment import conduct, measured, rollouts
from rocefort.experiment.conduct import ExperimentRequest, PreparedExperiment, cells_left_out
from rocefort.experiment.factor import START
from rocefort.experiment.measured import MeasuredRequest, measured_experiment
from rocefort.experiment.model import CellValue, ExperimentPlan, ExperimentRun
from rocefort.experiment.report import experiment_report
from rocefort.experiment.rollouts import LevelRollouts
from rocefort.experiment.store import ExperimentFolder
from rocefort.fleet.connections import Connections
from rocefort.rdma.designed_plan import RdmaRequest, designed_plan, request_of
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.results import Figures, Measurement, MeasurementVerdict, RdmaResult
from rocefort.reports.writers.terminal import text_of
from rocefort.rollout.controller.config import ApplyOptions

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HEPS = Path("heps")
TESTS = request_of("write", ("k8sgn08", "k8sgn12"), "")
PLAN = designed_plan(HEPS, TESTS)
ACCESS = Connections(known_hosts=Path("known_hosts"), devices=())
LOST = "k8sgn08 to k8sgn12: the program ended with 1"


def result_of(run: str, *, complete: bool = True, **facts: Any) -> RdmaResult:
    verdict = MeasurementVerdict.NOT_JUDGED if complete else MeasurementVerdict.NOT_MEASURED
    measurement = Measurement(
        run=PLAN.runs[0],
        outcome="measured" if complete else "failed",
        sentence="" if complete else LOST,
        figures=Figures(gbps=90) if complete else None,
        verdict=verdict,
    )
    return RdmaResult(id=run, plan=PLAN, began=NOW, ended=NOW, measurements=(measurement,), **facts)


Tests = Callable[[RdmaRequest], RdmaResult]


class Bench:
    """Experiment of one repetition whose rollouts only write the journal."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        request = ExperimentRequest(HEPS, "ecn=static,ai", "write", 1, directory=path)
        self.prepared = PreparedExperiment.of(request)
        self.folder = self.prepared.folder
        levels = [self.prepared.level(each, each.name, "") for each in self.prepared.fabrics]
        self.plan: ExperimentPlan = self.prepared.plan(levels, {}, simulated=False)
        self.patch, self.requests = patch, list[RdmaRequest]()
        self.stopped = False
        with self.folder.held():
            self.folder.begin(self.plan, {START: self.prepared.file.text} | self.prepared.texts)
        patch.setattr(LevelRollouts, "check", lambda _rollouts: None)
        patch.setattr(LevelRollouts, "_complete", self._arrive)
        patch.setattr(measured, "stop_everything", lambda *_: ())

    def _arrive(self, number: int, level: str) -> None:
        facts = {"number": number, "level": level, "plan": f"plan of {level}", "switches": 1}
        self.folder.note("arrived", **facts)

    def run(self, tests: Tests) -> None:
        """Carry the missing runs out."""

        def run_tests(
            _fabric: Path, _access: Connections, request: RdmaRequest, history: Path, _talk: object
        ) -> RdmaResult:
            self.requests.append(request)
            result = tests(request)
            with open_history(history, make=True) as past:
                past.keep(result, ())
            return result

        self.patch.setattr(measured, "run_tests", run_tests)
        request = MeasuredRequest(ACCESS, TESTS, ApplyOptions())
        experiment = measured._Experiment(self.folder, self.plan, request, lambda _line: None)
        self.result = experiment.carry_out(lambda: self.stopped, ())

    @property
    def runs(self) -> list[ExperimentRun]:
        return [run for each in self.plan.runs if (run := self.folder.run(each))]

    def rows(self, event: str) -> list[dict[str, Any]]:
        return [row for row in self.folder.journal() if row["event"] == event]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_an_incomplete_run_is_made_again_under_another_id(bench: Bench) -> None:
    bench.run(lambda request: result_of(request.run, complete=len(bench.requests) != 1))
    first, second, third = (request.run for request in bench.requests)
    assert [run.id for run in bench.runs] == [second, third]
    assert [(row["id"], row["why"]) for row in bench.rows("discarded")] == [(first, LOST)]
    text = " ".join(text_of(*experiment_report(bench.result), width=200).split())
    assert f"run 1, {first}: discarded, because {LOST}" in text


def test_a_run_that_is_incomplete_again_ends_the_experiment_with_its_reason(bench: Bench) -> None:
    busy = ("k8sgn12: is busy",)
    with pytest.raises(DeviceFailed) as failed:
        bench.run(lambda request: result_of(request.run, complete=False, unmeasured=busy))
    assert str(failed.value) == (
        "run 1 (static) is incomplete: k8sgn12: is busy (and 1 other reason); remove the cause; "
        "the same command makes it again"
    )
    assert bench.runs == []
    assert bench.rows("arrived")[-1]["level"] == START
    assert (bench.folder.path / "result.json").is_file()
    bench.run(lambda request: result_of(request.run))
    assert [run.run.number for run in bench.runs] == [1, 2]


def test_an_incomplete_run_that_was_stored_before_a_kill_is_discarded(bench: Bench) -> None:
    """Ctrl-C stores the run, and the kill comes before the journal discards it."""
    bench.folder.note("began", run=1, level="static", id="20260101-000000-0000")
    with open_history(bench.folder.path / "rdma.db", make=True) as past:
        past.keep(result_of("20260101-000000-0000", complete=False), ())
    bench.run(lambda request: result_of(request.run))
    assert [row["id"] for row in bench.rows("discarded")] == ["20260101-000000-0000"]
    assert [run.id for run in bench.runs] == [request.run for request in bench.requests]


def test_ctrl_c_writes_the_page_of_the_runs_that_have_ended(bench: Bench) -> None:
    def tests(request: RdmaRequest) -> RdmaResult:
        bench.stopped = len(bench.requests) == 2
        return result_of(request.run, complete=not bench.stopped)

    with pytest.raises(Stopped, match="an operator stopped run 2, which runs again"):
        bench.run(tests)
    page = (bench.folder.path / "index.html").read_text(encoding="utf-8")
    assert "stopped: 1 of 2 runs ended" in page
    assert '"state": "stopped"' in (bench.folder.path / "result.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", [1, 2])
def test_one_emulated_run_closes_the_table(bench: Bench, number: int) -> None:
    """The other run, such as the last one, is of real servers."""

    def tests(request: RdmaRequest) -> RdmaResult:
        note = {"servers": "virtual machines"} if len(bench.requests) == number else {}
        return result_of(request.run, conditions=note)

    bench.run(tests)
    assert [bool(run.not_compared) for run in bench.runs] == [number == 1, number == 2]
    assert bench.result.not_compared.startswith("figures enter no table: virtual machines.")
    assert bench.result.comparisons == ()


def test_figures_of_real_servers_enter_the_table(bench: Bench) -> None:
    bench.run(lambda request: result_of(request.run))
    assert bench.result.not_compared == ""
    assert [len(each.cells) for each in bench.result.comparisons] == [1]


def test_the_record_of_a_run_names_the_plan_of_its_level(bench: Bench) -> None:
    bench.run(lambda request: result_of(request.run))
    assert [request.plan for request in bench.requests] == ["plan of static", "plan of ai"]


def test_each_cell_that_a_run_lacks_is_listed(bench: Bench) -> None:
    bench.run(lambda request: result_of(request.run))
    first, second = bench.runs
    values = tuple(CellValue(cell=name, value=1, unit="us") for name in "AB")
    none = CellValue(cell="C", value=None, unit="us")
    runs = [
        first.model_copy(update={"values": (*values, none)}),
        second.model_copy(update={"values": values[:1]}),
    ]
    assert list(cells_left_out(bench.plan, runs)) == [
        "B: not compared, because no figure above 0 is in the outputs of run 2 (ai)",
        "C: not compared, because no figure above 0 is in the outputs of run 1 (static) and run 2 (ai)",
    ]


def test_notes_of_runs_are_in_the_result(bench: Bench) -> None:
    bench.run(lambda request: result_of(request.run))
    noted = [("mtu: 9000", "ecn: static"), ("mtu: 9000",)]
    runs = [
        run.model_copy(update={"notes": notes})
        for run, notes in zip(bench.runs, noted, strict=True)
    ]
    result = bench.result.model_copy(update={"runs": tuple(runs)})
    text = text_of(*experiment_report(result), width=200)
    assert "all runs: mtu: 9000" in text and "run 1: ecn: static" in text


def restored(bench: Bench, directory: Path | None, fabric: Path) -> None:
    request = ExperimentRequest(fabric, "ecn=static,ai", "write", 1, directory=directory)
    own = MeasuredRequest(ACCESS, TESTS, ApplyOptions(), restore=True)
    measured_experiment(request, own, lambda _line: None)


@pytest.mark.parametrize("named", [True, False], ids=["folder", "fabric"])
def test_a_restore_needs_no_valid_fabric(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: bool
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    fabric = site / "fabric.yaml"
    fabric.write_text("fabric: [", encoding="utf-8")
    plan = bench.plan.model_copy(update={"source": str(fabric)})
    folder = ExperimentFolder(site / "experiments/heps-ecn")
    folder.begin(plan, {START: bench.prepared.file.text} | bench.prepared.texts)
    folder.note("transition", number=1, level="ai", before=START)
    monkeypatch.setattr(conduct, "FOLDERS", site / "experiments")
    bench.folder = folder
    restored(bench, folder.path if named else None, fabric)
    assert [row["level"] for row in bench.rows("arrived")] == [START]
    with pytest.raises(BadInput, match="has no experiment on switches"):
        restored(bench, tmp_path / "other", fabric)
    monkeypatch.setattr(conduct, "FOLDERS", tmp_path)
    with pytest.raises(BadInput) as missing:
        restored(bench, None, fabric)
    assert str(missing.value) == (
        f"{fabric}: no experiment with ecn of this fabric is in {tmp_path}; "
        "name its folder: --directory"
    )


def test_a_change_that_never_began_is_given_up_for_another(bench: Bench) -> None:
    bench.folder.note("transition", number=1, level="ai", before=START)
    fabrics: dict[str, Path] = {}
    own = LevelRollouts(bench.folder, ACCESS, fabrics, ApplyOptions(), lambda _line: None)
    own.move_to(START)
    events: Sequence[str] = [row["event"] for row in bench.folder.journal()]
    assert events == ["transition", rollouts.FAILED, "transition", "arrived"]
    assert (own.level, own.plan) == (START, "plan of start")
