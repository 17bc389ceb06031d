"""Rollback plan: a plan that undoes an applied plan by its reverse patches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from rocefort.base.errors import Refused
from rocefort.dialects.changes import conditions_of
from rocefort.models.change.plan import Change, ChangeKind, DrainedChange, Plan, Wave
from rocefort.models.device.secret import PLACEHOLDER, is_reference
from rocefort.models.hardware.hardware import Family

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
