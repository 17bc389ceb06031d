"""Underlay of a Network: interfaces that are up, cables, connected subnets and static routes.

All of it is derived from the Devices (the text) and the cables, without any protocol. An interface
is up as Batfish defines active: enabled, its far end enabled, and, for a Vlanif, an up port in its
VLAN.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from rocefort.base.errors import Problem, Refused
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ForeignDesign
from rocefort.dialects.designs import designs_in
from rocefort.dialects.words import in_words
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface, gateway_vlan, trunk_number
from rocefort.models.device.routing import STATIC_PREFERENCE
from rocefort.models.network.network import (
    Network,
    Node,
    Sources,
    TextLine,
    cables_by_address,
    shared_subnets,
)
from rocefort.models.wording import count_of
from rocefort.validators.routing.packet_filters import unevaluated

Port = tuple[str, str]  # device, interface
Statics = Mapping[IPv4Network, tuple[IPv4Address | None, ...]]  # next hops; None: NULL0


@dataclass(frozen=True)
class DevicePlace:
    """Position: a device, an interface if any, and the path of a field in the Device."""

    device: str
    path: str = ""
    interface: str | None = None


@dataclass(frozen=True)
class Underlay:
    """Fabric below routing. All mappings are complete for the devices of the network."""

    network: Network
    far: Mapping[Port, Port]  # the other end of a cable
    up: frozenset[Port]
    connected: Mapping[str, Mapping[IPv4Network, str]]  # subnet -> up interface
    owners: Mapping[IPv4Address, tuple[Port, ...]]  # up interfaces that have the address
    static: Mapping[str, Statics]  # routes in use; without those of ports that are down
    local: Mapping[IPv4Network, Set[str]]  # devices with the prefix connected or as static route

    @cached_property
    def peer_devices(self) -> Mapping[str, Mapping[IPv4Address, str]]:
        """Switch of each configured BGP peer, by switch and address; also of ports that are down.

        Peers of no switch of the network are left out.
        """
        owners: dict[IPv4Address, str] = {}
        for node in self.network.nodes:
            for interface in node.device.interfaces:
                owners.update((address.ip, node.name) for address in interface.addresses)
        peers = {n.name: n.device.bgp.peers if n.device.bgp else () for n in self.network.nodes}
        return {
            name: {p.address: owners[p.address] for p in own if p.address in owners}
            for name, own in peers.items()
        }

    def interface(self, port: Port) -> Interface:
        """Interface of a port; a port without text has the switch's defaults."""
        return _interface(self.network, port)

    def why_down(self, port: Port) -> tuple[str, DevicePlace]:
        """Reason why the addresses of an interface are not in use, with its position."""
        interface = self.interface(port)
        if not interface.enabled:
            return f"{port[0]} {port[1]} is shut down", enabled_place(port)
        if interface.kind == "eth-trunk":
            device, number = self.network.by_name[port[0]].device, trunk_number(interface.name) or 0
            up = sum((port[0], member.name) in self.up for member in device.members.get(number, ()))
            has = f"{' '.join(port)} has {count_of(up, 'member')} up"
            reason = f"{has} and needs {interface.bond.minimum_links}"
            return reason, DevicePlace(port[0], f"interfaces[{port[1]}].bond", port[1])
        if not interface.layer3:
            place = DevicePlace(port[0], f"interfaces[{port[1]}].routed", port[1])
            return f"{port[0]} {port[1]} is a switched port, its address is not in use", place
        if interface.kind == "vlanif":
            vlan, vlans = gateway_vlan(port[1]), self.network.by_name[port[0]].device.vlans
            reason = f"no enabled port of {port[0]} carries VLAN {vlan}"
            if vlan is None:
                reason = f"{port[0]} {port[1]} names no VLAN"
            elif vlan != 1 and vlan not in vlans:
                reason = f"{port[0]} has no VLAN {vlan}"
            return reason, DevicePlace(port[0], f"interfaces[{port[1]}]", port[1])
        far = self.far[port]
        return f"{far[0]} {far[1]} is shut down", enabled_place(far)


def enabled_place(port: Port) -> DevicePlace:
    """Position of the line that shuts an interface down."""
    return DevicePlace(port[0], f"interfaces[{port[1]}].enabled", port[1])


NO_SOURCES = Sources()
LEAVE_OUT = "leave the line out: no routing engine models it"  # advice for a site's template
NO_ENGINE = "no routing engine models it"


def refuse(what: str, place: DevicePlace, sources: Sources, how: str = "") -> Refused:
    """Build the error for a part that is not modelled, with device and line."""
    position = sources.find(place.device, place.path)
    where = " ".join(part for part in (place.device, place.interface) if part)
    where += f" ({position.file}:{position.line})" if position else ""
    return Refused(what, where=where, how=how)


