"""How often Python looks for cyclic garbage: seldom, for frozen values make hardly any."""

from __future__ import annotations

import atexit
import gc

# Python's 700 allocations between two looks are for small programs. A network of 500 switches has
# a million live objects, and looking through them time and again took a fifth of the CPU time.
ALLOCATIONS_BETWEEN = 100_000


def collect_seldom() -> None:
    """Let a command make many values before the collector looks again; once, at its start."""
    gc.set_threshold(ALLOCATIONS_BETWEEN, 50, 50)
    atexit.register(gc.freeze)  # the last looks, as Python ends, would be through all there is
