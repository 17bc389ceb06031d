"""Follow a rollout by its journal, from any terminal and by any user who may read it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from rocefort.models.rollout.plan import Plan
from rocefort.models.rollout.runs import RolloutStatus, TimedEvent
from rocefort.steps.rollout.operate import status_of_plan

LOOK_S = 0.5


def follow(
    plan: Plan,
    journal: Path,
    tell: Callable[[TimedEvent], None],
    wait: Callable[[float], None] = time.sleep,
) -> RolloutStatus:
    """Report every event of a plan's last run, old and new, until its controller ends.

    Takes no lock and writes nothing. Waits for a missing journal, and for a run of the plan.
    """
    run, events, damage = "", 0, ""
    while True:
        status = status_of_plan(plan, journal)
        if last := status.run:
            if last.history.run != run:
                run, events = last.history.run, 0
            for each in last.events[events:]:
                tell(each)
            events = len(last.events)
        ended = last is not None and not status.holder
        if ended or (status.journal.damage and status.journal.damage == damage):
            return status
        damage = status.journal.damage  # a journal in creation: it is sound at the next reading
        wait(LOOK_S)
