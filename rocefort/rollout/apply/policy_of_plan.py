"""Approval policy of a plan: the same for its text, its page, `apply` and `status`."""

from __future__ import annotations

from pathlib import Path

from rocefort.base.errors import Refused, RocefortError
from rocefort.design.load.documents import load_fabric
from rocefort.models.change.plan import Plan
from rocefort.rollout.apply.operate import status_of_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.history import RunHistory
from rocefort.rollout.plan.base_policy import policy_of_base
from rocefort.rollout.plan.fabric_of_run import load_fabric_of_plan
from rocefort.rollout.planning.plan_policy import PlanPolicy
from rocefort.rollout.planning.sealed_files import changed_files


def approval_policy(plan: Plan, base: str = "") -> PlanPolicy:
    """Approval policy that holds for a plan, and the one that its change brings.

    base: `REV:` of the intent whose policy alone counts, chosen by the user who applies the plan.
    Raises BadInput and Refused: it cannot be read, an input of the plan has changed, or no signer
    satisfies two policies.
    """
    if plan.kept:
        own = load_fabric_of_plan(plan).fabric.policy.approvals
        before = policy_of_base(plan, base)
        return before or PlanPolicy(
            approvals=own, origin="policy of the run that the plan rolls back"
        )
    if changed := changed_files(plan):
        raise Refused(problems=changed[:1])
    own = load_fabric(Path(plan.source)).fabric.rollout.approvals
    before = policy_of_base(plan, base) or PlanPolicy(
        approvals=own, origin="policy of the fabric itself: git has no earlier version of it"
    )
    return before.model_copy(update={"own": own})


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
