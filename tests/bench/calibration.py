"""How slow this machine is now beside the quiet one where the bars were set; peak memory."""

from __future__ import annotations

import time
from pathlib import Path

# What the loop costs on a quiet machine like the one where the bars were set, in CPU seconds.
QUIET_LOOP_S, LOOP = 0.38, 5_000_000


def slowness() -> float:
    """How many times more CPU seconds than on the quiet machine the same work takes now."""
    before, total = time.process_time(), 0
    for number in range(LOOP):
        total += number * number
    return (time.process_time() - before) / QUIET_LOOP_S


def peak_mb() -> float:
    """Peak resident memory of this process alone: ru_maxrss also counts the one that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    kbytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kbytes) / 1024
