"""Limits of switches for candidates: budget, headroom, ECN before PFC, ranges.

Formulas and facts are those of the rules: BUF001, BUF002, ECN002, PFC ranges of the families.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rocefort.models.network.network import Network, Node, Port
from rocefort.models.units import KBYTE
from rocefort.tune.model import Settings
from rocefort.tune.scenario import KB, Scenario
from rocefort.tune.simulator.layout import Ground
from rocefort.validators.facts.ecn_grades import Grade, Thresholds, congestions_of, grades
from rocefort.validators.facts.headroom import PortDemand, port_demands
from rocefort.validators.facts.roce_ports import ports_by_device

HEADROOM = "headroom below the formula"
BUDGET = "xoff and headroom beyond the buffer"
ECN_AFTER_PFC = "PFC may pause before ECN marks"
Refusal = Callable[[Settings], str]


def scenario_refusal(scenario: Scenario, ground: Ground) -> Refusal:
    """Return the limits of a scenario without a fabric: all its ports, and its buffer."""
    from rocefort.tune.simulator.tables import buffer_bytes, headroom_of  # noqa: PLC0415 - numba's numpy

    of_switch: dict[str, list[tuple[int, float]]] = {name: [] for name in ground.switches}
    for cable in ground.cables:
        for end in (cable.a, cable.b):
            if end in of_switch:
                of_switch[end].append((cable.gbps, cable.delay_us))
    formula = scenario.like(buffer=scenario.buffer.like(headroom_kbytes=None))
    needed = {
        name: [headroom_of(formula, *port) for port in ports] for name, ports in of_switch.items()
    }
    sizes = {name: buffer_bytes(scenario, ground, name) for name in of_switch}

    def refusal(settings: Settings) -> str:
        applied = settings.applied(scenario)
        headroom, xoff = applied.buffer.headroom_kbytes, applied.buffer.xoff_kbytes
        if not applied.buffer.pfc:
            return ""
        own = None if headroom is None else round(headroom * KB)
        most = max((size for all_ports in needed.values() for size in all_ports), default=0)
        if own is not None and own < most:
            return HEADROOM
        reserve = round(applied.buffer.reserve_kbytes * KB)
        share = reserve if xoff is None else max(reserve, round(xoff * KB))
        for name, ports in needed.items():
            if sum(share + (size if own is None else own) for size in ports) > sizes[name]:
                return BUDGET
        if xoff is not None and applied.ecn is not None:
            return _ecn_refusal(
                applied, round(xoff * KB), [[gbps for gbps, _ in p] for p in of_switch.values()]
            )
        return ""

    return refusal


def _ecn_refusal(scenario: Scenario, xoff: int, switches: Iterable[list[int]]) -> str:
    """Return why the thresholds of a scenario are refused, by the grades of rule ECN002."""
    if scenario.ecn is None:
        return ""
    for speeds in switches:
        for gbps in dict.fromkeys(speeds):
            limits = scenario.ecn.of_port(gbps, scenario.port_gbps)
            thresholds = Thresholds(
                round(limits.kmin_kbytes * KB), round(limits.kmax_kbytes * KB), xoff
            )
            held = grades(thresholds, len(speeds), congestions_of(gbps, speeds))
            if held[0] is Grade.NONE:
                return ECN_AFTER_PFC
    return ""


@dataclass(frozen=True)
class FabricLimits:
    """Limits of a fabric's switches: their RoCE ports, ranges of their families, their buffers."""

    ports: dict[str, list[Port]]
    demands: dict[str, tuple[PortDemand, ...]]

    @classmethod
    def of(cls, network: Network) -> FabricLimits:
        """Return the limits of the switches with RoCE ports."""
        return cls(ports_by_device(network), port_demands(network))

    def refusal(self, scenario: Scenario) -> Refusal:
        """Return why settings are refused; scenario: for the speed of its thresholds."""

        def refuse(settings: Settings) -> str:
            applied = settings.applied(scenario)
            xoff = round((applied.buffer.xoff_kbytes or 0) * KB)
            for device, ports in self.ports.items():
                if reason := self._of_switch(device, ports[0].node, applied, xoff):
                    return reason
            speeds = [
                [port.speed_gbps for port in ports if port.speed_gbps]
                for ports in self.ports.values()
            ]
            return _ecn_refusal(applied, xoff, speeds)

        return refuse

    def _of_switch(self, device: str, node: Node, scenario: Scenario, xoff: int) -> str:
        family, buffer = node.family, node.hardware.buffer_kbytes if node.hardware else None
        if family is not None:
            if family.xoff_kbytes is not None and xoff // KBYTE not in family.xoff_kbytes:
                return f"xoff outside the range of {family.name}"
            for gbps in {port.speed_gbps for port in self.ports[device] if port.speed_gbps}:
                if scenario.ecn is None or family.ecn_bytes is None:
                    continue
                limits = scenario.ecn.of_port(gbps, scenario.port_gbps)
                for size in (limits.kmin_kbytes, limits.kmax_kbytes):
                    if round(size * KB) not in family.ecn_bytes:
                        return f"Kmin or Kmax outside the range of {family.name}"
        kept = [demand.kept_kbytes for demand in self.demands.get(device, ())]
        if buffer is not None and None not in kept:
            total = sum(xoff // KBYTE + size for size in kept if size is not None)
            if total > buffer.value:
                return BUDGET
        return ""
