"""Demonstration of the twin: real BGP and kernels, a gate, a fault, a rollback.

Everything runs on this machine and is removed afterwards. With QEMU the gate is real RDMA between
two guests. Without it packets of RoCE cross the twin, and their result selects the recorded runs.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.base.processes import raise_on_signals, stop_on_signals
from rocefort.design.derive.derive import DerivedNetwork, derive
from rocefort.fleet.connections import Connections, load_connections
from rocefort.fleet.running_configs import running_of
from rocefort.lab.bring_up import bring_up
from rocefort.lab.demo.emulated_demo import DemoWriter, Say, expect
from rocefort.lab.guest.qemu import require_qemu
from rocefort.lab.guest_connections import build_image
from rocefort.lab.network import three_opinions
from rocefort.lab.twin.faults import break_lab, mend_lab
from rocefort.lab.twin.registry import (
    LabRecord,
    Registry,
    connections_of,
    namespaces_of,
    processes_of,
)
from rocefort.lab.twin.requirements import require_host
from rocefort.lab.twin.status import status_of
from rocefort.lab.twin.twin import Twin, TwinOptions, take_down
from rocefort.models.change.plan import Plan
from rocefort.models.wording import count_of
from rocefort.rdma.plan.gate_pairs import plan_pairs
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.controller.config import ApplyOptions
from rocefort.rollout.journal.events import RolloutOutcome
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.report.event_lines import WaveSummary

DESCRIPTION = "demonstrated"


@dataclass(frozen=True)
class TwinDemo:
    """State of the demonstration."""

    derived: DerivedNetwork
    twin: Twin
    state: Path
    tell: DemoWriter

    @property
    def access(self) -> Connections:
        """Connections of the lab."""
        file = connections_of(self.twin.registry, self.twin.record)
        if file is None:
            raise ServiceFailed("the command lines of the twin are gone", where="demo")
        return load_connections(file)

    def kernels(self) -> object:
        """Return all BGP routes of all kernels, once they are stable."""
        now = Twin.find(self.twin.record.name, self.twin.registry)
        now.converge()
        return now.fibs(protocols=["bgp"])


def run_lab_demo(fabric: Path, say: Say) -> None:
    """Start, roll out, inject a fault, roll back, fix; raises DeviceFailed if a step fails.

    Raises ServiceFailed if no twin can run here; nothing is left behind.
    """
    require_host()
    started = time.monotonic()
    tell = DemoWriter(say)
    derived = derive(fabric)
    pairs = plan_pairs(derived.network)
    if not pairs:
        how = "name a fabric that has RoCE servers on two leaves: heps"
        raise BadInput("no two RoCE servers are on different leaves", how=how)
    pair = pairs[0]
    edited = _edited_text(derived, (pair.client, pair.server))
    with (
        tempfile.TemporaryDirectory(prefix="rocefort-demo-") as directory,
        raise_on_signals("the demonstration"),
        _twin(fabric, (pair.client, pair.server), tell) as twin,
    ):
        stage = TwinDemo(derived, twin, Path(directory), tell)
        _converged(stage)
        before = stage.kernels()
        changed = Path(directory) / "fabric.yaml"
        derived.site.copy_to(changed.parent)
        changed.write_text(edited, encoding="utf-8")
        tell("change", f"in the YAML: another description of {pair.client} and {pair.server}")
        applied = _apply_plan(stage, _sealed(stage, changed), "there")
        expect(not applied.failure, f"the rollout stopped: {applied.failure}")
        back = _stopped(stage, fabric, pair.client)
        _repair_and_apply(stage, back)
        expect(stage.kernels() == before, "a kernel does not have the routes that it had before")
        tell("proof", "every kernel has the routes that it had in the beginning")
    remaining = left_of(Registry(), twin.record)
    expect(not remaining, f"left behind: {', '.join(remaining)}")
    tell("down", "the lab is gone: no namespace, no process, no file of it is left")
    tell("time", f"{time.monotonic() - started:.0f} s")


# --- the twin -------------------------------------------------------------------------------------


def _name() -> str:
    return f"demo-{os.getpid()}"


def left_of(registry: Registry, record: LabRecord) -> list[str]:
    """Return the parts of a lab that exist: its record, namespaces, processes, files."""
    directory = registry.directory(record.id)
    return [
        *(name for name in registry.names() if name == record.name),
        *namespaces_of(record.id),
        *(f"process {process}" for process in processes_of(record.id)),
        *([str(directory)] if directory.exists() else []),
    ]


@contextmanager
def _twin(fabric: Path, servers: tuple[str, str], tell: DemoWriter) -> Iterator[Twin]:
    """Run the lab until the block ends."""
    guests, why = _guests(servers)
    begun = time.monotonic()
    try:
        twin = bring_up(fabric, _name(), TwinOptions(), lambda _: None, guests)
        seconds = time.monotonic() - begun
        topology = twin.topology
        tell(
            "twin",
            f"{count_of(len(topology.switches), 'switch')} with FRR {twin.record.frr}, "
            f"{count_of(len(topology.hosts), 'server')}, "
            f"{count_of(len(topology.cables), 'cable')}: "
            f"up in {seconds:.1f} s",
        )
        tell("guests", why or f"{' and '.join(servers)} are QEMU guests with Soft-RoCE")
        yield twin
    finally:
        with stop_on_signals():
            if _name() in Registry().names():
                take_down(_name())


def _guests(servers: tuple[str, str]) -> tuple[str, str]:
    """Return the servers that become guests; or none, and the reason."""
    try:
        require_qemu()
        build_image(lambda _: None)
    except ServiceFailed as error:
        replayed = "packets of RoCE cross, and their result selects perftest's recording"
        return "", f"none: {error.problem}; {replayed}"
    return ",".join(servers), ""


def _converged(stage: TwinDemo) -> None:
    status = status_of(stage.twin.record.name)
    expect(not status.wrong, f"wrong in the lab: {'; '.join(status.wrong)}")
    stage.tell("bgp", f"{status.established} of {status.sessions} session ends are up")
    opinions = three_opinions(stage.derived.network, stage.twin.fibs(protocols=["bgp"]))
    expect(not opinions.differences, f"{next(iter(opinions.differences), '')}")
    text = "routes of the kernels, each as the embedded engine has it"
    stage.tell("kernels", f"{opinions.compared} {text}")


# --- rollouts -------------------------------------------------------------------------------------


def _edited_text(derived: DerivedNetwork, servers: tuple[str, str]) -> str:
    """Return the text of the fabric in which two servers have another description."""
    document = derived.document
    lines = Path(document.file).read_text(encoding="utf-8").splitlines(keepends=True)
    for name in servers:
        begins = re.compile(rf"\s*- name: {re.escape(name)}\s*")
        number = next((n for n, line in enumerate(lines) if begins.fullmatch(line)), None)
        if number is None:
            raise BadInput(
                f"the demonstration writes a description below `- name: {name}`",
                where=document.file,
                how="write that server's name on a line of its own",
            )
        indent = lines[number].index("name:")
        lines.insert(number + 1, f"{' ' * indent}description: {DESCRIPTION}\n")
    return "".join(lines)


def _sealed(stage: TwinDemo, fabric: Path) -> Plan:
    plan = make_plan(fabric, stage.access, running_of(fabric, stage.access, None))
    changed = [change.device for change in plan.changes if not change.empty]
    waves = count_of(len(plan.waves), "wave")
    stage.tell("plan", f"{plan.digest[:12]}: {', '.join(changed)} in {waves}")
    return plan


def _apply_plan(stage: TwinDemo, plan: Plan, journal: str) -> RolloutOutcome:
    listener = WaveSummary(stage.tell)
    run = RunDirectory.of_journal(stage.state / journal)
    options = ApplyOptions(after_acceptance=False)
    return apply_plan(plan, stage.access, run, [listener], options)


def _stopped(stage: TwinDemo, fabric: Path, server: str) -> Plan:
    """Roll back while a server's port loses everything, which only the gate can detect."""
    servers = stage.derived.network.servers or ()
    port = next(each.port for each in servers if each.name == server)
    where = f"{port.device}:{port.interface}"
    break_lab(stage.twin.registry, stage.twin.record.name, "silent-loss", where)
    stage.tell(
        "fault", f"{where} loses every packet of {server} without an error; its carrier stays up"
    )
    plan = _sealed(stage, fabric)
    applied = _apply_plan(stage, plan, "back")
    failed = "the RDMA gate failed" in applied.failure
    expect(failed, f"the gate did not stop it: {applied.failure or 'nothing did'}")
    expect(not (applied.confirmed or applied.unknown), "a switch was left changed")
    touched = count_of(len(applied.rolled_back), "switch")
    stage.tell("proof", f"{touched} rolled back, no other was touched")
    return plan


def _repair_and_apply(stage: TwinDemo, plan: Plan) -> None:
    mended = mend_lab(stage.twin.registry, stage.twin.record.name)
    stage.tell("fixed", f"{', '.join(map(str, mended))}; the same plan once more")
    applied = _apply_plan(stage, plan, "again")
    expect(not applied.failure, f"the rollout stopped: {applied.failure}")
