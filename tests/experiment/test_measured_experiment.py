"""`experiment` on emulated switches: order, plans, kills, and the fabric as it began."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from efforts import tries
from outputs import fields_of, hold
from typer.testing import CliRunner, Result

from rocefort.base.errors import DeviceFailed, ExitCode, Refused, RocefortError, ServiceFailed
from rocefort.change.effects.switch_configs import SwitchConfigs
from rocefort.design.subject import subject_of
from rocefort.emulator.emulated_site import Rehearsal, rehearse
from rocefort.emulator.options import LabOptions
from rocefort.experiment import measured, rollouts
from rocefort.experiment.model import ExperimentResult
from rocefort.experiment.store import ExperimentFolder
from rocefort.fleet.running_configs import running_of
from rocefort.models.change.plan import Plan
from rocefort.models.network.network import Network
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.results import RdmaResult
from rocefort.rdma.run_suite import HistoryNotWritten, run_tests
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.apply.earlier_runs import note_of_earlier_end
from rocefort.rollout.journal.events import RolloutOutcome
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import contents_of
from rocefort.rollout.plan.acceptance import (
    Acceptance,
    AcceptanceItem,
    DoneBy,
    ItemState,
    record_file,
    write_record,
)
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.plan.procedures import MaintenanceProcedure, NeedsMaintenance
from rocefort.rollout.planning.sealed_files import read_plan
from rocefort.tasks import cli

SCALE = 60.0
PATIENCE_S = 120.0
UPDATED = re.compile(r"(?m)^!Last configuration was updated at .*\n")
SERVERS = "leaf001-s01,leaf001-s02"


class Bed:
    """Emulated switches and servers of a small fabric, in a site of their own."""

    def __init__(self, site: Path, lab: Rehearsal) -> None:
        self.site, self.lab = site, lab
        self.fabric = site / "inventory/tiny"

    def words(self, folder: Path, *words: str) -> list[str]:
        own = ["experiment", str(self.fabric), "--factor", "ecn=static,ai", "--suite", "mpi"]
        own += ["--servers", SERVERS, "--connections", str(self.lab.file), "--sizes", "256"]
        return [*own, "--directory", str(folder), "--progress", "none", *words]

    def run(self, folder: Path, *words: str) -> Result:
        return CliRunner().invoke(cli, self.words(folder, *words))

    def texts(self) -> dict[str, str]:
        """Running texts without the time of the newest commit."""
        running = running_of(self.fabric, self.lab.connections, None)
        return {name: UPDATED.sub("", text) for name, text in running.items()}


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    site = tmp_path_factory.mktemp("site")
    (site / "inventory").mkdir()
    words = ["--spines", "1", "--leaves", "1", "--servers-per-leaf", "2"]
    done = CliRunner().invoke(cli, ["new", "tiny", *words, "--directory", str(site / "inventory")])
    assert done.exit_code == 0, done.output
    file = site / "inventory/tiny/fabric.yaml"
    text = file.read_text(encoding="utf-8")
    policy = "  trial_s: 3600\n  drain: false\n  settle_s: 1\n"
    file.write_text(text.replace("  trial_s: 600\n", policy), encoding="utf-8")
    subject = subject_of(file, None)
    options = LabOptions(keep=True, time_scale=SCALE)
    with rehearse(subject.network, subject.texts, site / "lab", options) as lab:
        yield Bed(site, lab)


@pytest.fixture
def folder(bed: Bed, request: pytest.FixtureRequest) -> Path:
    """Folder of an experiment inside the site."""
    name = re.sub(r"\W+", "-", request.node.name)
    return bed.site / "experiments" / name


def result_of(done: Result) -> ExperimentResult:
    assert done.exit_code == 0, (done.output, done.exception)
    hold(["experiment", "--format", "json"], done.stdout)
    return ExperimentResult.model_validate(fields_of(done.stdout))


def plans_of(folder: Path) -> list[tuple[Path, Plan]]:
    return [(file, read_plan(file)) for file in sorted((folder / "plans").glob("*.json"))]


def check_whole(folder: Path, result: ExperimentResult, levels: Sequence[str]) -> None:
    """Check that there are exactly the stated runs, and that each plan was applied once."""
    assert [run.run.level for run in result.runs] == list(levels)
    assert [run.run.number for run in result.runs] == list(range(1, len(levels) + 1))
    with open_history(folder / "rdma.db") as past:
        stored = {line.id for line in past.runs()}
    assert stored == {run.id for run in result.runs}
    for file, plan in plans_of(folder):
        changes = any(not change.empty for change in plan.changes)
        journal = RunDirectory.of(file).journal
        runs = contents_of(journal, plan.digest).runs if journal.is_file() else ()
        assert len(runs) == changes, file
        assert all(run.ended and not run.code for run in runs)


def killed(
    bed: Bed,
    folder: Path,
    words: Sequence[str],
    when: Callable[[], bool],
    number: signal.Signals = signal.SIGKILL,
) -> None:
    """Run the command in a process, and signal it at a moment; it may end before."""
    command = [sys.executable, "-m", "rocefort", *bed.words(folder, *words)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        with closing(running.stderr):
            deadline = time.monotonic() + PATIENCE_S
            while running.poll() is None and not when():
                assert time.monotonic() < deadline
                time.sleep(0.005)
            if running.poll() is None:
                os.kill(running.pid, number)
            errors = running.stderr.read().decode()
            assert running.wait() in (0, -signal.SIGKILL, ExitCode.STOPPED), errors


def events(folder: Path) -> list[str]:
    return [row["event"] for row in ExperimentFolder(folder).journal()]


def test_an_experiment_killed_in_a_run_ends_with_its_runs_and_the_fabric_as_it_began(
    bed: Bed, folder: Path
) -> None:
    before = bed.texts()
    words = ("--repeat", "1")
    killed(bed, folder, words, lambda: events(folder).count("began") == 1)
    first = ExperimentFolder(folder).journal()
    assert [row["event"] for row in first] == ["checked", "transition", "arrived", "began"]
    assert bed.texts() != before
    result = result_of(bed.run(folder, *words, "--format", "json"))
    check_whole(folder, result, ["static", "ai"])
    assert result.runs[0].id == first[-1]["id"]
    assert bed.texts() == before
    assert result.comparisons == ()
    assert result.not_compared == (
        "figures enter no table: emulated servers, figures of a model: correctness is judged, "
        "speed is not. No ECN setting acts here, so the runs prove order, records and restart only"
    )
    notes = [note for note in result.runs[0].notes if note.startswith("ecn: ")]
    assert notes == ["ecn: static"]
    assert [row for row in result.runs[1].notes if row.startswith("ecn: ")] == ["ecn: dynamic"]
    again = result_of(bed.run(folder, *words, "--format", "json"))
    assert again.runs == result.runs


def test_a_level_is_rolled_out_again_by_a_plan_of_its_own(bed: Bed, folder: Path) -> None:
    result = result_of(bed.run(folder, "--repeat", "3", "--format", "json"))
    check_whole(folder, result, ["static", "ai", "ai", "static", "static", "ai"])
    plans = plans_of(folder)
    names = ["001-static", "002-ai", "003-static", "004-ai", "005-start"]
    assert [file.stem for file, _ in plans] == names
    with open_history(folder / "rdma.db") as past:
        records = [past.load(run.id).record for run in result.runs]
    digests = [plans[number][1].digest for number in (0, 1, 1, 2, 2, 3)]
    assert [record and record.plan for record in records] == digests
    for file, plan in plans:  # as `apply` checks before it begins
        assert note_of_earlier_end(plan, RunDirectory.of(file), again=False) == ""


def test_a_folder_outside_of_the_site_is_refused(bed: Bed, tmp_path: Path) -> None:
    done = bed.run(tmp_path / "own", "--repeat", "1")
    assert str(done.exception) == (
        f"{tmp_path}/own: the folder is not in the site of the fabric, {bed.site}; name a folder inside it: --directory"
    )


def test_switches_that_do_not_run_the_fabric_are_refused(bed: Bed, folder: Path) -> None:
    fabric = bed.fabric / "fabric.yaml"
    text = fabric.read_text(encoding="utf-8")
    fabric.write_text(text.replace("xoff_kbytes: ", "xoff_kbytes: 1"), encoding="utf-8")
    try:
        done = bed.run(folder, "--repeat", "1")
    finally:
        fabric.write_text(text, encoding="utf-8")
    assert "would change to this fabric; roll it out first (`rocefort plan`)" in str(done.exception)
    assert events(folder) == []


def test_restore_returns_the_switches_without_further_runs(bed: Bed, folder: Path) -> None:
    before = bed.texts()
    killed(bed, folder, ("--repeat", "2"), lambda: events(folder).count("began") == 1)
    assert bed.texts() != before
    result = result_of(bed.run(folder, "--repeat", "2", "--restore", "--format", "json"))
    assert result.state == "stopped"
    assert result.runs == ()
    assert bed.texts() == before


def test_a_failed_run_returns_the_switches_and_the_same_command_continues(
    bed: Bed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bed.texts()

    def fails(*_arguments: object) -> RdmaResult:
        raise DeviceFailed("no server can be loaded")

    with monkeypatch.context() as patch:
        patch.setattr(measured, "run_tests", fails)
        done = bed.run(folder, "--repeat", "1")
    assert isinstance(done.exception, DeviceFailed)
    assert str(done.exception) == "no server can be loaded"
    assert bed.texts() == before
    assert [file.stem for file, _ in plans_of(folder)] == ["001-static", "002-start"]
    result = result_of(bed.run(folder, "--repeat", "1", "--format", "json"))
    check_whole(folder, result, ["static", "ai"])
    assert bed.texts() == before


def test_a_failed_rollout_returns_the_switches(
    bed: Bed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bed.texts()
    outcomes = [RolloutOutcome(failure="wave canary: the RDMA gate failed", exit_code=3)]

    def applied(*arguments: Any) -> RolloutOutcome:
        return outcomes.pop() if outcomes else apply_plan(*arguments)

    monkeypatch.setattr(rollouts, "apply_plan", applied)
    done = bed.run(folder, "--repeat", "1")
    assert str(done.exception) == (
        f"{folder}/plans/001-static.json: the rollout of level static did not succeed: wave canary: the RDMA gate failed"
    )
    assert events(folder) == ["checked", "transition", "failed", "transition", "arrived"]
    assert bed.texts() == before


MAINTENANCE = NeedsMaintenance(
    [MaintenanceProcedure(device="leaf001", why=("a restart",), steps=())]
)
ERRORS: list[tuple[str, RocefortError]] = [
    ("apply_plan", Refused("another controller works on these switches")),
    ("make_plan", MAINTENANCE),
]


@pytest.mark.parametrize(("step", "error"), ERRORS, ids=[step for step, _ in ERRORS])
def test_a_rollout_that_never_began_does_not_prevent_the_return(
    bed: Bed, folder: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: RocefortError
) -> None:
    """The first level is on the switches, and the rollout of the second one raises an error."""
    before = bed.texts()
    real: Callable[..., Any] = getattr(rollouts, step)

    def raises(*arguments: Any) -> Any:
        if events(folder).count("transition") == 2:
            raise error
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(rollouts, step, raises)
        done = bed.run(folder, "--repeat", "1")
    assert str(done.exception) == str(error)
    change = ["transition", "arrived"]
    run = ["began", "ended"]
    assert events(folder) == ["checked", *change, *run, "transition", "failed", *change]
    assert bed.texts() == before
    result = result_of(bed.run(folder, "--repeat", "1", "--format", "json"))
    assert [each.run.level for each in result.runs] == ["static", "ai"]
    assert bed.texts() == before


@pytest.mark.parametrize("error", [MAINTENANCE, Refused("no window is open")], ids=["one", "two"])
def test_an_error_of_the_return_is_added_to_the_first(
    bed: Bed, folder: Path, monkeypatch: pytest.MonkeyPatch, error: RocefortError
) -> None:
    before = bed.texts()

    def raises(*_arguments: Any) -> Any:
        raise error

    def fails(*_arguments: object) -> RdmaResult:
        monkeypatch.setattr(rollouts, "apply_plan", raises)
        raise HistoryNotWritten(ServiceFailed("the disk is full"), None)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(measured, "run_tests", fails)
        done = bed.run(folder, "--repeat", "1")
    assert isinstance(done.exception, DeviceFailed)
    assert str(done.exception) == (
        f"the disk is full\n{error}\nthe switches do not run the fabric as it began; "
        "remove the cause, then add --restore to the same command"
    )
    monkeypatch.undo()
    assert bed.texts() != before
    result_of(bed.run(folder, "--repeat", "1", "--restore", "--format", "json"))
    assert bed.texts() == before


def test_a_level_without_a_plan_is_refused_before_the_first_change(
    bed: Bed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, fabric = bed.texts(), folder / "levels/static/fabric.yaml"

    def planned(path: Path, *arguments: Any) -> Plan:
        if path == fabric:
            raise MAINTENANCE
        return make_plan(path, *arguments)

    monkeypatch.setattr(rollouts, "make_plan", planned)
    done = bed.run(folder, "--repeat", "1")
    assert isinstance(done.exception, Refused)
    assert str(done.exception) == (
        f"{MAINTENANCE}\n{fabric}: level static cannot be rolled out; no switch was changed"
    )
    assert "return to the start" not in done.output
    assert events(folder) == []
    assert bed.texts() == before


def test_a_level_that_cannot_be_left_is_refused_before_the_first_change(
    bed: Bed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(network: Network, sides: Mapping[str, SwitchConfigs]) -> None:
        if any(not each.whole.empty for each in sides.values()):
            raise MAINTENANCE

    monkeypatch.setattr(rollouts, "refuse_beyond_trial", refuses)
    done = bed.run(folder, "--repeat", "1")
    assert f"{MAINTENANCE}\n{folder}/levels/start/fabric.yaml: level start cannot" in str(
        done.exception
    )
    assert events(folder) == []


@pytest.mark.thorough
def test_a_failed_acceptance_refuses_levels_but_not_the_return(
    bed: Bed, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, now = bed.texts(), datetime.now(UTC)
    failed = AcceptanceItem(
        name="optics", title="", state=ItemState.FAILED, done_by=DoneBy.PERSON, sentences=("dark",)
    )
    record = Acceptance(
        fabric="tiny", plan="c" * 64, tool="", author="eve", switches=(), began=now, soak_s=1,
        items=(failed,),
    )  # fmt: skip
    file = record_file(bed.fabric, record.plan)
    refused = "stage cccccccccccc, optics: its acceptance failed: dark; correct it, then"

    def fails_meanwhile(*arguments: Any) -> RdmaResult:
        write_record(record, file)
        return run_tests(*arguments)

    try:
        write_record(record, file)
        assert refused in str(bed.run(folder, "--repeat", "1").exception)
        assert events(folder) == []
        file.unlink()
        monkeypatch.setattr(measured, "run_tests", fails_meanwhile)
        assert refused in str(bed.run(folder, "--repeat", "1").exception)
    finally:
        shutil.rmtree(file.parent)
    there = ["transition", "arrived", "began", "ended", "transition", "failed"]
    assert events(folder) == ["checked", *there, "transition", "arrived"]
    assert bed.texts() == before


def test_ctrl_c_in_a_run_returns_the_switches_and_the_run_is_made_again(
    bed: Bed, folder: Path
) -> None:
    before = bed.texts()
    words = ("--repeat", "1")
    killed(bed, folder, words, lambda: events(folder).count("began") == 1, signal.SIGINT)
    assert bed.texts() == before
    discarded = [
        row["id"] for row in ExperimentFolder(folder).journal() if row["event"] == "discarded"
    ]
    result = result_of(bed.run(folder, *words, "--format", "json"))
    assert [run.run.level for run in result.runs] == ["static", "ai"]
    assert not {run.id for run in result.runs} & set(discarded)
    assert bed.texts() == before


# Rows of the journal with repeat 1: checked, transition, arrived, began, ended, transition, arrived,
# began, ended, transition, arrived.
INSTANTS = [(rows, delay_s) for rows in range(1, 11) for delay_s in (0.0, 0.3, 1.5)]
KILLED_AT = INSTANTS[:: len(INSTANTS) // tries(5) + 1]  # all in `make soak`


@pytest.mark.thorough
@pytest.mark.soak
@pytest.mark.parametrize(("rows", "delay_s"), KILLED_AT)
def test_a_kill_at_any_instant_leaves_a_whole_experiment(
    bed: Bed, folder: Path, rows: int, delay_s: float
) -> None:
    before = bed.texts()
    since: list[float] = []

    def now() -> bool:
        if len(events(folder)) >= rows and not since:
            since.append(time.monotonic())
        return bool(since) and time.monotonic() - since[0] >= delay_s

    words = ("--repeat", "1")
    killed(bed, folder, words, now)
    result = result_of(bed.run(folder, *words, "--format", "json"))
    check_whole(folder, result, ["static", "ai"])
    assert bed.texts() == before
