"""Gate of a rollout by RDMA tests between servers: `rocefort.rollout.gates` finds it here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from nornir.core import Nornir

from rocefort.base.clock import utc_now
from rocefort.base.errors import Problem
from rocefort.fleet.connections import Connections
from rocefort.models.change.plan import Gate, Plan, Wave
from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.network import Network
from rocefort.rdma.gate_record import RecordedGate
from rocefort.rdma.plan.command_lines import untried_versions
from rocefort.rdma.plan.gate_pairs import gate_s, plan_gate
from rocefort.rdma.plan.load_rules import Load, LoadRules, load_verdict
from rocefort.rdma.plan.probe import perftest_versions, probe_nodes, undrained
from rocefort.rdma.queue_gate import QueueGate
from rocefort.rdma.run.gate import run_gate
from rocefort.rollout.controller.protocols import GateVerdict, LoadGuard, WaveGate
from rocefort.rollout.gates import GateRecords
from rocefort.rollout.planning.waves import wave_s


def longest_s(plan: Plan, wave: Wave, scale: float) -> float:
    """Most time of a wave on this machine, s. scale: seconds of the switches in one of it."""
    return wave_s(plan, wave, gate_s(wave.gate) * scale) / scale


def covered_in_window(plan: Plan, scale: float) -> Plan:
    """Return the plan with each wave that its window is too short for in `uncovered`."""
    return plan.model_copy(update={"waves": tuple(_wave(plan, w, scale) for w in plan.waves)})


def _wave(plan: Plan, wave: Wave, scale: float) -> Wave:
    verdict = load_verdict(LoadRules.of_gate(wave.gate), Load())
    why = verdict.too_long(longest_s(plan, wave, scale)) if wave.gate.pairs else ""
    if not why:
        return wave
    gate = wave.gate.model_copy(update={"uncovered": (*wave.gate.uncovered, why)})
    return wave.model_copy(update={"gate": gate})


@dataclass(frozen=True)
class GateLoad:
    """Decision, at the time of a call, whether the gate of a wave may load its servers.

    drained: Kubernetes nodes that the operator declares as drained. now: aware.
    """

    plan: Plan
    nornir: Nornir
    drained: Sequence[str]
    scale: float
    now: Callable[[], datetime] = utc_now

    def __call__(self, wave: Wave, *, begun: bool) -> str:
        """Reason why it may not; empty: it may. begun: only the gate must fit the window."""
        if not wave.gate.pairs:
            return ""
        seconds = gate_s(wave.gate) if begun else longest_s(self.plan, wave, self.scale)
        rules = LoadRules.of_gate(wave.gate)
        if closed := load_verdict(rules, Load(begins=self.now(), lasts_s=seconds)).reason:
            return closed  # servers are not queried outside their time
        probed = probe_nodes(self.nornir, wave.gate.servers)
        unread = {
            name: Problem(name, f"may be a Kubernetes node: its answer is {each.why!r}")
            for name, each in probed.items()
            if each.why and name not in self.drained
        }
        nodes = undrained(probed.values(), self.drained)
        return load_verdict(rules, Load(undrained=nodes | unread)).reason


class RdmaGate:
    """Gate by perftest; implements rocefort.rollout.gates.GateFeature."""

    def plan(
        self, network: Network, rdma: Rdma, devices: Collection[str], access: Connections
    ) -> Gate:
        """Return the gate of a wave; raises as `plan_gate` does."""
        servers = [server.name for server in access.servers]
        return plan_gate(network, rdma, devices, access.speed_note, servers, access.servers_note)

    def seconds(self, gate: Gate) -> float:
        """Return the duration of a gate without delays, s."""
        return gate_s(gate)

    def covered(self, plan: Plan, scale: float) -> Plan:
        """Return the plan with each wave that its window is too short for in `uncovered`."""
        return covered_in_window(plan, scale)

    def guard(self, plan: Plan, nornir: Nornir, drained: Sequence[str], scale: float) -> LoadGuard:
        """Return the rules of load for the gates of a plan."""
        return GateLoad(plan, nornir, drained, scale)

    def runner(
        self,
        network: Network,
        access: Connections,
        records: GateRecords,
        measure: Callable[[Nornir, Gate], GateVerdict] | None = None,
    ) -> Callable[[Nornir, WaveGate], GateVerdict]:
        """Return what runs a gate and stores its record; between guests also by queue counters.

        No other host sends there. measure: of a rehearsal.
        """
        usual = QueueGate(network) if access.servers_note else run_gate
        return RecordedGate(network, access, records, measure or usual)

    def notes(self, nornir: Nornir, servers: Sequence[str]) -> tuple[str, ...]:
        """Return notes on programs of the servers, before the canary."""
        return tuple(untried_versions(perftest_versions(nornir, servers)))


GATE = RdmaGate()
