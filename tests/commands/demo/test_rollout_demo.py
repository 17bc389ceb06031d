"""`make rollout-demo`: real controllers, one of them killed; it asserts its own outcome."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rocefort.base.errors import DeviceFailed
from rocefort.lab.demo import emulated_demo

Size = tuple[str, tuple[str, ...], str]
TWO_LEAVES: Size = ("4 switches, 4 waves", ("leaf07", "spine01", "spine02"), "leaves 1 of 1")
HEPS: Size = (
    "10 switches, 10 waves",
    (*(f"leaf0{n}" for n in range(1, 8)), "spine01", "spine02"),
    "leaves 1 of 7",
)


@pytest.mark.thorough
@pytest.mark.soak
def test_it_rolls_out_fails_is_killed_and_goes_on(
    two_leaves: Path, heps_file: Path, effort: str
) -> None:
    heps = effort == "soak"
    fabric, (size, behind, wave) = (heps_file, HEPS) if heps else (two_leaves, TWO_LEAVES)
    command = [str(Path(sys.executable).with_name("rocefort")), "demo", "--rollout", str(fabric)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    switches = size.partition(",")[0]
    expected = (
        r"change  in the YAML: xoff_kbytes 600 -> 640, xon_kbytes 550 -> 590",
        rf"plan    [0-9a-f]{{12}}: {size}, commit trial 600 s",
        rf"proof   {switches} run it and saved it, none is on trial",
        r"canary  leaf08 rolled back; gate: wave canary: the RDMA gate failed: readout04",
        r"proof   only leaf08 was touched, and it runs what it ran before",
        rf"killed  SIGKILL in wave {wave}: {behind[0]} on trial, \d+ s left; {len(behind) - 1} not yet",
        rf"proof   all {switches} run what was planned, saved",
    )
    places = [next(i for i, line in enumerate(lines) if re.match(one, line)) for one in expected]
    assert places == sorted(places)
    assert "approvals:" not in done.stdout  # a note of the controller, not its error
    waves = [line for line in lines if line.startswith(("leaves  ", "spine   "))]
    assert all(line.endswith("confirmed") or "trial, read back" in line for line in waves)
    for name in behind:  # there and back; a spine that is drained three times each
        assert sum(re.search(rf" {name}\b", line) is not None for line in waves) >= 2, name


def test_controllers_that_do_nothing_fail_it(
    monkeypatch: pytest.MonkeyPatch, two_leaves: Path
) -> None:
    monkeypatch.setattr(emulated_demo, "_controller", lambda *_: 0)
    with pytest.raises(DeviceFailed) as caught:
        emulated_demo.run_rollout_demo(two_leaves, lambda _: None)
    assert str(caught.value) == "demo: a switch does not run the change"
