"""Roles of switches where the text makes them clear: who peers with whom, who serves gateways."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address

from rocefort.models.device import Device
from rocefort.models.network import Link, Node, Role

FEWEST_LEAVES = 2  # with one, a spine cannot be told from any other neighbour


def with_roles(nodes: Sequence[Node], links: Sequence[Link]) -> tuple[Node, ...]:
    """Nodes with their roles: a leaf serves gateways, a spine joins all leaves and serves none.

    A switch that fits neither keeps none. Neighbours are BGP peers and far ends of cables, so that
    one missing session does not hide what a switch is.
    """
    near = _neighbours(nodes, links)
    serving = {node.name for node in nodes if _serves(node.device)}
    spines = {
        node.name
        for node in nodes
        if len(serving) >= FEWEST_LEAVES and node.name not in serving and serving <= near[node.name]
    }
    roles = dict.fromkeys(spines, Role.SPINE)
    roles |= {name: Role.LEAF for name in serving if near[name] & spines}
    return tuple(_with_role(node, roles) for node in nodes)


def _with_role(node: Node, roles: Mapping[str, Role]) -> Node:
    role = node.role or roles.get(node.name)
    return node if role is node.role else node.model_copy(update={"role": role})


def _neighbours(nodes: Sequence[Node], links: Sequence[Link]) -> Mapping[str, set[str]]:
    owners: dict[IPv4Address, str] = {
        address.ip: node.name
        for node in nodes
        for interface in node.device.interfaces
        for address in interface.addresses
    }
    near: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        for peer in node.device.bgp.peers if node.device.bgp else ():
            if far := owners.get(peer.address):
                near[node.name].add(far)
                near[far].add(node.name)
    for link in links:
        near[link.a.device].add(link.b.device)
        near[link.b.device].add(link.a.device)
    return near


def _serves(device: Device) -> bool:
    """Whether a VLAN has its gateway here."""
    return any(i.name.startswith("Vlanif") and i.addresses for i in device.interfaces)
