"""Configuration of the controller loop, fixed before it begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from rocefort.base.clock import utc_now
from rocefort.models.change.plan import Plan
from rocefort.rollout.controller.apply_options import ApplyOptions
from rocefort.rollout.controller.durations import nothing
from rocefort.rollout.controller.protocols import (
    LoadGuard,
    RunGate,
    Switches,
    TextStore,
    WaveWatch,
    any_load,
)
from rocefort.rollout.journal.events import ApplyRules, SwitchState
from rocefort.rollout.journal.journal import EventListener, Journal


@dataclass(frozen=True)
class RolloutConfig:
    """Configuration of one controller process that carries out one plan.

    The journal, then the listeners, receive an event before and after every act. stop: number of
    requests to stop so far, read before every act: with one, the current wave is rolled back.
    rules, run_id, fabric: of a new run: its rules, the id shown on switches, the digest under which
    its fabric is stored. sleep, monotonic: of the switches' time. now: time by which approvals
    expire. approve_with: the command that approves a wave, without the wave. live: the live checks.
    end_checks: closes the sessions of a live check or a gate that hangs, permanently. check_plan:
    called once by a new run before its first act. notes: called once after it; facts that people
    learn before the first wave. load_refusal: decides whether a gate may load its servers now.
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
    sleep: Callable[[float], None] = lambda _: None  # returns at once
    monotonic: Callable[[], float] = time.monotonic
    scale: float = 1.0  # seconds of the switches, and of `sleep`, in one of this machine
    now: Callable[[], datetime] = utc_now
    approve_with: str = "rocefort approve PLAN"
    live: WaveWatch | None = None
    end_checks: Callable[[], None] = nothing
    check_plan: Callable[[Mapping[str, SwitchState]], None] = lambda _: None
    notes: Callable[[], Sequence[str]] = tuple
    load_refusal: LoadGuard = any_load
