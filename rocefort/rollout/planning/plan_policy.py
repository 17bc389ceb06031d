"""Policy of a plan (approvals, calendars): where it comes from, and what the change makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rocefort.models.base import Frozen
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.approvals import Approvals
from rocefort.models.fabric.calendar import Calendar
from rocefort.models.fabric.fabric import Rollout
from rocefort.models.wording import count_of

NEXT = "from the next change on"


def calendars_of(rollout: Rollout, source: Path) -> tuple[Calendar, ...]:
    """Calendar of a fabric, with the path of its file.

    source: the fabric's file now, also for an earlier version of it under another name.
    """
    if rollout.calendar is None:
        return ()
    return (rollout.calendar.beside(str(source.resolve().parent)),)


class PlanPolicy(Frozen):
    """Policy that holds for a plan: approvals, and calendars that can hold its waves.

    approvals: None if the policy cannot be read. origin: file and revision of the policy, or why
    it cannot be read. own: policy that the change brings, which holds from the next change on;
    None for a rollback plan, which brings none. calendars: that of the change and that before it,
    with the paths of their files; a change cannot remove what holds it.
    """

    approvals: Approvals | None
    origin: str
    own: Approvals | None = None
    calendars: tuple[Calendar, ...] = ()

    def with_own(self, rollout: Rollout, source: Path) -> PlanPolicy:
        """Policy with the calendar of the change itself. source: its fabric's file."""
        both = (*calendars_of(rollout, source), *self.calendars)
        return self.model_copy(update={"calendars": tuple(dict.fromkeys(both))})

    def sentence(self, plan: Plan) -> str:
        """Approvals that the plan needs, the origin of the policy, and its change."""
        if self.approvals is None:
            return f"approvals: not known: {self.origin}"
        text = f"{self.approvals}"
        if self.approvals.required and not plan.needs_approval(self.approvals):
            text = f"none for so small a change; the policy is {text}"
        changed = self.change_of_policy
        return f"approvals: {text} ({self.origin})" + (f"; {changed}" if changed else "")

    @property
    def change_of_policy(self) -> str:
        """Effect of the change on the policy, and from when on; "" if it stays."""
        if self.approvals is None or self.own is None:
            return ""
        old, new = self.approvals.in_force, self.own.in_force
        if old == new:
            return ""
        if new.required and not old.required:
            return f"this change introduces {self.own}, which holds {NEXT}"
        if old.required and not new.required:
            rest = "" if str(self.own) == "none" else f" and leaves {self.own}"
            return f"this change removes them{rest}, which holds {NEXT}"
        others = "".join(f"; {text}" for text in _signers(old, new))
        return f"this change {_direction(old, new)} them to {self.own}, which holds {NEXT}{others}"


def _direction(old: Approvals, new: Approvals) -> str:
    """Verb for the change of a policy."""
    try:
        both = old.joined(new).in_force
    except ValueError:  # no signer is one of both
        return "changes"
    return "tightens" if both == new else "loosens" if both == old else "changes"


def _signers(old: Approvals, new: Approvals) -> Iterator[str]:
    """Numbers of signers that a change adds and removes, if it replaces some of as many."""
    if len(old.signers) != len(new.signers) or set(old.signers) == set(new.signers):
        return
    number = len(set(new.signers) - set(old.signers))
    yield f"{count_of(number, 'signer')} replaced"
