"""Copy of a switch's running configuration into its kernel and FRR, by delta."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from rocefort.base.errors import Refused, RocefortError
from rocefort.dialects.frr import Features, LinkState, SwitchPlan, plan_switch
from rocefort.dialects.frr.kernel import SWITCHED_MTU
from rocefort.dialects.vrp.interpreter.interpreter import Lines
from rocefort.emulator.state.ports import read_running
from rocefort.emulator.switch.audit_log import AuditLog
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.lab.twin.builder import Builder
from rocefort.lab.twin.registry import LabRecord, Registry, devices_directory, write_whole
from rocefort.lab.twin.topology import BACKSTAGE, TwinTopology, VethPair, backstage_port

PATIENCE_S = 10.0  # for another process that changes the same lab


@dataclass
class ConfigSync(AuditLog):
    """Audit log of a lab's command lines that also applies each change to the twin.

    A change is applied before the user is answered. Create it while the twin matches the running
    configurations. If the twin cannot apply a change, the audit log and `lab status` report it; the
    command line keeps it, as a switch would.
    """

    registry: Registry = field(default_factory=Registry)
    lab: str = ""
    features: Features = field(default_factory=Features)
    switches: Mapping[str, EmulatedSwitch] = field(default_factory=dict)
    _below: dict[str, Lines] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)

    def begin(self, switch: EmulatedSwitch) -> None:
        """Record the running configuration at the start, which the twin already has."""
        super().begin(switch)
        self._below[switch.name] = switch.running

    def record_spontaneous(self, switch: EmulatedSwitch) -> None:
        """Record and apply a change that no line caused."""
        super().record_spontaneous(switch)
        self._follow(switch)

    def note(self, switch: EmulatedSwitch, session: int, user: str, line: str) -> None:
        """Record a line, and apply its change."""
        super().note(switch, session, user, line)
        self._follow(switch)

    def watch(self) -> None:
        """Update all switches: an unconfirmed trial then also ends in the twin."""
        for switch in self.switches.values():
            switch.tick()
            self.record_spontaneous(switch)

    def _follow(self, switch: EmulatedSwitch) -> None:
        name, running = switch.name, switch.running
        if self._below[name] is running:
            return
        self._below[name] = running
        before = self._refused.pop(name, None)
        try:
            self._carry(name, running)
        except RocefortError as error:
            self._refused[name] = str(error)
            super().note(switch, 0, "", f"(the twin does not do this: {error})")
        if before != self._refused.get(name):
            record = self.registry.find(self.lab)
            write_whole(refusals_file(self.registry, record), json.dumps(self._refused))

    def _carry(self, name: str, running: Lines) -> None:
        with patient_lock(self.registry, self.lab):
            record = self.registry.find(self.lab)
            device = read_running(name, running)
            plan = plan_switch(device, self.features, bfd=record.bfd)
            old = self.registry.topology(record)
            change_lab(self.registry, record, old, with_plan(old, plan))
            file = devices_directory(self.registry, record) / f"{name}.json"
            write_whole(file, device.model_dump_json())


def change_lab(registry: Registry, record: LabRecord, old: TwinTopology, new: TwinTopology) -> None:
    """Change a running lab without waiting for its routes; the caller holds the lock."""
    if new != old:
        Builder(record.id, registry.directory(record.id)).change(old, new)
        registry.save_topology(record, new)


def with_plan(topology: TwinTopology, plan: SwitchPlan) -> TwinTopology:
    """Return the topology with another plan of one switch; all cables stay plugged.

    A port that is no longer in the configuration is enabled and bare, as on a switch. A port that
    is new there has a cable that leads nowhere.
    """
    was = topology.by_switch[plan.name]
    plugged = {end[1] for cable in topology.cables for end in cable.ends if end[0] == plan.name}
    bare = tuple(
        LinkState(name=link.name, kind="port", interface=link.interface, mtu=SWITCHED_MTU)
        for link in was.links
        if link.kind == "port" and link.name in plugged and link.name not in plan.by_link
    )
    whole = plan.model_copy(update={"links": (*plan.links, *bare)})
    loose = tuple(
        VethPair(a=plan.name, a_port=port, b=BACKSTAGE, b_port=backstage_port(plan.name, port))
        for port in whole.ports.values()
        if port not in plugged
    )
    switches = tuple(whole if each.name == plan.name else each for each in topology.switches)
    return topology.model_copy(update={"switches": switches, "cables": (*topology.cables, *loose)})


def refusals_file(registry: Registry, record: LabRecord) -> Path:
    """Return the file of changes that the twin could not apply, by switch."""
    return registry.directory(record.id) / "refused.json"


def refusals(registry: Registry, record: LabRecord) -> dict[str, str]:
    """Return committed changes that the twin could not apply, by switch."""
    file = refusals_file(registry, record)
    rows: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return rows


@contextmanager
def patient_lock(registry: Registry, name: str) -> Iterator[None]:
    """Lock a lab, and wait a while for another holder. Raises Refused after that."""
    until = monotonic() + PATIENCE_S
    with ExitStack() as held:
        while True:
            try:
                held.enter_context(registry.lock(name))
                break
            except Refused:
                if monotonic() > until:
                    raise
            sleep(0.05)
        yield
