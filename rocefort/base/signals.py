"""Handlers of signals for the duration of a block: a flag, or an exception that cleans up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from rocefort.base.errors import Stopped


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


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _handled_signals() -> list[signal.Signals]:
    """Return the signals that are not ignored."""
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def count_signals() -> Iterator[Callable[[], int]]:
    """Yield a function that returns how often Ctrl-C, TERM or HUP came; the block continues.

    So no session is cut in the middle of a line, even if Ctrl-C is pressed repeatedly. A signal
    that is already ignored (nohup) stays ignored. Outside the main thread nothing changes.
    """
    numbers: list[int] = []
    with signals_handled_by(_handled_signals(), lambda number, _frame: numbers.append(number)):
        yield lambda: len(numbers)


@contextmanager
def stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that reports whether a signal came, as `count_signals`."""
    with count_signals() as number:
        yield lambda: number() > 0


@contextmanager
def raise_on_signals(what: str) -> Iterator[None]:
    """Raise Stopped in the block on Ctrl-C, TERM or HUP, so that it cleans up.

    what: name of the interrupted step. An inner `stop_on_signals` only sets its flag.
    """

    def interrupted(number: int, _frame: object) -> None:
        name = signal.Signals(number).name
        raise Stopped(f"{what} was interrupted by {name}", how="nothing of it is left")

    with signals_handled_by(_handled_signals(), interrupted):
        yield
