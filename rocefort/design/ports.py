"""Interfaces of a Device, and the servers behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Interface

from rocefort.design import allocate, bonds, border, lossless, optics
from rocefort.design.context import Context
from rocefort.design.links import Joint
from rocefort.design.segment_rules import filter_name
from rocefort.documents.read import YamlPath
from rocefort.models.bond import trunk_number
from rocefort.models.fabric_nodes import Leaf, ServerIntent, Switch
from rocefort.models.interface import Interface
from rocefort.models.network import End, Server

MANAGEMENT = "MEth0/0/0"
LOOPBACK = "LoopBack0"


def interfaces(
    context: Context, path: YamlPath, switch: Switch, joints: Sequence[Joint]
) -> Iterator[Interface]:
    """All interfaces of a switch."""
    context.note(switch.name, f"interfaces[{LOOPBACK}]", *path, "id")
    context.note(switch.name, f"interfaces[{MANAGEMENT}]", *path, "id")
    loopback = IPv4Interface(allocate.loopback(context.fabric, switch))
    yield Interface(
        name=MANAGEMENT,
        vrf=context.fabric.management.vrf,
        addresses=(context.management(switch),),
    )
    yield Interface(name=LOOPBACK, addresses=(loopback,))
    for joint in joints:
        yield _fabric_port(context, switch, joint)
    if isinstance(switch, Leaf):
        yield from _vlanifs(context, path, switch)
        yield from border.ports(context, switch)
        yield from _server_ports(context, switch)


def _fabric_port(context: Context, switch: Switch, joint: Joint) -> Interface:
    own, far = joint.ends(switch)
    at = f"interfaces[{own.port}]"
    context.note(switch.name, at, *joint.path)
    context.note(switch.name, f"{at}.mtu", "mtu")
    return context.interface(
        switch,
        name=own.port,
        description=f"to {far.switch.name} {far.port}",
        routed=True,
        addresses=(own.address,),
        mtu=context.fabric.mtu,
        domain=context.lossless.domain,
        **optics.port_fields(context, switch, own.port, joint.kind, joint.kind_path),
        **lossless.port(context, switch, own.port),
    )


def _vlanifs(context: Context, path: YamlPath, leaf: Leaf) -> Iterator[Interface]:
    for segment, gateway in context.gateways(leaf):
        name = f"Vlanif{segment.vlan}"
        place = context.fabric.segments.index(segment)
        context.note(leaf.name, f"interfaces[{name}]", "segments", place)
        context.note(leaf.name, f"interfaces[{name}].addresses", *path, "segments")
        context.note(leaf.name, f"interfaces[{name}].mtu", "mtu")
        if segment.name in context.segment_acls:
            context.note(leaf.name, f"interfaces[{name}].filter_in", "security", "policy")
        context.note(leaf.name, f"vlans[{segment.vlan}]", "segments", place, "vlan")
        yield Interface(
            name=name,
            description=f"gateway {segment.name}",
            addresses=(gateway,),
            mtu=context.fabric.mtu,
            filter_in=filter_name(segment) if segment.name in context.segment_acls else None,
        )


def _server_ports(context: Context, leaf: Leaf) -> Iterator[Interface]:
    vlans = {s.name: s.vlan for s in context.fabric.segments}
    for index, server in context.servers_of.get(leaf.name, ()):
        name, vlan = bonds.carrier(context, leaf, server), vlans[server.segment]
        context.note(leaf.name, f"interfaces[{name}]", "servers", index)
        description = server.description or f"to {server.name}"
        if server.bond is None:
            own = _physical(context, leaf, index, server, name)
        else:
            own = {"bond": server.bond.settings}
            yield from _members(context, leaf, index, server, trunk_number(name))
        yield context.interface(
            leaf,
            name=name,
            description=description,
            access_vlan=vlan,
            edge=True,
            trust_dscp=True,
            domain=context.lossless.domain,
            **own,
        )


def _members(
    context: Context, leaf: Leaf, index: int, server: ServerIntent, number: int | None
) -> Iterator[Interface]:
    """Ports of a bond: what is of layer 2 or trusts stands on their Eth-Trunk."""
    for port in server.ports:
        context.note(leaf.name, f"interfaces[{port}]", "servers", index, "bond", "ports")
        yield context.interface(
            leaf,
            name=port,
            description=server.description or f"to {server.name}",
            eth_trunk=number,
            **_physical(context, leaf, index, server, port),
        )


def _physical(
    context: Context, leaf: Leaf, index: int, server: ServerIntent, port: str
) -> dict[str, object]:
    """What belongs to a port itself, a member of a bond or not: optics, and what RoCE passes."""
    kind = optics.server_kind(context, index, server)
    roce = lossless.port(context, leaf, port) if server.roce else {}
    return optics.port_fields(context, leaf, port, *kind) | roce


def servers(context: Context) -> Iterator[Server]:
    """All servers with their addresses."""
    fabric = context.fabric
    leaves = {leaf.name: leaf for leaf in fabric.leaves}
    for index, server in enumerate(fabric.servers):
        leaf = leaves[server.leaf]
        kind, _ = optics.server_kind(context, index, server)
        context.note(server.name, "", "servers", index, "name")
        hardware = context.hardware(leaf)
        in_order = sorted(server.ports, key=hardware.place)
        ports = tuple(End(device=leaf.name, interface=port) for port in in_order)
        yield Server(
            name=server.name,
            port=End(device=leaf.name, interface=bonds.carrier(context, leaf, server)),
            members=ports if server.bond else (),
            segment=server.segment,
            address=context.server_addresses[index],
            mtu=fabric.mtu,
            roce=server.roce,
            nic=server.nic,
            cable_m=server.cable_m or fabric.cables.server_m,
            medium=kind.medium if kind else None,
            speed_gbps=sum(context.speed_gbps(leaf, port) or 0 for port in server.ports),
        )
