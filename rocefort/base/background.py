"""Process that continues without the terminal that began it: a rollout, a lab."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.errors import ServiceFailed

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
