"""The controller killed at ten points of a run: a real process over SSH, and no server keeps any."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from rocefort.rdma.history import opened

START = [sys.executable, "-c", "from rocefort.tasks import app; app()"]
PATIENCE_S = 60.0
ENDED_S = 12.0  # TERM, two seconds, KILL; and a machine that has other work
# When so many commands have been started on all servers: asking them, holding them, counters
# before, bandwidth, latency, counters after.
POINTS = (1, 3, 5, 8, 10, 12, 14, 16, 19, 22)


def controller(lab: Any, *more: str) -> subprocess.Popen[bytes]:
    command = [*START, "rdma", "run", str(lab.fabric), "--connections", str(lab.file)]
    command += ["--servers", ",".join(lab.roots), "--history", str(lab.history), "--no-switches"]
    command += ["--duration", "4", "--iterations", "100", *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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
    open_lab: Callable[..., Any], point: int, record_property: Callable[[str, object], None]
) -> None:
    lab = open_lab(
        **{name: {"pace": 1.0} for name in ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")}
    )
    running = controller(lab)
    try:
        assert wait_until(lambda: calls(lab) >= point, PATIENCE_S)
        before = lab.processes
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert wait_until(lambda: lab.processes == {}, ENDED_S, 0.1), lab.processes
    if point > 8:  # from here on the servers are held
        assert len(before) == 4
    assert not list((next(iter(lab.roots.values())).wire).glob("tcp-*"))
    record_property("kills", 1)
    record_property("survived", 1)


def test_stop_ends_everything_of_ours_and_nothing_else(
    open_lab: Callable[..., Any], capfd: pytest.CaptureFixture[str]
) -> None:
    lab = open_lab(
        **{name: {"pace": 20.0} for name in ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")}
    )
    running = controller(lab)
    root = lab.roots["k8sgn08"]
    stranger = subprocess.Popen(["/bin/sleep", "60"], env=root.environment)
    try:
        assert wait_until(
            lambda: any("10.6" in c for all_ in lab.processes.values() for c in all_), PATIENCE_S
        )
        stop = [*START, "rdma", "stop", str(lab.fabric), "--connections", str(lab.file)]
        done = subprocess.run(stop, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert [
            line.split(":")[0] for line in done.stdout.splitlines() if "of ours ended" in line
        ] == [*lab.roots]
        assert running.wait(PATIENCE_S) == 3  # it says what was not measured
        assert stranger.poll() is None
    finally:
        running.kill()
        running.wait()
        stranger.kill()
        stranger.wait()
    assert wait_until(lambda: lab.processes == {}, ENDED_S), lab.processes
    again = subprocess.run(stop, capture_output=True, text=True, check=False)
    assert again.stdout.splitlines() == [f"{name}: nothing of ours runs" for name in lab.roots]


def test_an_interrupt_ends_a_run_at_once_and_keeps_what_was_measured(
    open_lab: Callable[..., Any],
) -> None:
    lab = open_lab(
        **{name: {"pace": 10.0} for name in ("k8sgn08", "k8sgn09", "k8sgn12", "daisygn01")}
    )
    running = controller(lab)
    try:
        assert wait_until(lambda: calls(lab) >= 15, PATIENCE_S)
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 3
    finally:
        running.kill()
        running.wait()
    assert wait_until(lambda: lab.processes == {}, ENDED_S), lab.processes
    with opened(lab.history) as past:
        result = past.load("last")
    assert result.measurements[-1].sentence.endswith("not run: the tests were stopped")
