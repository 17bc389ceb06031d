"""Gate of a rehearsed wave: real RDMA between guests, packets of RoCE between namespaces.

Speed is never judged: that needs hardware.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nornir.core import Nornir

from rocefort.lab.twin.traffic.roce_probes import SMALL, not_delivered, pair_length, wires
from rocefort.lab.twin.twin import Twin
from rocefort.models.change.plan import Gate, GatePair
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of
from rocefort.rdma.plan.gate import SHORT, plan_pairs
from rocefort.rdma.queue_gate import QueueGate, QueueVerdict
from rocefort.rdma.run.gate import run_gate
from rocefort.rollout.controller.protocols import GateVerdict

PATIENCE_S = 5.0  # sessions may still be coming up
REPLAY_S = 10.0  # a replay hangs at once or never: no need to wait as long as for RDMA


@dataclass(frozen=True)
class TwinGate:
    """Gates of a plan on one twin; note: reason that speed is not judged there."""

    network: Network
    twin: Twin
    note: str

    def __call__(self, nornir: Nornir, gate: Gate) -> GateVerdict:
        """Run a gate as far as the twin can measure it."""
        guests = set(self.twin.record.guests)
        pairs = self._of_guests(gate) if guests else gate.pairs
        others = [p for p in gate.pairs if guests and guests.isdisjoint((p.client, p.server))]
        summaries = []
        if pairs:
            update = {"pairs": pairs, "speed_judged": False, "speed_note": self.note, **SHORT}
            short = gate.model_copy(update=update)
            ran = self._ran(nornir, short, guests=bool(guests))
            names = f"RDMA between {', '.join(sorted(guests))}: " if guests else ""
            if not ran.passed:
                return QueueVerdict(passed=False, summary=names + ran.summary)
            summaries.append(names + ran.summary)
        if lost := self._lost(others, gate.traffic_class):
            return QueueVerdict(passed=False, summary=lost)
        if others:
            summaries.append(f"packets of RoCE cross between {count_of(len(others), 'other pair')}")
        return QueueVerdict(
            passed=True, summary="; ".join(summaries) or "no server to measure between"
        )

    def _ran(self, nornir: Nornir, gate: Gate, *, guests: bool) -> GateVerdict:
        return QueueGate(self.network)(nornir, gate) if guests else run_gate(nornir, gate, REPLAY_S)

    def _of_guests(self, gate: Gate) -> tuple[GatePair, ...]:
        """Return pairs of guests that reach every leaf of the gate's servers with a guest."""
        servers = self.network.servers or ()
        names = {name for pair in gate.pairs for name in (pair.client, pair.server)}
        leaves = {server.port.device for server in servers if server.name in names}
        guests = tuple(s for s in servers if s.name in self.twin.record.guests)
        return plan_pairs(self.network.model_copy(update={"servers": guests}), leaves)

    def _lost(self, pairs: Sequence[GatePair], traffic_class: int) -> str:
        """Return the first pair of namespaces between which packets of RoCE are lost."""
        names = [name for pair in pairs for name in (pair.client, pair.server)]
        both = [
            direction for p in pairs for direction in ((p.client, p.server), (p.server, p.client))
        ]
        full = {pair: pair_length(self.twin, pair) for pair in both}
        with wires(self.twin, names, traffic_class) as probes:
            for size, length in (("small", SMALL), ("full-size", full)):
                if lost := not_delivered(probes, both, length, PATIENCE_S):
                    return f"{lost[0][0]} -> {lost[0][1]}: {size} packets of RoCE are lost"
        return ""
