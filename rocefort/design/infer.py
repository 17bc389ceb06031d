"""Infer a Network from configuration text alone; facts outside of the text are None."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocefort.design.infer_cabling import LldpNeighbour, claims_of, links_of
from rocefort.design.infer_roles import with_roles
from rocefort.design.load.hardware_catalogue import Catalogue
from rocefort.models.hardware.hardware import Family
from rocefort.models.network.network import Network, Node


def infer(name: str, nodes: Iterable[Node], heard: Sequence[LldpNeighbour] = ()) -> Network:
    """Infer a Network from parsed text, with its cables and roles if the text shows them.

    heard: LLDP neighbours, if they were dumped. Servers, cable lengths and intent stay unknown. So
    do cabling without evidence, and ambiguous roles. Hardware is that of the nodes.
    """
    nodes = tuple(sorted(nodes, key=lambda node: node.name))
    claims = claims_of(nodes, heard)
    links = links_of(claims)
    nodes = with_roles(nodes, links, claims)
    return Network(name=name, origin="text", nodes=nodes, links=links or None, claims=claims)


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
    if model is not None and model in catalogue.hardware:
        return catalogue.family(model, software)
    names = {name for each in catalogue.hardware.values() if (name := each.family_of(software))}
    return catalogue.families.get(names.pop()) if len(names) == 1 else None
