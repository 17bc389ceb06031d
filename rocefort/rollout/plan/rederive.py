"""Derive a plan again before its first act and compare it with the sealed one.

The seal is a digest without a key: every user who can write a plan can seal it. So a new run makes
the plan again. The inputs are the fabric's files, whose digests the plan has, and the running
configurations. If a command, a wave or a time differs, the run sends nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

from rocefort.base.errors import BadInput, Refused
from rocefort.design.derive.derive import derive
from rocefort.design.subject import subject_of_derived
from rocefort.dialects.choose import dialect_of
from rocefort.fleet.connections import Connections
from rocefort.models.base import Frozen
from rocefort.models.change.plan import Change, Gate, Plan, PlanLimit, Wave
from rocefort.rollout.journal.events import RunningConfig, SwitchState, TrialOwner
from rocefort.rollout.plan.make_plan import PlanOptions, make_plan
from rocefort.rollout.plan.rollback_plan import refuse_forged_back
from rocefort.rollout.planning.waves import NEW_LEAVES

HOW = "do not apply it: plan again, and compare both"
# Fields that are not compared with a plan made again, each with the reason. Every other field of a
# plan, also one that is added later, has to be as it follows from the fabric and the switches.
NOT_COMPARED: Mapping[str, Mapping[str, str]] = {
    "Plan": {
        "digest": "the seal of all other fields, checked when the file is read",
        "source": "the input: policy and page show the file, and that file is derived",
        "author": "free text, shown as not proven: only a signature proves an author",
        "limit": "compared apart: fewer other switches may differ by now",
        "changes": "compared switch by switch, as far as each has come",
        "waves": "compared one by one, as far as their switches have come",
    },
    "Wave": {
        "gate": "compared field by field, to name those that differ",
        "drained": "compared switch by switch, as far as each has come",
        "unavailable": "compared while no switch of the wave has changed",
        "warnings": "compared while no switch of the wave has changed",
    },
    "PlanLimit": {"left_out": "switches that do not differ any more are no difference"},
}
ORIGIN = "the fabric, the connections and the running configurations"
OWN_TEXT = ("running_digest", "intended_digest", "kept")  # of a switch that is not read


def refuse_forged(
    plan: Plan,
    access: Connections,
    seen: Mapping[str, SwitchState],
    running: Mapping[str, str],
    *,
    again: bool,
) -> None:
    """Raise Refused if a plan does not follow from its fabric and the running configurations.

    seen, running: of every switch of its waves; of a limited plan running has the other switches,
    too. again: an earlier run of this plan may have left switches drained. A rollback plan is not
    derived, but made again from its journal.
    """
    if plan.kept:
        refuse_forged_back(plan)
        return
    old = {name for name, each in seen.items() if each.runs is RunningConfig.BASELINE}
    between = [name for name, each in seen.items() if each.runs is RunningConfig.INTERMEDIATE]
    if between and not again:
        what = "is between two states of this plan, but this journal has no run that left it there"
        raise Refused(what, where=between[0], how="name the journal of that run, or plan again")
    if any(_stops(each) for each in seen.values()):
        return
    subject = subject_of_derived(derive(Path(plan.source)))
    nodes = subject.network.by_name
    texts = {n: dialect_of(nodes[n]).as_saved(t) for n, t in subject.texts.items()}
    drained = {n for n, each in seen.items() if each.runs is RunningConfig.INTERMEDIATE}
    read = {*seen, *(running if plan.limit else ())}
    texts |= {name: running[name] for name in read - drained}
    limit = plan.limit.switches if plan.limit else ()
    adopt = [each.replace(": ", ":", 1) for each in plan.adopted if each.split(":")[0] in old]
    new = _new(plan, set(seen) - old)
    wishes = PlanOptions(plan.rotated, plan.base, adopt, limit, new)
    try:
        derived = make_plan(Path(plan.source), access, texts, wishes, changed=seen)
    except BadInput as error:  # of a field that is an input of the plan
        what = f"cannot be made again: {error.problem}"
        raise Refused(what, where=f"plan {plan.digest[:12]}", how=HOW) from None
    for difference in differences(plan, derived, seen, old):
        raise Refused(difference, where=f"plan {plan.digest[:12]}", how=HOW)


def _new(plan: Plan, changed: Collection[str]) -> set[str]:
    """Changed switches that were new by the plan: what they ran before is not read again."""
    waves = [wave for wave in plan.waves if wave.name.startswith(NEW_LEAVES)]
    return {name for wave in waves for name in wave.devices if name in changed}


def _stops(seen: SwitchState) -> bool:
    """Whether the rollout stops because of this switch, with a reason."""
    return (
        bool(seen.trouble) or seen.runs is RunningConfig.UNKNOWN or seen.trial is TrialOwner.OTHER
    )


def differences(
    plan: Plan, derived: Plan, seen: Mapping[str, SwitchState], old: set[str]
) -> Iterator[str]:
    """Sentences on the differences, in order."""
    fresh = set(seen) == old
    yield from _of_limit(plan.limit, derived.limit, fresh=fresh)
    yield from _of_changes(plan, derived, seen, old)
    for times in ("trial_s", "settle_s"):
        if getattr(plan, times) != getattr(derived, times):
            yield f"{times} is {getattr(plan, times)}, but {getattr(derived, times)} in the fabric"
    drift = () if fresh else ("adopted",)  # what a changed switch ran before is gone
    yield from _of_fields("the plan", plan, derived, drift)
    for sealed, other_wave in zip_longest(plan.waves, derived.waves):
        yield from _of_wave(sealed, other_wave, old)
    for sealed_change, other in zip(plan.changes, derived.changes, strict=False):
        if sealed_change.device not in seen:  # its text is not read again
            yield from _of_fields(sealed_change.device, sealed_change, other, OWN_TEXT)


def _of_changes(
    plan: Plan, derived: Plan, seen: Mapping[str, SwitchState], old: set[str]
) -> Iterator[str]:
    derived_changes = {change.device: change for change in derived.changes}
    for change in plan.changes:
        other = derived_changes.get(change.device)
        if other is None:
            yield f"{change.device}: is not a switch of the fabric"
        elif change.device in old:
            yield from _of_change(change, other)
        elif change.device not in seen and not change.empty:
            yield f"{change.device}: has commands, but is in none of its waves"
        elif seen_new(seen, change) and change.intended_digest != other.intended_digest:
            yield f"{change.device}: its intended digest does not follow from the fabric"
    if [each.device for each in plan.changes] != list(derived_changes):
        yield f"its switches are not those of the fabric: {', '.join(derived_changes)}"


def _of_fields(
    name: str, sealed: Frozen, derived: Frozen, except_for: Collection[str] = ()
) -> Iterator[str]:
    """Sentences on the fields of two models that are not equal."""
    left_out = {*NOT_COMPARED.get(type(sealed).__name__, ()), *except_for}
    for field in type(sealed).model_fields:
        if field not in left_out and getattr(sealed, field) != getattr(derived, field):
            yield f"{name}: its {field} does not follow from {ORIGIN}"


def _of_limit(sealed: PlanLimit | None, derived: PlanLimit | None, *, fresh: bool) -> Iterator[str]:
    """Switches that differ and that the limited plan does not list; fewer may differ by now."""
    if sealed is None or derived is None:
        if sealed is not derived:
            yield f"its limit does not follow from {ORIGIN}"
        return
    for name in derived.left_out:
        if name not in sealed.left_out:
            yield f"{name}: differs from the fabric, and the plan neither has nor lists it"
    if fresh and sealed.left_out == derived.left_out:
        yield from _of_fields("its limit", sealed, derived)


def seen_new(seen: Mapping[str, SwitchState], change: Change) -> bool:
    """Whether a switch runs its target configuration."""
    return change.device in seen and seen[change.device].runs is RunningConfig.TARGET


def _of_change(sealed: Change, derived: Change) -> Iterator[str]:
    name = sealed.device
    yield from _of_commands(f"{name}: line", sealed.patch, derived.patch)
    yield from _of_commands(f"{name}: rollback line", sealed.reverse, derived.reverse)
    yield from _of_fields(name, sealed, derived)


def _of_commands(what: str, sealed: tuple[str, ...], derived: tuple[str, ...]) -> Iterator[str]:
    for number, (has, follows) in enumerate(zip_longest(sealed, derived), 1):
        if has != follows:
            words = "nothing" if follows is None else f"'{follows.strip()}'"
            given = "missing" if has is None else f"'{has.strip()}'"
            yield f"{what} {number} is {given}; {words} follows from fabric and running text"
            return


def _of_wave(sealed: Wave | None, derived: Wave | None, old: set[str]) -> Iterator[str]:
    if sealed is None or derived is None:
        wave = sealed or derived
        yield f"wave {wave.name if wave else ''}: is not in both"
        return
    yield from _of_fields(f"wave {sealed.name}", sealed, derived)
    parts = [f for f in Gate.model_fields if getattr(sealed.gate, f) != getattr(derived.gate, f)]
    if parts:
        what = f"its gate ({', '.join(parts)})"
        yield f"wave {sealed.name}: {what} does not follow from {ORIGIN}"
    if old.issuperset(sealed.devices):
        for field in ("unavailable", "warnings"):
            if getattr(sealed, field) != getattr(derived, field):
                yield f"wave {sealed.name}: its {field} do not follow from {ORIGIN}"
    for device in sealed.devices:
        drained, other = sealed.drained_change(device), derived.drained_change(device)
        if device not in old or drained == other:
            continue
        if drained is None or other is None:
            yield f"{device}: is drained by {'the plan' if drained else 'the fabric'} alone"
            continue
        for part, again in zip(drained.parts, other.parts, strict=True):
            yield from _of_change(part, again)
        yield f"{device}: its drain does not follow from fabric and running configuration"
