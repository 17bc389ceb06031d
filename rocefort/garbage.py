"""How often Python looks for cyclic garbage: seldom, for frozen values make hardly any."""

from __future__ import annotations

import atexit
import gc

# Python's 700 allocations between two looks are for small programs. A network of 500 switches has
# a million live objects, and looking through them time and again took a fifth of the CPU time.
ALLOCATIONS_BETWEEN = 100_000
# Both sides of a review are about five million, which all live until its end.
ALLOCATIONS_OF_A_REVIEW = 10_000_000


def collect_seldom() -> None:
    """Let a command make many values before the collector looks again; once, at its start."""
    gc.set_threshold(ALLOCATIONS_BETWEEN, 50, 50)
    atexit.register(gc.freeze)  # the last looks, as Python ends, would be through all there is


def collect_hardly() -> None:
    """Let a review make all its values first; only in a process that is a command's own."""
    if gc.get_threshold()[0] == ALLOCATIONS_BETWEEN:
        gc.set_threshold(ALLOCATIONS_OF_A_REVIEW, 50, 50)