def build(network: Network, sources: Sources) -> Underlay:
    """Build the underlay of a network.

    Raises Refused for parts that are not modelled: an addressed Eth-Trunk, one subnet on two
    interfaces of a switch, a VLAN bridged between switches, a subnet with more than two ports.
    """
    # In order of names, so that no answer and no message depends on the order of the nodes.
    ordered = tuple(sorted(network.nodes, key=lambda node: node.name))
    network = network.model_copy(update={"nodes": ordered})
    if problems := list(design_problems(network, sources)):
        raise Refused(problems=problems)
    for node in network.nodes:
        for line, what, how in refused_lines(node):
            place = DevicePlace(node.name, f"unmodelled[{line.line}]")
            raise refuse(what, place, sources, how)
        _check_device(node.device, sources)
        _check_filters(node.device, sources)
    far = _cables(network, sources)
    _check_bridges(network, far, sources)
    up = frozenset(port for node in network.nodes for port in up_ports(node, network, far))
    owners: defaultdict[IPv4Address, list[Port]] = defaultdict(list)
    local: defaultdict[IPv4Network, set[str]] = defaultdict(set)
    connected: dict[str, dict[IPv4Network, str]] = {}
    static: dict[str, Statics] = {}
    for node in network.nodes:
        in_use = list(_in_use(node, up))
        connected[node.name] = {address.network: port for port, address in in_use}
        static[node.name] = statics_of(node.device, connected[node.name])
        for port, address in in_use:
            owners[address.ip].append((node.name, port))
        for prefix in (*connected[node.name], *static[node.name]):
            local[prefix].add(node.name)
    owned = {address: tuple(ports) for address, ports in owners.items()}
    return Underlay(network, far, up, connected, owned, static, dict(local))


def _in_use(node: Node, up: Set[Port]) -> Iterator[tuple[str, IPv4Interface]]:
    """Addresses of the public table that are in use, and their interfaces."""
    for interface in node.device.interfaces:
        if not interface.addresses or (node.name, interface.name) not in up:
            continue
        if interface.layer3 and not interface.vrf:
            yield from ((interface.name, address) for address in interface.addresses)


def statics_of(device: Device, connected: Mapping[IPv4Network, str]) -> Statics:
    """Static routes of the public table that are in use, those of the best preference.

    A route whose next hop is in no connected subnet is not in use: recursive lookup of the next hop
    in other routes is not modelled, and a fabric does not need it.
    """
    best: dict[IPv4Network, int] = {}
    routes: dict[IPv4Network, tuple[IPv4Address | None, ...]] = {}
    for route in device.static_routes:
        hop, preference = route.next_hop, route.preference or STATIC_PREFERENCE
        if route.vrf is not None or route.prefix in connected:
            continue
        if hop is not None and not any(hop in subnet for subnet in connected):
            continue
        if preference < best.get(route.prefix, 256):
            best[route.prefix], routes[route.prefix] = preference, ()
        if preference == best[route.prefix]:
            routes[route.prefix] += (hop,)
    return routes


def _interface(network: Network, port: Port) -> Interface:
    interface = network.by_name[port[0]].device.by_interface.get(port[1])
    return interface or Interface(name=port[1])


def design_problems(network: Network, sources: Sources = NO_SOURCES) -> Iterator[Problem]:
    """Yield one problem for each design in texts that decides on forwarding: see `designs_in`."""
    without_bgp = not any(n.device.bgp.peers for n in network.nodes if n.device.bgp)
    for each in designs_in(network):
        ipv6_alone = without_bgp and each.design is ForeignDesign.IPV6
        rows = ((dialect_of(network.by_name[name]), line) for name, line in each.lines)
        if ipv6_alone or any(dialect.forwarding_effect(line) for dialect, line in rows):
            name, line = each.lines[0]
            position = sources.find(name, f"unmodelled[{line.line}]")
            file, number = (position.file, position.line or 0) if position else ("", 0)
            yield Problem("", str(each), file=file, line=number)


def refused_lines(node: Node) -> Iterator[tuple[TextLine, str, str]]:
    """Lines that may change forwarding and are of no design in a text: message and hint of each."""
    for line, what in unmodelled_forwarding(node):
        if node.read_by is None:
            yield line, what, LEAVE_OUT
        elif dialect_of(node).foreign_design(line) is None:
            yield line, what, NO_ENGINE


def unmodelled_forwarding(node: Node) -> Iterator[tuple[TextLine, str]]:
    """Lines outside the models that may change an answer of the engine, each with a message.

    The node is one of `as_it_runs`, without lines whose effect its Device has.
    """
    dialect = dialect_of(node)
    for line in node.unmodelled:
        if effect := dialect.forwarding_effect(line):
            design = dialect.foreign_design(line) if node.read_by else None
            what = design or f"`{line.shown_text}`"
            yield line, f"{what} may change {effect} and is not modelled"


def _check_device(device: Device, sources: Sources) -> None:
    seen: dict[IPv4Network, str] = {}
    for interface in device.interfaces:
        if what := _unmodelled_in(interface):
            raise refuse(
                f"{interface.name} is {what}", _interface_place(device, interface), sources
            )
        for address in interface.addresses if interface.layer3 and not interface.vrf else ():
            if seen.setdefault(address.network, interface.name) != interface.name:
                other = seen[address.network]
                what = f"subnet {address.network} is on {other} and on {interface.name}"
                how = "give each interface its own subnet"
                raise refuse(what, _interface_place(device, interface), sources, how)


