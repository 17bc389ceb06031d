"""Servers, gateways and policy of a fabric that follow from its beamlines.

They are added to the fabric when it is loaded, so that all that reads servers, segments and the
policy has those of beamlines, too. Beamlines are taken by id: their order in the file changes
nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocefort.base.documents.read import Document, YamlPath
from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.policy import PolicyEntry, SegmentPolicy
from rocefort.models.fabric.topology import Leaf, ServerIntent

BEAMLINES = "beamlines"
FIRST_ENTRY = 5000  # of the policy; plus the VLAN of the sending segment, at most 4094
Written = dict[YamlPath, YamlPath]


def with_beamlines(fabric: Fabric, document: Document) -> tuple[Fabric, Document]:
    """Return a fabric with what follows from its beamlines, and where each value was written.

    A beamline with an unknown leaf or segment, or with the id or name of an earlier one, adds
    nothing: `beamline_problems` reports it.
    """
    rows = sorted(_sound(fabric), key=lambda row: (row[1].id, row[0]))
    if not rows:
        return fabric, document
    written: Written = {}
    servers = list(fabric.servers)
    for index, beamline in rows:
        for server in servers_of(beamline):
            written |= _server_paths(len(servers), index)
            servers.append(server)
    updates: dict[str, object] = {
        "servers": tuple(servers),
        "leaves": tuple(_leaf(leaf, rows) for leaf in fabric.leaves),
    }
    policy = fabric.security.policy
    if policy is not None and policy.default == "deny":
        updates["security"] = fabric.security.model_copy(
            update={"policy": _policy(fabric, policy, rows, written)}
        )
    return fabric.model_copy(update=updates), replace(document, written=written)


def servers_of(beamline: Beamline) -> Iterator[ServerIntent]:
    """Yield the servers of a beamline, in the order of its ports."""
    for name, port in zip(beamline.servers, beamline.port_names, strict=True):
        yield ServerIntent(
            name=name,
            leaf=beamline.leaf,
            port=port,
            segment=beamline.segment,
            roce=beamline.transport == "roce",
            nic=beamline.nic,
            cable_m=beamline.cable_m,
            owner=beamline.owner,
        )


def _sound(fabric: Fabric) -> Iterator[tuple[int, Beamline]]:
    leaves = {leaf.name for leaf in fabric.leaves}
    segments = {segment.name for segment in fabric.segments if segment.vlan}
    ids, names = set[int](), set[str]()
    for index, beamline in enumerate(fabric.beamlines):
        is_first = beamline.id not in ids and beamline.name not in names
        ids.add(beamline.id)
        names.add(beamline.name)
        if is_first and beamline.leaf in leaves and beamline.segment in segments:
            yield index, beamline


def _server_paths(number: int, beamline: int) -> Written:
    row: YamlPath = (BEAMLINES, beamline)
    return {("servers", number): row, ("servers", number, "port"): (*row, "ports")}


def _leaf(leaf: Leaf, rows: Sequence[tuple[int, Beamline]]) -> Leaf:
    """Return a leaf with gateways for the segments of its beamlines."""
    own = {beamline.segment for _, beamline in rows if beamline.leaf == leaf.name}
    more = sorted(own.difference(leaf.segments))
    return leaf.model_copy(update={"segments": (*leaf.segments, *more)}) if more else leaf


def _policy(
    fabric: Fabric,
    policy: SegmentPolicy,
    rows: Sequence[tuple[int, Beamline]],
    written: Written,
) -> SegmentPolicy:
    """Return a policy with one entry for each segment of beamlines, after those of the author.

    The id follows from the segment's VLAN, so that a beamline with the same data path changes no
    ACL, and no other entry moves.
    """
    vlans = {segment.name: segment.vlan for segment in fabric.segments if segment.vlan}
    paths: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for index, beamline in rows:
        for path in beamline.sends_to:
            if path.to in vlans and path.to != beamline.segment:
                paths[beamline.segment].setdefault(path.to, index)
    entries = list(policy.entries)
    for segment in sorted(paths, key=lambda name: vlans[name] or 0):
        targets = paths[segment]
        written["security", "policy", "entries", len(entries)] = (
            BEAMLINES,
            min(targets.values()),
            "sends_to",
        )
        entries.append(
            PolicyEntry(
                id=FIRST_ENTRY + (vlans[segment] or 0),
                action="allow",
                source=(segment,),
                destination=tuple(sorted(targets)),
            )
        )
    return policy.model_copy(update={"entries": tuple(entries)})
