"""Processes: environment of programs, signals, and a process without a terminal.

A reference `env:NAME` may name any variable, and most are read only after git has run. So a child
gets only the variables of the list below, without those that a reference has named so far. A
program that may need others gets the rest, too: kubectl starts a cloud's own program for a token.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rocefort.base.errors import ServiceFailed, Stopped

FLAG = "--detach"
LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class Background:
    """Process in the background: ready, or ended before. text, code: of one that ended."""

    process: int
    text: str = ""
    code: int | None = None


def in_background(words: Sequence[str], log: Path, ready: Callable[[int], bool]) -> Background:
    """Run this command line in a session of its own; return when it is ready, or has ended.

    words: the arguments of the command; `--detach` among them is left out. log: gets the output,
    appended. ready: whether the process of a number is. Ctrl-C before the return ends the process
    too. Raises ServiceFailed if it cannot be started.
    """
    output = _log_descriptor(log)
    try:
        begin = os.fstat(output).st_size
        process = _spawned([word for word in words if word != FLAG], output)
    finally:
        os.close(output)
    try:
        while not ready(process):
            ended, state = os.waitpid(process, os.WNOHANG)
            if ended:
                text = log.read_bytes()[begin:].decode("utf-8", "replace")
                return Background(process, text, os.waitstatus_to_exitcode(state))
            time.sleep(LOOK_S)
    except KeyboardInterrupt:
        os.kill(process, signal.SIGTERM)
        raise
    return Background(process)


def _log_descriptor(log: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    try:
        number = os.open(log, flags, 0o600)
        os.fchmod(number, 0o600)
    except OSError as error:
        what = f"the output of a detached run cannot be written: {error.strerror}"
        raise ServiceFailed(what, where=str(log)) from None
    return number


def _spawned(words: Sequence[str], output: int) -> int:
    """Start this program in a session without a terminal, where SIGHUP is ignored."""
    # -P: no module of the current directory replaces one of ours
    command = [sys.executable, "-P", "-m", "rocefort", *words]
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_DUP2, output, 2),
    ]
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        return os.posix_spawn(sys.executable, command, os.environ, file_actions=files, setsid=True)
    except OSError as error:
        raise ServiceFailed(f"no process can be started: {error.strerror}") from None
    finally:
        signal.signal(signal.SIGHUP, before)


NEEDED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "TMPDIR", "TZ", "LANG"),
        *("LANGUAGE", "DISPLAY", "WAYLAND_DISPLAY", "LD_LIBRARY_PATH"),
    )
)
FAMILIES = ("LC_", "XDG_", "GIT_", "SSH_")  # locale, configuration, git's own, agent and askpass

_secret: set[str] = set()


def keep_from_children(name: str) -> None:
    """Hide a variable that holds a secret from child processes."""
    _secret.add(name)


def environment(*, whole: bool = False) -> dict[str, str]:
    """Return the variables for a child process. whole: also those outside the list."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _secret and (whole or name in NEEDED or name.startswith(FAMILIES))
    }


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