def _unmodelled_in(interface: Interface) -> str:
    """Property of an interface that the engine does not model, in words; empty: none."""
    if interface.kind == "other" and interface != Interface(name=interface.name):
        return "of a kind that is not modelled"
    if interface.kind == "eth-trunk" and interface.routed:
        return "routed, which is not modelled"
    if interface.vrf is not None and interface.kind not in ("management", "loopback"):
        return f"in vpn-instance {interface.vrf}, which is not modelled"
    return ""


def _interface_place(device: Device, interface: Interface) -> DevicePlace:
    return DevicePlace(device.name, f"interfaces[{interface.name}]", interface.name)


def _check_filters(device: Device, sources: Sources) -> None:
    for interface, field, what in unevaluated(device):
        place = DevicePlace(device.name, f"interfaces[{interface.name}].{field}", interface.name)
        raise refuse(what, place, sources)


def _cables(network: Network, sources: Sources) -> dict[Port, Port]:
    far: dict[Port, Port] = {}
    for a, b in (
        _declared_cables(network)
        if network.cabling is not None
        else _inferred_cables(network, sources)
    ):
        for end, other in ((a, b), (b, a)):
            if end[0] not in network.by_name:
                raise Refused(f"a link ends at {end[0]}, which is not in the network")
            if far.setdefault(end, other) != other:
                place = DevicePlace(end[0], f"interfaces[{end[1]}]", end[1])
                what = f"{end[1]} is wired to {far[end][0]} {far[end][1]} and to {' '.join(other)}"
                raise refuse(what, place, sources, "use a port for one cable")
    return far


def _declared_cables(network: Network) -> Iterator[tuple[Port, Port]]:
    for link in network.cabling or ():
        yield (link.a.device, link.a.interface), (link.b.device, link.b.interface)


def _inferred_cables(network: Network, sources: Sources) -> Iterator[tuple[Port, Port]]:
    """Cables by the addresses."""
    for subnet, ends in shared_subnets(network.nodes).items():
        ports = [(end.device, end.interface) for end in ends]
        if len(ports) > 2:
            names = ", ".join(" ".join(port) for port in ports)
            place = DevicePlace(ports[2][0], f"interfaces[{ports[2][1]}].addresses", ports[2][1])
            what = f"subnet {subnet} is on {names}: the addresses do not identify the cables"
            raise refuse(what, place, sources, "describe the links")
    for a, b in cables_by_address(network.nodes):
        yield (a.device, a.interface), (b.device, b.interface)


def _check_bridges(network: Network, far: Mapping[Port, Port], sources: Sources) -> None:
    """A VLAN that crosses a cable between switches, bundled or not, is not modelled."""
    vlans = {node.name: _bridgeable(node.device) for node in network.nodes}
    for port, other in far.items():
        for vlan in vlans[port[0]]:
            if all(_carrier(network, end).carries(vlan) for end in (port, other)):
                place = DevicePlace(port[0], f"interfaces[{port[1]}]", port[1])
                what = f"VLAN {vlan} is bridged to {' '.join(other)}, which is not modelled"
                how = in_words("route between switches: «a routed port»", network.by_name[port[0]])
                raise refuse(what, place, sources, how)


def _carrier(network: Network, end: Port) -> Interface:
    return network.by_name[end[0]].device.carrier(_interface(network, end))


def _bridgeable(device: Device) -> list[int]:
    """VLANs of a switch; VLAN 1 counts only with a gateway, as it is every port's default."""
    gateways = (gateway_vlan(each.name) for each in device.interfaces if each.addresses)
    svis = {vlan for vlan in gateways if vlan is not None}
    return sorted(svis | {vlan for vlan in device.vlans if vlan != 1})


def up_ports(
    node: Node, network: Network, far: Mapping[Port, Port], failed: Set[Port] = frozenset()
) -> Iterator[Port]:
    """Interfaces of a switch that are up; `failed` ones are shut down, at either end."""
    ports: set[str] = set()
    svis, trunks = [], []
    for interface in node.device.interfaces:
        port = (node.name, interface.name)
        other = far.get(port)
        if not interface.enabled or (other and not _interface(network, other).enabled):
            continue
        if failed and (port in failed or other in failed):
            continue
        if interface.kind == "vlanif":
            svis.append(interface)
        elif interface.kind == "eth-trunk":
            trunks.append(interface)
        else:
            ports.add(interface.name)
            yield port
    bundled = {trunk.name for trunk in trunks if node.device.bundles(trunk, ports)}
    ports |= bundled
    yield from ((node.name, name) for name in sorted(bundled))
    for svi in svis:
        if _has_port(node.device, gateway_vlan(svi.name), ports):
            yield node.name, svi.name


def _has_port(device: Device, vlan: int | None, up: set[str]) -> bool:
    if vlan is None or (vlan != 1 and vlan not in device.vlans):
        return False
    return any(i.name in up and i.carries(vlan) for i in device.interfaces)
