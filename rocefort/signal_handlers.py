"""Signal handlers for the duration of a block."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType


def in_main_thread() -> bool:
    """Whether signals can be handled here."""
    return threading.current_thread() is threading.main_thread()


@contextmanager
def signals_handled_by(
    numbers: Iterable[signal.Signals], handler: Callable[[int, FrameType | None], object]
) -> Iterator[None]:
    """Handle signals in the block; outside the main thread, do nothing."""
    before = {n: signal.signal(n, handler) for n in numbers} if in_main_thread() else {}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
