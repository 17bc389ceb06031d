"""Results of commands on plans, for programs, and the report of `approve`."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.change.plan import Plan
from rocefort.reports.blocks import Code
from rocefort.rollout.planning.plan_policy import PlanPolicy


class PlanOutput(Frozen):
    """Sealed plan, its file, and the files of its signature and its page, "" without one.

    policy: the approval policy that `apply` uses, and where it comes from.
    """

    file: str
    signature: str
    page: str = ""
    policy: PlanPolicy
    plan: Plan


class ProcedureStep(Frozen):
    """Manual step: a sentence, and the lines to type."""

    what: str
    commands: tuple[str, ...] = ()


class Procedure(Frozen):
    """Manual steps for one switch, in their order."""

    title: str
    steps: tuple[ProcedureStep, ...]


class Procedures(Frozen):
    """Manual procedures."""

    procedures: tuple[Procedure, ...]


class Approval(Frozen):
    """Approval of a wave; policy, rehearsal: of its run and its plan, as sentences."""

    plan: str
    wave: str
    by: str
    policy: str
    rehearsal: str


def approval_report(given: Approval) -> Code:
    """Show who approved a wave, the policy of its run, and the rehearsal of its plan."""
    approved = f"wave {given.wave} of plan {given.plan[:12]} approved by {given.by}"
    return Code((approved, given.policy, f"rehearsal: {given.rehearsal}"))
