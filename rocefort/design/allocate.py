"""Allocation: every value is a function of permanent ids and the reserved capacity.

So nothing moves when a spine or a leaf is added (law 3): link subnets are numbered leaf by leaf
with room for every spine, ports are taken by the peer's id, leaf prefixes by the leaf's id.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from rocefort.models.fabric import Fabric
from rocefort.models.fabric_nodes import Leaf, SegmentIntent, ServerIntent, Switch
from rocefort.models.hardware import Hardware

FIRST_SERVER = 10  # host number of a server on the leaf's first port; below: gateways


def asn(fabric: Fabric, switch: Switch) -> int:
    """RFC 7938: the spines share one ASN, each leaf has its own."""
    if switch.pins.asn is not None:
        return switch.pins.asn
    if isinstance(switch, Leaf):
        return fabric.routing.leaf_asn_base + switch.id
    return fabric.routing.spine_asn


def loopback(fabric: Fabric, switch: Switch) -> IPv4Address:
    """Address number `id` of the role's pool; also the router id."""
    if switch.pins.loopback is not None:
        return switch.pins.loopback
    pools = fabric.pools
    pool = pools.leaf_loopbacks if isinstance(switch, Leaf) else pools.spine_loopbacks
    return pool.network_address + switch.id


def management(fabric: Fabric, switch: Switch, segment: SegmentIntent) -> IPv4Interface:
    """Spines take the first addresses of the out-of-band network, leaves follow the capacity."""
    number = switch.id + (fabric.capacity.spines if isinstance(switch, Leaf) else 0)
    address = switch.pins.management or segment.prefix.network_address + number
    return IPv4Interface((int(address), segment.prefix.prefixlen))


def link_subnet(fabric: Fabric, spine: Switch, leaf: Leaf) -> IPv4Network:
    """Subnet of the link between a spine and a leaf: room for every spine at each leaf."""
    length = fabric.pools.link_prefix_length
    number = (leaf.id - 1) * fabric.capacity.spines + (spine.id - 1)
    size: int = 2 ** (32 - length)
    return IPv4Network((int(fabric.pools.links.network_address) + number * size, length))


def link_ends(subnet: IPv4Network) -> tuple[IPv4Interface, IPv4Interface]:
    """(spine end, leaf end): the two usable addresses, RFC 3021 for a /31."""
    first = 0 if subnet.prefixlen == 31 else 1
    length = subnet.prefixlen
    return (
        IPv4Interface((int(subnet.network_address) + first, length)),
        IPv4Interface((int(subnet.network_address) + first + 1, length)),
    )


def gateway(segment: SegmentIntent, leaf: Leaf) -> IPv4Interface:
    """First address of the leaf's own part of the segment: part number `id`, from 1."""
    if segment.name in leaf.pins.gateways:
        return leaf.pins.gateways[segment.name]
    length = segment.leaf_prefix_length
    size: int = 2 ** (32 - length)
    base = int(segment.prefix.network_address) + (leaf.id - 1) * size
    return IPv4Interface((base + 1, length))


def server_address(
    server: ServerIntent, gateway_address: IPv4Interface, hardware: Hardware
) -> IPv4Interface:
    """Host number by the port's place on the leaf, so it stays when servers come and go."""
    network = gateway_address.network
    if server.address is not None:
        return IPv4Interface((int(server.address), network.prefixlen))
    place = hardware.port_names().index(server.port)
    return IPv4Interface((int(network.network_address) + FIRST_SERVER + place, network.prefixlen))
