"""Steps of `tune search` and `tune simulate`, with the page of a search."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rocefort.base.atomic_files import put_together
from rocefort.base.documents.read import Document, read_document
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.progress import Step
from rocefort.base.repository import this_site
from rocefort.design.load.documents import find_fabric
from rocefort.design.load.profiles import profiles_of
from rocefort.models.fabric.congestion_control import Dcqcn
from rocefort.tune.fabric_search import (
    FabricSearch,
    byte_tuning_start,
    fabric_ground,
    fabric_of,
    fabric_search,
    own_profiles_text,
    profile_references,
)
from rocefort.tune.model import SearchResult, Settings, Simulation
from rocefort.tune.page import search_page
from rocefort.tune.scenario import DEFAULT_SEEDS, Scenario, SearchSpace, lowest_rate_mbps
from rocefort.tune.search.byte_tuning import DEFAULT_WEIGHTS, Weights
from rocefort.tune.search.comparison import TriedCandidate
from rocefort.tune.search.evaluate import Evaluator
from rocefort.tune.search.executors import workers_of
from rocefort.tune.search.jobs import Base, ResultFolder
from rocefort.tune.search.limits import Refusal, scenario_refusal
from rocefort.tune.search.objectives import DROPS, GOALS, UNFINISHED
from rocefort.tune.search.points import (
    NIC_VALUES,
    Space,
    axes_of,
    published_space,
    settings_of,
)
from rocefort.tune.search.search import METHODS, ReferenceSettings, Search, SearchOptions
from rocefort.tune.simulator.layout import ground_of
from rocefort.tune.simulator.simulate import require_numba, simulate, with_profile
from rocefort.verification.page.fabric_page import provenance_of

EvaluatorOf = Callable[[tuple[Base, ...]], Evaluator]


def write_pictures(searched: Searched, result: SearchResult, folder: Path) -> None:
    """Write index.html, candidates.csv and search.json; raises BadInput."""
    origins = [provenance_of(file) for file in searched.plan.files]
    files = {
        "index.html": search_page(result, searched.candidates, origins),
        "candidates.csv": candidates_csv(searched.candidates),
        "search.json": result.model_dump_json(indent=1) + "\n",
    }
    put_together(files, folder)


def candidates_csv(candidates: Sequence[TriedCandidate]) -> str:
    """Return a line for each candidate: its values, its ratios to the start point, its figures.

    Figures are means over the candidate's seeds, of each scenario; an empty ratio: the start point
    has 0.
    """
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    first = candidates[0]
    goals = [goal for goal in GOALS if goal.name in first.ratios]
    figures = [
        (number, goal)
        for number, scenario in enumerate(first.scenarios)
        for goal in (*GOALS, DROPS, UNFINISHED)
        if goal.read(scenario) is not None
    ]
    writer.writerow(
        [
            *first.values,
            "seeds",
            *(f"{g.name} ratio ({g.better} is better)" for g in goals),
            *(f"{first.scenarios[n].scenario} {g.name}, {g.unit}" for n, g in figures),
        ]
    )
    for each in candidates:
        ratios = [each.ratios[goal.name] for goal in goals]
        values = [goal.read(each.scenarios[number]) for number, goal in figures]
        numbers = ("" if v is None else f"{v:.6g}" for v in (*ratios, *values))
        writer.writerow([*each.values.values(), len(each.scenarios[0].seeds), *numbers])
    return out.getvalue()


@dataclass(frozen=True)
class SearchRequest:
    """Request of a search. results: folder; None: that of the user's cache."""

    fabric: Path | None = None
    demand: Path | None = None
    scenarios: tuple[Path, ...] = ()
    objective: str = "both"
    weights: Weights = DEFAULT_WEIGHTS
    method: str = "auto"
    evaluations: int = 400
    nic: bool = False
    executor: str = "processes"
    workers: int = 0
    results: Path | None = None


@dataclass(frozen=True)
class SearchPlan:
    """Scenarios, space and references of a search; fabric: what a winner is written to.

    files: of the fabric and its demand, or of the scenarios and their fabrics.
    """

    name: str
    bases: tuple[Base, ...]
    space: Space
    references: tuple[ReferenceSettings, ...]
    files: tuple[Path, ...]
    seeds: tuple[int, ...] = DEFAULT_SEEDS
    fabric: FabricSearch | None = None

    @property
    def text(self) -> str:
        """Text of the fabric that the search began with."""
        return self.fabric.text if self.fabric else ""


@dataclass(frozen=True)
class Searched:
    """Finished search with every candidate."""

    result: SearchResult
    plan: SearchPlan
    candidates: tuple[TriedCandidate, ...] = ()


def search(request: SearchRequest) -> Searched:
    """Search; raises BadInput for an unusable request, ServiceFailed if workers end."""
    require_numba()
    with Step("read the scenarios"):
        plan = plan_of(request)
    folder = request.results or results_folder()
    options = SearchOptions(
        request.objective,
        request.method,
        request.evaluations,
        plan.seeds,
        request.weights,
        folder,
    )
    with evaluators(request.executor, request.workers, folder) as evaluator_of:
        evaluator = evaluator_of(plan.bases)
        study = Search(plan.name, plan.space, plan.references, evaluator, options)
        result = study.run()
    notes = (*result.notes, *_notes(plan, result))
    result = result.model_copy(update={"notes": notes})
    return Searched(result, plan, tuple(study.tried.values()))


