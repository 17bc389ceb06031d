"""`make rollout-demo`: real controllers, one of them killed; it asserts its own outcome."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rocefort.errors import DeviceFailed
from rocefort.steps.rollout import demo as rollout_demo

SAID = (
    r"change  in the YAML: xoff_kbytes 600 -> 640, xon_kbytes 550 -> 590",
    r"plan    [0-9a-f]{12}: 10 switches, 10 waves, commit trial 600 s",
    r"proof   10 switches run it and saved it, none is on trial",
    r"canary  leaf08 rolled back; gate: wave canary: the RDMA gate failed: readout04",
    r"proof   only leaf08 was touched, and it runs what it ran before",
    r"killed  SIGKILL in wave leaves 1 of 7: leaf01 on trial, \d+ s left; 8 not yet",
    r"proof   all 10 switches run what was planned, saved",
)

CHANGED = (*(f"leaf0{n}" for n in range(1, 8)), "spine01", "spine02")


def test_it_rolls_out_fails_is_killed_and_goes_on() -> None:
    command = [str(Path(sys.executable).with_name("rocefort")), "demo", "--rollout", "heps"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    places = [next(i for i, line in enumerate(lines) if re.match(said, line)) for said in SAID]
    assert places == sorted(places)
    waves = [line for line in lines if line.startswith(("leaves  ", "spine   "))]
    assert all(line.endswith("confirmed") or "trial, read back" in line for line in waves)
    for name in CHANGED:  # there and back; a spine that is drained three times each
        assert sum(re.search(rf" {name}\b", line) is not None for line in waves) >= 2, name


def test_controllers_that_do_nothing_fail_it(
    monkeypatch: pytest.MonkeyPatch, heps_file: Path
) -> None:
    monkeypatch.setattr(rollout_demo, "_controller", lambda *_: 0)
    with pytest.raises(DeviceFailed) as caught:
        rollout_demo.run_rollout_demo(heps_file, lambda _: None)
    assert str(caught.value) == "demo: a switch does not run the change"
