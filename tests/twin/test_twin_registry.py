"""Records of labs: written before anything is created, locked, and removed at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from rocefort.base.errors import BadInput, Refused, ServiceFailed
from rocefort.lab.twin import registry
from rocefort.lab.twin.registry import LabRecord, Registry


@pytest.fixture
def labs(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "labs-of-a-test")


def _begin(labs: Registry, name: str) -> LabRecord:
    with labs.lock(name):
        return labs.begin(name, "heps", bfd=True, frr="8.4.4", lacks=("no VRF",))


def test_a_record_is_found_and_forgotten(labs: Registry) -> None:
    record = _begin(labs, "trial")
    assert labs.names() == ("trial",)
    assert labs.find("trial") == record
    assert record.status == "starting"
    assert len(record.id) == 6
    labs.forget(record)
    assert not labs.root.exists()


def test_two_labs_have_two_ids(labs: Registry) -> None:
    assert _begin(labs, "a").id != _begin(labs, "b").id


def test_a_lab_that_is_not_there(labs: Registry) -> None:
    with pytest.raises(BadInput, match="no lab is called 'x'; `rocefort lab up FABRIC` starts one"):
        labs.find("x")
    _begin(labs, "a")
    _begin(labs, "b")
    with pytest.raises(BadInput, match="no lab is called 'x'; there are: a, b"):
        labs.find("x")


@pytest.mark.parametrize("name", ["../x", "a/b", "", "a b", "x" * 33])
def test_a_name_that_is_none(labs: Registry, name: str) -> None:
    with pytest.raises(BadInput, match="--name"), labs.lock(name):
        pass
    assert not labs.root.exists()


def test_one_process_at_a_time(labs: Registry) -> None:
    with labs.lock("a"):
        message = r"process \d+ is at work on lab a; wait for it"
        with pytest.raises(Refused, match=message), labs.lock("a"):
            pass
        with labs.lock("b"):
            pass


KILLED = """
import os, signal, subprocess, sys
from pathlib import Path
from rocefort.lab.twin.registry import Registry

with Registry(Path(sys.argv[1])).lock("a"):
    (lock,) = (fd for fd in os.listdir("/proc/self/fd")
               if os.path.realpath(f"/proc/self/fd/{fd}").endswith("/a.lock"))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen(["sleep", sys.argv[2]], pass_fds=(int(lock),), **quiet)
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("child_s", "waits_s", "free"), [(0.3, 20.0, True), (60.0, 0.2, False)])
def test_the_lock_of_a_killed_process_is_free_once_its_last_child_is_started(
    labs: Registry, monkeypatch: pytest.MonkeyPatch, child_s: float, waits_s: float, free: bool
) -> None:
    """The lock that a child has between fork and exec belongs to no living process."""
    monkeypatch.setattr(registry, "CHILD_S", waits_s)
    command = [sys.executable, "-c", KILLED, str(labs.root), str(child_s)]
    killed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    refused = nullcontext() if free else pytest.raises(Refused, match=r"process \d+ is at work")
    with refused, labs.lock("a"):
        pass
    if not free:
        os.kill(int(killed.stdout), signal.SIGKILL)


def test_a_lab_that_was_never_whole(labs: Registry) -> None:
    record = _begin(labs, "a")
    with pytest.raises(ServiceFailed, match="lab a never came up whole; `rocefort lab down a`"):
        labs.topology(record)


def test_a_record_that_was_spoilt(labs: Registry) -> None:
    _begin(labs, "a")
    (labs.root / "labs" / "a.json").write_text("{", encoding="ascii")
    with pytest.raises(ServiceFailed, match=r"a\.json: cannot be read: Invalid JSON"):
        labs.find("a")