def _notes(plan: SearchPlan, result: SearchResult) -> Iterator[str]:
    """Yield what a reader of the verdict must know of the ECN and of the NICs."""
    other_ecn = result.chosen.settings.ecn != result.start.settings.ecn
    if plan.fabric and plan.fabric.ai_ecn and other_ecn:
        yield (
            f"AI-ECN ({plan.fabric.ai_ecn}) gives way to the choice's static thresholds; it is "
            "compared at the bounds of the vendor's sample"
        )
    if plan.fabric and (own := own_profiles_text(plan.fabric.derived)):
        yield f"{own}: the search takes the fabric's profile there, too, and changes no other"
    base = plan.bases[0]
    if plan.fabric and base.scenario.congestion_control == "pfc_only":
        yield "the fabric names no DCQCN profile (congestion_control), so its senders ignore ECN"
    if base.scenario.congestion_control == "dcqcn" and not result.chosen.settings.nic:
        varied = any(axis.name == "nic.min_rate_mbps" for axis in plan.space.axes)
        vary = "" if varied else ", or vary it by --nic"
        lowest = lowest_rate_mbps(with_profile(base.scenario, base.profile))
        yield (
            f"a NIC's lowest rate is {lowest:g} Mb/s in this search; with many senders it decides "
            "their goodput, so read it on the servers (rpg_min_rate)" + vary
        )


@contextmanager
def evaluators(executor: str, workers: int, folder: Path) -> Iterator[EvaluatorOf]:
    """Open workers; yield what makes evaluators of scenarios that share them; raises BadInput.

    workers: 0 for one for each core. folder: of results.
    """
    require_numba()
    ResultFolder(folder).prepare()
    with Step("load the simulator"):  # compiled before the workers begin, so that they load it
        tiny = {"flows": {"count": 1}, "duration_ms": 0.001, "measure_from_ms": 0, "seeds": (1,)}
        simulate(Scenario.model_validate(tiny), None)
    count = workers or os.cpu_count() or 1
    with workers_of(executor, count, folder) as opened:
        yield lambda bases: Evaluator(bases, opened, count, folder)


def plan_of(request: SearchRequest) -> SearchPlan:
    """Return the scenarios, the space and the references of a request; raises BadInput."""
    if request.method not in METHODS:
        raise BadInput(f"no method {request.method!r}", how=f"write one of {', '.join(METHODS)}")
    if request.scenarios:
        plan = _of_files(request)
    else:
        own = fabric_search(request.fabric or Path(), request.demand, nic=request.nic)
        files = (own.file, *((request.demand,) if request.demand else ()))
        plan = SearchPlan(own.name, own.bases, own.space, own.references, files, fabric=own)
    if plan.space.size == 0:
        reasons = ", ".join(plan.space.refused)
        what = f"no combination is allowed: {reasons}"
        raise BadInput(what, where=plan.name, how="lower xoff or headroom, or change the space")
    return plan


def _of_files(request: SearchRequest) -> SearchPlan:
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
    own = (base.scenario.topology.fabric for base in bases)
    files = dict.fromkeys((*request.scenarios, *(find_fabric(Path(f)) for f in own if f)))
    references = tuple(_references(bases[0], refusal))
    return SearchPlan(name, bases, space, references, tuple(files), first.seeds)


def _references(base: Base, refusal: Refusal) -> list[ReferenceSettings]:
    """Return what a scenario has, the profiles of its speed, and ByteTuning's start point."""
    own = ReferenceSettings("as the scenario is", "", Settings(), refusal(Settings()))
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
    from rocefort.tune.simulator.kernel.compile import cache_directory  # noqa: PLC0415 - imports numba

    directory = cache_directory()
    if directory is None:
        what = "no folder for results can be written"
        raise BadInput(what, how="name one: --results DIR")
    return directory.parent / "simulations"


def load_scenario(path: Path) -> tuple[Scenario, Document]:
    """Read a scenario; raises BadInput with all its problems."""
    document = read_document(path, "scenario: NAME")
    return validate(Scenario, document), document


def simulate_file(path: Path) -> Simulation:
    """Simulate the scenario of a file; raises BadInput."""
    base = base_of(*load_scenario(path))
    return simulate(base.scenario, base.profile, base.ground)


def base_of(scenario: Scenario, document: Document) -> Base:
    """Return a scenario with its NIC profile and its ground; raises BadInput."""
    require_numba()
    dcqcn = scenario.congestion_control == "dcqcn"
    profile = _profile(scenario, document) if dcqcn else None
    if scenario.topology.kind != "fabric":
        return Base(scenario, profile, ground_of(scenario))
    network, file = fabric_of(scenario)
    return Base(scenario, profile, fabric_ground(scenario, document, network, file))


def _profile(scenario: Scenario, document: Document) -> Dcqcn:
    """Return the DCQCN profile that a scenario names, of this site or shipped."""
    library = profiles_of(this_site())
    chosen = library.get("congestion_control", scenario.nic.profile)
    where = f"{document.at(('nic', 'profile'))}: nic.profile"
    if chosen is None:
        what, how = library.what_is_wrong("congestion_control", scenario.nic.profile)
        raise BadInput(what, where=where, how=how)
    if not isinstance(chosen.profile, Dcqcn):
        what = f"{scenario.nic.profile!r} is no profile of DCQCN"
        raise BadInput(what, where=where, how="write congestion_control: pfc_only, without nic")
    return chosen.profile
