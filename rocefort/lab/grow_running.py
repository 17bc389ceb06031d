"""Steps of `lab grow`: a running lab gains switches, servers and cables; the rest is untouched.

new = grown_topology(lab.topology, planned)
    grow_lab(registry, record, new)

A port of a switch that had a cable to nowhere, or none, gets the one that leads to the new node.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from rocefort.base.errors import Problem, Refused, ServiceFailed
from rocefort.design.subject import subject_of
from rocefort.dialects.choose import dialect_of
from rocefort.lab.guest_connections import lead_to_guests
from rocefort.lab.network import running_network
from rocefort.lab.twin import requirements
from rocefort.lab.twin.config_sync import patient_lock
from rocefort.lab.twin.faults import LockedLab, require_mended
from rocefort.lab.twin.namespaces import raise_neighbour_limit
from rocefort.lab.twin.registry import (
    LabRecord,
    Registry,
    end_processes,
    grow_file,
    grown_file,
    lines_run,
    namespaces_of,
    remove_namespaces,
    write_whole,
)
from rocefort.lab.twin.topology import BACKSTAGE, TwinTopology, VethPair, topology_of
from rocefort.lab.twin.twin import Twin, neighbours_of
from rocefort.models.network.network import Network, Node
from rocefort.validators.routing.external_peers import with_outside


def grown_topology(old: TwinTopology, planned: TwinTopology) -> TwinTopology:
    """Return a lab's topology with the additions of a plan; existing switches do not change.

    Raises Refused with every part of the lab that the plan lacks or changes.
    """
    if problems := list(_move_problems(old, planned)):
        raise Refused(problems=problems)
    fresh = {n for n in planned.nodes if n not in set(old.nodes)}
    old_cables = {frozenset(cable.ends) for cable in old.cables}
    laid = [
        cable
        for cable in planned.cables
        if frozenset(cable.ends) not in old_cables
        and (not _loose(cable) or fresh & {cable.a, cable.b})
    ]
    taken = {end for cable in laid for end in cable.ends}
    remaining = [c for c in old.cables if not (_loose(c) and taken.intersection(c.ends))]
    return old.model_copy(
        update={
            "switches": (*old.switches, *(p for p in planned.switches if p.name in fresh)),
            "hosts": (*old.hosts, *(host for host in planned.hosts if host.name in fresh)),
            "cables": (*remaining, *laid),
        }
    )


def _loose(cable: VethPair) -> bool:
    """Whether a cable leads nowhere."""
    return BACKSTAGE in (cable.a, cable.b)


def _move_problems(old: TwinTopology, planned: TwinTopology) -> Iterator[Problem]:
    how = "lab grow only adds; take the lab down and up again"
    for node in old.nodes:
        if node not in planned.nodes:
            yield Problem(node, "is in the lab, and not in this fabric", how)
    planned_cables = {frozenset(cable.ends) for cable in planned.cables}
    for cable in old.cables:
        if not _loose(cable) and frozenset(cable.ends) not in planned_cables:
            what = f"is cabled to {cable.b} {cable.b_port} in the lab, and not in this fabric"
            yield Problem(f"{cable.a} {cable.a_port}", what, how)


def grow_lab(registry: Registry, record: LabRecord, new: TwinTopology) -> TwinTopology:
    """Create the additions of a topology; returns the old topology.

    If the process is killed, the record is marked as not whole, and `down` removes the lab. After
    an error the lab is as before. Raises Refused if a fault is injected.
    """
    raise_neighbour_limit(registry.root, neighbours_of(new))
    with patient_lock(registry, record.name):
        require_mended(registry, record)
        old = registry.topology(record)
        bench = LockedLab(registry, record, old)
        registry.save(record.model_copy(update={"status": "changing"}))
        try:
            bench.builder.change(old, new)
            registry.save_topology(record, new)
        except BaseException:
            _undo(bench, new)
            raise
        registry.save(record)
    return old


def shrink_lab(registry: Registry, record: LabRecord, old: TwinTopology) -> None:
    """Remove the additions of `grow_lab`."""
    with patient_lock(registry, record.name):
        new = registry.topology(record)
        registry.save(record.model_copy(update={"status": "changing"}))
        _undo(LockedLab(registry, record, old), new)


def _undo(bench: LockedLab, new: TwinTopology) -> None:
    """Remove all new parts, created or not, and restore those that they replaced."""
    old, lab = bench.topology, bench.record.id
    old_nodes = set(old.nodes)
    fresh = {bench.builder.namespace(name) for name in new.nodes if name not in old_nodes}
    names = sorted(fresh.intersection(namespaces_of(lab)))
    if names:
        end_processes(lab, set(names))
        remove_namespaces(lab, names)
    laid = [c for c in new.cables if c not in old.cables and {c.a, c.b} <= old_nodes]
    bench.restore(laid, [c for c in old.cables if c not in new.cables])
    bench.registry.save_topology(bench.record, old)
    bench.registry.save(bench.record)


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
