"""Leaf-spine links with both their ends worked out, from pins and by allocation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network

from rocefort.design import allocate
from rocefort.design.capacity import links_of
from rocefort.design.context import Context
from rocefort.documents.read import YamlPath
from rocefort.models.fabric_cables import CableKind
from rocefort.models.fabric_nodes import Leaf, LinkPin, Switch
from rocefort.models.network import End, Link
from rocefort.models.secret import Authentication


@dataclass(frozen=True, slots=True)
class JointEnd:
    """One end of a link."""

    switch: Switch
    port: str
    address: IPv4Interface


@dataclass(frozen=True, slots=True)
class Joint:
    """One leaf-spine link."""

    spine: JointEnd
    leaf: JointEnd
    subnet: IPv4Network
    cable_m: float
    path: YamlPath  # the pin, or the leaf
    number: int = 1  # among the links of its leaf and spine
    kind: CableKind | None = None
    kind_path: YamlPath = ("cables", "fabric")
    authentication: Authentication | None = None  # of its session alone

    def ends(self, switch: Switch) -> tuple[JointEnd, JointEnd]:
        """(own end, far end) as a switch of the link sees it."""
        own_spine = switch is self.spine.switch
        return (self.spine, self.leaf) if own_spine else (self.leaf, self.spine)

    @property
    def link(self) -> Link:
        """The cable as rules see it."""
        a, b = (End(device=e.switch.name, interface=e.port) for e in (self.spine, self.leaf))
        medium = self.kind.medium if self.kind else None
        return Link(a=a, b=b, cable_m=self.cable_m, medium=medium)

    def __str__(self) -> str:
        ends = f"{self.spine.switch.name} - {self.leaf.switch.name}"
        return f"link {self.number} of {ends}" if self.number > 1 else f"the link {ends}"


def joints(context: Context) -> Iterator[Joint]:
    """Every leaf with every spine, by each of their links in use."""
    fabric = context.fabric
    pins = {(pin.spine, pin.leaf, pin.number): (i, pin) for i, pin in enumerate(fabric.links)}
    for place, leaf in enumerate(fabric.leaves):
        for spine in fabric.spines:
            for number in range(1, links_of(fabric, leaf) + 1):
                found = pins.get((spine.name, leaf.name, number))
                if found is None:
                    unpinned = LinkPin(spine=spine.name, leaf=leaf.name, number=number)
                    yield _joint(context, spine, leaf, unpinned, ("leaves", place))
                else:
                    yield _joint(context, spine, leaf, found[1], ("links", found[0]))


def _joint(context: Context, spine: Switch, leaf: Leaf, pin: LinkPin, path: YamlPath) -> Joint:
    fabric, number = context.fabric, pin.number
    subnet = pin.subnet or allocate.link_subnet(fabric, spine, leaf, number)
    low, high = allocate.link_ends(subnet)
    spine_port = pin.spine_port or allocate.fabric_port(
        fabric, context.fabric_ports(spine), leaf, number
    )
    leaf_port = pin.leaf_port or allocate.fabric_port(
        fabric, context.fabric_ports(leaf), spine, number
    )
    return Joint(
        spine=JointEnd(spine, spine_port, low),
        leaf=JointEnd(leaf, leaf_port, high),
        subnet=subnet,
        cable_m=pin.cable_m or fabric.cables.fabric_m,
        path=path,
        number=number,
        kind=pin.cable or fabric.cables.fabric,
        kind_path=(*path, "cable") if pin.cable else ("cables", "fabric"),
        authentication=pin.authentication,
    )
