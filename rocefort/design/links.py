"""Leaf-spine links with both their ends worked out, from pins and by allocation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network

from rocefort.design import allocate
from rocefort.design.context import Context
from rocefort.documents.read import YamlPath
from rocefort.models.fabric_nodes import Leaf, LinkPin, Switch
from rocefort.models.network import End, Link


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

    def ends(self, switch: Switch) -> tuple[JointEnd, JointEnd]:
        """(own end, far end) as a switch of the link sees it."""
        own_spine = switch is self.spine.switch
        return (self.spine, self.leaf) if own_spine else (self.leaf, self.spine)

    @property
    def link(self) -> Link:
        """The cable as rules see it."""
        a, b = (End(device=e.switch.name, interface=e.port) for e in (self.spine, self.leaf))
        return Link(a=a, b=b, cable_m=self.cable_m)

    def __str__(self) -> str:
        return f"the link {self.spine.switch.name} - {self.leaf.switch.name}"


def joints(context: Context) -> Iterator[Joint]:
    """Every leaf with every spine."""
    fabric = context.fabric
    pins = {(pin.spine, pin.leaf): (i, pin) for i, pin in enumerate(fabric.links)}
    places = {switch.name: path for path, switch in context.switches()}
    for leaf in fabric.leaves:
        for spine in fabric.spines:
            index, pin = pins.get((spine.name, leaf.name), (None, None))
            path = places[leaf.name] if index is None else ("links", index)
            yield _joint(context, spine, leaf, pin, path)


def _joint(
    context: Context, spine: Switch, leaf: Leaf, given: LinkPin | None, path: YamlPath
) -> Joint:
    pin = given or LinkPin(spine=spine.name, leaf=leaf.name)
    subnet = pin.subnet or allocate.link_subnet(context.fabric, spine, leaf)
    low, high = allocate.link_ends(subnet)
    spine_port = pin.spine_port or context.hardware(spine).fabric_port_names()[leaf.id - 1]
    leaf_port = pin.leaf_port or context.hardware(leaf).fabric_port_names()[spine.id - 1]
    return Joint(
        spine=JointEnd(spine, spine_port, low),
        leaf=JointEnd(leaf, leaf_port, high),
        subnet=subnet,
        cable_m=pin.cable_m or context.fabric.cables.fabric_m,
        path=path,
    )
