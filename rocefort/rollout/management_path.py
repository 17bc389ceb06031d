"""The management path of switches that change: what of it stays, and what does not, by name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocefort.models.change import Edit
from rocefort.models.difference import Difference
from rocefort.models.network import Network, Node
from rocefort.models.review import ManagementAccess, ManagementChange, ManagementPath

# What a person, or a rollout, needs to come in, by the paths of a Device's fields.
ASPECTS: dict[str, str] = {
    "management port and address": r"interfaces\[{port}\].*",
    "SSH server and its source": r"ssh\.(?!users).*",
    "NETCONF": r"netconf\..*",
    "VTY lines": r"vty\b.*",
    "access ACLs": r"acls\b.*",
    "users": r"(?:ssh\.)?users\b.*|user_groups\b.*",
    "management VRF": r"vrfs\b.*",
    "static routes": r"static_routes\b.*",
    "sysname": r"name",
}
ITSELF = "the switch itself"


def management_path(before: Network, after: Network, change: Difference) -> ManagementPath:
    """Compare the management path of every switch that both sides have; tell the others' apart.

    A switch that is not among the changed ones has an equal Device, so an equal path.
    """
    return ManagementPath(
        aspects=tuple(ASPECTS),
        switches=change.compared,
        changes=tuple(
            found
            for switch in change.changed
            for found in (
                *(
                    ManagementChange(device=switch.device, aspect=ITSELF, what=fact)
                    for fact in switch.facts  # another box has nothing of the path until it is set
                ),
                *_changes(
                    before.by_name[switch.device], after.by_name[switch.device], switch.change.edits
                ),
            )
        ),
        removed=tuple(_access(before.by_name[side.device]) for side in change.only_before),
        new=tuple(_access(after.by_name[side.device]) for side in change.only_after),
    )


def _access(node: Node) -> ManagementAccess:
    return ManagementAccess(
        device=node.name,
        address=str(node.management) if node.management else None,
        port=next(iter(_ports(node)), None),
    )


def _changes(old: Node, new: Node, edits: tuple[Edit, ...]) -> Iterator[ManagementChange]:
    ports = "|".join(re.escape(port) for port in {*_ports(old), *_ports(new)}) or "(?!)"
    for aspect, pattern in ASPECTS.items():
        for edit in edits:
            if re.fullmatch(pattern.replace("{port}", f"(?:{ports})"), edit.path):
                what = f"{edit.path}: {edit.before or 'none'} -> {edit.after or 'none'}"
                yield ManagementChange(device=old.name, aspect=aspect, what=what)


def _ports(node: Node) -> list[str]:
    """Interfaces that hold the management address; all out-of-band ports where it is not known."""
    return [
        interface.name
        for interface in node.device.interfaces
        if (node.management in interface.addresses if node.management else False)
        or interface.name.startswith("MEth")
    ]
