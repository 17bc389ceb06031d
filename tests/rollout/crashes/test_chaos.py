"""The controller's own machine fails at an instant; the states of the switches decide.

Real processes, real SSH, real limits of the kernel (chaos.py): an output that is lost, no temporary
folder, a disk that is full, no descriptors, no memory, a clock that jumps a day.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import chaos
import pytest
from chaos import KINDS, LINE, ROW, SECRET, Call, Ended
from shared_lab import SharedLab

from rocefort.emulator.emulated_site import Rehearsal
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.change.plan import Plan
from rocefort.rollout.planning.sealed_files import write_plan

Command = Callable[..., Any]
Record = Callable[[str, object], None]
# A quick run loses both outputs and not each alone; live checks ask a clock that has jumped until
# they must be settled.
DEAR = ("standard output", "standard error", "clock")
HARMLESS = ("standard output", "standard error", "both outputs")
WAYS_ON = (
    "to continue",
    "`rocefort resume",
    "apply the plan again",
    "nothing is changed",
    "fix it first",
)
MOST = {ROW: 34, LINE: 240}  # of a run that nothing disturbs, a few left out
INSTANTS = {"quick": 1, "thorough": 8, "soak": 60}  # of each kind, half before rows, half at lines


class Machine:
    """Runs commands on a machine that fails."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self.server = server

    def runs(self, call: Call) -> Ended:
        assert self.server.stdin is not None and self.server.stdout is not None
        self.server.stdin.write(json.dumps(asdict(call)) + "\n")
        self.server.stdin.flush()
        return Ended(**json.loads(self.server.stdout.readline()))


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    words = [sys.executable, chaos.__file__]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as server:
        yield Machine(server)
        assert server.stdin is not None
        server.stdin.close()


def new(switch: EmulatedSwitch) -> bool:
    return any("detector" in line.text for top in switch.running for _, line in top.walk())


@pytest.mark.soak
@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.thorough) if k in DEAR else k for k in KINDS]
)
def test_a_machine_that_fails_at_an_instant_harms_no_switch(
    lab: Rehearsal,
    hall_shared: SharedLab,
    described: Path,
    plan_of: Callable[[Path], Plan],
    machine: Machine,
    command: Command,
    tmp_path: Path,
    kind: str,
    effort: str,
    record_property: Record,
) -> None:
    plan, began = plan_of(described), {n: s.running for n, s in lab.switches.items()}
    chance = random.Random(f"{kind} {os.environ.get('ROCEFORT_SEED', '')}")
    codes: dict[int, int] = {}
    for number in range(INSTANTS[effort]):
        hall_shared.reset()
        directory = tmp_path / str(number)
        directory.mkdir()
        unit = (ROW, LINE)[(list(KINDS).index(kind) + number) % 2]
        at = chance.randint(1, MOST[unit])
        code = lived(Life(lab, plan, machine, command, directory, began), kind, unit, at)
        codes[code] = codes.get(code, 0) + 1
        record_property("count", (f"machines that failed: {kind}", 1))
    record_property("figure", f"chaos, {kind}: exit codes {dict(sorted(codes.items()))}")


class Life:
    """Parameters of one trial with a failing machine."""

    def __init__(
        self,
        lab: Rehearsal,
        plan: Plan,
        machine: Machine,
        command: Command,
        directory: Path,
        began: dict[str, Any],
    ) -> None:
        self.lab, self.machine, self.command, self.began = lab, machine, command, began
        self.plan = directory / "plan.json"
        write_plan(plan, self.plan)
        self.directory = directory

    def calls(self, *words: object, kind: str = "", unit: str = ROW, at: int = 0) -> Ended:
        out, err = (str(self.directory / name) for name in ("out", "err"))
        given = (*map(str, words), "--connections", str(self.lab.file))
        return self.machine.runs(Call(given, out, err, f"{self.plan}.journal", kind, unit, at))

    @property
    def said(self) -> str:
        texts = [(self.directory / name).read_text() for name in ("out", "err")]
        return " ".join(" ".join(texts).split())


def lived(life: Life, kind: str, unit: str, at: int) -> int:
    """One rollout with a failing machine, and the next one; returns the end of the first."""
    ended = life.calls("apply", life.plan, kind=kind, unit=unit, at=at)
    where = f"{kind} at {unit} {at}: {ended} {life.said}"
    assert ended.struck, where
    if kind in HARMLESS:
        assert ended.code == 0, where
    for name, switch in life.lab.switches.items():
        switch.tick()
        old = switch.running == life.began[name]
        assert old or new(switch), where
        if switch.trial is not None:
            assert switch.trial.before == life.began[name] and switch.trial.deadline, where
        elif not old and switch.saved != switch.running:  # confirmed, and the outcome reports it
            assert ended.code and f"look at them: {name}" in life.said, where
    assert "Traceback" not in life.said, where
    if ended.code:
        assert any(way in life.said for way in WAYS_ON), where
        assert len(life.said) < 1500, where
    for file in filter(Path.is_file, life.directory.rglob("*")):
        assert SECRET.encode() not in file.read_bytes(), (file, where)
    state = life.command("status", life.plan)
    assert state.code == 0 and "state: " in state.words, where
    if ended.code:
        unfinished = "`rocefort resume`" in state.words
        again = life.calls("resume" if unfinished else "apply", life.plan)
        if again.code:  # the interrupted run is rolled back first, then the plan begins again
            assert unfinished, (where, life.said)
            again = life.calls("apply", life.plan)
        assert again.code == 0, (where, life.said)
    for name in ("leaf07", "leaf08"):
        switch = life.lab.switches[name]
        assert new(switch) and switch.trial is None and switch.saved == switch.running, where
    return ended.code
