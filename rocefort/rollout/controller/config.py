"""Configuration of the controller loop: options of `apply` and `resume`, fixed before it begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput
from rocefort.models.change.plan import Gate, Plan
from rocefort.rollout.controller.durations import nothing
from rocefort.rollout.controller.protocols import (
    UNGUARDED,
    GateVerdict,
    RunGate,
    Switches,
    TextStore,
    WaveGuards,
    WaveWatch,
)
from rocefort.rollout.journal.events import ApplyRules, SwitchState
from rocefort.rollout.journal.journal import EventListener, Journal

if TYPE_CHECKING:
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
    outside: reason for waves that a calendar holds, which then need an approval.
    drained: Kubernetes nodes that the operator declares as drained. gate: runs the gate of a wave
    instead of the default one. derives: whether a new run derives its plan again; not on a twin,
    which has other connections. after_acceptance: whether the failed acceptance of a stage refuses
    a new run; not that of a demonstration, or of a return. resume_hint: instruction shown when the
    rollout is interrupted.
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
    outside: str = ""
    drained: tuple[str, ...] = ()
    gate: Callable[[Nornir, Gate], GateVerdict] | None = None
    derives: bool = True
    after_acceptance: bool = True
    resume_hint: str = APPLY_AGAIN

    def __post_init__(self) -> None:
        reasons = {
            "--break-glass": self.break_glass,
            "--allow-unmeasured": self.unmeasured,
            "--outside-window": self.outside,
        }
        for option, reason in reasons.items():
            if not reason.isprintable():  # a line break would forge a row of the history
                how = "write the reason in one line, without control characters"
                raise BadInput("the reason is not one line", where=option, how=how)


@dataclass(frozen=True)
class RolloutConfig:
    """Configuration of one controller process that carries out one plan.

    The journal, then the listeners, receive an event before and after every act. stop: number of
    requests to stop so far, read before every act: with one, the current wave is rolled back.
    rules, run_id, fabric: of a new run: its rules, the id shown on switches, the digest under which
    its fabric is stored. hosts: host and port of each switch and server, by name. sleep, monotonic:
    of the switches' time. now: time by which approvals expire. approve_with: the command that
    approves a wave, without the wave. live: the live checks. end_checks: closes the sessions of a
    live check or a gate that hangs, permanently. check_plan:
    called once by a new run before its first act. notes: called once after it; facts that people
    learn before the first wave. guards: decide whether a wave may begin now.
    """

    plan: Plan
    switches: Switches
    run_gate: RunGate
    journal: Journal
    texts: TextStore
    listeners: Sequence[EventListener] = ()
    options: ApplyOptions = field(default_factory=ApplyOptions)
    stop: Callable[[], int] = lambda: 0
    rules: ApplyRules | None = None
    run_id: str = field(default_factory=lambda: uuid4().hex)
    fabric: str = ""
    hosts: Mapping[str, str] = field(default_factory=dict)
    sleep: Callable[[float], None] = lambda _: None  # returns at once
    monotonic: Callable[[], float] = time.monotonic
    scale: float = 1.0  # seconds of the switches, and of `sleep`, in one of this machine
    now: Callable[[], datetime] = utc_now
    approve_with: str = "rocefort approve PLAN"
    live: WaveWatch | None = None
    end_checks: Callable[[], None] = nothing
    check_plan: Callable[[Mapping[str, SwitchState]], None] = lambda _: None
    notes: Callable[[], Sequence[str]] = tuple
    guards: WaveGuards = UNGUARDED
