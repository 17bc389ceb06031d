"""Check the beamlines of a fabric: names, leaf, segment, data path, and rate against ports."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.models.fabric.beamlines import Beamline
from rocefort.models.fabric.policy import SegmentPolicy
from rocefort.models.fabric.topology import Leaf
from rocefort.models.hardware.media import whole_port
from rocefort.models.wording import count_of


def beamline_problems(context: Context) -> Iterator[Problem]:
    """Yield problems of beamlines; those of their servers' ports are reported with servers."""
    fabric = context.fabric
    yield from _repeated(context)
    yield from _retired(context)
    leaves = {leaf.name: leaf for leaf in fabric.leaves}
    segments = [segment.name for segment in fabric.segments if segment.vlan]
    receiving = {server.segment for server in fabric.servers}
    for index, beamline in enumerate(fabric.beamlines):
        path: YamlPath = ("beamlines", index)
        if beamline.leaf not in leaves:
            yield context.unknown((*path, "leaf"), "leaf", beamline.leaf, leaves)
        elif problem := _rate(context, path, beamline, leaves[beamline.leaf]):
            yield problem
        if beamline.segment not in segments:
            yield context.unknown_segment((*path, "segment"), beamline.segment, segments)
        for number, target in enumerate(beamline.sends_to):
            at = (*path, "sends_to", number, "to")
            if target.to not in segments:
                yield context.unknown_segment(at, target.to, segments)
            elif target.to not in receiving:
                what = f"{beamline.name} sends to segment {target.to}, which has no server"
                yield context.problem(at, what, "add servers to it, or name another segment")
            elif reason := _denied(fabric.security.policy, beamline, target.to):
                what = f"{beamline.name} sends to {target.to}, and {reason} denies it"
                how = "allow it with a lower id, or name another segment"
                yield context.problem(at, what, how)


def _repeated(context: Context) -> Iterator[Problem]:
    for key in ("id", "name"):
        first: dict[str, int] = {}
        for index, beamline in enumerate(context.fabric.beamlines):
            value = str(getattr(beamline, key))
            if first.setdefault(value, index) != index:
                line = context.loaded.document.at(("beamlines", first[value], key)).line
                what = f"beamline {key} {value} is given twice"
                how = f"write another one: the first is on line {line}"
                yield context.problem(("beamlines", index, key), what, how)


def _retired(context: Context) -> Iterator[Problem]:
    for index, beamline in enumerate(context.fabric.beamlines):
        if beamline.id in context.fabric.capacity.retired_beamlines:
            what = f"id {beamline.id} is of a beamline that is gone (capacity.retired_beamlines)"
            how = "give it an id that no beamline has had"
            yield context.problem(("beamlines", index, "id"), what, how)


def _rate(context: Context, path: YamlPath, beamline: Beamline, leaf: Leaf) -> Problem | None:
    """Return the problem of detectors that send more than the ports of the servers carry."""
    hardware = context.catalogue.hardware.get(leaf.hardware)
    if hardware is None:
        return None
    speeds = [
        hardware.speed_gbps(port, leaf.splits.get(whole_port(port))) for port in beamline.port_names
    ]
    known = [speed for speed in speeds if speed]
    total, sent = sum(known), beamline.sent_gbps
    if len(known) < len(speeds) or sent <= total:
        return None
    more = ceil((sent - total) / max(known))
    return context.problem(
        (*path, "ports"),
        f"{beamline.name} sends {sent:g} Gb/s at peak, and its "
        f"{count_of(len(known), 'port')} carry {total} Gb/s",
        f"add {count_of(more, 'port')} of {max(known)} Gb/s, or write lower rates",
    )


def _denied(policy: SegmentPolicy | None, beamline: Beamline, target: str) -> str:
    """Return the entry of the policy that denies a data path; empty: none does."""
    if policy is None or target == beamline.segment:
        return ""
    protocols = ("any", "rdma" if beamline.transport == "roce" else "tcp")
    deciding = next(
        (
            entry
            for entry in policy.ordered
            if entry.protocol in protocols
            and (entry.action == "allow" or not entry.ports)
            and beamline.segment in entry.source
            and target in entry.destination
        ),
        None,
    )
    if deciding is None or deciding.action == "allow":
        return ""
    return f"entry {deciding.id} of security.policy"
