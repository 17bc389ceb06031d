"""A lab in the background: a real process, from its start to its end."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocefort.emulator.emulated_site import STATE_FILE
from rocefort.emulator.switch.store import Store
from rocefort.fleet.connections import load_connections

ROCEFORT = Path(sys.executable).with_name("rocefort")
PATIENCE_S = 300.0  # on a machine with much other work
STARTED = re.compile(r"process (\d+) runs the lab without this terminal; output: lab/lab.log\n")


class Site:
    """Commands in a directory with a fabric of two spines and two leaves."""

    def __init__(self, home: Path) -> None:
        self.home = home
        assert self.run("new", "dc", "--spines", "2", "--leaves", "2", "--directory", ".")[0] == 0

    def run(self, *words: str) -> tuple[int, str, str]:
        """Code, output and errors; the command waits for no reader of its output but itself."""
        done = subprocess.run(
            [ROCEFORT, *words],
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def start(self) -> int:
        """Process of a lab that is started in the background."""
        code, out, err = self.run("lab", "cli", "dc", "--detach")
        assert (code, err) == (0, "")
        begun = STARTED.match(out)
        assert begun is not None
        assert out[begun.end() :] == (
            "connections: lab/connections.yaml\nto stop it:  rocefort lab stop --state lab\n"
        )
        return int(begun[1])

    def answers(self) -> bool:
        """Whether a switch of the lab takes connections."""
        device = load_connections(self.home / "lab" / "connections.yaml").devices[0]
        with socket.socket() as one:
            return one.connect_ex((device.host, device.port or 0)) == 0


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.run("lab", "stop")  # after a failed test


def await_end(process: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_it_is_ready_outlives_its_terminal_and_is_alone_in_its_directory(site: Site) -> None:
    process = site.start()
    assert os.getsid(process) == process != os.getsid(0)
    assert site.answers()
    os.kill(process, signal.SIGHUP)
    refused = (
        "rocefort: lab/switches.db: another lab runs there; end it (`rocefort lab stop`), or "
        "choose another folder\n"
    )
    for words in (("--detach",), ()):
        assert site.run("lab", "cli", "dc", *words) == (3, "", refused)
    assert site.answers()
    log = site.home / "lab" / "lab.log"
    assert "connections: lab/connections.yaml" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    assert site.run("lab", "stop") == (0, "the lab in lab has ended\n", "")
    await_end(process)
    assert not site.answers()
    nothing = "rocefort: lab: no lab runs there; name the directory of a running lab with --state\n"
    assert site.run("lab", "stop") == (2, "", nothing)


def test_a_killed_lab_is_not_taken_for_a_running_one(site: Site) -> None:
    process = site.start()
    os.kill(process, signal.SIGKILL)
    await_end(process)
    assert site.run("lab", "stop")[0] == 2
    again = site.start()
    assert again != process
    assert site.run("lab", "stop")[0] == 0
    await_end(again)


def test_what_keeps_it_from_starting_is_printed_with_its_code(site: Site) -> None:
    code, out, err = site.run("lab", "cli", "nowhere", "--detach")
    assert (code, out) == (2, "")
    assert err.startswith("rocefort: nowhere: no such fabric")
    (site.home / "file").touch()
    code, out, err = site.run("lab", "cli", "dc", "--state", "file", "--detach")
    assert (code, out, err) == (3, "", "rocefort: file: File exists; choose another folder\n")


def test_a_lab_that_is_still_starting_is_not_stopped(site: Site) -> None:
    with Store(site.home / "lab" / STATE_FILE):
        assert site.run("lab", "stop") == (
            3, "", "rocefort: lab: the lab is still starting; wait until it is ready, then stop it "
            "again\n"
        )  # fmt: skip
