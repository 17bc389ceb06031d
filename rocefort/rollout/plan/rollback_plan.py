"""Rollback plan: it undoes an applied plan by reverse patches, as its journal records."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from rocefort.base.errors import BadInput, Refused
from rocefort.dialects.changes import conditions_of
from rocefort.models.change.plan import Change, ChangeKind, DrainedChange, Plan, Wave
from rocefort.models.device.secret import PLACEHOLDER, is_reference
from rocefort.models.hardware.hardware import Family
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import contents_of
from rocefort.rollout.plan.fabric_of_run import load_fabric_of_run, with_stored_fabric
from rocefort.rollout.planning.sealed_files import read_plan

UNDONE = {
    ChangeKind.ADDITIVE: ChangeKind.REMOVING,
    ChangeKind.REMOVING: ChangeKind.ADDITIVE,
    ChangeKind.MODIFYING: ChangeKind.MODIFYING,
}


def applied_of(plan: Plan, confirmed: Collection[str]) -> frozenset[str]:
    """Confirmed devices of a plan; raises Refused without any."""
    applied = frozenset(change.device for change in plan.changes if change.device in confirmed)
    if not applied:
        raise Refused("nothing of this plan was applied", where=plan.digest[:12])
    return applied


def plan_back(plan: Plan, applied: Collection[str], families: Mapping[str, Family]) -> Plan:
    """Seal a plan that rolls the confirmed devices back, the last wave first.

    Its baseline is the target of the applied plan, so it is refused on a switch that runs anything
    else. Raises Refused if nothing was applied, or if a device's old secret is unknown.
    """
    chosen = applied_of(plan, applied)
    changes = tuple(
        _undone(change, families[change.device])
        if change.device in chosen
        else change.model_copy(update=NOTHING)
        for change in plan.changes
    )
    waves = tuple(
        wave.model_copy(
            update={
                "devices": devices,
                "name": f"back: {wave.name}",
                "drained": tuple(_drained_rollback(wave, devices, families)),
            }
        )
        for wave in reversed(plan.waves)
        if (devices := tuple(device for device in wave.devices if device in chosen))
    )
    return plan.model_copy(update={"changes": changes, "waves": waves, "limit": None}).seal()


def _drained_rollback(
    wave: Wave, devices: Collection[str], families: Mapping[str, Family]
) -> Iterator[DrainedChange]:
    """Reverse steps of a drained switch: undoing the end of the drain drains it again."""
    for each in wave.drained:
        if each.device in devices:
            yield each.model_copy(
                update={
                    "drain": each.lift.undone,
                    "change": _undone(each.change, families[each.device]),
                    "lift": each.drain.undone,
                }
            )


NOTHING = {
    "edits": (),
    "patch": (),
    "reverse": (),
    "service_affecting": (),
    "conditions": (),
    "soak": None,
}


def _undone(change: Change, family: Family) -> Change:
    _refuse_unknown_secrets(change)
    conditions = conditions_of(change.reverse, family)
    return change.undone.model_copy(update={"kind": UNDONE[change.kind], "conditions": conditions})


def _refuse_unknown_secrets(change: Change) -> None:
    stated = [m[1] for line in change.reverse for m in PLACEHOLDER.finditer(line)]
    if change.only_secrets or any(not is_reference(secret) for secret in stated):
        raise Refused(
            "its old secret is unknown: a switch does not show it",
            where=change.device,
            how="name the old secret in the fabric and plan again",
        )


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
