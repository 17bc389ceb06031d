"""Load the fabric of a plan or run, from the fabric's files or from the copy of the run.

A run stores the fabric that it began with beside its journal, named by its digest. Its resume, end
and rollback use that copy. The fabric's files may have been edited meanwhile, and a switch that is
drained or on trial must not wait for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rocefort.base.errors import BadInput, Refused
from rocefort.fleet.connections import Connections
from rocefort.models.base import Frozen
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.fabric import Rollout
from rocefort.models.network.network import Network, Sources
from rocefort.rollout.journal.run_directory import KeptTexts, RunDirectory
from rocefort.rollout.plan.make_plan import sealed_fabric


class KeptFabric(Frozen):
    """Network, by which switches are reached and checked, and the policy of its rollouts.

    It contains secrets by reference only.
    """

    network: Network
    policy: Rollout


@dataclass(frozen=True, slots=True)
class SealedFabric:
    """Fabric that a run was sealed against.

    sources: positions of its values in files; None for a stored copy, whose files may differ now.
    """

    fabric: KeptFabric
    sources: Sources | None = None

    def reachable_hosts(self, access: Connections) -> Connections:
        """Connections to the hosts of a stored fabric; those to a fabric of files must all fit."""
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
    """Store a fabric, readable by its owner only; returns its digest. Raises ServiceFailed."""
    return KeptTexts(run.fabrics, "the fabric").keep(fabric.model_dump_json())


def read_fabric(path: Path) -> KeptFabric:
    """Read a stored fabric; raises BadInput if missing or changed, Refused for another version."""
    try:
        return KeptFabric.model_validate_json(KeptTexts(path.parent).read(path.name))
    except ValidationError:
        how = "continue with the version that stored it"
        raise Refused("is not a fabric of this version", file=str(path), how=how) from None


def load_fabric_of_plan(plan: Plan) -> SealedFabric:
    """Load the fabric of a new run; raises Refused if an input of the plan has changed.

    A rollback plan comes from the copy of the run that it undoes, and not from the files.
    """
    if plan.kept:
        try:
            return _fitting(plan, SealedFabric(read_fabric(Path(plan.kept))))
        except BadInput as lost:
            how = "restore it, or make the rollback plan again: `rocefort rollback`"
            raise BadInput(lost.problem.what, where=plan.kept, how=how) from None
    derived = sealed_fabric(plan)
    fabric = KeptFabric(network=derived.network, policy=derived.fabric.rollout)
    return _fitting(plan, SealedFabric(fabric, derived.sources))


def load_fabric_of_run(plan: Plan, run: RunDirectory, digest: str) -> SealedFabric:
    """Load the fabric of a begun run, even if the fabric's files have changed.

    digest: of the run's copy. If that file is lost, the unchanged files of the plan replace it;
    raises Refused if they have changed too. Nothing is derived, so another version of Rocefort than
    the plan's can also complete the run.
    """
    path = run.fabrics / digest
    try:
        return _fitting(plan, SealedFabric(read_fabric(path)))
    except BadInput as lost:
        try:
            return load_fabric_of_plan(plan)
        except (BadInput, Refused) as changed:
            raise Refused(
                f"{lost.problem.what}, and {changed.problem.where}: {changed.problem.what}",
                file=str(path),
                how="restore one of the two",
            ) from None


def _fitting(plan: Plan, ground: SealedFabric) -> SealedFabric:
    """Return the fabric; raises Refused for a switch or server that it does not have."""
    network = ground.fabric.network
    servers = {server.name for server in network.servers or ()}
    for change in plan.changes:
        if change.device not in network.by_name:
            raise Refused(f"{change.device}: is not a switch of the fabric", where=_name(plan))
    for wave in plan.waves:
        for name in (name for pair in wave.gate.pairs for name in (pair.client, pair.server)):
            if name not in servers:
                what = f"wave {wave.name}: its gate names {name}, which is no server of the fabric"
                raise Refused(what, where=_name(plan))
    return ground


def _name(plan: Plan) -> str:
    return f"plan {plan.digest[:12]}"


def with_stored_fabric(plan: Plan, run: RunDirectory, ground: SealedFabric) -> Plan:
    """Return a plan with the fabric stored by its run, for making its rollback plan."""
    digest = keep_fabric(run, ground.fabric)
    return plan.model_copy(update={"kept": str((run.fabrics / digest).resolve())})
