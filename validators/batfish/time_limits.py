"""End of a request to a Batfish service: at a time limit, or on a signal."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rocefort.base.signals import in_main_thread, signals_handled_by

Handler = Callable[[int, FrameType | None], Any] | signal.Handlers

# Signals that end a program, and the handlers that a program without its own has.
ENDING: dict[signal.Signals, Handler] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}


@contextmanager
def ended_after(seconds: float, error: Exception) -> Iterator[None]:
    """Raise an error in the block after this number of seconds, for any wait.

    The timeout of a socket starts again with each byte. Works only in the main thread.
    """
    if not in_main_thread():
        yield
        return

    def late(_number: int, _frame: object) -> None:
        raise error

    with signals_handled_by([signal.SIGALRM], late):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block for TERM and HUP as for Ctrl-C, so that it cleans up.

    Later signals do not interrupt the cleanup. An ignored or already handled signal stays so.
    """
    taken = [n for n, usual in ENDING.items() if signal.getsignal(n) is usual]

    def first(_number: int, _frame: object) -> None:
        for number in taken:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    with signals_handled_by(taken, first):
        yield
