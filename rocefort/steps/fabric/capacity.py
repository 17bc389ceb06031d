"""Steps of `capacity`: the demand of a facility, by the fabric's text, against what it carries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rocefort.design.load.demand import demand_beside, load_demand
from rocefort.models.network.demand import Demand
from rocefort.models.network.network import Network
from rocefort.models.results.capacity import CapacityReport
from rocefort.steps.fabric.subject import ReadNetwork, subject_of
from rocefort.validators.capacity.capacity import capacity
from rocefort.validators.routing.engine import Solution


@dataclass(frozen=True)
class DemandFile:
    """A demand, and the file that it was read from; none: neither named nor beside the fabric."""

    demand: Demand | None = None
    file: str = ""


def demand_of(fabric: Path | None, named: Path | None, network: Network) -> DemandFile:
    """The demand that is named, or the one beside the fabric; raises as `load_demand` does."""
    path = named or (demand_beside(fabric) if fabric else None)
    if path is None:
        return DemandFile()
    return DemandFile(load_demand(path, network).demand, str(path))


def judge_capacity(fabric: Path, named: Path | None, scope: str | None = None) -> CapacityReport:
    """Hold a demand against a fabric; what is judged is what ships. scope: of failures."""
    subject = subject_of(fabric, None)
    return capacity_of(subject, demand_of(fabric, named, subject.network), scope=scope)


def capacity_of(
    subject: ReadNetwork,
    given: DemandFile,
    solution: Solution | None = None,
    scope: str | None = None,
) -> CapacityReport:
    """Hold a demand against what was read; solution: of the routing engine, if it is there."""
    found = capacity(subject.network, given.demand, subject.sources, solution, scope)
    if found.asked is None:
        return found
    return found.model_copy(update={"asked": found.asked.model_copy(update={"file": given.file})})
