"""Infer a Network from configuration text alone; facts outside of the text are None."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address

from rocefort.design.infer_cabling import LldpNeighbour, claims_of, links_of
from rocefort.design.load.hardware_catalogue import Catalogue
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import Link, Network, Node, Role

FEWEST_LEAVES = 2  # with one, a spine looks like any other neighbour


def infer(name: str, nodes: Iterable[Node], heard: Sequence[LldpNeighbour] = ()) -> Network:
    """Infer a Network from parsed text, with its cables and roles if the text shows them.

    heard: LLDP neighbours, if they were dumped. Servers, cable lengths and intent stay unknown. So
    do cabling without evidence, and ambiguous roles. Hardware is that of the nodes.
    """
    nodes = tuple(sorted(nodes, key=lambda node: node.name))
    claims = claims_of(nodes, heard)
    links = links_of(claims)
    nodes = _with_roles(nodes, links)
    return Network(name=name, origin="text", nodes=nodes, links=links or None, claims=claims)


# --- roles, by peers and gateways -------------------------------------------------------------


def _with_roles(nodes: Sequence[Node], links: Sequence[Link]) -> tuple[Node, ...]:
    """Set roles: a leaf has gateways, a spine connects all leaves and has no gateway.

    Another switch gets no role. Neighbours are BGP peers and far ends of cables, so that one
    missing session does not hide a role.
    """
    near = _neighbours(nodes, links)
    serving = {
        node.name
        for node in nodes
        if any(i.name.startswith("Vlanif") and i.addresses for i in node.device.interfaces)
    }
    spines = {
        node.name
        for node in nodes
        if len(serving) >= FEWEST_LEAVES and node.name not in serving and serving <= near[node.name]
    }
    roles = dict.fromkeys(spines, Role.SPINE)
    roles |= {name: Role.LEAF for name in serving if near[name] & spines}
    return tuple(
        node.model_copy(update={"role": roles[node.name]})
        if node.role is None and node.name in roles
        else node
        for node in nodes
    )


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


# --- hardware and syntax family, by the model and the release that a text names ---------------


def with_hardware(
    node: Node, model: str | None, software: str | None, catalogue: Catalogue
) -> Node:
    """Add the hardware facts of a model and a release to a node; others stay unknown.

    model: as the switch prints it, CE8851-32CQ8DQ-P; software: its release, V300R023C00.
    """
    return node.model_copy(
        update={
            "software": software,
            "hardware": catalogue.hardware.get(model) if model else None,
            "family": _family(catalogue, model, software),
        }
    )


def _family(catalogue: Catalogue, model: str | None, software: str | None) -> Family | None:
    """Family of a release on a model; for an unknown model, the common one of all models."""
    if software is None:
        return None
    models = [model] if model in catalogue.hardware else list(catalogue.hardware)
    families = {catalogue.hardware[name].family_of(software) for name in models if name} - {None}
    names = [name for name in families if name is not None]
    return catalogue.families.get(names[0]) if len(names) == 1 else None
