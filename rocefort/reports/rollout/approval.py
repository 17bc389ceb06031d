"""Report of `approve`."""

from __future__ import annotations

from rocefort.models.rollout.outputs import Approval
from rocefort.reports.blocks import Code


def approval_report(given: Approval) -> Code:
    """Show who approved a wave, the policy of its run, and the rehearsal of its plan."""
    approved = f"wave {given.wave} of plan {given.plan[:12]} approved by {given.by}"
    return Code((approved, given.policy, f"rehearsal: {given.rehearsal}"))
