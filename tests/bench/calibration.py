"""How slow this machine is now beside the quiet one for which the bars of CPU time were set."""

from __future__ import annotations

import time

# What the loop costs on a quiet machine like the one where the bars were set, in CPU seconds.
QUIET_LOOP_S, LOOP = 0.38, 5_000_000


def slowness() -> float:
    """How many times more CPU seconds than on the quiet machine the same work takes now."""
    before, total = time.process_time(), 0
    for number in range(LOOP):
        total += number * number
    return (time.process_time() - before) / QUIET_LOOP_S
