"""Steps of `tune simulate`: read a scenario, join its NIC profile, and simulate it."""

from __future__ import annotations

from pathlib import Path

from rocefort.base.documents.read import Document, read_document
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.repository import this_site
from rocefort.design.load.profiles import profiles_of
from rocefort.models.fabric.congestion_control import Dcqcn
from rocefort.models.results.simulation import Simulation
from rocefort.models.tuning.scenario import Scenario
from rocefort.steps.tune.fabric_ground import fabric_ground, fabric_of
from rocefort.tuning.jobs import Base
from rocefort.tuning.layout import ground_of
from rocefort.tuning.simulate import require_numba, simulate


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
