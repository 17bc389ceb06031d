"""Hardware and syntax family of a switch by the model and the release that its text names."""

from __future__ import annotations

from rocefort.design.catalogue import Catalogue, load_catalogue
from rocefort.models.hardware import Family
from rocefort.models.network import Node


def with_hardware(node: Node, model: str | None, software: str | None) -> Node:
    """The node with what the hardware data know of a model and a release; the rest stays unknown.

    model: as the switch names itself, CE8851-32CQ8DQ-P; software: its release, V300R023C00.
    """
    catalogue = load_catalogue()
    return node.model_copy(
        update={
            "software": software,
            "hardware": catalogue.hardware.get(model) if model else None,
            "family": _family(catalogue, model, software),
        }
    )


def _family(catalogue: Catalogue, model: str | None, software: str | None) -> Family | None:
    """Family of a release on a model; without a known model, where all models have the same."""
    if software is None:
        return None
    models = [model] if model in catalogue.hardware else list(catalogue.hardware)
    found = {catalogue.hardware[name].family_of(software) for name in models if name} - {None}
    names = [name for name in found if name is not None]
    return catalogue.families.get(names[0]) if len(names) == 1 else None
