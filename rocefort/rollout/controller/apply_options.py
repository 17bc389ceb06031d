"""Options of `rocefort apply` and `rocefort resume`, as the controller receives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocefort.base.errors import BadInput
from rocefort.models.change.plan import Gate
from rocefort.rollout.controller.protocols import GateVerdict
from rocefort.rollout.journal.events import ApplyRules

if TYPE_CHECKING:  # Nornir is slow to import
    from nornir.core import Nornir

APPLY_AGAIN = "apply the plan again to continue"


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """Options of one controller process.

    resume: continue the unfinished run of the journal, under the rules that it began with.
    each_wave: every wave waits for an approval. required: every wave waits for an approval by
    another person than the author. expires_h: validity of an approval; 0 for the value of the
    fabric. signers: file of allowed signers; only they may sign and approve. allow_sick: errors of
    the live checks from before a wave do not stop it. base: the intent whose policy applies,
    `REV:`; empty for the one before the change. rules: of a new run, if they do not follow from
    policy and options.

    approval_timeout_s: the longest wait for an approval. break_glass: reason for skipping
    approvals. unmeasured: reason for waves without a gate that the rules of load do not permit.
    drained: Kubernetes nodes that the operator declares as drained. gate: runs the gate of a wave
    instead of the default one. derives: whether a new run derives its plan again; not on a twin,
    which has other connections. resume_hint: instruction shown when the rollout is interrupted.
    """

    resume: bool = False
    each_wave: bool = False
    required: bool = False
    expires_h: float = 0
    signers: Path | None = None
    allow_sick: bool = False
    base: str = ""
    rules: ApplyRules | None = None
    approval_timeout_s: float = 0.0
    break_glass: str = ""
    unmeasured: str = ""
    drained: tuple[str, ...] = ()
    gate: Callable[[Nornir, Gate], GateVerdict] | None = None
    derives: bool = True
    resume_hint: str = APPLY_AGAIN

    def __post_init__(self) -> None:
        reasons = {"--break-glass": self.break_glass, "--allow-unmeasured": self.unmeasured}
        for option, reason in reasons.items():
            if not reason.isprintable():  # a line break would forge a row of the history
                how = "write the reason in one line, without control characters"
                raise BadInput("the reason is not one line", where=option, how=how)
