"""A Network from configuration text alone: it knows less, and says None where it does not know."""

from __future__ import annotations

from collections.abc import Iterable

from rocefort.models.network import Link, Network, Node, shared_subnets


def infer(name: str, nodes: Iterable[Node]) -> Network:
    """Network of parsed text; a cable is inferred where two routed ports share a subnet.

    Roles, hardware, servers, cable lengths and what the fabric is meant to do stay unknown; so
    does the cabling where no two ports share a subnet.
    """
    nodes = tuple(sorted(nodes, key=lambda node: node.name))
    links = tuple(
        Link(a=ends[0], b=ends[1])
        for ends in shared_subnets(nodes).values()
        if len(ends) == 2 and ends[0].device != ends[1].device
    )
    return Network(name=name, origin="text", nodes=nodes, links=links or None)
