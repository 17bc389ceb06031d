"""Allocation of addresses, AS numbers and ports, by permanent ids and the reserved capacity.

Every value is a function of these. So a new spine or leaf changes no existing value (law 3). Link
subnets are numbered leaf by leaf with a reserve for every spine. Ports follow from the peer's id,
and leaf prefixes from the leaf's id.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.hosts import ServerBond
from rocefort.models.fabric.topology import Leaf, SegmentIntent, ServerIntent, Switch, place_of
from rocefort.models.hardware.hardware import Hardware

FIRST_SERVER = 10  # host number of a server on the leaf's first port; below: gateways


def _interface(number: int, length: int) -> IPv4Interface:
    return IPv4Interface((number, length))


def _network(number: int, length: int) -> IPv4Network:
    return IPv4Network((number, length))


def host(number: int) -> tuple[IPv4Address, str]:
    """Return the address of a number, and its text."""
    address = IPv4Address(number)
    return address, str(address)


def asn(fabric: Fabric, switch: Switch) -> int:
    """AS number by RFC 7938: one for each leaf, and one for all spines or for each of them."""
    if switch.pins.asn is not None:
        return switch.pins.asn
    routing = fabric.routing
    if isinstance(switch, Leaf):
        return routing.leaf_asn_base + switch.id
    return routing.spine_asn + (switch.id if routing.spine_asns == "each" else 0)


def loopback(fabric: Fabric, switch: Switch) -> IPv4Address:
    """Loopback and router id: address number `id` of the role's pool."""
    if switch.pins.loopback is not None:
        return switch.pins.loopback
    pools = fabric.pools
    pool = pools.leaf_loopbacks if isinstance(switch, Leaf) else pools.spine_loopbacks
    return pool.network_address + switch.id


def out_of_band(fabric: Fabric) -> SegmentIntent:
    """Management segment: the one without a VLAN."""
    return next(segment for segment in fabric.segments if segment.vlan is None)


def management(fabric: Fabric, switch: Switch) -> IPv4Interface:
    """Management address: spines take the first ones, leaves those after the spines' capacity."""
    segment = out_of_band(fabric)
    number = switch.id + (fabric.capacity.spines if isinstance(switch, Leaf) else 0)
    address = switch.pins.management or segment.prefix.network_address + number
    return _interface(int(address), segment.prefix.prefixlen)


def link_subnet(fabric: Fabric, spine: Switch, leaf: Leaf, number: int = 1) -> IPv4Network:
    """Subnet of link `number` between a spine and a leaf, with a reserve for every spine.

    All second links follow all first ones, so a higher capacity.links_per_pair moves no subnet.
    """
    length, capacity = fabric.pools.link_prefix_length, fabric.capacity
    row = (number - 1) * capacity.leaves + leaf.id - 1
    index = row * capacity.spines + spine.id - 1
    size: int = 2 ** (32 - length)
    return _network(int(fabric.pools.links.network_address) + index * size, length)


def fabric_port(fabric: Fabric, ports: Sequence[str], peer: Switch, number: int = 1) -> str:
    """Fabric port of link `number` to a peer, by the id of the peer; ports: by index."""
    peers = fabric.capacity.leaves if isinstance(peer, Leaf) else fabric.capacity.spines
    return ports[place_of(peer.id, number, peers)]


def link_ends(subnet: IPv4Network) -> tuple[IPv4Interface, IPv4Interface]:
    """Return (spine end, leaf end): the two usable addresses, by RFC 3021 in a /31."""
    first = 0 if subnet.prefixlen == 31 else 1
    length = subnet.prefixlen
    return (
        _interface(int(subnet.network_address) + first, length),
        _interface(int(subnet.network_address) + first + 1, length),
    )


def gateway(segment: SegmentIntent, leaf: Leaf) -> IPv4Interface:
    """First address of the leaf's part of the segment: part number `id`, from 1."""
    if segment.name in leaf.pins.gateways:
        return leaf.pins.gateways[segment.name]
    length = segment.leaf_prefix_length
    size: int = 2 ** (32 - length)
    base = int(segment.prefix.network_address) + (leaf.id - 1) * size
    return _interface(base + 1, length)


def gateways(fabric: Fabric, switch: Switch) -> tuple[tuple[SegmentIntent, IPv4Interface], ...]:
    """Segments of a leaf, each with its gateway; a spine has none."""
    if not isinstance(switch, Leaf):
        return ()
    served = (segment for segment in fabric.segments if segment.name in switch.segments)
    return tuple((segment, gateway(segment, switch)) for segment in served)


def server_address(
    server: ServerIntent, gateway_address: IPv4Interface, hardware: Hardware
) -> IPv4Interface:
    """Address by the port's index on the leaf, so it does not depend on other servers."""
    network = gateway_address.network
    if server.address is not None:
        return _interface(int(server.address), network.prefixlen)
    index = _port_position(server, hardware)
    return _interface(int(network.network_address) + FIRST_SERVER + index, network.prefixlen)


def trunk_id(server: ServerIntent, bond: ServerBond, hardware: Hardware) -> int:
    """Number of a bond's Eth-Trunk, from 1: by the index of its first port on the leaf."""
    return _port_position(server, hardware) + 1 if bond.id is None else bond.id


def _port_position(server: ServerIntent, hardware: Hardware) -> int:
    """Index of a server's first port, in the order of the hardware."""
    return min(map(hardware.port_index, server.ports))
