"""Growth of a running lab by nodes and cables; existing parts are not touched.

    new = grown_topology(lab.topology, planned)
    grow_lab(registry, record, new)

A port of a switch that had a cable to nowhere, or none, gets the one that leads to the new node.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.base.errors import Problem, Refused
from rocefort.lab.twin.config_sync import patient_lock
from rocefort.lab.twin.faults import LockedLab, require_mended
from rocefort.lab.twin.namespaces import raise_neighbour_limit
from rocefort.lab.twin.registry import LabRecord, Registry
from rocefort.lab.twin.teardown import end_processes, namespaces_of, remove_namespaces
from rocefort.lab.twin.topology import BACKSTAGE, TwinTopology, VethPair
from rocefort.lab.twin.twin import neighbours_of


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
