"""Where packets go: every ECMP branch from a server's leaf, hop by hop, to the other server.

A pair is delivered only when all branches end at the destination's port. What stops a packet is
kept with its place, so that many pairs with one cause make one finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network

from rocefort.errors import Refused
from rocefort.models.network import Segment, Server
from rocefort.validators.underlay import Place, Port, Underlay, vlan_of

Fib = Mapping[str, Mapping[IPv4Network, tuple[IPv4Address, ...]]]  # BGP routes by device
Bits = tuple[int, int]  # network bits and length
_NO_ROUTE = "no route"


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a branch ends: at a connected subnet (`port` set) or because of a reason."""

    reason: str
    place: Place
    port: Port | None = None


@dataclass
class Forwarder:
    """Looks destinations up in every device's table; keeps what it found for one class."""

    underlay: Underlay
    fib: Fib
    neighbours: Mapping[tuple[str, IPv4Address], str]  # device and next hop -> device
    _lengths: tuple[int, ...] = ()
    _known: dict[Bits, IPv4Network] = field(default_factory=dict)
    _ends: dict[tuple[IPv4Network, ...], dict[str, frozenset[Stop]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tables = (*self.underlay.connected.values(), *self.fib.values())
        for prefix in {prefix for table in tables for prefix in table}:
            self._known[int(prefix.network_address), prefix.prefixlen] = prefix
        self._lengths = tuple(sorted({length for _, length in self._known}, reverse=True))

    def stops(self, device: str, destination: IPv4Address) -> frozenset[Stop]:
        """Where all branches from a device to an address end."""
        matching = tuple(self._matching(int(destination)))
        memo = self._ends.setdefault(matching, {})
        if device not in memo:
            self._walk(device, matching, memo, ())
        return memo[device]

    def _matching(self, value: int) -> Iterator[IPv4Network]:
        """Prefixes of anybody's table that hold the address, longest first."""
        for length in self._lengths:
            prefix = self._known.get((value >> (32 - length) << (32 - length), length))
            if prefix is not None:
                yield prefix

    def _walk(
        self,
        device: str,
        matching: tuple[IPv4Network, ...],
        memo: dict[str, frozenset[Stop]],
        path: tuple[str, ...],
    ) -> frozenset[Stop]:
        if device in memo:
            return memo[device]
        if device in path:
            loop = " - ".join((*path[path.index(device) :], device))
            return frozenset({Stop(f"packets loop: {loop}", Place(device, "bgp"))})
        connected, routes = self.underlay.connected[device], self.fib.get(device, {})
        found: frozenset[Stop] = frozenset({Stop(_NO_ROUTE, Place(device, "bgp"))})
        for prefix in matching:
            if prefix in connected:
                port = device, connected[prefix]
                found = frozenset({Stop("", Place(device, interface=port[1]), port)})
                break
            if prefix in routes:
                hops = (self.neighbours[device, hop] for hop in routes[prefix])
                below = (self._walk(hop, matching, memo, (*path, device)) for hop in hops)
                found = frozenset().union(*below)
                break
        memo[device] = found
        return found


def trips(
    underlay: Underlay, forwarder: Forwarder
) -> Iterator[tuple[tuple[str, str], Stop | None]]:
    """Every ordered pair of servers, in order of names, and why it is not delivered, if so.

    Raises Refused for a server on a switch that the network does not have.
    """
    network = underlay.network
    segments = {(segment.name, segment.leaf): segment for segment in network.segments or ()}
    attachments = []
    for server in sorted(network.servers or (), key=lambda server: server.name):
        leaf = server.port.device
        if leaf not in network.by_name:
            raise Refused(f"server {server.name} is on {leaf}, which is not in the network")
        attachments.append(_attach(server, underlay, segments.get((server.segment, leaf))))
    for source in attachments:
        for destination in attachments:
            if source is not destination:
                pair = source.name, destination.name
                yield pair, source.stop(destination, forwarder)


@dataclass(frozen=True)
class _Attachment:
    """A server's place on its leaf; a Stop says why something there does not work."""

    name: str
    address: IPv4Address
    subnet: IPv4Network
    port: Port
    vlan: int | None  # of the server's frames on the leaf
    down: Stop | None
    no_vlan: Stop | None
    no_gateway: Stop | None
    underlay: Underlay
    routed: dict[str, Stop | None] = field(default_factory=dict)  # verdict by source leaf

    def stop(self, destination: _Attachment, forwarder: Forwarder) -> Stop | None:
        """Why a packet from here does not reach the destination by every branch."""
        if stop := self.down or destination.down:
            return stop
        address, leaf = destination.address, self.port[0]
        if destination.subnet == self.subnet or address in self.subnet:
            return self._switched(destination)
        if self.no_gateway is not None:
            return self.no_gateway
        if leaf not in destination.routed:
            stops = sorted(forwarder.stops(leaf, address), key=lambda stop: stop.reason)
            missed = (destination.misses(stop) for stop in stops)
            destination.routed[leaf] = next((stop for stop in missed if stop), None)
        return destination.routed[leaf]

    def _switched(self, destination: _Attachment) -> Stop | None:
        """Same subnet: both must be in one VLAN of one leaf."""
        if stop := self.no_vlan or destination.no_vlan:
            return stop
        if self.port[0] == destination.port[0] and self.vlan == destination.vlan:
            return None
        reason = f"{' '.join(self.port)} and {' '.join(destination.port)} share no VLAN"
        return Stop(reason, _place(self.port))

    def misses(self, stop: Stop) -> Stop | None:
        """Why a branch that ends at `stop` does not deliver to this server."""
        subnet, address = self.subnet, self.address
        if stop.port is None:
            if stop.reason == _NO_ROUTE:
                return Stop(f"{stop.place.device} has no route to {subnet}", stop.place)
            return stop
        interface = self.underlay.interface(stop.port)
        if stop.port[0] != self.port[0] or interface.kind != "vlanif":
            return Stop(f"packets to {subnet} end at {' '.join(stop.port)}", _place(stop.port))
        if address in {own.ip for own in interface.addresses}:
            reason = f"{address} is also the address of {' '.join(stop.port)}"
            return Stop(reason, _place(stop.port))
        if vlan_of(interface) != self.vlan:
            reason = f"{' '.join(self.port)} does not carry VLAN {vlan_of(interface)}"
            return Stop(reason, _place(self.port))
        return None


def _place(port: Port) -> Place:
    return Place(port[0], f"interfaces[{port[1]}]", port[1])


def _attach(server: Server, underlay: Underlay, segment: Segment | None) -> _Attachment:
    port = server.port.device, server.port.interface
    device = underlay.network.by_name[port[0]].device
    interface = underlay.interface(port)
    vlan: int | None = None
    if not interface.layer3 and interface.link_type != "trunk":
        vlan = interface.access_vlan or 1
    elif segment is not None and interface.carries(segment.vlan):
        vlan = segment.vlan  # on a trunk the server tags its segment's VLAN
    down = None if interface.enabled else Stop(*underlay.why_down(port))
    lost = None
    if vlan is None:
        lost = Stop(f"{' '.join(port)} carries no VLAN of {server.name}", _place(port))
    elif vlan != 1 and vlan not in device.vlans:
        lost = Stop(f"{port[0]} has no VLAN {vlan}", _place(port))
    wanted = segment.gateway.ip if segment else None
    no_gateway = lost or _no_gateway(server, vlan, wanted, underlay)
    subnet = server.address.network
    return _Attachment(
        server.name, server.address.ip, subnet, port, vlan, down, lost, no_gateway, underlay
    )


def _no_gateway(
    server: Server, vlan: int | None, wanted: IPv4Address | None, underlay: Underlay
) -> Stop | None:
    """Why the server's gateway does not answer; None when it does."""
    leaf = server.port.device
    svi = leaf, f"Vlanif{vlan}"
    for address in underlay.interface(svi).addresses:
        if address.ip == wanted or (wanted is None and server.address.ip in address.network):
            return None if svi in underlay.up else Stop(*underlay.why_down(svi))
    name = f" {wanted}" if wanted else ""
    reason = f"{leaf} has no gateway{name} in VLAN {vlan}"
    return Stop(reason, Place(leaf, f"interfaces[{svi[1]}]", svi[1]))
