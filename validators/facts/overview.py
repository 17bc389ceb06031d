"""Facts about a network that several rules use, each computed once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ForeignDesign
from rocefort.dialects.designs import DesignLines, designs_in
from rocefort.models.base import natural
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface, gateway_vlan
from rocefort.models.device.lossless_queue import DiffservDomain
from rocefort.models.device.routing import Bgp, BgpPeer
from rocefort.models.finding import Where
from rocefort.models.network.network import (
    End,
    Link,
    Network,
    Node,
    Port,
    Server,
    Sources,
    SwitchRole,
)
from rocefort.validators.facts.roce_ports import ports_by_device

ROUTING = (ForeignDesign.OSPF, ForeignDesign.ISIS, ForeignDesign.RIP)
# Designs in which two switches have one address on purpose.
SHARING = (ForeignDesign.MLAG, ForeignDesign.VXLAN, ForeignDesign.VRRP)
OF_SWITCHES = ("role", "hardware", "family")  # facts that a part of the switches may lack

Owner = tuple[Node, Interface]  # of an address


class LinkEnds(NamedTuple):
    """Link with the switches and interfaces at its ends; None: no such switch or port."""

    link: Link
    nodes: tuple[Node | None, Node | None]
    interfaces: tuple[Interface | None, Interface | None]

    @property
    def uplink(self) -> tuple[End, End] | None:
        """The ends at leaf and spine, in this order; None: it is no leaf-spine link."""
        near, far = self.nodes
        roles = near and near.role, far and far.role
        if roles == (SwitchRole.LEAF, SwitchRole.SPINE):
            return self.link.a, self.link.b
        return (self.link.b, self.link.a) if roles == (SwitchRole.SPINE, SwitchRole.LEAF) else None


@dataclass(frozen=True, eq=False)
class LosslessSwitch:
    """Switch with its ports that RoCE passes."""

    node: Node
    roce_ports: Sequence[Port]

    @property
    def name(self) -> str:
        """Name of the switch."""
        return self.node.name

    @cached_property
    def domains(self) -> tuple[DiffservDomain, ...]:
        """Each diffserv domain that its RoCE ports use, once."""
        ports = (port.interface for port in self.roce_ports)
        unlike = {(port.domain, port.eth_trunk): port for port in ports}  # a trunk has its own
        used = map(self.node.device.domain_of, unlike.values())
        return tuple({domain.name: domain for domain in used if domain is not None}.values())


def path_at(end: End, path: str) -> str:
    """Path from the Device to a field of a port."""
    return f"interfaces[{end.interface}]" + (f".{path}" if path else "")


def _idle_gateways(device: Device, used: Set[IPv4Network]) -> Iterator[Interface]:
    for gateway in device.vlanifs:
        vlan = gateway_vlan(gateway.name)
        if vlan in device.vlans and gateway.enabled and gateway.addresses:
            unused = used.isdisjoint(address.network for address in gateway.addresses)
            if unused and not any(port.carries(vlan) for port in device.interfaces):
                yield gateway


@dataclass(eq=False)
class Overview:
    """Network with derived facts, each computed once for all rules."""

    network: Network
    sources: Sources
    _wheres: dict[tuple[str, str, str | None], Where] = field(default_factory=dict)
    _by_nic: dict[bool, dict[str | None, tuple[Server, ...]]] = field(default_factory=dict)
    _lacking: dict[str, tuple[Node | End | None, ...]] = field(default_factory=dict)

    def lacking(self, what: str) -> tuple[Node | End | None, ...]:
        """Positions without a fact: a switch, a port, or None for the whole network."""
        if what not in self._lacking:
            self._lacking[what] = self._without(what)
        return self._lacking[what]

    def _without(self, what: str) -> tuple[Node | End | None, ...]:
        if what in OF_SWITCHES:
            return tuple(node for node in self.network.nodes if getattr(node, what) is None)
        if getattr(self.network, what) is None:
            return (None,)
        return self.network.loose_ends if what == "links" else ()

    def design_of(self, node: Node, *designs: ForeignDesign) -> ForeignDesign | None:
        """First of some designs that the text of a switch has; None: it has none of them."""
        return next((each for each in designs if each in self._designs.get(node.name, ())), None)

    @cached_property
    def designs(self) -> tuple[DesignLines, ...]:
        """Designs in the texts of switches that no fabric describes."""
        return designs_in(self.network)

    @cached_property
    def _designs(self) -> dict[str, set[ForeignDesign]]:
        designs = defaultdict(set)
        for each in self.designs:
            for name in each.switches:
                designs[name].add(each.design)
        return designs

    @cached_property
    def switches(self) -> tuple[LosslessSwitch, ...]:
        """All switches, in the network's order."""
        ports = ports_by_device(self.network)
        return tuple(LosslessSwitch(node, ports.get(node.name, ())) for node in self.network.nodes)

    @cached_property
    def cables(self) -> tuple[LinkEnds, ...]:
        """Known links, with the switches and interfaces at their ends."""
        rows = []
        nodes = self.network.by_name.get
        for link in self.network.links or ():
            near, far = nodes(link.a.device), nodes(link.b.device)
            here = near.device.by_interface.get(link.a.interface) if near else None
            there = far.device.by_interface.get(link.b.interface) if far else None
            rows.append(LinkEnds(link, (near, far), (here, there)))
        return tuple(rows)

    @cached_property
    def uplinks(self) -> tuple[tuple[End, End], ...]:
        """Ends of every leaf-spine link: the leaf's, then the spine's."""
        return tuple(ends for cable in self.cables if (ends := cable.uplink))

    @cached_property
    def cabled(self) -> frozenset[tuple[str, str]]:
        """Ports with a link, by device and interface."""
        ends = (end for link in self.network.links or () for end in (link.a, link.b))
        return frozenset((end.device, end.interface) for end in ends)

    @cached_property
    def idle_gateways(self) -> dict[str, tuple[Interface, ...]]:
        """Gateways of each switch that wait for a server: none is known, and no port has the VLAN.

        A port with the VLAN that is shut down, or a known server behind it, is another case: there
        the gateway should be up.
        """
        subnets = defaultdict(set)
        for server in self.network.servers or ():
            subnets[server.port.device].add(server.address.network)
        return {
            node.name: idle
            for node in self.network.nodes
            if (idle := tuple(_idle_gateways(node.device, subnets[node.name])))
        }

    @cached_property
    def owners(self) -> dict[int, list[Owner]]:
        """Owners by address as an integer (an IPv4Address hashes slowly), in order of names."""
        owners: dict[int, list[Owner]] = {}
        for node in sorted(self.network.nodes, key=lambda node: natural(node.name)):
            for interface in node.device.interfaces:
                for address in interface.addresses:
                    owners.setdefault(int(address), []).append((node, interface))
        return owners

    def by_nic(self, *, roce: bool) -> dict[str | None, tuple[Server, ...]]:
        """Servers by their NIC profile, None: by none; roce: only those on lossless ports."""
        if roce not in self._by_nic:
            groups: dict[str | None, list[Server]] = {}
            for server in self.network.servers or ():
                if server.roce or not roce:
                    groups.setdefault(server.nic, []).append(server)
            self._by_nic[roce] = {name: tuple(servers) for name, servers in groups.items()}
        return self._by_nic[roce]

    def where(self, device: str, path: str, interface: str | None) -> Where:
        """Position of a verdict; cached, because many verdicts are at the same positions."""
        key = device, path, interface
        if key not in self._wheres:
            self._wheres[key] = self.sources.where(device, path, interface)
        return self._wheres[key]


def overlay_peers(node: Node) -> set[IPv4Address]:
    """BGP peers of a switch that only another address family than IPv4 unicast enables."""
    bgp = node.device.bgp
    if bgp is None or not node.unmodelled:
        return set()
    dialect = dialect_of(node)
    names = {name for line in node.unmodelled if (name := dialect.other_family_peer(line))}
    return {
        peer.address
        for peer in bgp.peers
        if not names.isdisjoint((str(peer.address), peer.group)) and not bgp.settings(peer).active
    }


def outside_peers(overview: Overview) -> Iterator[tuple[Node, Bgp, BgpPeer]]:
    """Peers outside the network: no switch has their address, nor their AS number."""
    inside = {node.device.bgp.asn for node in overview.network.nodes if node.device.bgp}
    for node in overview.network.nodes:
        bgp = node.device.bgp
        for peer in bgp.peers if bgp else ():
            if bgp is None or int(peer.address) in overview.owners:
                continue
            if bgp.settings(peer).asn not in inside:  # else an address is wrong: BGP001
                yield node, bgp, peer
