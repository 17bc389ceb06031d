"""A rollout that continues without its terminal, and is followed from another one."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planned import make_event

from rocefort.base import processes
from rocefort.emulator.emulated_site import Rehearsal
from rocefort.rollout import operator
from rocefort.rollout.apply import operate
from rocefort.rollout.journal.events import ActPhase, ApplyRules
from rocefort.rollout.journal.journal import open_journal
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.journal.runs import contents_of
from rocefort.rollout.planning.sealed_files import read_plan, write_plan

Command = Callable[..., Any]
ROCEFORT = Path(sys.executable).with_name("rocefort")
PATIENCE_S = 240.0
# A user who may write none of the files; the capability is for Python's own.
ANOTHER = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
           "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")  # fmt: skip


@pytest.fixture
def plan(described: Path, plan_of: Callable[[Path], Any], tmp_path: Path) -> Path:
    """A sealed plan of two waves, leaf08 and leaf07."""
    file = tmp_path / "plan.json"
    write_plan(plan_of(described), file)
    return file


def await_that(ready: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_it_goes_on_without_its_terminal_and_is_followed_to_its_end(
    lab: Rehearsal, plan: Path, command: Command
) -> None:
    at = ("--connections", lab.file)
    follow = [str(ROCEFORT), "status", "--follow", str(plan)]
    early = subprocess.Popen(  # before there is a journal
        follow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert early.stderr is not None
    waits = f"rocefort: no journal {plan}.journal yet; waiting for a run of the plan\n"
    assert early.stderr.readline() == waits
    ran = command("apply", plan, *at, "--approve-each-wave", "--approval-wait", 200, "--detach")
    log = Path(f"{plan}.journal.log")
    assert (ran.code, ran.err) == (0, "")
    begun = re.match(
        r"process (\d+) continues without this terminal; its output is in (.*)\n", ran.out
    )
    assert begun is not None and begun[2] == str(log)
    assert ran.out.endswith(
        f"to watch it: rocefort status --follow {plan}\nto stop it:  rocefort abort {plan}\n"
    )
    process = int(begun[1])
    assert os.getsid(process) == process != os.getsid(0)
    assert log.stat().st_mode & 0o777 == 0o600
    os.kill(process, signal.SIGHUP)

    refused = command("apply", plan, *at, "--detach")
    assert refused.code == 4
    assert f"another controller (process {process} of " in refused.err

    interrupted = subprocess.Popen(
        follow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert interrupted.stdout is not None and interrupted.stdout.readline()
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.communicate(timeout=PATIENCE_S)[1] == (
        "rocefort: no longer followed; the rollout continues\n"
    )
    assert interrupted.returncode == 130

    for wave in ("canary", "leaves 1 of 1"):
        assert command("approve", plan, "--wave", wave).code == 0
    ran = command("status", plan, "--follow", "--format", "json")
    *events, last = (json.loads(line) for line in ran.out.splitlines())
    assert (ran.code, last["state"], last["exit_code"]) == (0, "finished", 0)
    digest = read_plan(plan).digest
    (run,) = contents_of(Path(f"{plan}.journal"), digest).runs
    written = [(each.at, each.event.act, each.event.device) for each in run.events]
    assert [(each["at"], each["act"], each["device"]) for each in events] == written
    shown, _ = early.communicate(timeout=PATIENCE_S)
    assert early.returncode == 0
    assert "canary         confirm  ok" in shown and "state: finished" in shown
    assert "2 switches confirmed, read back and saved" in log.read_text()
    os.waitpid(process, 0)


def test_what_keeps_it_from_beginning_is_told_at_once(
    lab: Rehearsal, plan: Path, command: Command
) -> None:
    fabric = plan.with_name("fabric.yaml")
    fabric.write_text(fabric.read_text() + "# edited\n")
    ran = command("apply", plan, "--connections", lab.file, "--detach")
    assert (ran.code, ran.out) == (4, "")
    assert "has changed since the plan" in ran.err
    ran = command("resume", plan, "--connections", lab.file, "--detach")
    assert (ran.code, ran.err) == (
        2, f"rocefort: {plan}.journal: no such journal; begin by `rocefort apply`\n"
    )  # fmt: skip


def test_who_detaches_hears_of_its_own_process_though_another_begins_a_run(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of the same plan at one moment: one has the locks, the other is refused."""
    refused = [sys.executable, "-c", "import sys; print('another controller'); sys.exit(4)"]

    def spawned(_words: object, output: int) -> int:
        with open_journal(Path(f"{plan}.journal"), read_plan(plan).digest) as journal:
            by: dict[str, Any] = {"host": operator.host(), "user": "ada", "process": os.getpid()}
            begun = make_event(
                "", "", "apply", ActPhase.INTENT, run="b" * 32, rules=ApplyRules(1), **by
            )
            journal.append(begun)
        into = [(os.POSIX_SPAWN_DUP2, output, 1)]
        return os.posix_spawn(sys.executable, refused, os.environ, file_actions=into)

    monkeypatch.setattr(processes, "_spawned", spawned)
    assert operate.detach([], RunDirectory.of(plan)) == operate.DetachedController(
        text="another controller\n", code=4
    )


def test_ctrl_c_before_the_run_has_begun_ends_the_detached_process(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "_spawned", lambda *_: child.pid)
    with monkeypatch.context() as patch:
        patch.setattr("rocefort.base.processes.time.sleep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            operate.detach([], RunDirectory.of(plan))
    assert child.wait(PATIENCE_S) == -signal.SIGTERM


def test_a_failed_run_ends_who_follows_with_its_code_also_as_another_user(
    lab: Rehearsal, plan: Path, command: Command
) -> None:
    at = ("--connections", lab.file)
    assert command("apply", plan, *at, "--approve-each-wave").code == 5
    ran = command("status", plan, "--follow")
    assert (ran.code, "state: wave canary waits for its approval;" in ran.words) == (5, True)
    command("abort", plan)
    ran = command("resume", plan, *at, "--detach")
    if ran.code == 0:  # it may have ended before it was looked at
        await_that(lambda: "aborted" in command("status", plan, "--follow").words)
    ran = command("status", plan, "--follow")
    assert (ran.code, "state: wave canary: aborted as requested by " in ran.words) == (5, True)
    if shutil.which("setpriv") is None or os.getuid():
        pytest.skip("becoming another user needs root and setpriv(1)")
    with tempfile.TemporaryDirectory() as readable:
        Path(readable).chmod(0o755)
        for file in filter(Path.is_file, plan.parent.glob("plan.json*")):
            shutil.copy(file, readable)
            (Path(readable) / file.name).chmod(0o644)
        words = [sys.executable, "-m", "rocefort", "status", "--follow", f"{readable}/{plan.name}"]
        done = subprocess.run(
            [*ANOTHER, *words], capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
    assert (done.returncode, done.stderr) == (5, "")
    assert done.stdout.splitlines()[:3] == ran.out.splitlines()[:3]
