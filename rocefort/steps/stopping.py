"""Stop at a boundary: signals become a wish that is asked for, not an exception anywhere."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C, TERM or HUP came; they end nothing until the block does.

    So no session is cut in the middle of a line, however often somebody presses the keys. A signal
    that is ignored already (nohup) stays so, and outside the main thread nothing is changed.
    """
    asked = threading.Event()
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {n: signal.getsignal(n) for n in SIGNALS}
    heard = [n for n, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, lambda _number, _frame: asked.set())
    try:
        yield asked.is_set
    finally:
        for number in heard:
            signal.signal(number, before[number])
