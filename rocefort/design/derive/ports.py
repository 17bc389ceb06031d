"""Derive the interfaces of a Device: ports, the parts of split ports, and the servers on them.

The parts of a port keep its name: 100GE1/0/1 split 4*25GE is 100GE1/0/1:1 to :4. The index of a
part is a function of its port and its number only. So splits of other ports do not change it (law
3). Among fabric ports all first parts and whole ports come first, then all second parts, and so on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from ipaddress import IPv4Interface

from rocefort.base.documents.read import YamlPath
from rocefort.base.errors import Problem
from rocefort.design import allocation
from rocefort.design.derive import exits, hosts, lossless, transceivers
from rocefort.design.derive.context import Context
from rocefort.design.derive.segment_acls import filter_name
from rocefort.design.derive.switch_context import Scope
from rocefort.models.device.interface import Interface, trunk_number
from rocefort.models.fabric.topology import CableKind, Leaf, ServerIntent, Switch
from rocefort.models.hardware.hardware import Hardware, expand_ports
from rocefort.models.hardware.media import PortSplit, parts_of, whole_port
from rocefort.models.network.network import End, Server
from rocefort.models.wording import listing


def breakout_problems(context: Context) -> Iterator[Problem]:
    """Yield problems of split ports: missing, not splittable in this way, or split twice."""
    for path, switch in context.switches():
        hardware = context.known_hardware(switch)
        if switch.breakout and hardware is not None:
            yield from _switch(context, (*path, "breakout"), switch, hardware)


def fabric_port_problems(context: Context) -> Iterator[Problem]:
    """Yield problems of a switch's own fabric ports: missing on its model, or listed twice."""
    for path, switch in context.switches():
        hardware, seen = context.known_hardware(switch), set[str]()
        if hardware is None:
            continue
        for index, ports in enumerate(switch.fabric_ports):
            names, at = expand_ports(ports), (*path, "fabric_ports", index)
            absent = next((name for name in names if name not in hardware.port_names()), None)
            twice = next((name for name in names if name in seen), None)
            seen.update(names)
            if absent:
                what = f"{hardware.model} has no port {absent}"
                yield context.problem(at, what, f"its ports: {', '.join(hardware.ports)}")
            elif twice:
                what = f"{twice} is in the fabric ports of {switch.name} twice"
                yield context.problem(at, what, "name each port once")


def _switch(
    context: Context, path: YamlPath, switch: Switch, hardware: Hardware
) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for ports, split_type in switch.breakout.items():
        names = expand_ports(ports)
        twice = [name for name in names if name in seen]
        if twice:
            yield context.problem(
                (*path, ports),
                f"{twice[0]} of {switch.name} is split twice, here and by {seen[twice[0]]}",
                "name each port once",
            )
        seen.update(dict.fromkeys(names, ports))
        wrong = next((why for n in names if (why := _cannot(hardware, n, split_type))), None)
        if wrong:
            yield context.problem((*path, ports), *wrong)


def _cannot(hardware: Hardware, port: str, split_type: str) -> tuple[str, str] | None:
    """Return (what, how) if a model cannot split a port in this way."""
    if port not in hardware.port_names():
        return f"{hardware.model} has no port {port}", f"its ports: {', '.join(hardware.ports)}"
    split_types = hardware.splits_of(port)
    if split_type in split_types:
        return None
    if split_types:
        what = f"{port} of {hardware.model} cannot be split {split_type}"
        return what, f"it can be split {' or '.join(split_types)}"
    return (
        f"no source states that {port} of {hardware.model} can be split",
        "leave it whole, or add it to rocefort.breakout of the hardware's file, with the source",
    )


def port_problem(hardware: Hardware, switch: Switch, port: str) -> tuple[str, str] | None:
    """Return (what, how) if a switch has no such port, has it only whole, or only in parts."""
    whole = whole_port(port)
    if whole not in hardware.port_names():
        return f"{hardware.model} has no port {port}", _matching_part(hardware, switch, port)
    split_type = switch.splits.get(whole)
    if split_type is None:
        if port == whole:
            return None
        choices = " or ".join(f"{whole}: {choice}" for choice in hardware.splits_of(whole))
        return (
            f"{port} is a part of {whole}, which {switch.name} does not split",
            f"add {choices} to the breakout of {switch.name}" if choices else f"use {whole}",
        )
    parts = parts_of(whole, split_type)
    if port in parts:
        return None
    what = "and cannot be used whole" if port == whole else f"and has no part {port}"
    return f"{whole} of {switch.name} is split {split_type} {what}", f"use {listing(parts)}"


