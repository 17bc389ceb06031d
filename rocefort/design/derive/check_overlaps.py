"""Check pinned and allocated values for overlaps: ports, subnets, addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Interface, IPv4Network
from itertools import chain

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design.derive.context import Context
from rocefort.design.derive.ecn import speed_problems
from rocefort.design.derive.eth_trunks import trunk_problems
from rocefort.design.derive.links import LeafSpineLink
from rocefort.design.derive.transceivers import cable_problems
from rocefort.models.fabric.nodes import Leaf


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
    for index, server in enumerate(context.fabric.servers):
        address, network = context.server_addresses[index], context.gateway_of(server).network
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
