"""How a plan is carried out: everything that its caller chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocefort.errors import BadInput
from rocefort.models.rollout.events import ApplyRules
from rocefort.models.rollout.plan import Gate
from rocefort.rollout.controller.protocols import GateVerdict

if TYPE_CHECKING:  # Nornir is slow to import
    from nornir.core import Nornir

APPLY_AGAIN = "apply the plan again to go on"


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """Options of one life of a controller.

    resume: go on with the run that the journal has, under the rules that it began with.
    each_wave: every wave waits for an approval. required: it does, and waits for another person
    than the author. expires_h: how long an approval holds; 0 as the fabric says. signers: whose
    keys are known; then only they sign and approve. allow_sick: errors of the live checks that are
    there before a wave do not stop it. base: the intent whose policy counts, `REV:`; empty: the
    one before the change. rules: of a new run, where they do not follow from policy and options.

    patience_s: how long to wait for an approval. break_glass: why waves go on without approvals.
    gate: runs the gate of a wave, where it is another than the connections ask for. derives:
    whether a new run derives its plan again; not on a twin, which is reached otherwise. again: what
    the person who interrupts it does to go on.
    """

    resume: bool = False
    each_wave: bool = False
    required: bool = False
    expires_h: float = 0
    signers: Path | None = None
    allow_sick: bool = False
    base: str = ""
    rules: ApplyRules | None = None
    patience_s: float = 0.0
    break_glass: str = ""
    gate: Callable[[Nornir, Gate], GateVerdict] | None = None
    derives: bool = True
    again: str = APPLY_AGAIN

    def __post_init__(self) -> None:
        if not self.break_glass.isprintable():  # it would be a row of its own in a history
            how = "write the reason in one line, without control characters"
            raise BadInput("the reason is not one line", where="--break-glass", how=how)
