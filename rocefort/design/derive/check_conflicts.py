"""Check for conflicts of ports, subnets and addresses: of exits, of pins, of allocated values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Interface, IPv4Network
from itertools import chain

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design import allocation
from rocefort.design.derive.check_capacity import reserved_for
from rocefort.design.derive.check_consistency import repeated
from rocefort.design.derive.context import Context
from rocefort.design.derive.hosts import trunk_problems
from rocefort.design.derive.lossless import speed_problems
from rocefort.design.derive.ports import outward_port_problem
from rocefort.design.derive.switch_context import LeafSpineLink
from rocefort.design.derive.transceivers import cable_problems
from rocefort.models.fabric.topology import ExitIntent, Leaf

Placed = tuple[YamlPath, Leaf, ExitIntent]


def border_problems(context: Context) -> Iterator[Problem]:
    """Yield all conflicts of exits and of the management gateway."""
    parts = (_gateway, _unique, _exit_ports, _addresses, _outside, _routes)
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


def _exit_ports(context: Context) -> Iterator[Problem]:
    servers = context.fabric.servers
    used = {(s.leaf, port): f"server {s.name}" for s in servers for port in s.ports}
    for path, leaf, exit_ in _exits(context):
        hardware = context.known_hardware(leaf)
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


def fit_problems(context: Context, joints: Sequence[LeafSpineLink]) -> Iterator[Problem]:
    """Yield all conflicts; there must be no `allocation_problems`."""
    parts = (
        _ports(context, joints),
        _speeds(context, joints),
        cable_problems(context, joints),
        speed_problems(context, joints),
        _subnets(context, joints),
        _management(context),
        _servers(context),
        trunk_problems(context),
    )
    yield from chain.from_iterable(parts)


def _ports(context: Context, joints: Iterable[LeafSpineLink]) -> Iterator[Problem]:
    """Yield ports with two cables. (`allocation_problems` reports two servers on one port.)"""
    servers = context.fabric.servers
    used: dict[tuple[str, str], LeafSpineLink | str]
    used = {(s.leaf, port): f"server {s.name}" for s in servers for port in s.ports}
    for leaf in context.fabric.leaves:
        used |= {(leaf.name, exit_.port): f"exit {exit_.name}" for exit_ in leaf.exits}
    for joint in joints:
        for end, field in ((joint.spine, "spine_port"), (joint.leaf, "leaf_port")):
            key = end.switch.name, end.port
            if key in used:
                yield context.problem(
                    _field(joint, field),
                    f"{' '.join(key)} is used twice, by {used[key]} and {joint}",
                    "give each link, server and exit a port of its own",
                )
            used.setdefault(key, joint)


def _field(joint: LeafSpineLink, name: str) -> YamlPath:
    """Return the path of the pin's field; for allocated values that of the leaf."""
    return (*joint.path, name) if joint.path[0] == "links" else joint.path


def _speeds(context: Context, joints: Iterable[LeafSpineLink]) -> Iterator[Problem]:
    for joint in joints:
        ends = (joint.spine, joint.leaf)
        if len({context.speed_gbps(end.switch, end.port) for end in ends}) > 1:
            yield context.problem(
                _field(joint, "leaf_port"),
                f"{joint} joins {joint.spine.port} and {joint.leaf.port}, which differ in speed",
                "join ports of one speed",
            )


def _subnets(context: Context, joints: Iterable[LeafSpineLink]) -> Iterator[Problem]:
    """Yield overlaps of subnets of links and gateways, pinned or allocated."""
    subnets = [(joint.subnet, str(joint), _field(joint, "subnet")) for joint in joints]
    for path, switch in context.switches():
        for segment, gateway in context.gateways(switch):
            pinned = isinstance(switch, Leaf) and segment.name in switch.pins.gateways
            at = (*path, "pins", "gateways", segment.name) if pinned else (*path, "segments")
            subnets.append((gateway.network, f"segment {segment.name} on {switch.name}", at))
    yield from _overlaps(context, subnets)


def _overlaps(
    context: Context, subnets: list[tuple[IPv4Network, str, YamlPath]]
) -> Iterator[Problem]:
    """Yield overlaps: by first address, compare each subnet with the one that ends last."""
    last: tuple[IPv4Network, str, YamlPath] | None = None
    for item in sorted(subnets, key=_in_order):
        if last is not None and item[0].network_address <= last[0].broadcast_address:
            # The problem is that of the pin; with two pins that of the second.
            late, early = sorted((item, last), key=_pinned, reverse=True)
            yield context.problem(
                late[2],
                f"{late[0]} of {late[1]} overlaps {early[0]} of {early[1]}",
                "use separate prefixes",
            )
        if last is None or item[0].broadcast_address > last[0].broadcast_address:
            last = item


def _in_order(item: tuple[IPv4Network, str, YamlPath]) -> tuple[int, int, str]:
    """Return a sort key as that of networks, then the name; numbers compare faster."""
    return int(item[0].network_address), item[0].prefixlen, item[1]


def _pinned(item: tuple[IPv4Network, str, YamlPath]) -> bool:
    return item[2][0] == "links" or "pins" in item[2]


def _management(context: Context) -> Iterator[Problem]:
    segment = context.out_of_band()
    for path, switch in context.switches():
        if not _usable(context.management(switch), segment.prefix):
            address = context.management(switch).ip
            yield context.problem(
                (*path, "pins", "management") if switch.pins.management else path,
                f"management address {address} of {switch.name} is not one of {segment.prefix}",
                f"use a larger prefix in segment {segment.name}, or pin an address of it",
            )


def _servers(context: Context) -> Iterator[Problem]:
    pairs = zip(context.fabric.servers, context.server_addresses, strict=False)
    for index, (server, address) in enumerate(pairs):
        network = context.gateway_of(server).network
        if not _usable(address, network):
            field = "address" if server.address else "bond" if server.bond else "port"
            yield context.problem(
                ("servers", index, field),
                f"address {address.ip} of {server.name} is not one of {network}",
                f"that is segment {server.segment} on {server.leaf}: use an address of it, "
                "or a shorter leaf_prefix_length",
            )


def _usable(address: IPv4Interface, network: IPv4Network) -> bool:
    """Whether a host may have the address: in the network, but not its first or last."""
    first = int(network.network_address)
    return first < int(address) < first + network.num_addresses - 1
