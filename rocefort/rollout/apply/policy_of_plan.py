"""Policy and windows of a plan: the same for its text, its page, `apply` and `status`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from rocefort.base.errors import BadInput, Refused, RocefortError
from rocefort.design.load.documents import load_fabric
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply.operate import status_of_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.gates import gate_of
from rocefort.rollout.journal.history import RunHistory
from rocefort.rollout.plan.base_policy import policy_of_base
from rocefort.rollout.plan.fabric_of_run import load_fabric_of_plan
from rocefort.rollout.planning.plan_policy import PlanPolicy
from rocefort.rollout.planning.sealed_files import changed_files
from rocefort.rollout.planning.wave_windows import WaveWindow, WaveWindows


def approval_policy(plan: Plan, base: str = "") -> PlanPolicy:
    """Approval policy and calendars that hold for a plan, and the policy that its change brings.

    base: `REV:` of the intent whose policy alone counts, chosen by the user who applies the plan.
    Raises BadInput and Refused: it cannot be read, an input of the plan has changed, or no signer
    satisfies two policies.
    """
    source = Path(plan.source)
    if plan.kept:
        kept = load_fabric_of_plan(plan).fabric.policy
        before = policy_of_base(plan, base) or PlanPolicy(
            approvals=kept.approvals, origin="policy of the run that the plan rolls back"
        )
        return before.with_own(kept, source)
    if changed := changed_files(plan):
        raise Refused(problems=changed[:1])
    own = load_fabric(source).fabric.rollout
    before = policy_of_base(plan, base) or PlanPolicy(
        approvals=own.approvals,
        origin="policy of the fabric itself: git has no earlier version of it",
    )
    return before.with_own(own, source).model_copy(update={"own": own.approvals})


def windows_of(
    plan: Plan, policy: PlanPolicy, scale: float = 1.0, at: datetime | None = None
) -> tuple[WaveWindow, ...]:
    """Window of each wave, as if it began now, or at a time; empty without a calendar.

    scale: seconds of the switches in one of this machine.
    """
    if not policy.calendars:
        return ()
    network = load_fabric_of_plan(plan).fabric.network
    windows = WaveWindows.of(plan, network, policy.calendars, gate_of().seconds, scale)
    if at is not None:
        moment = at
        windows = replace(windows, now=lambda: moment)
    return tuple(map(windows.window, plan.waves))


def time_of(text: str, policy: PlanPolicy) -> datetime | None:
    """Time that a user names, in the zone of the calendar if it has none; None: empty, now."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        how = "write it as 2027-03-28T01:30, or 2027-03-28T01:30+01:00"
        raise BadInput(f"{text[:40]!r} is not a time", where="--at", how=how) from None
    if at.tzinfo is not None:
        return at
    zone = policy.calendars[0].time_zone if policy.calendars else "UTC"
    return at.replace(tzinfo=ZoneInfo(zone))


def policy_of_run(plan: Plan, history: RunHistory) -> str:
    """Sentence on the policy of a plan's last run; without a run, of the next one."""
    policy = history.rules.policy if history.rules else ""
    return policy or shown_policy(plan).sentence(plan)


def policy_of_start(plan: Plan, journal: Path, options: ApplyOptions) -> str:
    """Sentence on the policy of a run that begins or is resumed, with what its options add.

    It is empty where there is no run to resume.
    """
    if options.resume and not journal.is_file():
        return ""
    if options.resume:
        text = policy_of_run(plan, status_of_plan(plan, journal).progress.history)
    else:
        text = shown_policy(plan, options.base).sentence(plan)
    if options.break_glass:
        return f"{text}; --break-glass skips them"
    added = options.each_wave or options.required
    return f"{text}; an option requires one for every wave" if added else text


def shown_policy(plan: Plan, base: str = "") -> PlanPolicy:
    """Policy as `approval_policy`; one that cannot be read has the reason."""
    try:
        return approval_policy(plan, base)
    except RocefortError as error:
        return PlanPolicy(approvals=None, origin=str(error.problem))
