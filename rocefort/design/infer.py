"""A Network from configuration text alone: it knows less, and says None where it does not know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from ipaddress import IPv4Network

from rocefort.models.network import End, Link, Network, Node

LINK_LENGTHS = (30, 31)  # a subnet with two usable addresses is a point-to-point link


def infer(name: str, nodes: Iterable[Node]) -> Network:
    """Network of parsed text; cabling inferred from subnets that two routed ports share.

    Roles, hardware, servers, cable lengths and what the fabric is meant to do stay unknown.
    """
    nodes = tuple(sorted(nodes, key=lambda node: node.name))
    ends: dict[IPv4Network, list[End]] = defaultdict(list)
    for node in nodes:
        for interface in node.device.interfaces:
            if interface.kind != "ethernet":
                continue
            for address in interface.addresses:
                if address.network.prefixlen in LINK_LENGTHS:
                    ends[address.network].append(End(device=node.name, interface=interface.name))
    links = tuple(Link(a=pair[0], b=pair[1]) for pair in ends.values() if len(pair) == 2)
    return Network(name=name, origin="text", nodes=nodes, links=links)
