"""Interval of Python's garbage collector: long, because frozen values form few cycles."""

from __future__ import annotations

import atexit
import gc

# Python's default of 700 allocations between two collections suits small programs. A network of 500
# switches has a million live objects; repeated collections took a fifth of the CPU time.
ALLOCATIONS_BETWEEN = 100_000


def collect_seldom() -> None:
    """Collect only after many allocations; call once, when a command starts."""
    gc.set_threshold(ALLOCATIONS_BETWEEN, 50, 50)
    atexit.register(gc.freeze)  # collections at exit would scan every object
