"""A Network from configuration text alone: it knows less, and says None where it does not know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocefort.design.infer_cabling import Heard, claims_of, links_of
from rocefort.design.infer_roles import with_roles
from rocefort.models.network import Network, Node


def infer(name: str, nodes: Iterable[Node], heard: Sequence[Heard] = ()) -> Network:
    """Network of parsed text: its cables and roles as far as the text tells them.

    heard: what LLDP heard, where it was dumped. Servers, cable lengths and what the fabric is meant
    to do stay unknown; so does the cabling where nothing tells of a cable, and a role that is not
    clear. Hardware is what the nodes bring.
    """
    nodes = tuple(sorted(nodes, key=lambda node: node.name))
    claims = claims_of(nodes, heard)
    links = links_of(claims)
    nodes = with_roles(nodes, links)
    return Network(name=name, origin="text", nodes=nodes, links=links or None, claims=claims)
