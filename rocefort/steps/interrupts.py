"""Stop at a boundary: signals become a wish that is asked for, not an exception anywhere."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rocefort.errors import ServiceFailed
from rocefort.signal_handlers import signals_handled_by

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _handled_signals() -> list[signal.Signals]:
    """Those that are not ignored."""
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C, TERM or HUP came; they end nothing until the block does.

    So no session is cut in the middle of a line, however often somebody presses the keys. A signal
    that is ignored already (nohup) stays so, and outside the main thread nothing is changed.
    """
    asked = threading.Event()
    with signals_handled_by(_handled_signals(), lambda _number, _frame: asked.set()):
        yield asked.is_set


@contextmanager
def raise_on_signals(what: str) -> Iterator[None]:
    """End the block where Ctrl-C, TERM or HUP comes, by an exception, so that it cleans up.

    what: who is interrupted. Within `stop_on_signals` the signals are a wish again.
    """

    def interrupted(number: int, _frame: object) -> None:
        name = signal.Signals(number).name
        raise ServiceFailed(f"{what} was interrupted by {name}", how="nothing of it is left")

    with signals_handled_by(_handled_signals(), interrupted):
        yield
