"""Demonstrations on emulated switches: the whole workflow, and a rollout that is stopped.

Everything in it is real, except the switches (emulated CLIs over SSH) and the servers (SSH hosts
that replay measured perftest output); the output states this.

Plans and rollouts are processes of their own (`rocefort plan`, `apply`, `resume`) that reach the
switches by SSH. The switches are emulated CLIs, the servers replay recorded perftest runs. The
switches, never the tool, show the result.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import BadInput, DeviceFailed
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.design.subject import ReadNetwork, subject_of_derived
from rocefort.emulator.emulated_site import BANDWIDTH, BLOCKED, GOOD, SCENERY, Rehearsal, rehearse
from rocefort.emulator.state.ports import Config
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.fleet.connections import Connections
from rocefort.fleet.running_configs import running_of
from rocefort.models.change.plan import Plan
from rocefort.models.finding import Report, Severity
from rocefort.models.network.network import SwitchRole
from rocefort.models.wording import count_of
from rocefort.reports.writers.terminal import headed, width_of
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import Act, ActPhase, Event, RolloutOutcome, event_of
from rocefort.rollout.journal.journal import STEP
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.planning.sealed_files import read_plan
from rocefort.rollout.report.event_lines import WaveSummary
from rocefort.validators import engine_choice
from rocefort.validators.batfish.access import Service
from rocefort.validators.checks import check

SHOWN = ApplyOptions(after_acceptance=False)  # a lab of its own, not the stage of a site
BROKEN_RUN = BLOCKED[BANDWIDTH]  # perftest ends with exit 0 and nothing measured
RAISED_KBYTES = 40
HEAD = 8

Say = Callable[[str], None]


@dataclass(frozen=True)
class DemoWriter:
    """Writer of `head  text`, wrapped to the terminal beside its head."""

    say: Say

    def __call__(self, head: str, text: str) -> None:
        """Write one line of the demonstration."""
        for line in headed(f"{head:<{HEAD}}", text, width_of()):
            self.say(line)


def expect(is_so: bool, what: str) -> None:
    """Raise DeviceFailed if a step of a demonstration failed."""
    if not is_so:
        raise DeviceFailed(what, where="demo")


def run_demo(fabric: Path, engine: engine_choice.Engine, service: Service | None, say: Say) -> None:
    """Run all steps; raises RocefortError if one fails."""
    started = time.monotonic()
    tell = DemoWriter(say)
    derived = derive(fabric)
    own_profile(derived)
    subject = _design(derived, tell)
    _verify(subject, engine, service, tell)
    with tempfile.TemporaryDirectory(prefix="rocefort-demo-") as directory:
        state = Path(directory)
        changed = raise_thresholds(derived, state / "fabric.yaml", tell)
        with rehearse(subject.network, subject.texts, state / "lab") as lab:
            good = _roll_out(changed, lab, state, tell)
            bad = _broken_gate(derived, lab, state, tell)
            _summary(derived, good, bad, lab, tell)
    tell("time", f"{time.monotonic() - started:.0f} s")


def _design(derived: DerivedNetwork, tell: DemoWriter) -> ReadNetwork:
    network = derived.network
    spines, leaves = len(network.role(SwitchRole.SPINE)), len(network.role(SwitchRole.LEAF))
    links, servers = len(network.links or ()), len(network.servers or ())
    tell(
        "design",
        f"{network.name}: {count_of(spines, 'spine')}, {count_of(leaves, 'leaf')}, "
        f"{count_of(links, 'link')}, {count_of(servers, 'server')}",
    )
    subject = subject_of_derived(derived)
    lines = sum(text.count("\n") for text in subject.texts.values())
    tell(
        "render",
        f"{count_of(len(subject.texts), 'configuration')}, {lines} lines; each parses back to what "
        "was derived",
    )
    report = check(subject.network, subject.sources)
    tell("check", _counts(report))
    return subject


def _counts(report: Report) -> str:
    counts = Counter(finding.severity for finding in report.findings)
    return (
        f"{count_of(counts[Severity.ERROR], 'error')}, "
        f"{count_of(counts[Severity.WARNING], 'warning')}, {counts[Severity.INFO]} info, "
        f"{len(report.not_judged)} not judged: vendor facts are missing"
    )


def _verify(
    subject: ReadNetwork, engine: engine_choice.Engine, service: Service | None, tell: DemoWriter
) -> None:
    done = engine_choice.run(subject.network, subject.sources, engine, service)
    if done.report.failed:
        worst = next(f for f in done.report.findings if f.severity is Severity.ERROR)
        raise BadInput(worst.message, where=str(worst.where))
    state = done.state
    widest = max((route.width for route in state.routes), default=0)
    tell(
        "verify",
        f"by {' and '.join(done.engines)}{f' ({done.note})' if done.note else ''}: "
        f"{len(state.sessions)} BGP session ends established, {len(state.routes)} routes, ECMP "
        f"width {widest} from leaf to leaf, {state.reachability.delivered} server pairs reach each "
        "other by every path",
    )


def own_profile(derived: DerivedNetwork) -> YamlPath:
    """Return the place of the fabric's lossless profile in its file; BadInput for a shipped one."""
    own = ("profiles", "lossless", derived.fabric.lossless)
    if own not in derived.document.keys:
        raise BadInput(
            f"the demonstration changes the fabric's own file, and {own[-1]!r} is not in it",
            where=str(derived.document.key_at(("lossless",))),
            how="copy that profile into profiles.lossless of the fabric, under another name",
        )
    return own


