"""Guard of a run's command in the shells of servers: no process remains after its end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from rocefort.fleet.ssh_exec import RUN_MARK, guarded_words, watched

# As timeout(1) is when a signal meets it in fork(): its group and its child are there, and it does
# not know of the child yet.
FORKING = f"""#!{sys.executable} -IS
import os, sys, time
os.setpgid(0, 0)
if os.fork() == 0:
    os.execvp(sys.argv[4], sys.argv[4:])
time.sleep(60)
"""


def alive(run: str) -> list[str]:
    """Command lines of all processes with the mark of a run."""
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{RUN_MARK}={run}".encode() in (process / "environ").read_bytes().split(b"\0"):
                commands.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return commands


def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


def started(shell: str, command: str, run: str, path: str) -> subprocess.Popen[str]:
    text = watched(command, 50, run)
    assert guarded_words(text) == tuple(command.split())
    return subprocess.Popen(
        [shell, "-c", text.replace("exec sh ", f"exec {shell} ", 1)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PATH": path},
        start_new_session=True,
    )


@pytest.fixture(params=["dash", "bash"])
def shell(request: pytest.FixtureRequest) -> str:
    path: str | None = shutil.which(request.param)
    if path is None:
        pytest.skip(f"no {request.param} here")
    return path


@pytest.mark.parametrize("forks", [False, True], ids=["timeout", "timeout that forks"])
def test_a_channel_that_ends_takes_all_with_it(shell: str, forks: bool, tmp_path: Path) -> None:
    run, path = f"watch-{tmp_path.name}", os.environ["PATH"]
    if forks:
        (tmp_path / "timeout").write_text(FORKING)
        (tmp_path / "timeout").chmod(0o755)
        path = f"{tmp_path}:{path}"
    running = started(shell, "sleep 61", run, path)
    assert until(lambda: "sleep 61 " in alive(run)), alive(run)
    running.communicate()  # which ends its input
    assert running.returncode == 143  # of SIGTERM
    assert until(lambda: alive(run) == []), alive(run)


def test_a_command_that_ends_takes_its_watch_with_it(shell: str, tmp_path: Path) -> None:
    run = f"watch-{tmp_path.name}"
    running = started(shell, "sh -c exit", run, os.environ["PATH"])
    assert running.wait(30) == 0
    assert alive(run) == []
    running.communicate()
