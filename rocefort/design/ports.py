"""Interfaces of a Device, and the servers behind them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from ipaddress import IPv4Interface

from rocefort.design import allocate, bonds, border, lossless, optics
from rocefort.design.inputs import Fields, MadeEnd, SwitchInputs
from rocefort.design.links import Joint
from rocefort.design.scope import Scope
from rocefort.design.segment_rules import filter_name
from rocefort.models.bond import trunk_number
from rocefort.models.fabric_cables import CableKind
from rocefort.models.fabric_nodes import ServerIntent
from rocefort.models.interface import Interface
from rocefort.models.network import End, Server

MANAGEMENT = "MEth0/0/0"
LOOPBACK = "LoopBack0"


def interfaces(scope: Scope, ends: Iterable[MadeEnd]) -> Iterator[Interface]:
    """All interfaces of a switch; ends: of its leaf-spine links."""
    for name in (LOOPBACK, MANAGEMENT):
        scope.note(f"interfaces[{name}]", *scope.path, "id")
    loopback = IPv4Interface(allocate.loopback(scope.fabric, scope.switch))
    for end in ends:
        _note_fabric_port(scope, end.joint)
        yield end.port
    own: Iterable[Interface] = (
        Interface(name=MANAGEMENT, vrf=scope.fabric.management.vrf, addresses=(scope.management,)),
        Interface(name=LOOPBACK, addresses=(loopback,)),
        *_vlanifs(scope),
        *border.ports(scope),
        *_server_ports(scope),
    )
    yield from map(scope.shared_port, own)


def _note_fabric_port(scope: Scope, joint: Joint) -> None:
    own, _ = joint.ends(scope.switch)
    at = f"interfaces[{own.port}]"
    scope.note(at, *joint.path)
    scope.note(f"{at}.mtu", "mtu")
    optics.note_cable(scope, own.port, joint.kind, joint.kind_path)
    lossless.note_port(scope, own.port)


def fabric_port(inputs: SwitchInputs, joint: Joint) -> Interface:
    """The Interface at a switch's end of a link."""
    own, far = joint.ends(inputs.switch)
    kind = ("routed", *_kind(inputs, own.port, joint.kind, roce=True))
    known = inputs.common.ports.get(kind)
    if known is None:
        known = inputs.common.ports[kind] = Interface.model_validate(
            {
                "name": own.port,
                "routed": True,
                "mtu": inputs.common.bare.mtu,
                "domain": inputs.common.lossless.domain,
                **optics.port_fields(inputs, own.port, joint.kind),
                **lossless.port(inputs, own.port),
            }
        )
    description = f"to {far.switch.name} {far.port}"
    return known.like(name=own.port, description=description, addresses=(own.address,))


def _kind(
    inputs: SwitchInputs, port: str, cable: CableKind | None, *, roce: bool
) -> tuple[Hashable, ...]:
    """What ports of this kind have in common, of what depends on the switch, port and cable."""
    given = (cable.medium, cable.fec, cable.autonegotiation) if cable else None
    return inputs.family.headroom_kbytes is not None, inputs.speed_gbps(port), given, roce


def _vlanifs(scope: Scope) -> Iterator[Interface]:
    acls = scope.common.segment_acls
    for segment, gateway in scope.gateways:
        name = f"Vlanif{segment.vlan}"
        place = scope.fabric.segments.index(segment)
        scope.note(f"interfaces[{name}]", "segments", place)
        scope.note(f"interfaces[{name}].addresses", *scope.path, "segments")
        scope.note(f"interfaces[{name}].mtu", "mtu")
        if segment.name in acls:
            scope.note(f"interfaces[{name}].filter_in", "security", "policy")
        scope.note(f"vlans[{segment.vlan}]", "segments", place, "vlan")
        yield Interface(
            name=name,
            description=f"gateway {segment.name}",
            addresses=(gateway,),
            mtu=scope.fabric.mtu,
            filter_in=filter_name(segment) if segment.name in acls else None,
        )


def _server_ports(scope: Scope) -> Iterator[Interface]:
    vlans = {s.name: s.vlan for s in scope.fabric.segments}
    for server in scope.inputs.servers:
        name, vlan = bonds.carrier(scope.hardware, server), vlans[server.segment]
        scope.note(f"interfaces[{name}]", "servers", server.name)
        if server.bond is None:
            carrier = _server_port(scope, server, name, vlan)
        else:
            yield from _members(scope, server, trunk_number(name))
            fields = {"name": name, "bond": server.bond.settings, **_edge(scope, vlan)}
            carrier = Interface.model_validate(fields)
        yield carrier.like(description=server.description or f"to {server.name}")


def _edge(scope: Scope, vlan: int | None) -> Fields:
    """What the port or Eth-Trunk says that carries a server's VLAN."""
    return {
        "access_vlan": vlan,
        "edge": True,
        "trust_dscp": True,
        "domain": scope.common.lossless.domain,
    }


def _server_port(scope: Scope, server: ServerIntent, name: str, vlan: int | None) -> Interface:
    """The one port of a server, without its description."""
    known, cable = scope.common.ports, optics.server_kind(scope.fabric, server)
    _note_physical(scope, server, name)
    kind = ("access", vlan, *_kind(scope.own, name, cable[0], roce=server.roce))
    if kind not in known:
        fields = {"name": name, **_edge(scope, vlan), **_physical(scope, server, name)}
        known[kind] = Interface.model_validate(fields)
    return known[kind].like(name=name)


def _members(scope: Scope, server: ServerIntent, number: int | None) -> Iterator[Interface]:
    """Ports of a bond: what is of layer 2 or trusts stands on their Eth-Trunk."""
    for port in server.ports:
        scope.note(f"interfaces[{port}]", "servers", server.name, "bond", "ports")
        _note_physical(scope, server, port)
        yield Interface.model_validate(
            {
                "name": port,
                "description": server.description or f"to {server.name}",
                "eth_trunk": number,
                **_physical(scope, server, port),
            }
        )


def _physical(scope: Scope, server: ServerIntent, port: str) -> Fields:
    """What belongs to a port itself, a member of a bond or not: optics, and what RoCE passes."""
    kind, _ = optics.server_kind(scope.fabric, server)
    roce = lossless.port(scope.own, port) if server.roce else {}
    return {**optics.port_fields(scope.own, port, kind), **roce}


def _note_physical(scope: Scope, server: ServerIntent, port: str) -> None:
    optics.note_cable(scope, port, *optics.server_kind(scope.fabric, server))
    if server.roce:
        lossless.note_port(scope, port)


def servers(scope: Scope) -> Iterator[Server]:
    """The servers of a leaf with their addresses."""
    fabric, name = scope.fabric, scope.switch.name
    for server in scope.inputs.servers:
        kind, _ = optics.server_kind(fabric, server)
        in_order = sorted(server.ports, key=scope.hardware.place)
        ports = tuple(End(device=name, interface=port) for port in in_order)
        carrier = bonds.carrier(scope.hardware, server)
        yield Server(
            name=server.name,
            port=End(device=name, interface=carrier) if server.bond else ports[0],
            members=ports if server.bond else (),
            segment=server.segment,
            address=scope.server_address(server),
            mtu=fabric.mtu,
            roce=server.roce,
            nic=server.nic,
            cable_m=server.cable_m or fabric.cables.server_m,
            medium=kind.medium if kind else None,
            speed_gbps=sum(scope.speed_gbps(port) or 0 for port in server.ports),
        )
