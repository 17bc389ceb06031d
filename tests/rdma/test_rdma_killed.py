"""Controllers killed at ten points of a run over SSH leave no process on a server."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from rocefort.rdma.judge.run_store import open_history

# Forks a controller for each line of words. All share one import, which takes two seconds.
FORKS = """
import json, os, sys
import rocefort.rdma.rdma_commands, rocefort.fleet.nornir_session, rocefort.fleet.ssh_exec, rocefort.rdma.run_suite
from rocefort.tasks import app

for line in sys.stdin:
    sys.argv, environment = json.loads(line)
    os.environ.update(environment)
    child = os.fork()
    if not child:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        app()
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
PATIENCE_S = 60.0
LOOK_S = 0.1  # between two scans of all processes, which are slow
ENDED_S = 12.0  # TERM, two seconds, KILL; longer on a busy machine
# Number of commands started on all servers at each point: probes, locks, counters before,
# bandwidth, latency, counters after.
POINTS = (1, 3, 5, 8, 10, 12, 14, 16, 19, 22)


class Controller:
    """Controller of RDMA tests in a separate process."""

    def __init__(self, forks: subprocess.Popen[bytes], lab: Any) -> None:
        command = ["rocefort", "rdma", "run", str(lab.fabric), "--connections", str(lab.file)]
        command += ["--servers", ",".join(lab.roots), "--history", str(lab.history)]
        command += ["--no-switches", "--duration", "4", "--iterations", "100"]
        assert forks.stdin is not None and forks.stdout is not None
        self.said = forks.stdout
        self.code: int | None = None
        forks.stdin.write(json.dumps([command, dict(os.environ)]).encode() + b"\n")
        forks.stdin.flush()
        self.pid = self._number(PATIENCE_S)

    def _number(self, patience_s: float) -> int:
        assert select.select([self.said], [], [], patience_s)[0], "it prints nothing"
        return int(self.said.readline())

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, patience_s: float = PATIENCE_S) -> int:
        """Wait for its end and return its exit code."""
        if self.code is None:
            self.code = self._number(patience_s)
        return self.code

    def kill(self) -> None:
        """Kill it if it still runs."""
        with suppress(ProcessLookupError):
            self.send_signal(signal.SIGKILL)


@pytest.fixture(scope="module")
def forks() -> Iterator[subprocess.Popen[bytes]]:
    """Process that controllers are forked from."""
    words = [sys.executable, "-c", FORKS]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as made:
        yield made
        assert made.stdin is not None
        made.stdin.close()
        assert made.wait(PATIENCE_S) == 0


def wait_until(holds: Callable[[], bool], patience_s: float, poll_s: float = 0.01) -> bool:
    deadline = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(poll_s)
    return True


def calls(lab: Any) -> int:
    return sum(len(root.calls) for root in lab.roots.values())


@pytest.mark.parametrize("point", POINTS)
def test_nothing_is_left_on_any_server(
    open_lab: Callable[..., Any],
    forks: subprocess.Popen[bytes],
    point: int,
    record_property: Callable[[str, object], None],
) -> None:
    lab = open_lab(
        **{name: {"pace": 0.25} for name in ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")}
    )
    running = Controller(forks, lab)
    try:
        assert wait_until(lambda: calls(lab) >= point, PATIENCE_S)
        before = lab.processes
    finally:
        running.kill()
        assert running.wait() == -signal.SIGKILL
    assert wait_until(lambda: lab.processes == {}, ENDED_S, LOOK_S), lab.processes
    if point > 8:  # from this point on the servers are locked
        assert len(before) == 4
    assert not list((next(iter(lab.roots.values())).wire).glob("tcp-*"))
    record_property("kills", 1)
    record_property("survived", 1)


def test_stop_ends_everything_of_ours_and_nothing_else(
    open_lab: Callable[..., Any],
    forks: subprocess.Popen[bytes],
    rocefort: Callable[..., tuple[int, str, str]],
) -> None:
    lab = open_lab(
        **{name: {"pace": 20.0} for name in ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")}
    )
    running = Controller(forks, lab)
    root = lab.roots["k8sgn08"]
    stranger = subprocess.Popen(["/bin/sleep", "60"], env=root.environment)
    try:
        assert wait_until(
            lambda: any("10.6" in c for all_ in lab.processes.values() for c in all_),
            PATIENCE_S,
            LOOK_S,
        )
        stop = ("rdma", "stop", lab.fabric, "--connections", lab.file)
        code, out, err = rocefort(*stop)
        assert (code, err) == (0, "")
        ended = [line.split(":")[0] for line in out.splitlines() if "of ours ended" in line]
        assert ended == [*lab.roots]
        assert running.wait(PATIENCE_S) == 3  # it lists the runs that were not measured
        assert stranger.poll() is None
    finally:
        running.kill()
        running.wait()
        stranger.kill()
        stranger.wait()
    assert wait_until(lambda: lab.processes == {}, ENDED_S, LOOK_S), lab.processes
    _, out, _ = rocefort(*stop)
    assert out.splitlines() == [f"{name}: nothing of ours runs" for name in lab.roots]


def test_an_interrupt_ends_a_run_at_once_and_keeps_what_was_measured(
    open_lab: Callable[..., Any], forks: subprocess.Popen[bytes]
) -> None:
    lab = open_lab(
        **{name: {"pace": 2.0} for name in ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")}
    )
    running = Controller(forks, lab)
    try:
        assert wait_until(lambda: calls(lab) >= 15, PATIENCE_S)
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 5
    finally:
        running.kill()
        running.wait()
    assert wait_until(lambda: lab.processes == {}, ENDED_S, LOOK_S), lab.processes
    with open_history(lab.history) as past:
        result = past.load("last")
    assert result.measurements[-1].sentence.endswith("not run: the tests were stopped")
