"""Switches, cables and flows of a fabric, for a simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rocefort.base.documents.read import Document, YamlPath, path_text
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import derive
from rocefort.design.load.load import find_fabric
from rocefort.models.network.demand import Demand
from rocefort.models.network.network import Network
from rocefort.models.tuning.scenario import Scenario
from rocefort.models.units import KBYTE
from rocefort.steps.fabric.capacity import demand_of
from rocefort.tuning.layout import Cable, Ground, Pair
from rocefort.validators.capacity.traffic_matrix import spread
from rocefort.validators.facts.headroom import DELAY_NS_PER_M, RESPONSE_QUANTA
from rocefort.validators.facts.roce_ports import ports_by_device
from rocefort.validators.routing.engine import analyse


def fabric_of(scenario: Scenario) -> tuple[Network, Path]:
    """Return the network of the fabric that a scenario names, and its file; raises BadInput."""
    name = Path(scenario.topology.fabric or "")
    return derive(name).network, find_fabric(name)


def fabric_ground(
    scenario: Scenario,
    document: Document,
    network: Network,
    fabric: Path,
    demand: Path | None = None,
) -> Ground:
    """Return the ground of a fabric for a scenario; raises BadInput.

    fabric: its file. demand: instead of the demand.yaml beside it.
    """
    pairs = tuple(_pairs(scenario, document, network, demand_of(fabric, demand, network).demand))
    cables = tuple(_cables(scenario, network))
    twice = [ends for ends, count in Counter((x.a, x.b) for x in cables).items() if count > 1]
    if twice:
        what = f"{twice[0][0]} and {twice[0][1]} have several cables"
        raise _refused(document, what, "simulate a fabric with one cable for each pair")
    if slow := next((x for x in cables if x.gbps not in RESPONSE_QUANTA), None):
        what = f"{slow.a} and {slow.b} have a cable of {slow.gbps} Gb/s"
        raise _refused(document, what, "simulate a fabric of 10 Gb/s or more")
    buffers = {
        node.name: int(node.hardware.buffer_kbytes.value) * KBYTE
        for node in network.nodes
        if node.hardware and node.hardware.buffer_kbytes
    }
    return Ground(tuple(node.name for node in network.nodes), cables, pairs, buffers)


def _refused(
    document: Document, what: str, how: str, path: YamlPath = ("topology", "fabric")
) -> BadInput:
    return BadInput(what, where=f"{document.at(path)}: {path_text(path)}", how=how)


def _cables(scenario: Scenario, network: Network) -> Iterator[Cable]:
    """Yield the cables of a network; one without a length has the scenario's delay."""

    def delay(cable_m: float | None) -> float:
        return scenario.link_delay_us if cable_m is None else cable_m * DELAY_NS_PER_M / 1000

    speeds = {port.end: port.speed_gbps for p in ports_by_device(network).values() for port in p}
    for link in network.links or ():
        speed = speeds.get(link.a) or speeds.get(link.b) or scenario.topology.uplink_gbps
        yield Cable(link.a.device, link.b.device, speed, delay(link.cable_m))
    for server in network.servers or ():
        for port in server.ports:
            yield Cable(server.name, port.device, server.flow_gbps, delay(server.cable_m))


def _pairs(
    scenario: Scenario, document: Document, network: Network, demand: Demand | None
) -> Iterator[Pair]:
    """Yield pairs of servers: those that the scenario names, or those of the demand."""
    flows = scenario.flows
    names = [server.name for server in network.servers or ()]
    if flows.pattern == "between":
        for key in ("senders", "receivers"):
            for position, name in enumerate(getattr(flows, key)):
                if name not in names:
                    path: YamlPath = ("flows", key, position)
                    what = f"the fabric has no server {name!r}"
                    raise _refused(document, what, nearest(name, names), path)
        yield from (Pair(a, b) for a in flows.senders for b in flows.receivers if a != b)
        return
    if demand is None:
        path = ("flows", "pattern")
        raise _refused(document, "the fabric has no demand.yaml", "write it beside it", path)
    for term in spread(demand, analyse(network)).terms:
        for sender, rate in term.rates.items():
            for receiver, weight in term.weights.items():
                if sender != receiver:
                    yield Pair(sender, receiver, rate * weight)
