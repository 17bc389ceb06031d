"""Registry of gates: features that measure between the servers of a wave."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from rocefort.base.errors import Problem, Refused
from rocefort.base.features import optional_module
from rocefort.models.change.plan import Gate, Plan
from rocefort.models.network.network import Network
from rocefort.rollout.controller.protocols import GateVerdict, LoadGuard, WaveGate

if TYPE_CHECKING:
    from nornir.core import Nornir

    from rocefort.fleet.connections import Connections
    from rocefort.models.fabric.rdma import Rdma

GATES: Final[Mapping[str, str]] = {"rdma": "rocefort.rdma.rollout_gate"}  # module with a GATE
HOW = (
    "extend the keys under rdma of the fabric, and plan again; or let the switches change "
    "unmeasured: --allow-unmeasured REASON"
)


@dataclass(frozen=True, slots=True)
class GateRecords:
    """Records of the gates of a plan. file: stores one of each run of a gate."""

    plan: Plan
    file: Path


class GateFeature(Protocol):
    """Interface of a rollout to the feature that measures its gates."""

    def plan(
        self, network: Network, rdma: Rdma, devices: Collection[str], access: Connections
    ) -> Gate:
        """Return the gate of a wave of devices; raises Refused if its servers cannot be used."""

    def seconds(self, gate: Gate) -> float:
        """Return the duration of a gate without delays, s."""

    def covered(self, plan: Plan, scale: float) -> Plan:
        """Return the plan, with what the rules of load leave unmeasured in each gate."""

    def guard(self, plan: Plan, nornir: Nornir, drained: Sequence[str], scale: float) -> LoadGuard:
        """Return the rules of load for the gates of a plan."""

    def runner(
        self,
        network: Network,
        access: Connections,
        records: GateRecords,
        measure: Callable[[Nornir, Gate], GateVerdict] | None = None,
    ) -> Callable[[Nornir, WaveGate], GateVerdict]:
        """Return what runs a gate, and stores its record. measure: of a rehearsal, which has other
        servers.

        A record that cannot be read or stored changes no verdict.
        """

    def notes(self, nornir: Nornir, servers: Sequence[str]) -> tuple[str, ...]:
        """Return notes on programs of the servers, before the canary."""


def gate_of(name: str = "rdma") -> GateFeature:
    """Return the feature of a gate; raises Refused if it is not installed."""
    module = optional_module(GATES[name], f"the policy requires a gate by {name}")
    return cast("GateFeature", module.GATE)


def refuse_uncovered(plan: Plan) -> None:
    """Raise Refused for each wave with a gate that the rules of load leave incomplete."""
    problems = [
        Problem(f"wave {wave.name}", f"its RDMA gate is not covered: {', '.join(reasons)}", HOW)
        for wave in plan.waves
        if (reasons := wave.gate.uncovered)
    ]
    if problems:
        raise Refused(problems=problems)
