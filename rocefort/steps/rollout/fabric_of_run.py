"""Steps to the fabric of a plan or of a run: as its files say, or as a run has kept it.

A run keeps the fabric that it began with beside its journal, by its content. It goes on, ends and
is taken back by that one: the fabric's files may have been edited meanwhile, and a switch that is
drained or on trial must not wait for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rocefort.errors import BadInput, Refused
from rocefort.fleet.connections import Connections
from rocefort.models.network.network import Sources
from rocefort.models.rollout.fabric_snapshot import KeptFabric
from rocefort.models.rollout.plan import Plan
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.text_store import KeptTexts
from rocefort.steps.rollout.plan import sealed_fabric


@dataclass(frozen=True, slots=True)
class SealedFabric:
    """The fabric that a run stands on.

    sources: where its values stand in files; None for a kept one, of which those may say else now.
    """

    fabric: KeptFabric
    sources: Sources | None = None

    def reachable_hosts(self, access: Connections) -> Connections:
        """Connections without what a kept fabric did not have yet; those of files must fit it."""
        if self.sources is not None:
            return access
        switches = {node.name for node in self.fabric.network.nodes}
        servers = {server.name for server in self.fabric.network.servers or ()}
        return access.model_copy(
            update={
                "devices": tuple(each for each in access.devices if each.name in switches),
                "servers": tuple(each for each in access.servers if each.name in servers),
            }
        )


def keep_fabric(run: RunDirectory, fabric: KeptFabric) -> str:
    """Keep a fabric, for its owner alone; returns its digest. Raises ServiceFailed."""
    return KeptTexts(run.fabrics, "the fabric").keep(fabric.model_dump_json())


def read_fabric(place: Path) -> KeptFabric:
    """A kept fabric; raises BadInput where it is not there or was changed, Refused as another."""
    try:
        return KeptFabric.model_validate_json(KeptTexts(place.parent).read(place.name))
    except ValidationError:
        how = "go on by the version that kept it"
        raise Refused("is no fabric of this version", where=str(place), how=how) from None


def ground_of_plan(plan: Plan) -> SealedFabric:
    """What a new run stands on; raises Refused where anything that the plan was made from changed.

    A plan back was made from what the run that it takes back has kept, and not from the files.
    """
    if plan.kept:
        try:
            return SealedFabric(read_fabric(Path(plan.kept)))
        except BadInput as lost:
            how = "bring it back as it was, or make the way back anew: `rocefort rollback`"
            raise BadInput(lost.problem.what, where=plan.kept, how=how) from None
    derived = sealed_fabric(plan)
    fabric = KeptFabric(network=derived.network, policy=derived.fabric.rollout)
    return SealedFabric(fabric, derived.sources)


def ground_of_run(plan: Plan, run: RunDirectory, digest: str) -> SealedFabric:
    """What a run that has begun stands on, whatever became of the fabric's files.

    digest: under which the run has kept it. Where that file is lost, those of the plan will do as
    long as they are what they were; raises Refused where they are not either. Nothing is derived,
    so another version of Rocefort than the plan's brings the run to its end, too.
    """
    place = run.fabrics / digest
    try:
        return SealedFabric(read_fabric(place))
    except BadInput as lost:
        try:
            return ground_of_plan(plan)
        except (BadInput, Refused) as changed:
            raise Refused(
                f"{lost.problem.what}, and {changed.problem.where}: {changed.problem.what}",
                where=str(place),
                how="bring back one of the two as it was",
            ) from None


def back_stands_on(plan: Plan, run: RunDirectory, ground: SealedFabric) -> Plan:
    """The plan whose way back is to be made, standing on what its run has kept."""
    digest = keep_fabric(run, ground.fabric)
    return plan.model_copy(update={"kept": str((run.fabrics / digest).resolve())})
