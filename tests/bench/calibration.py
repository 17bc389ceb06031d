"""Slowness of this machine compared with the quiet one of the bars; peak memory."""

from __future__ import annotations

import time
from pathlib import Path

# CPU seconds of the loop on a quiet machine like the one where the bars were set.
QUIET_LOOP_S, LOOP = 0.38, 5_000_000


def slowness() -> float:
    """Return CPU seconds of the same work now, divided by those on the quiet machine."""
    before, total = time.process_time(), 0
    for number in range(LOOP):
        total += number * number
    return (time.process_time() - before) / QUIET_LOOP_S


def peak_mb() -> float:
    """Return peak resident memory of this process; ru_maxrss also counts the one that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    kbytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kbytes) / 1024
