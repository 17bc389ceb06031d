"""Interfaces of a Device, and the servers behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Interface

from rocefort.design import allocate, lossless
from rocefort.design.context import Context
from rocefort.design.links import Joint
from rocefort.documents.read import YamlPath
from rocefort.models.fabric_nodes import Leaf, Switch
from rocefort.models.hardware import port_speed_gbps
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
    yield Interface(name=MANAGEMENT, addresses=(context.management(switch),))
    yield Interface(name=LOOPBACK, addresses=(loopback,))
    for joint in joints:
        yield _fabric_port(context, switch, joint)
    if isinstance(switch, Leaf):
        yield from _vlanifs(context, path, switch)
        yield from _server_ports(context, switch)


def _fabric_port(context: Context, switch: Switch, joint: Joint) -> Interface:
    own, far = joint.ends(switch)
    at = f"interfaces[{own.port}]"
    context.note(switch.name, at, *joint.path)
    context.note(switch.name, f"{at}.mtu", "mtu")
    return Interface(
        name=own.port,
        description=f"to {far.switch.name} {far.port}",
        routed=True,
        addresses=(own.address,),
        mtu=context.fabric.mtu,
        domain=context.fabric.lossless.domain,
        **lossless.port(context, switch, own.port),
    )


def _vlanifs(context: Context, path: YamlPath, leaf: Leaf) -> Iterator[Interface]:
    for segment, gateway in context.gateways(leaf):
        name = f"Vlanif{segment.vlan}"
        place = context.fabric.segments.index(segment)
        context.note(leaf.name, f"interfaces[{name}]", "segments", place)
        context.note(leaf.name, f"interfaces[{name}].addresses", *path, "segments")
        context.note(leaf.name, f"interfaces[{name}].mtu", "mtu")
        context.note(leaf.name, f"vlans[{segment.vlan}]", "segments", place, "vlan")
        yield Interface(
            name=name,
            description=f"gateway {segment.name}",
            addresses=(gateway,),
            mtu=context.fabric.mtu,
        )


def _server_ports(context: Context, leaf: Leaf) -> Iterator[Interface]:
    vlans = {s.name: s.vlan for s in context.fabric.segments}
    for index, server in context.servers_of.get(leaf.name, ()):
        context.note(leaf.name, f"interfaces[{server.port}]", "servers", index)
        roce = lossless.port(context, leaf, server.port) if server.roce else {}
        yield Interface(
            name=server.port,
            description=server.description or f"to {server.name}",
            access_vlan=vlans[server.segment],
            edge=True,
            trust_dscp=True,
            domain=context.fabric.lossless.domain,
            **roce,
        )


def servers(context: Context) -> Iterator[Server]:
    """All servers with their addresses."""
    fabric = context.fabric
    leaves = {leaf.name: leaf for leaf in fabric.leaves}
    segments = {s.name: s for s in fabric.segments}
    for index, server in enumerate(fabric.servers):
        leaf = leaves[server.leaf]
        gateway = allocate.gateway(segments[server.segment], leaf)
        context.note(server.name, "", "servers", index, "name")
        yield Server(
            name=server.name,
            port=End(device=leaf.name, interface=server.port),
            segment=server.segment,
            address=allocate.server_address(server, gateway, context.hardware(leaf)),
            mtu=fabric.mtu,
            roce=server.roce,
            cable_m=server.cable_m or fabric.cables.server_m,
            speed_gbps=port_speed_gbps(server.port) or 0,
        )
