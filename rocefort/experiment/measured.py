"""Measured experiment: each level is rolled out, and a suite of RDMA tests runs on it.

The id of a run is in the journal before it begins. After a kill, an id in the history of RDMA runs
is a run that has ended. Otherwise all its processes are stopped, and the same id runs again. A run
that did not measure everything is discarded, and made again under another id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import (
    BadInput,
    DeviceFailed,
    ExitCode,
    Problem,
    Refused,
    RocefortError,
    Stopped,
)
from rocefort.base.processes import stop_on_signals
from rocefort.base.repository import SHIPPED, site_of
from rocefort.experiment.comparison import drift_sentence
from rocefort.experiment.conduct import (
    Conducted,
    ExperimentRequest,
    Grounds,
    PreparedExperiment,
    kept_folder,
)
from rocefort.experiment.factor import START
from rocefort.experiment.model import (
    CellValue,
    ExperimentPlan,
    ExperimentResult,
    ExperimentRun,
    PlannedRun,
)
from rocefort.experiment.rollouts import CONTINUES, LevelRollouts
from rocefort.experiment.store import ExperimentFolder
from rocefort.fleet.connections import Connections
from rocefort.models.wording import count_of
from rocefort.rdma.designed_plan import RdmaRequest, designed_plan, request_of
from rocefort.rdma.judge.run_store import open_history
from rocefort.rdma.options import SuiteName
from rocefort.rdma.plan.suites import refuse_options
from rocefort.rdma.plan.work_suites import storage_targets
from rocefort.rdma.rdma_plan import Suite
from rocefort.rdma.results import Measurement, MeasurementVerdict, RdmaResult
from rocefort.rdma.run_suite import RunDialogue, new_id, run_tests, stop_everything
from rocefort.reports.wording import bytes_words
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.verification.capacity import demand_of

BEGAN, DISCARDED = "began", "discarded"
ATTEMPTS = 2  # of a run that is incomplete
EMULATED = "emulated servers"
# Errors without facts of their own, to which the problems of another one can be added.
PLAIN: dict[ExitCode, type[RocefortError]] = {
    each.exit_code: each for each in (BadInput, Refused, Stopped)
}
Say = Callable[[str], None]
NO_TABLE = (
    "figures enter no table: {}. No ECN setting acts here, so the runs prove order, records and "
    "restart only"
)


@dataclass(frozen=True)
class MeasuredRequest:
    """Request for the runs. tests: of each run. history: None for rdma.db in the folder.

    restore: do no further run, and return the switches to the start.
    """

    access: Connections
    tests: RdmaRequest
    options: ApplyOptions
    history: Path | None = None
    restore: bool = False


def measured_experiment(
    request: ExperimentRequest, measured: MeasuredRequest, say: Say
) -> ExperimentResult:
    """Run the missing runs, and return the switches to the start, also after a failure.

    Raises Refused before it changes a switch, DeviceFailed and Stopped after the return. A restore
    needs the folder alone, whatever the fabric has become.
    """
    if measured.restore:
        folder = kept_folder(request)
        plan = _kept_plan(folder)
        with folder.held(), stop_on_signals() as stopped:
            return _Experiment(folder, plan, measured, say).carry_out(stopped, ())
    prepared = PreparedExperiment.of(request)
    folder = prepared.folder
    _refuse_other_site(prepared)
    levels = [prepared.level(each, each.note) for each in prepared.fabrics]
    tests = measured.tests
    designed_plan(prepared.file.path, tests)  # refuses what no run could measure
    chosen = tests.options.model_dump(mode="json", exclude_defaults=True)
    options = {"servers": ", ".join(tests.servers), **{k: str(v) for k, v in chosen.items()}}
    plan = prepared.plan(levels, options, simulated=False)
    start = prepared.file.start
    demand = demand_of(prepared.file.path, None, start.network).file
    with folder.held(), stop_on_signals() as stopped:
        texts = {START: prepared.file.text} | prepared.texts
        folder.begin(plan, texts, [Path(demand)] if demand else [])
        listed = start.fabric.rdma.servers
        return _Experiment(folder, plan, measured, say).carry_out(stopped, listed)


@dataclass(frozen=True)
class _Experiment:
    """Experiment whose folder is held."""

    folder: ExperimentFolder
    plan: ExperimentPlan
    request: MeasuredRequest
    say: Say

    def carry_out(self, stopped: Callable[[], bool], listed: tuple[str, ...]) -> ExperimentResult:
        """Return the result; after an error write it, with the runs that have ended."""
        request, folder = self.request, self.folder
        fabrics = {x: folder.level(x) for x in (START, *(level.name for level in self.plan.levels))}
        rollouts = LevelRollouts(folder, request.access, fabrics, request.options, self.say)
        try:
            _Runs(rollouts, request, self.plan, self.say, stopped, listed).carry_out()
        except RocefortError:
            if rollouts.changed:
                self._result()
            raise
        return self._result()

    def _result(self) -> ExperimentResult:
        kept = [run for each in self.plan.runs if (run := self.folder.run(each))]
        reasons = dict.fromkeys(run.not_compared for run in kept if run.not_compared)
        grounds = Grounds(
            assumptions=(drift_sentence(self.plan.repeat),),
            notes=tuple(_journal_notes(self.folder)),
            not_compared=NO_TABLE.format("; ".join(reasons)) if reasons else "",
        )
        return Conducted(self.folder, self.plan, grounds).result()


def _kept_plan(folder: ExperimentFolder) -> ExperimentPlan:
    """Return the plan of the folder; raises BadInput if it has none of measured runs."""
    plan = folder.plan()
    if plan is None or plan.simulated:
        what = "has no experiment on switches"
        raise BadInput(what, file=str(folder.path), how="name its folder: --directory")
    return plan


def _refuse_other_site(prepared: PreparedExperiment) -> None:
    """Raise BadInput if a fabric in the folder would have other profiles than the fabric."""
    site = site_of(prepared.folder.path) or SHIPPED
    own = prepared.file.start.site
    if site.root.resolve() != own.root.resolve():
        what = f"the folder is not in the site of the fabric, {own.root}"
        how = "name a folder inside it: --directory"
        raise BadInput(what, file=str(prepared.folder.path), how=how)


def _journal_notes(folder: ExperimentFolder) -> Iterator[str]:
    """Yield a sentence for each change of level, and for each run that was made again."""
    for row in folder.journal():
        if row["event"] == "arrived":
            yield (
                f"plan {row['number']} ({row['plan'][:12]}): to {row['level']}, "
                f"{row['switches']} switches changed"
            )
        if row["event"] == DISCARDED:
            yield f"run {row['run']}, {row['id']}: discarded, because {row.get('why', 'of a stop')}"


@dataclass(frozen=True)
class _Runs:
    """Runs of an experiment on the switches. listed: rdma.servers of the fabric."""

    rollouts: LevelRollouts
    request: MeasuredRequest
    plan: ExperimentPlan
    say: Say
    stopped: Callable[[], bool]
    listed: tuple[str, ...] = ()

    def carry_out(self) -> None:
        """Run what is missing; the switches run the start at the end."""
        try:
            self._missing_runs()
        except Stopped as error:
            if error.problem.how == CONTINUES:  # a rollout waits: it neither failed nor ended
                raise
            self._return(error)
            raise
        except RocefortError as error:
            self._return(error)
            raise
        self.rollouts.move_to(START)

    def _return(self, error: RocefortError) -> None:
        """Return to the start after an error; raises both errors if this fails, too."""
        if not self.rollouts.changed:
            return
        self.say(f"the switches return to the start, because of: {error}")
        try:
            self.rollouts.move_to(START)
        except RocefortError as other:
            how = "remove the cause, then add --restore to the same command"
            last = Problem("", "the switches do not run the fabric as it began", how)
            kind = PLAIN.get(error.exit_code, DeviceFailed)
            raise kind(problems=[*error.problems, *other.problems, last]) from None

    def _missing_runs(self) -> None:
        folder = self.rollouts.folder
        missing = [run for run in self.plan.runs if folder.run(run) is None]
        if self.request.restore or not missing:
            return
        self.rollouts.check()
        for run in missing:
            if self.stopped():
                raise Stopped("an operator stopped the experiment")
            self.rollouts.move_to(run.level)
            self._run(run)

    def _run(self, run: PlannedRun) -> None:
        """Run the tests of one run until all is measured; raises DeviceFailed if twice it is not.

        An incomplete run is discarded: a cell that one run lacks could not be compared.
        """
        folder, why = self.rollouts.folder, ""
        for _ in range(ATTEMPTS):
            result = self._stored_or_made(run)
            if result.complete:
                folder.keep(_experiment_run(run, result))
                return
            why = _missing_figures(result)
            folder.note(DISCARDED, run=run.number, id=result.id, why=why)
            if self.stopped():
                raise Stopped(f"an operator stopped run {run.number}, which runs again")
            self.say(f"run {run.number}, {result.id}: discarded, because {why}")
        what = f"run {run.number} ({run.level}) is incomplete: {why}"
        raise DeviceFailed(what, how="remove the cause; the same command makes it again")

    def _stored_or_made(self, run: PlannedRun) -> RdmaResult:
        """Return the result of a run under its id; the history has it after a kill."""
        folder, access = self.rollouts.folder, self.request.access
        fabric, history = self.rollouts.fabrics[run.level], self.request.history
        history = history or folder.path / "rdma.db"
        identity = self._identity(run)
        result = _stored(history, identity) if identity else None
        if result is not None:
            return result
        if identity is None:
            identity = new_id()
            folder.note(BEGAN, run=run.number, level=run.level, id=identity)
        else:
            stop_everything(fabric, access, self.request.tests.servers or self.listed)
        self.say(f"run {run.number} of {len(self.plan.runs)}: {run.level}, {identity}")
        tests = replace(self.request.tests, run=identity, plan=self.rollouts.plan)
        return run_tests(fabric, access, tests, history, RunDialogue(self.say, self.stopped))

    def _identity(self, run: PlannedRun) -> str | None:
        """Id under which a run began, unless it was discarded; None: it has not begun."""
        identity = None
        for row in self.rollouts.folder.journal():
            if row.get("run") == run.number and row["event"] in (BEGAN, DISCARDED):
                identity = row["id"] if row["event"] == BEGAN else None
        return identity


def _missing_figures(result: RdmaResult) -> str:
    """Return why a run is incomplete: the first reason, and the number of the others."""
    lost = MeasurementVerdict.NOT_MEASURED
    sentences = [each.sentence for each in result.measurements if each.verdict is lost]
    reasons = [*dict.fromkeys((*result.unmeasured, *sentences))] or ["nothing was measured"]
    more = f" (and {count_of(len(reasons) - 1, 'other reason')})" if len(reasons) > 1 else ""
    return reasons[0] + more


def _stored(history: Path, identity: str) -> RdmaResult | None:
    """Return the run with an id; None: the history has none."""
    if not history.exists():
        return None
    with open_history(history) as past:
        if all(line.id != identity for line in past.runs()):
            return None
        return past.load(identity)


def _experiment_run(run: PlannedRun, result: RdmaResult) -> ExperimentRun:
    ended: datetime = result.ended or result.began
    record = result.record
    notes = [f"{name}: {value}" for name, value in (record.conditions if record else {}).items()]
    notes += list(record.differences) if record else []
    return ExperimentRun(
        run=run,
        id=result.id,
        began=result.began,
        ended=ended,
        values=cell_values(result),
        notes=tuple(notes),
        not_compared=result.conditions.get("servers") or (EMULATED if result.emulated else ""),
    )


def cell_values(result: RdmaResult) -> tuple[CellValue, ...]:
    """Return the figures of a run, each in a cell of its own.

    A name that several rounds have is followed by the round's note. Raises Refused if two figures
    have one cell.
    """
    notes = {run.id: each.note for each in result.plan.rounds for run in each.runs}
    rows = [(value, notes.get(m.run.id, "")) for m in result.measurements for value in _values(m)]
    rounds: dict[str, set[str]] = {}
    for value, note in rows:
        rounds.setdefault(value.cell, set()).add(note)
    cells: dict[str, CellValue] = {}
    for value, note in rows:
        name = f"{value.cell}: {note}" if note and len(rounds[value.cell]) > 1 else value.cell
        if name in cells:
            what = f"two figures have the cell {name!r}"
            raise Refused(what, where=f"run {result.id}", how="report it, with the suite's options")
        cells[name] = value.model_copy(update={"cell": name})
    return tuple(cells.values())


def _values(each: Measurement) -> Iterator[CellValue]:
    """Yield the values of a measurement: of each size of a collective, or its main figure."""
    test = each.run
    latency = test.program.measures_latency
    unit = "us" if latency else "Gb/s"
    if test.ranks:
        points = {point.size_bytes: point.average_us for point in each.sizes}
        sizes = test.sizes or tuple(points)  # a benchmark adds a row of 0 bytes to each part
        for size in sizes or (test.size_bytes,):
            cell = f"{test.collective or test.program.value} {bytes_words(size)}".rstrip()
            yield CellValue(cell=cell, value=None if size is None else points.get(size), unit=unit)
        return
    names = (test.label, bytes_words(test.size_bytes), test.pair)
    cell = " ".join(filter(None, names))
    yield CellValue(cell=cell, value=each.value, unit=unit, higher_is_better=not latency)


def tests_of(
    request: ExperimentRequest,
    sizes: str,
    drained: tuple[str, ...],
    processes: tuple[int, ...],
    chosen: Mapping[str, object],
) -> RdmaRequest:
    """Return the tests of each run; chosen: fields of RdmaPlanOptions. Raises BadInput."""
    if request.suite not in set(SuiteName):
        how = nearest(request.suite, [suite.value for suite in SuiteName])
        raise BadInput(f"no suite {request.suite!r}", where="--suite", how=how)
    if len(processes) > 1:
        what = "a measured experiment has one number of processes"
        raise BadInput(what, where="--processes-per-server", how="name one number")
    own = dict(chosen) | ({"processes_per_server": processes[0]} if processes else {})
    tests = request_of(request.suite, request.servers, sizes, drained, **own)
    option = "--storage-directory"
    if tests.suite is Suite.STORAGE:
        storage_targets(tests.options, option, option)
    elif tests.options.storage_directory is not None:
        what = f"the suite {tests.suite} does not use it"
        raise BadInput(what, where=option, how=f"use it with {Suite.STORAGE}")
    refuse_options(tests.suite, tests.options)
    return tests