def outward_port_problem(hardware: Hardware, leaf: Leaf, port: str) -> tuple[str, str] | None:
    """Return (what, how) if a leaf has no such port, or keeps it free or for spines."""
    wrong = port_problem(hardware, leaf, port)
    if wrong is None and whole_port(port) in hardware.fabric_port_names():
        owner = leaf.name if leaf.fabric_ports else hardware.model
        how = f"fabric ports of {owner}: {', '.join(hardware.fabric_ports)}"
        return f"{leaf.name} {port} is reserved for spines", f"{how}; fabric_ports sets others"
    if wrong is None and port in leaf.retired_port_names:
        how = "choose another port, or remove it from retired_ports to use its address again"
        return f"{leaf.name} {port} was of a beamline that is gone (retired_ports)", how
    return wrong


def _matching_part(hardware: Hardware, switch: Switch, port: str) -> str:
    """Suggest the part with the port's name for one with the name of its own speed."""
    number, _, part = port.partition("GE")[2].partition(":")
    for whole, split_type in switch.splits.items():
        name = f"{whole}:{part}"
        if part and whole.endswith(f"GE{number}") and name in parts_of(whole, split_type):
            return f"the parts of a port keep its name: {name}"
    return f"its ports: {', '.join(hardware.ports)}"


def splits(scope: Scope) -> tuple[PortSplit, ...]:
    """Splits of a switch."""
    for ports in scope.switch.breakout:
        for name in expand_ports(ports):
            scope.note(f"splits[{name}]", *scope.path, "breakout", ports)
    return tuple(
        PortSplit(port=port, type=split_type) for port, split_type in scope.switch.splits.items()
    )


MANAGEMENT = "MEth0/0/0"
LOOPBACK = "LoopBack0"


def interfaces(scope: Scope) -> Iterator[Interface]:
    """Yield all interfaces of a switch."""
    for name in (LOOPBACK, MANAGEMENT):
        scope.note(f"interfaces[{name}]", *scope.path, "id")
    yield from _fabric_ports(scope)
    vrf = scope.fabric.management.vrf
    yield Interface(name=MANAGEMENT, vrf=vrf, addresses=(scope.management,))
    if scope.fabric.bench is None:  # the switch of a bench routes nothing
        loopback = IPv4Interface(allocation.loopback(scope.fabric, scope.switch))
        yield Interface(name=LOOPBACK, addresses=(loopback,))
    yield from _vlanifs(scope)
    yield from exits.ports(scope)
    yield from _server_ports(scope)


def _fabric_ports(scope: Scope) -> Iterator[Interface]:
    templates: dict[Hashable, Interface] = {}  # one of each kind; the others are copies of it
    for joint in scope.joints:
        own, far = joint.ends(scope.switch)
        at = f"interfaces[{own.port}]"
        scope.note(at, *joint.path)
        scope.note(f"{at}.mtu", "mtu")
        transceivers.note_cable(scope, own.port, joint.kind, joint.kind_path)
        lossless.note_port(scope, own.port)
        kind = scope.speed_gbps(own.port), joint.kind
        if kind not in templates:
            fields = {
                "name": own.port,
                "routed": True,
                "mtu": scope.fabric.mtu,
                "domain": scope.lossless.profile.domain,
                **transceivers.port_fields(scope, own.port, joint.kind),
                **lossless.port(scope, own.port),
            }
            templates[kind] = Interface.model_validate(fields)
        description = f"to {far.switch.name} {far.port}"
        yield templates[kind].like(name=own.port, description=description, addresses=(own.address,))


def _vlanifs(scope: Scope) -> Iterator[Interface]:
    acls = scope.context.segment_acls
    for segment, gateway in scope.gateways:
        name = f"Vlanif{segment.vlan}"
        index = scope.fabric.segments.index(segment)
        scope.note(f"interfaces[{name}]", "segments", index)
        scope.note(f"interfaces[{name}].addresses", *scope.path, "segments")
        scope.note(f"interfaces[{name}].mtu", "mtu")
        if segment.name in acls:
            scope.note(f"interfaces[{name}].filter_in", "security", "policy")
        scope.note(f"vlans[{segment.vlan}]", "segments", index, "vlan")
        yield Interface(
            name=name,
            description=f"gateway {segment.name}",
            addresses=(gateway,),
            mtu=scope.fabric.mtu,
            filter_in=filter_name(segment) if segment.name in acls else None,
        )


