"""Rollback plan of an applied plan: made from its journal, and again before it is applied."""

from __future__ import annotations

from pathlib import Path

from rocefort.base.errors import BadInput, Refused
from rocefort.models.change.plan import Plan
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import contents_of
from rocefort.rollout.plan.fabric_of_run import load_fabric_of_run, with_stored_fabric
from rocefort.rollout.planning.rollback import applied_of, plan_back
from rocefort.rollout.planning.sealed_files import read_plan

ANEW = "make the rollback plan again: `rocefort rollback`"


def back_of(run: RunDirectory, author: str) -> Plan:
    """Rollback plan of the devices that the journal of a sealed plan shows as confirmed.

    It uses the fabric stored by the run: the fabric's files describe the state before the rollback.
    Raises Refused if nothing was confirmed, a run is unfinished, or the journal is damaged.
    """
    plan = read_plan(run.plan)
    contents = contents_of(run.journal, plan.digest)
    if contents.damage:
        how = "undo the change in the fabric's files, then `rocefort plan` plans the rollback"
        raise Refused(f"is damaged: {contents.damage}", file=contents.path, how=how)
    if contents.runs and not contents.runs[-1].ended:
        raise Refused(
            "has an unfinished run of this plan",
            file=contents.path,
            how="`rocefort resume` or `rocefort abort` first",
        )
    applied = applied_of(plan, contents.confirmed)
    ground = load_fabric_of_run(plan, run, contents.runs[-1].history.fabric)
    families = {n.name: n.family for n in ground.fabric.network.nodes if n.family}
    mine = plan.model_copy(update={"author": author, "undoes": str(run.plan.resolve())})
    return plan_back(with_stored_fabric(mine, run, ground), applied, families)


def refuse_forged_back(plan: Plan) -> None:
    """Raise Refused if a rollback plan does not follow from its journal and the undone plan.

    Nothing is derived: the commands are those that the undone plan has sealed.
    """
    where = f"plan {plan.digest[:12]}"
    if not plan.undoes:
        raise Refused("does not name the plan that it rolls back", where=where, how=ANEW)
    try:
        journal = RunDirectory.of_kept_fabric(Path(plan.kept)).journal
        derived = back_of(RunDirectory(Path(plan.undoes), journal), plan.author)
    except (BadInput, Refused) as error:
        what = f"rolls {plan.undoes} back, but {error.problem.where}: {error.problem.what}"
        raise Refused(what, where=where, how=ANEW) from None
    if derived.digest != plan.digest:
        what = f"does not follow from its journal and {plan.undoes}"
        raise Refused(what, where=where, how=f"do not apply it: {ANEW}")