def raise_thresholds(derived: DerivedNetwork, path: Path, tell: DemoWriter) -> Path:
    """Write a copy of the fabric with higher thresholds, and of its site's data."""
    lossless, document = derived.lossless, derived.document
    own = own_profile(derived)
    lines = Path(document.file).read_text(encoding="utf-8").splitlines(keepends=True)
    changes = []
    for field in ("xoff_kbytes", "xon_kbytes"):
        position, old = document.key_at((*own, field)), getattr(lossless, field)
        pattern = rf"(\b{field}:\s*){old}\b"
        lines[position.line - 1] = re.sub(
            pattern, rf"\g<1>{old + RAISED_KBYTES}", lines[position.line - 1]
        )
        changes.append(f"{field} {old} -> {old + RAISED_KBYTES}")
    derived.site.copy_to(path.parent)
    path.write_text("".join(lines), encoding="utf-8")
    tell("change", f"in the YAML: {', '.join(changes)}")
    return path


def _plan(fabric: Path, access: Connections) -> Plan:
    return make_plan(fabric, access, running_of(fabric, access, None))


def _roll_out(fabric: Path, lab: Rehearsal, state: Path, tell: DemoWriter) -> RolloutOutcome:
    plan = _plan(fabric, lab.connections)
    changes = [change for change in plan.changes if not change.empty]
    commands = sum(len(change.patch) for change in changes)
    tell(
        "plan",
        f"{plan.digest[:12]}: {count_of(len(changes), 'switch')}, {commands} commands, "
        f"{count_of(len(plan.waves), 'wave')}, commit trial {plan.trial_s} s",
    )
    journal = RunDirectory.of_journal(state / "good.journal")
    applied = apply_plan(plan, lab.connections, journal, [WaveSummary(tell)], SHOWN)
    expect(not applied.failure, f"the rollout stopped: {applied.failure}")
    return applied


def _broken_gate(
    derived: DerivedNetwork, lab: Rehearsal, state: Path, tell: DemoWriter
) -> RolloutOutcome:
    """Plan the old thresholds with a failing gate: UDP 4791 is blocked, perftest exits 0."""
    lab.replay(BANDWIDTH, BROKEN_RUN)
    plan = _plan(Path(derived.document.file), lab.connections)
    tell("back", f"plan {plan.digest[:12]} to the old thresholds, while RoCE traffic is blocked")
    journal = RunDirectory.of_journal(state / "bad.journal")
    applied = apply_plan(plan, lab.connections, journal, [WaveSummary(tell)], SHOWN)
    lab.replay(BANDWIDTH, GOOD[BANDWIDTH])
    back = "the RDMA gate failed" in applied.failure
    back = back and not (applied.confirmed or applied.unknown)
    expect(back, "a blocked gate did not roll its wave back")
    return applied


def _summary(
    derived: DerivedNetwork,
    good: RolloutOutcome,
    bad: RolloutOutcome,
    lab: Rehearsal,
    tell: DemoWriter,
) -> None:
    raised = f"xoff static {derived.lossless.xoff_kbytes + RAISED_KBYTES}"
    running = sum(
        any(raised in child.text for line in switch.running for _, child in line.walk())
        for switch in lab.switches.values()
    )
    tell(
        "result",
        f"{count_of(len(good.confirmed), 'switch')} confirmed, read back and saved; "
        f"{len(bad.rolled_back)} rolled back at a failed RDMA gate; "
        f"{running} of {len(lab.switches)} run the new thresholds",
    )
    tell("", SCENERY)


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
