"""Steps of `tune search`: scenarios and limits, of files or of a fabric, and the search."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rocefort.base.documents.read import Document
from rocefort.base.errors import BadInput
from rocefort.base.progress import Step
from rocefort.base.repository import this_site
from rocefort.design.load.profiles import profiles_of
from rocefort.models.results.search import SearchResult
from rocefort.models.tuning.scenario import DEFAULT_SEEDS
from rocefort.models.tuning.settings import Settings
from rocefort.models.tuning.space import SearchSpace
from rocefort.steps.tune.fabric_search import FabricSearch, fabric_search
from rocefort.steps.tune.references import byte_tuning_start, profile_references
from rocefort.steps.tune.simulate import base_of, load_scenario
from rocefort.tuning.evaluate import Evaluator
from rocefort.tuning.executors import workers_of
from rocefort.tuning.jobs import Base, ResultFolder
from rocefort.tuning.limits import Refusal, scenario_refusal
from rocefort.tuning.search import METHODS, Reference, Search, SearchOptions
from rocefort.tuning.simulate import require_numba, simulate
from rocefort.tuning.space import (
    NIC_VALUES,
    Point,
    Space,
    axes_of,
    published_space,
    settings_of,
)


@dataclass(frozen=True)
class SearchRequest:
    """Request of a search. results: folder; None: that of the user's cache."""

    fabric: Path | None = None
    demand: Path | None = None
    scenarios: tuple[Path, ...] = ()
    objective: str = "both"
    method: str = "auto"
    evaluations: int = 400
    nic: bool = False
    executor: str = "processes"
    workers: int = 0
    results: Path | None = None


@dataclass(frozen=True)
class Plan:
    """Scenarios, space and references of a search; fabric: what a winner is written to."""

    name: str
    bases: tuple[Base, ...]
    space: Space
    references: tuple[Reference, ...]
    seeds: tuple[int, ...] = DEFAULT_SEEDS
    fabric: FabricSearch | None = None

    @property
    def text(self) -> str:
        """Text of the fabric that the search began with."""
        return self.fabric.text if self.fabric else ""


@dataclass(frozen=True)
class Searched:
    """Finished search with the values and ratios of every candidate."""

    result: SearchResult
    plan: Plan
    candidates: tuple[tuple[dict[str, float], dict[str, float]], ...] = field(default=())


def search(request: SearchRequest) -> Searched:
    """Search; raises BadInput for an unusable request, ServiceFailed if workers end."""
    require_numba()
    with Step("read the scenarios"):
        plan = plan_of(request)
    folder = request.results or results_folder()
    ResultFolder(folder).prepare()
    with Step("load the simulator"):  # compiled before the workers begin, so that they load it
        tiny = plan.bases[0].scenario.like(duration_ms=0.001, measure_from_ms=0, seeds=(1,))
        simulate(tiny, plan.bases[0].profile, plan.bases[0].ground)
    count = request.workers or os.cpu_count() or 1
    options = SearchOptions(
        request.objective, request.method, request.evaluations, plan.seeds, folder
    )
    with workers_of(request.executor, count, folder) as workers:
        evaluator = Evaluator(plan.bases, workers, count, folder)
        study = Search(plan.name, plan.space, plan.references, evaluator, options)
        result = study.run()
    if plan.fabric and plan.fabric.ai_ecn:
        note = (
            f"AI-ECN ({plan.fabric.ai_ecn}) gives way to the choice's static thresholds; it is "
            "compared at the bounds of the vendor's sample"
        )
        result = result.model_copy(update={"notes": (*result.notes, note)})
    scored = [(point, study.ask([point])[0]) for point in study.table]
    return Searched(result, plan, tuple(_rows(plan.space, scored)))


def _rows(
    space: Space, scored: Sequence[tuple[Point, dict[str, float]]]
) -> list[tuple[dict[str, float], dict[str, float]]]:
    return [(space.values(point), ratio) for point, ratio in scored]


def plan_of(request: SearchRequest) -> Plan:
    """Return the scenarios, the space and the references of a request; raises BadInput."""
    if request.method not in METHODS:
        raise BadInput(f"no method {request.method!r}", how=f"write one of {', '.join(METHODS)}")
    if request.scenarios:
        plan = _of_files(request)
    else:
        own = fabric_search(request.fabric or Path(), request.demand, nic=request.nic)
        plan = Plan(own.name, own.bases, own.space, own.references, fabric=own)
    if plan.space.size == 0:
        reasons = ", ".join(plan.space.refused)
        what = f"no combination is allowed: {reasons}"
        raise BadInput(what, where=plan.name, how="lower xoff or headroom, or change the space")
    return plan


def _of_files(request: SearchRequest) -> Plan:
    """Return the plan of scenario files; the first has the space and the start point."""
    loaded = [load_scenario(path) for path in request.scenarios]
    bases = tuple(base_of(*each) for each in loaded)
    first = bases[0].scenario
    for base, (_, document) in zip(bases[1:], loaded[1:], strict=True):
        _check_alike(base, bases[0], document)
    static = first.buffer.xoff_kbytes is not None
    values = first.search or published_space(first.port_gbps, static=static)
    if request.nic:
        values = SearchSpace(**{**values.model_dump(), "nic": {**NIC_VALUES, **values.nic}})
    refusals = [scenario_refusal(base.scenario, base.ground) for base in bases]

    def refusal(settings: Settings) -> str:
        return next(filter(None, (refuse(settings) for refuse in refusals)), "")

    space = Space(axes_of(values), lambda chosen: settings_of(chosen, first), refusal)
    if not space.axes:
        path = ("search",)
        raise BadInput(
            "the space has no values",
            where=str(loaded[0][1].at(path)),
            how="list values of a parameter, or remove the key",
        )
    name = ", ".join(base.scenario.scenario for base in bases)
    return Plan(name, bases, space, tuple(_references(bases[0], refusal)), first.seeds)


def _references(base: Base, refusal: Refusal) -> list[Reference]:
    """Return what a scenario has, the profiles of its speed, and ByteTuning's start point."""
    own = Reference("as the scenario is", "", Settings(), refusal(Settings()))
    speeds = {cable.gbps for cable in base.ground.cables}
    profiles = profile_references(profiles_of(this_site()), base.scenario, speeds, refusal)
    start = [byte_tuning_start(refusal)] if base.scenario.port_gbps == 25 else []
    return [own, *start, *profiles]


def _check_alike(base: Base, first: Base, document: Document) -> None:
    """Raise BadInput if settings of one scenario mean something else in another."""
    if base.scenario.port_gbps != first.scenario.port_gbps:
        raise BadInput(
            f"port_gbps is {base.scenario.port_gbps}, that of the first scenario "
            f"{first.scenario.port_gbps}",
            where=str(document.at(("port_gbps",))),
            how="search scenarios of one speed together",
        )
    if (base.scenario.buffer.xoff_kbytes is None) != (first.scenario.buffer.xoff_kbytes is None):
        raise BadInput(
            "of these scenarios one has xoff_kbytes and another alpha",
            where=str(document.at(("buffer",))),
            how="search scenarios with one kind of threshold together",
        )


def results_folder() -> Path:
    """Return the folder of results in the user's cache."""
    from rocefort.tuning.kernel.compile import cache_directory  # noqa: PLC0415 - imports numba

    directory = cache_directory()
    if directory is None:
        what = "no folder for results can be written"
        raise BadInput(what, how="name one: --results DIR")
    return directory.parent / "simulations"
