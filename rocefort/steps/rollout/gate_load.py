"""Rules of load for the gates of a plan: at its seal, before a wave, and when its gate begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from nornir.core import Nornir

from rocefort.base.clock import utc_now
from rocefort.base.errors import Problem, Refused
from rocefort.models.rollout.plan import Plan, Wave
from rocefort.rdma.plan.gate import gate_s
from rocefort.rdma.plan.kubernetes import undrained
from rocefort.rdma.plan.load_rules import Load, LoadRules, load_verdict
from rocefort.rdma.plan.probe import probe_nodes
from rocefort.rollout.planning.trial_timer import wave_s

HOW = (
    "extend the keys under rdma of the fabric, and plan again; or let the switches change "
    "unmeasured: --allow-unmeasured REASON"
)


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


def refuse_uncovered(plan: Plan) -> None:
    """Raise Refused for each wave with a gate that the rules of load leave incomplete."""
    problems = [
        Problem(f"wave {wave.name}", f"its RDMA gate is not covered: {', '.join(reasons)}", HOW)
        for wave in plan.waves
        if (reasons := wave.gate.uncovered)
    ]
    if problems:
        raise Refused(problems=problems)


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
