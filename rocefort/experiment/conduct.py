"""Conduct of an experiment: its plan, its missing runs, its result and its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rocefort import __version__
from rocefort.base.errors import BadInput
from rocefort.base.features import optional_module
from rocefort.base.progress import Step
from rocefort.change.edit import FabricFile, read_fabric
from rocefort.design.load.documents import find_fabric
from rocefort.experiment.comparison import compared, least_p, level_pairs, ordered_runs
from rocefort.experiment.factor import (
    REFUSAL,
    LevelFabric,
    effect_of,
    level_fabrics,
    parsed_factor,
)
from rocefort.experiment.model import (
    PROCESSES,
    End,
    ExperimentPlan,
    ExperimentResult,
    ExperimentRun,
    Level,
    LevelComparison,
    PlannedRun,
)
from rocefort.experiment.page import experiment_page
from rocefort.experiment.store import FOLDERS, PAGE, RESULT, ExperimentFolder
from rocefort.models.change.plan import digest_of
from rocefort.models.wording import listing
from rocefort.verification.page.fabric_page import provenance_of

MPI = "mpi"
BESIDE = "beside"  # option of a plan: load beside the collectives
DEPENDENT = "tests share servers and links, so p over all tests is lower than of independent ones"


@dataclass(frozen=True)
class ExperimentRequest:
    """Request for an experiment. directory: None for `experiments/FABRIC-KEY` here."""

    fabric: Path
    factor: str
    suite: str = MPI
    repeat: int = 5
    servers: tuple[str, ...] = ()
    directory: Path | None = None
    # of a simulation
    sizes: tuple[int, ...] = ()
    processes: tuple[int, ...] = PROCESSES
    tcp_gbps: float | None = None
    workers: int = 0
    results: Path | None = None


@dataclass(frozen=True)
class PreparedExperiment:
    """Fabric, levels and folder of an experiment."""

    request: ExperimentRequest
    file: FabricFile
    key: str
    fabrics: tuple[LevelFabric, ...]
    folder: ExperimentFolder

    @classmethod
    def of(cls, request: ExperimentRequest) -> PreparedExperiment:
        """Read the fabric and make its levels; raises BadInput, and Refused for a bad level."""
        key, words = parsed_factor(request.factor)
        with Step("read the fabric"):
            file = read_fabric(request.fabric, REFUSAL)
        with Step("check the levels"):
            fabrics = level_fabrics(file, key, words)
        name = file.start.fabric.fabric
        folder = request.directory or FOLDERS / f"{name}-{key}"
        return cls(request, file, key, fabrics, ExperimentFolder(folder))

    @property
    def texts(self) -> dict[str, str]:
        """Fabric of each level, as text."""
        return {each.name: each.text for each in self.fabrics}

    def plan(
        self, levels: Sequence[Level], options: dict[str, str], *, simulated: bool
    ) -> ExperimentPlan:
        """Return the plan with the order of its runs."""
        order = ordered_runs([level.name for level in levels], self.request.repeat)
        return ExperimentPlan(
            fabric=self.file.start.fabric.fabric,
            source=str(self.file.path),
            fabric_digest=digest_of([self.file.text, effect_of(self.file.start)]),
            version=__version__,
            factor=self.key,
            suite=self.request.suite,
            simulated=simulated,
            repeat=self.request.repeat,
            levels=tuple(levels),
            options=options,
            runs=tuple(
                PlannedRun(number=number, level=level, repetition=repetition)
                for number, (repetition, level) in enumerate(order, 1)
            ),
        )

    def level(
        self, fabric: LevelFabric, text: str, end: End = "", settings: object = None
    ) -> Level:
        """Return a level of the plan. end, settings: those that are simulated, as JSON."""
        file = self.folder.level(fabric.name).relative_to(self.folder.path)
        name = f"{fabric.name}-{end}" if end else fabric.name
        digest = fabric.digest if settings is None else digest_of([fabric.digest, settings])
        return Level(name=name, text=text, fabric=digest, file=str(file), end=end)


def kept_folder(request: ExperimentRequest) -> ExperimentFolder:
    """Folder of an experiment that has begun, whatever its fabric has become; raises BadInput."""
    if request.directory:
        return ExperimentFolder(request.directory)
    key, _ = parsed_factor(request.factor)
    source = find_fabric(request.fabric).resolve()
    for path in sorted(FOLDERS.glob(f"*-{key}")):
        folder = ExperimentFolder(path)
        plan = folder.plan()
        if plan is not None and Path(plan.source).resolve() == source:
            return folder
    what = f"no experiment with {key} of this fabric is in {FOLDERS}"
    raise BadInput(what, file=str(source), how="name its folder: --directory")


@dataclass(frozen=True)
class Grounds:
    """Basis of a result's figures. not_compared: why they enter no table; empty: they do."""

    unmeasured: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    not_compared: str = ""


