"""Check exits and the management gateway against the rest of the fabric, before derivation."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import chain

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design import allocation
from rocefort.design.derive.breakout import outward_port_problem
from rocefort.design.derive.check_as_numbers import reserved_for
from rocefort.design.derive.check_consistency import repeated
from rocefort.design.derive.context import Context
from rocefort.models.fabric.exits import ExitIntent
from rocefort.models.fabric.nodes import Leaf

Placed = tuple[YamlPath, Leaf, ExitIntent]


def border_problems(context: Context) -> Iterator[Problem]:
    """Yield all conflicts of exits and of the management gateway."""
    parts = (_gateway, _unique, _ports, _addresses, _outside, _routes)
    yield from chain.from_iterable(part(context) for part in parts)


def _exits(context: Context) -> Iterator[Placed]:
    for leaf_index, leaf in enumerate(context.fabric.leaves):
        for index, exit_ in enumerate(leaf.exits):
            yield ("leaves", leaf_index, "exits", index), leaf, exit_


def _gateway(context: Context) -> Iterator[Problem]:
    gateway = context.fabric.management.gateway
    outside = [one for one in context.fabric.segments if one.vlan is None]
    if gateway is None or len(outside) != 1:  # allocation_problems reports it
        return
    segment = outside[0]
    path: YamlPath = ("management", "gateway")
    ends = segment.prefix.network_address, segment.prefix.broadcast_address
    if gateway not in segment.prefix or gateway in ends:
        what = f"gateway {gateway} is no address of {segment.prefix}, segment {segment.name}"
        yield context.problem(path, what, "use an address of it")
    for _, switch in context.switches():
        if context.management(switch).ip == gateway:
            what = f"gateway {gateway} is the management address of {switch.name}"
            yield context.problem(path, what, "use another address")


def _unique(context: Context) -> Iterator[Problem]:
    for field in ("id", "name", "peer"):
        values = [(path, str(getattr(exit_, field))) for path, _, exit_ in _exits(context)]
        yield from repeated(context, values, field, f"exit {field}")
    for path, _, exit_ in _exits(context):
        seen: set[int] = set()
        for index, row in enumerate(exit_.accepts):
            if row.id in seen:
                what = f"id {row.id} is given twice in exit {exit_.name}"
                yield context.problem((*path, "accepts", index, "id"), what, "use a free id")
            seen.add(row.id)


def _ports(context: Context) -> Iterator[Problem]:
    servers = context.fabric.servers
    used = {(s.leaf, port): f"server {s.name}" for s in servers for port in s.ports}
    for path, leaf, exit_ in _exits(context):
        hardware = context.catalogue.hardware.get(leaf.hardware)
        what, how = "", ""
        if hardware is None:
            continue
        if wrong := outward_port_problem(hardware, leaf, exit_.port):
            what, how = wrong
        elif (leaf.name, exit_.port) in used:
            other = used[leaf.name, exit_.port]
            what = f"{leaf.name} {exit_.port} is used twice, by {other} and exit {exit_.name}"
            how = "give each link, server and exit a port of its own"
        used.setdefault((leaf.name, exit_.port), f"exit {exit_.name}")
        if what:
            yield context.problem((*path, "port"), what, how)


def _inside(context: Context) -> Iterator[tuple[str, IPv4Network]]:
    pools = context.fabric.pools
    yield "pools.spine_loopbacks", pools.spine_loopbacks
    yield "pools.leaf_loopbacks", pools.leaf_loopbacks
    yield "pools.links", pools.links
    for segment in context.fabric.segments:
        yield f"segment {segment.name}", segment.prefix


def _addresses(context: Context) -> Iterator[Problem]:
    taken = list(_inside(context))
    for path, _, exit_ in _exits(context):
        subnet = exit_.address.network
        usable = set(subnet.hosts()) if subnet.prefixlen >= 24 else None
        if (
            exit_.peer not in subnet
            or exit_.peer == exit_.address.ip
            or (usable is not None and not {exit_.peer, exit_.address.ip} <= usable)
        ):
            what = f"{exit_.peer} and {exit_.address} are no two hosts of one subnet"
            yield context.problem((*path, "peer"), what, "use two addresses of a /31 or /30")
        for name, prefix in taken:
            if subnet.overlaps(prefix):
                what = f"{subnet} of exit {exit_.name} overlaps {prefix} of {name}"
                yield context.problem((*path, "address"), what, "use separate prefixes")
        taken.append((f"exit {exit_.name}", subnet))


def _outside(context: Context) -> Iterator[Problem]:
    own = {allocation.asn(context.fabric, s): s.name for _, s in context.switches()}
    for path, _, exit_ in _exits(context):
        if exit_.asn in own:
            what = f"AS {exit_.asn} of exit {exit_.name} is that of {own[exit_.asn]}"
            yield context.problem((*path, "asn"), what, "use the AS number of the other end")
        elif exit_.asn and (span := reserved_for(context, exit_.asn)):
            what = f"AS {exit_.asn} of exit {exit_.name} is kept: {span} of the reserved capacity"
            how = "use the AS number of the other end, or another plan in routing"
            yield context.problem((*path, "asn"), what, how)


def _routes(context: Context) -> Iterator[Problem]:
    segments = {s.name for s in context.fabric.segments if s.vlan}
    for path, _, exit_ in _exits(context):
        for index, name in enumerate(exit_.announces or ()):
            if name not in segments:
                yield context.unknown_segment((*path, "announces", index), name, segments)
        for index, row in enumerate(exit_.accepts):
            for name, prefix in _inside(context):
                if row.prefix.overlaps(prefix):
                    what = f"{row.prefix} accepted from outside overlaps {prefix} of {name}"
                    how = "what is inside must not be learned from outside"
                    yield context.problem((*path, "accepts", index, "prefix"), what, how)
