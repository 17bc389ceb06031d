"""Steps of `capacity`: compare a facility's traffic demand with the capacity of its fabric."""

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
    """A traffic demand and its file; both empty without a named file or one beside the fabric."""

    demand: Demand | None = None
    file: str = ""


def demand_of(fabric: Path | None, named: Path | None, network: Network) -> DemandFile:
    """Load the named demand, or the one beside the fabric; raises as `load_demand` does."""
    path = named or (demand_beside(fabric) if fabric else None)
    if path is None:
        return DemandFile()
    return DemandFile(load_demand(path, network).demand, str(path))


def judge_capacity(fabric: Path, named: Path | None, scope: str | None = None) -> CapacityReport:
    """Compare a demand with a fabric as its rendered text describes it. scope: of failures."""
    subject = subject_of(fabric, None)
    return capacity_of(subject, demand_of(fabric, named, subject.network), scope=scope)


def capacity_of(
    subject: ReadNetwork,
    given: DemandFile,
    solution: Solution | None = None,
    scope: str | None = None,
) -> CapacityReport:
    """Compare a demand with a network; solution: of the routing engine, if there is one."""
    report = capacity(subject.network, given.demand, subject.sources, solution, scope)
    if report.asked is None:
        return report
    return report.model_copy(update={"asked": report.asked.model_copy(update={"file": given.file})})