@dataclass(frozen=True)
class Conducted:
    """Experiment after its last run, or after a stop."""

    folder: ExperimentFolder
    plan: ExperimentPlan
    grounds: Grounds = field(default_factory=Grounds)

    def result(self) -> ExperimentResult:
        """Return the result of the runs that the folder has; write it and its page."""
        folder = self.folder
        kept = [folder.run(run) for run in self.plan.runs]
        runs = tuple(run for run in kept if run is not None)
        result = ExperimentResult(
            plan=self.plan,
            directory=str(folder.path),
            state="complete" if len(runs) == len(self.plan.runs) else "stopped",
            runs=runs,
            comparisons=() if self.grounds.not_compared else tuple(_comparisons(self.plan, runs)),
            not_compared=self.grounds.not_compared,
            unmeasured=(*self.grounds.unmeasured, *cells_left_out(self.plan, runs)),
            assumptions=self.grounds.assumptions,
            not_modelled=self.grounds.not_modelled,
            notes=(least_p(self.plan.repeat), DEPENDENT, *self.grounds.notes),
            page=PAGE,
        )
        folder.write(RESULT, result.model_dump_json(indent=1) + "\n")
        folder.write(PAGE, experiment_page(result, provenance_of(Path(self.plan.source))))
        return result


def _comparisons(plan: ExperimentPlan, runs: Sequence[ExperimentRun]) -> list[LevelComparison]:
    return [compared(runs, *names) for names in level_pairs(plan.levels)]


def cells_left_out(plan: ExperimentPlan, runs: Sequence[ExperimentRun]) -> Iterator[str]:
    """Yield a sentence for each cell that a run lacks, so that it is not compared."""
    why = "a flow did not end in" if plan.simulated else "no figure above 0 is in the outputs of"
    for name in dict.fromkeys(value.cell for run in runs for value in run.values):
        lacking = [
            f"run {run.run.number} ({run.run.level})"
            for run in runs
            if not any(value.cell == name and value.value for value in run.values)
        ]
        if lacking:
            yield f"{name}: not compared, because {why} {listing(lacking)}"


def simulated_experiment(request: ExperimentRequest) -> ExperimentResult:
    """Run the missing runs of a simulated experiment; raises BadInput and Refused."""
    if request.suite != MPI:
        what = f"the suite {request.suite} is not simulated"
        raise BadInput(what, where="--suite", how=f"write --suite {MPI}, or leave --simulate out")
    optional_module("rocefort.tune.run", "--simulate needs the packet simulator")
    from rocefort.experiment import collectives  # noqa: PLC0415 - `tune` is optional
    from rocefort.tune.run import evaluators, results_folder  # noqa: PLC0415 - the same

    prepared = PreparedExperiment.of(request)
    named = collectives.servers_of(prepared.file.start, request.servers)
    servers, load = collectives.divided(named, request.tcp_gbps)
    cells, left_out = collectives.cells_of(request.sizes, request.processes, len(servers))
    if not cells:
        what = "every collective is too large to simulate"
        raise BadInput(what, where="--sizes", how="name smaller sizes")
    simulated = collectives.simulated_levels(prepared.fabrics)
    bench = collectives.CollectiveRuns(simulated, cells, servers, load)
    levels = [
        prepared.level(x.fabric, x.note, x.end, x.settings.model_dump(mode="json"))
        for x in simulated
    ]
    options = {
        "servers": ", ".join(servers),
        "cells": "; ".join(cell.label for cell in cells),
        **({BESIDE: load.text} if load else {}),
    }
    plan = prepared.plan(levels, options, simulated=True)
    folder = prepared.folder
    conducted = Conducted(
        folder,
        plan,
        Grounds(
            unmeasured=tuple(left_out),
            assumptions=tuple(collectives.assumptions(bench, simulated)),
            not_modelled=collectives.LIMITS,
        ),
    )
    with folder.held():
        folder.begin(plan, prepared.texts)
        missing = [run for run in plan.runs if folder.run(run) is None]
        try:
            if missing:
                store = request.results or results_folder()
                with evaluators("processes", request.workers, store) as evaluator_of:
                    evaluator = evaluator_of(tuple(bench.bases))
                    for run in missing:
                        folder.note("began", run=run.number, level=run.level)
                        folder.keep(bench.carry_out(run, evaluator))
        except KeyboardInterrupt:
            conducted.result()
            raise
        return conducted.result()
