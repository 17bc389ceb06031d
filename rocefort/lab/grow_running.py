"""Steps of `lab grow`: a running lab gains the switches, servers and cables of a larger fabric."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from rocefort.base.errors import Refused, ServiceFailed
from rocefort.design.subject import subject_of
from rocefort.dialects.choose import dialect_of
from rocefort.lab.guest_connections import lead_to_guests
from rocefort.lab.network import running_network
from rocefort.lab.twin import requirements
from rocefort.lab.twin.cli_process import grow_file, grown_file, lines_run
from rocefort.lab.twin.grow import grow_lab, grown_topology, shrink_lab
from rocefort.lab.twin.registry import write_whole
from rocefort.lab.twin.topology import BACKSTAGE, TwinTopology, topology_of
from rocefort.lab.twin.twin import Twin
from rocefort.models.network.network import Network, Node
from rocefort.validators.routing.external_peers import with_outside

PATIENCE_S = 60.0  # until the command lines listen for the new switches


@dataclass(frozen=True)
class TopologyGrowth:
    """Additions to a lab."""

    switches: tuple[str, ...]
    servers: tuple[str, ...]
    cables: int


def grow_running(twin: Twin, fabric: Path) -> TopologyGrowth:
    """Add a fabric's new parts to a running lab; new switches run their day 0, old ones continue.

    Raises Refused if the fabric lacks a part of the lab, a fault is injected, or the lab is not
    whole, ServiceFailed if a step fails; the lab is then as before.
    """
    twin.require_whole()
    if not lines_run(twin.registry, twin.record):
        what = "the command lines of its switches do not run; new switches would have none"
        raise Refused(what, where=twin.record.name, how="take it down and up again")
    planned_network = subject_of(fabric, None).network
    now = running_network(twin)
    texts = {n.name: day0_of(n) for n in planned_network.nodes if n.name not in now.by_name}
    network = _grown_network(planned_network, now, texts)
    planned = topology_of(
        with_outside(network), requirements.features_of(requirements.probe()), bfd=twin.record.bfd
    )
    new = grown_topology(twin.topology, planned)
    if new == twin.topology:
        raise Refused("this fabric adds nothing to the lab", where=twin.record.name)
    old = grow_lab(twin.registry, twin.record, new)
    try:
        _grow_lines(twin, network, texts)
    except BaseException:
        shrink_lab(twin.registry, twin.record, old)
        raise
    twin.topology = new
    if twin.record.guests:
        lead_to_guests(twin)
    return _topology_growth(old, new)


def day0_of(node: Node) -> str:
    """Return the day-0 configuration of a switch: it is reachable, and no more."""
    if node.family is None or node.hardware is None:
        raise Refused("its hardware is not known", where=node.name, how="name it in the fabric")
    dialect = dialect_of(node)
    return dialect.render(dialect.day0_device(node.device), node.family, node.hardware.shipped)


def _grown_network(planned: Network, now: Network, texts: dict[str, str]) -> Network:
    """Return the larger fabric with running configurations: old ones, or day 0 for new switches."""
    running = {node.name: node.device for node in now.nodes}
    fresh = {
        name: dialect_of(planned.by_name[name]).parse(text, f"{name} (day 0)").device
        for name, text in texts.items()
    }
    nodes = tuple(
        node.model_copy(update={"device": {**fresh, **running}[node.name]})
        for node in planned.nodes
    )
    return planned.model_copy(update={"nodes": nodes})


def _grow_lines(twin: Twin, network: Network, texts: dict[str, str]) -> None:
    """Notify the command lines, and wait until they listen for the new switches."""
    request_file = grow_file(twin.registry, twin.record)
    result_file = grown_file(twin.registry, twin.record)
    result_file.unlink(missing_ok=True)
    write_whole(request_file, json.dumps([network.model_dump_json(), texts]))
    until = monotonic() + PATIENCE_S
    while not result_file.exists():
        if monotonic() > until or not lines_run(twin.registry, twin.record):
            request_file.unlink(missing_ok=True)
            what = "the command lines do not add the new switches"
            raise ServiceFailed(what, where=twin.record.name, how="see `rocefort lab status`")
        sleep(0.02)
    if problem := result_file.read_text("utf-8"):
        raise ServiceFailed(problem, where=twin.record.name)


def _topology_growth(old: TwinTopology, new: TwinTopology) -> TopologyGrowth:
    def names(nodes: Iterable[str], before: Iterable[str]) -> tuple[str, ...]:
        old_names = set(before)
        return tuple(name for name in nodes if name not in old_names)

    real = [c for c in new.cables if BACKSTAGE not in (c.a, c.b)]
    return TopologyGrowth(
        names(new.by_switch, old.by_switch),
        names(new.by_host, old.by_host),
        sum(cable not in old.cables for cable in real),
    )
