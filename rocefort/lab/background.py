"""Lab in the background: it is ready when its process number is in the file that it locks."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from rocefort.base.actions import BackgroundProcess
from rocefort.base.background import LOOK_S, Background, in_background
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.emulator.switch.store import lock_file
from rocefort.lab.emulated_site import STATE_FILE

LOG = "lab.log"
ENDS_WITHIN_S = 30.0


def mark_ready(state: Path) -> None:
    """Write the process number of this lab, which has the lock."""
    lock_file(state / STATE_FILE).write_text(f"{os.getpid()}\n", encoding="ascii")


def detach_lab(words: Sequence[str], state: Path) -> Background:
    """Run `lab cli` in a session of its own; return when it is ready, or has ended.

    Raises ServiceFailed if it cannot be started.
    """
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = error.strerror or "cannot be made"
        raise ServiceFailed(what, where=str(state), how="choose another folder") from None
    return in_background(words, state / LOG, lambda process: _process(state) == process)


def started(lab: Background, state: Path) -> BackgroundProcess:
    """Return what a user needs of a lab that runs in the background."""
    stop = shlex.join(["rocefort", "lab", "stop", "--state", str(state)])
    message = (
        f"process {lab.process} runs the lab without this terminal; output: {state / LOG}\n"
        f"connections: {state / 'connections.yaml'}\n"
        f"to stop it:  {stop}\n"
    )
    return BackgroundProcess(process=lab.process, log=str(state / LOG), message=message)


def stop_lab(state: Path) -> None:
    """End the lab of a directory, and wait for its end.

    Raises BadInput if none runs there, ServiceFailed if it does not end.
    """
    if not _runs(state):
        how = "name the directory of a running lab with --state"
        raise BadInput("no lab runs there", where=str(state), how=how)
    process = _process(state)
    if process is None:
        how = "wait until it is ready, then stop it again"
        raise ServiceFailed("the lab is still starting", where=str(state), how=how)
    try:
        os.kill(process, signal.SIGTERM)
    except OSError as error:
        what = f"process {process} cannot be ended: {error.strerror}"
        raise ServiceFailed(what, where=str(state)) from None
    until = time.monotonic() + ENDS_WITHIN_S
    while _runs(state):
        if time.monotonic() > until:
            what = f"process {process} has not ended within {ENDS_WITHIN_S:g} s"
            raise ServiceFailed(what, where=str(state), how=f"end it by `kill -9 {process}`")
        time.sleep(LOOK_S)


def _runs(state: Path) -> bool:
    """Whether a lab has the lock of a directory; the kernel frees that of one that was killed."""
    try:
        with lock_file(state / STATE_FILE).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no lab was ever there
        return False
    return False


def _process(state: Path) -> int | None:
    """Process of a lab that is ready; None: it is not, or none was there."""
    try:
        text = lock_file(state / STATE_FILE).read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    return int(text) if text.endswith("\n") else None
