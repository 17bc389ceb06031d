"""Detached controller: a process that continues without the terminal that began it."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocefort.errors import ServiceFailed
from rocefort.rollout import operator
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.run_history import contents_of
from rocefort.rollout.planning.plan import read_plan

FLAG = "--detach"
LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class DetachedController:
    """Detached controller: running, or ended before its run began. text: for the user."""

    text: str
    code: int = 0


def detach(words: Sequence[str], run: RunDirectory) -> DetachedController:
    """Run a command line in a separate process; returns when its run is in the journal.

    The process takes the locks itself. Its output is appended to a file beside the journal. Ctrl-C
    before the return ends the process too. words: `apply` or `resume` with its arguments. Raises
    ServiceFailed if it cannot be started.
    """
    plan = read_plan(run.plan)
    earlier = len(_live_controllers(run.journal, plan.digest))
    output = _log_descriptor(run.log)
    try:
        begin = os.fstat(output).st_size
        process = _spawned([word for word in words if word != FLAG], output)
    finally:
        os.close(output)
    mine = operator.host(), process  # another user may begin a run of the same plan meanwhile
    try:
        while mine not in _live_controllers(run.journal, plan.digest)[earlier:]:
            ended, state = os.waitpid(process, os.WNOHANG)
            if ended:
                text = run.log.read_bytes()[begin:].decode("utf-8", "replace")
                return DetachedController(text, os.waitstatus_to_exitcode(state))
            time.sleep(LOOK_S)
    except KeyboardInterrupt:
        os.kill(process, signal.SIGTERM)
        raise
    return DetachedController(
        f"process {process} continues without this terminal; its output is in {run.log}\n"
        f"to watch it: {shlex.join(['rocefort', 'status', '--follow', *run.arguments()])}\n"
        f"to stop it:  {shlex.join(['rocefort', 'abort', *run.arguments()])}\n"
    )


def _live_controllers(journal: Path, plan: str) -> list[tuple[str, int]]:
    """Host and process of every controller that began or resumed a run of a plan."""
    runs = contents_of(journal, plan).runs if journal.is_file() else ()
    return [(life.host, life.process) for run in runs for life in run.lives]


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
