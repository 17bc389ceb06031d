"""A rollout as it goes on, read from its journal: by any terminal, and any user who may read it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from rocefort.models.change import Plan
from rocefort.models.standing import Happened, Standing
from rocefort.steps.rollout.operating import where_stands

LOOK_S = 0.5


def follow(
    plan: Plan,
    journal: Path,
    tell: Callable[[Happened], None],
    wait: Callable[[float], None] = time.sleep,
) -> Standing:
    """Tell every event of a plan's last run, old and new, until no controller carries it.

    Takes no lock and writes nothing. A journal that is not there yet, or has no run of the plan, is
    waited for.
    """
    run, events, damage = "", 0, ""
    while True:
        standing = where_stands(plan, journal)
        if last := standing.run:
            if last.run != run:
                run, events = last.run, 0
            for each in last.events[events:]:
                tell(each)
            events = len(last.events)
        ended = last is not None and not standing.holder
        if ended or (standing.told.damage and standing.told.damage == damage):
            return standing
        damage = standing.told.damage  # of one that is just made: it is sound at the next look
        wait(LOOK_S)
