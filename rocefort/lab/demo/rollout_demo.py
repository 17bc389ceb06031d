"""Demonstration of a rollout: waves, a change that is stopped, a controller that is killed.

Plans and rollouts are processes of their own (`rocefort plan`, `apply`, `resume`) that reach the
switches by SSH. The switches are emulated CLIs, the servers replay recorded perftest runs. The
switches, never the tool, show the result.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.errors import DeviceFailed
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.subject import subject_of_derived
from rocefort.emulator.emulated_site import BANDWIDTH, GOOD, SCENERY, Rehearsal, rehearse
from rocefort.emulator.state.ports import Config
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.lab.demo.fabric_demo import (
    BROKEN_RUN,
    DemoWriter,
    Say,
    expect,
    own_profile,
    raise_thresholds,
)
from rocefort.models.change.plan import Plan
from rocefort.models.wording import count_of
from rocefort.rollout.journal.events import Act, ActPhase, Event, event_of
from rocefort.rollout.journal.journal import STEP
from rocefort.rollout.planning.sealed_files import read_plan
from rocefort.rollout.report.event_lines import WaveSummary

ROCEFORT = (sys.executable, "-c", "from rocefort.tasks import app; app()")
KILLED_IN = 1  # the controller dies in the wave behind the canary
Stop = Callable[[Event], bool]
Ran = Mapping[str, Config]  # running configuration of each switch


@dataclass
class RolloutDemo:
    """State of the demonstration."""

    lab: Rehearsal
    state: Path
    tell: DemoWriter
    say: Say

    def running(self) -> Ran:
        """Return the running configuration of every switch."""
        return {name: switch.running for name, switch in self.lab.switches.items()}

    def on_trial(self) -> dict[str, int]:
        """Return the seconds left of every trial, by switch."""
        for switch in self.lab.switches.values():
            switch.tick()
        switches = self.lab.switches.items()
        return {name: switch.trial_left() for name, switch in switches if switch.trial}

    def file(self, name: str) -> str:
        """Return the file of a plan."""
        return str(self.state / f"{name}.json")


def run_rollout_demo(fabric: Path, say: Say) -> None:
    """Roll out, fail, kill and resume; raises DeviceFailed if a switch is in a wrong state."""
    started = time.monotonic()
    tell = DemoWriter(say)
    derived = derive(fabric)
    own_profile(derived)
    subject = subject_of_derived(derived)
    with tempfile.TemporaryDirectory(prefix="rocefort-demo-") as directory:
        state = Path(directory)
        raised = raise_thresholds(derived, state / "fabric.yaml", tell)
        with rehearse(subject.network, subject.texts, state / "lab") as lab:
            stage = RolloutDemo(lab, state, tell, say)
            old = stage.running()
            new = _in_waves(stage, raised)
            plan = _stopped_at_the_canary(stage, derived, new)
            _killed_and_resumed(stage, plan, old, new)
    tell("", SCENERY)
    tell("time", f"{time.monotonic() - started:.0f} s")


def _in_waves(stage: RolloutDemo, fabric: Path) -> Ran:
    """Apply the change in all waves; returns the running configurations afterwards."""
    plan, before = _sealed(stage, "raise", fabric), stage.running()
    code = _controller(stage, "apply", "raise")
    new = stage.running()
    changed = [change.device for change in plan.changes if not change.empty]
    expect(code == 0, f"the rollout ended with exit code {code}")
    expect(all(new[name] != before[name] for name in changed), "a switch does not run the change")
    _expect_at_rest(stage)
    stage.tell("proof", f"{count_of(len(changed), 'switch')} run it and saved it, none is on trial")
    return new


def _stopped_at_the_canary(stage: RolloutDemo, derived: DerivedNetwork, new: Ran) -> Plan:
    """Apply a change that blocks RoCE traffic: perftest then still ends with exit 0."""
    stage.say("")
    fault = "back to the old thresholds; from now on no RoCE traffic gets through (UDP 4791)"
    stage.tell("fault", fault)
    plan = _sealed(stage, "back", Path(derived.document.file))
    stage.lab.replay(BANDWIDTH, BROKEN_RUN)
    code = _controller(stage, "apply", "back")
    stage.lab.replay(BANDWIDTH, GOOD[BANDWIDTH])
    expect(code == DeviceFailed.exit_code, f"a blocked gate ended with exit code {code}")
    expect(stage.running() == new, "a switch does not run what it ran before the fault")
    _expect_at_rest(stage)
    points = [name for name, switch in stage.lab.switches.items() if _commits(switch, plan)]
    canary = list(plan.waves[0].devices)
    expect(points == canary, f"touched: {', '.join(points)}; only {', '.join(canary)} may be")
    stage.tell("proof", f"only {points[0]} was touched, and it runs what it ran before")
    return plan


def _killed_and_resumed(stage: RolloutDemo, plan: Plan, old: Ran, new: Ran) -> None:
    """Kill a controller while a wave is on trial, and resume with another."""
    stage.say("")
    stage.tell("kill", "the same plan once more, with traffic; its controller will be killed")
    wave = plan.waves[min(KILLED_IN, len(plan.waves) - 1)]
    killed = (wave.name, Act.TRIAL, ActPhase.DONE)
    code = _controller(stage, "apply", "back", lambda e: (e.wave, e.act, e.phase) == killed)
    trials_left, now = stage.on_trial(), stage.running()
    expect(code < 0, f"the controller was not killed: exit code {code}")
    expect(
        set(trials_left) == set(wave.devices), "another switch than those of the wave is on trial"
    )
    mixed = [name for name in now if now[name] not in (old[name], new[name])]
    expect(not mixed, f"{', '.join(mixed)}: neither old nor new")
    trials = ", ".join(
        f"{name} on trial, {seconds} s left" for name, seconds in trials_left.items()
    )
    unchanged = sum(now[name] == new[name] for name in now)
    stage.tell("killed", f"SIGKILL in wave {wave.name}: {trials}; {unchanged} not yet changed")
    code = _controller(stage, "resume", "back")
    expect(code == 0, f"the resumed rollout ended with exit code {code}")
    expect(stage.running() == old, "a switch does not run what was planned")
    _expect_at_rest(stage)
    stage.tell("proof", f"all {count_of(len(old), 'switch')} run what was planned, saved")


# --- processes ------------------------------------------------------------------------------------


def _sealed(stage: RolloutDemo, name: str, fabric: Path) -> Plan:
    """Plan in a process of its own."""
    words = ("plan", str(fabric), "--connections", str(stage.lab.file), "--out", stage.file(name))
    command = (*ROCEFORT, *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - Rocefort
    if done.returncode:
        raise DeviceFailed(f"no plan: {done.stderr.strip()}", where="demo")
    plan = read_plan(Path(stage.file(name)))
    waves = count_of(len(plan.waves), "wave")
    what = f"{count_of(len(plan.changes), 'switch')}, {waves}, commit trial {plan.trial_s} s"
    stage.tell("plan", f"{plan.digest[:12]}: {what}")
    return plan


def _controller(stage: RolloutDemo, verb: str, name: str, dies: Stop = lambda _: False) -> int:
    """Carry a plan out in a process of its own, or until it is killed; returns its exit code."""
    access = ("--connections", str(stage.lab.file))
    words = ("--quiet", verb, stage.file(name), *access, "--progress", "json")  # errors, no notes
    listener = WaveSummary(stage.tell)
    with (stage.state / "stderr").open("w+") as errors:
        controller = subprocess.Popen(  # noqa: S603 - Rocefort itself
            (*ROCEFORT, *words), stdout=subprocess.PIPE, stderr=errors, text=True
        )
        with controller, closing(_events(controller)) as events:
            for event in events:
                listener(event)
                if dies(event):
                    controller.kill()
                    break
        if controller.returncode > 0 and (text := (stage.state / "stderr").read_text().strip()):
            stage.tell("", text)
    return controller.returncode


def _events(controller: subprocess.Popen[str]) -> Generator[Event, None, None]:
    """Yield the events of a controller while it runs."""
    for line in controller.stdout or ():
        row = json.loads(line)
        if "phase" in row:
            yield event_of({name: row[name] for name in STEP})


# --- state of the switches ------------------------------------------------------------------------


def _commits(switch: EmulatedSwitch, plan: Plan) -> bool:
    """Whether one of a switch's commits is of a plan."""
    return any(plan.digest[:12] in point.description for point in switch.points)


def _expect_at_rest(stage: RolloutDemo) -> None:
    """Check that nothing is on trial, in a candidate, or unsaved."""
    trials = stage.on_trial()
    expect(not trials, f"{', '.join(trials)}: still on trial")
    for name, switch in stage.lab.switches.items():
        expect(switch.saved == switch.running, f"{name}: what it runs is not saved")
        expect(not switch.candidates, f"{name}: lines are left in a candidate")
