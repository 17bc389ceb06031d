"""Management path of changed switches: the parts that stay and the parts that change."""

from __future__ import annotations

from collections.abc import Container, Iterator

from rocefort.change.results import (
    FabricDifference,
    ManagementChange,
    ManagementPath,
    SwitchAddress,
)
from rocefort.models.change.compare import effect_of
from rocefort.models.change.edits import Edit
from rocefort.models.effect import AccessTopic
from rocefort.models.network.network import Network, Node

ITSELF = "the switch itself"


def management_path(before: Network, after: Network, change: FabricDifference) -> ManagementPath:
    """Compare the management path of every switch of both sides; list the others separately.

    An unchanged switch has an equal Device, so an equal path.
    """
    return ManagementPath(
        aspects=tuple(AccessTopic),
        switches=change.compared,
        changes=tuple(
            found
            for switch in change.changed
            for found in (
                *(
                    ManagementChange(device=switch.device, aspect=ITSELF, what=fact)
                    for fact in switch.facts  # new hardware has no path until it is configured
                ),
                *_changes(
                    before.by_name[switch.device], after.by_name[switch.device], switch.change.edits
                ),
            )
        ),
        removed=tuple(_access(before.by_name[side.device]) for side in change.only_before),
        new=tuple(_access(after.by_name[side.device]) for side in change.only_after),
    )


def _access(node: Node) -> SwitchAddress:
    return SwitchAddress(
        device=node.name,
        address=str(node.management) if node.management else None,
        port=next(iter(_ports(node)), None),
    )


def _changes(old: Node, new: Node, edits: tuple[Edit, ...]) -> Iterator[ManagementChange]:
    ports = {*_ports(old), *_ports(new)}
    aspects = [_aspect(edit, ports) for edit in edits]
    for aspect in AccessTopic:
        for edit, of_edit in zip(edits, aspects, strict=True):
            if of_edit is aspect:
                was, will = (text or "none" for text in (edit.before_text, edit.after_text))
                what = f"{edit.path}: {was} -> {will}"
                yield ManagementChange(device=old.name, aspect=aspect, what=what)


def _aspect(edit: Edit, ports: Container[str]) -> AccessTopic | None:
    access = effect_of(edit).access
    return None if access is AccessTopic.PORT and edit.keys[0] not in ports else access


def _ports(node: Node) -> list[str]:
    """Interfaces with the management address; all out-of-band ports if it is unknown."""
    return [
        interface.name
        for interface in node.device.interfaces
        if (node.management in interface.addresses if node.management else False)
        or interface.name.startswith("MEth")
    ]