def _server_ports(scope: Scope) -> Iterator[Interface]:
    templates: dict[Hashable, Interface] = {}  # one of each kind; the others are copies of it
    vlans = {s.name: s.vlan for s in scope.fabric.segments}
    for index, server in scope.servers:
        name, vlan = hosts.carrier(scope.hardware, server), vlans[server.segment]
        scope.note(f"interfaces[{name}]", "servers", index)
        edge = {
            "name": name,
            "access_vlan": vlan,
            "edge": True,
            "trust_dscp": True,
            "domain": scope.lossless.profile.domain,
        }
        if server.bond is not None:
            yield from _members(scope, index, server, trunk_number(name))
            for field in ("mode", "minimum_links"):
                at = f"interfaces[{name}].bond.{field}"
                scope.note(at, "servers", index, "bond", field)
            carrier = Interface.model_validate({**edge, "bond": server.bond.settings})
        else:
            cable, path = transceivers.server_kind(scope.fabric, index, server)
            _note_physical(scope, server, name, cable, path)
            kind = vlan, scope.speed_gbps(name), cable, server.roce
            if kind not in templates:
                fields = {**edge, **_physical(scope, server, name, cable)}
                templates[kind] = Interface.model_validate(fields)
            carrier = templates[kind]
        yield carrier.like(name=name, description=server.description or f"to {server.name}")


def _members(
    scope: Scope, index: int, server: ServerIntent, number: int | None
) -> Iterator[Interface]:
    """Yield ports of a bond; VLAN and trust are on their Eth-Trunk."""
    cable, path = transceivers.server_kind(scope.fabric, index, server)
    for port in server.ports:
        scope.note(f"interfaces[{port}]", "servers", index, "bond", "ports")
        _note_physical(scope, server, port, cable, path)
        yield Interface.model_validate(
            {
                "name": port,
                "description": server.description or f"to {server.name}",
                "eth_trunk": number,
                **_physical(scope, server, port, cable),
            }
        )


def _physical(
    scope: Scope, server: ServerIntent, port: str, cable: CableKind | None
) -> dict[str, object]:
    """Return fields of a physical port, also of a bond's member: optics and RoCE."""
    roce = lossless.port(scope, port) if server.roce else {}
    return {**transceivers.port_fields(scope, port, cable), **roce}


def _note_physical(
    scope: Scope, server: ServerIntent, port: str, cable: CableKind | None, path: YamlPath
) -> None:
    transceivers.note_cable(scope, port, cable, path)
    if server.roce:
        lossless.note_port(scope, port)


def servers(scope: Scope) -> Iterator[Server]:
    """Yield the servers of a leaf with their addresses."""
    fabric, name = scope.fabric, scope.switch.name
    for index, server in scope.servers:
        kind, _ = transceivers.server_kind(fabric, index, server)
        in_order = sorted(server.ports, key=scope.hardware.port_index)
        ports = tuple(End(device=name, interface=port) for port in in_order)
        carrier = hosts.carrier(scope.hardware, server)
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
            speed_gbps=fabric.bench.speed_gbps
            if fabric.bench
            else sum(scope.speed_gbps(port) or 0 for port in server.ports),
        )


def hosts_back_to_back(context: Context) -> Iterator[Server]:
    """Yield the hosts of a bench without a switch: the port of each is that of the other."""
    bench, fabric = context.fabric.bench, context.fabric
    if bench is None or bench.switch is not None:
        return
    for server in fabric.servers:
        yield Server(
            name=server.name,
            port=End(device=server.leaf, interface=server.ports[0]),
            segment=server.segment,
            address=IPv4Interface((int(server.address or 0), bench.prefix.prefixlen)),
            mtu=fabric.mtu,
            nic=server.nic,
            cable_m=bench.cable_m,
            medium=bench.cable.medium if bench.cable else None,
            speed_gbps=bench.speed_gbps,
        )
