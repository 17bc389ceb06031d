"""Leaf-spine links with both their ends worked out, from pins and by allocation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network

from rocefort.design import allocate
from rocefort.design.capacity import links_of
from rocefort.design.context import Context
from rocefort.documents.read import YamlPath
from rocefort.models.fabric import Fabric
from rocefort.models.fabric_cables import CableKind
from rocefort.models.fabric_nodes import Leaf, LinkPin, Switch
from rocefort.models.network import End, Link
from rocefort.models.secret import Authentication

FABRIC_CABLE: YamlPath = ("cables", "fabric")
UNPINNED = LinkPin(spine="any", leaf="any")  # what nobody gives by hand


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
    path: YamlPath  # the pin, or the leaf, by name
    number: int = 1  # among the links of its leaf and spine
    kind: CableKind | None = None
    kind_path: YamlPath = FABRIC_CABLE
    authentication: Authentication | None = None  # of its session alone

    def ends(self, switch: Switch) -> tuple[JointEnd, JointEnd]:
        """(own end, far end) as a switch of the link sees it."""
        own_spine = switch.name == self.spine.switch.name
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


@dataclass(frozen=True)
class LeafLinksInputs:
    """All that the links of a leaf follow from."""

    bare: Fabric  # without its switches, servers and links
    leaf: Leaf
    ports: tuple[str, ...]  # of the leaf, that take links
    spines: tuple[tuple[Switch, tuple[str, ...]], ...]  # each with its ports
    pins: tuple[LinkPin, ...]  # of the leaf


@dataclass(frozen=True)
class LeafLinks:
    """The links of a leaf, and what they were made of."""

    inputs: LeafLinksInputs
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]


def links_of_leaves(
    context: Context, bare: Fabric, known: Mapping[str, LeafLinks]
) -> dict[str, LeafLinks]:
    """Links of every leaf by its name; bare: the fabric without rows; known: of another version."""
    fabric = context.fabric
    pins: dict[str, list[LinkPin]] = defaultdict(list)
    for pin in fabric.links:
        pins[pin.leaf].append(pin)
    spines = tuple((spine, context.fabric_ports(spine)) for spine in fabric.spines)
    found = {}
    for leaf in fabric.leaves:
        own = tuple(pins.get(leaf.name, ()))
        inputs = LeafLinksInputs(bare, leaf, context.fabric_ports(leaf), spines, own)
        other = known.get(leaf.name)
        found[leaf.name] = other if other and other.inputs == inputs else _linked(inputs)
    return found


def _linked(inputs: LeafLinksInputs) -> LeafLinks:
    """Links to every spine, each as often as the leaf has them."""
    pins = {(pin.spine, pin.number): pin for pin in inputs.pins}
    count = links_of(inputs.bare, inputs.leaf)
    made = tuple(
        _joint(inputs, spine, ports, number, pins.get((spine.name, number)))
        for spine, ports in inputs.spines
        for number in range(1, count + 1)
    )
    return LeafLinks(inputs, made, tuple(joint.link for joint in made))


def _joint(
    inputs: LeafLinksInputs,
    spine: Switch,
    spine_ports: Sequence[str],
    number: int,
    pin: LinkPin | None,
) -> Joint:
    fabric, leaf, given = inputs.bare, inputs.leaf, pin or UNPINNED
    subnet = given.subnet or allocate.link_subnet(fabric, spine, leaf, number)
    low, high = allocate.link_ends(subnet)
    at_spine = given.spine_port or allocate.fabric_port(fabric, spine_ports, leaf, number)
    at_leaf = given.leaf_port or allocate.fabric_port(fabric, inputs.ports, spine, number)
    path = ("links", f"{spine.name} {leaf.name} {number}") if pin else ("leaves", leaf.name)
    return Joint(
        spine=JointEnd(spine, at_spine, low),
        leaf=JointEnd(leaf, at_leaf, high),
        subnet=subnet,
        cable_m=given.cable_m or fabric.cables.fabric_m,
        path=path,
        number=number,
        kind=given.cable or fabric.cables.fabric,
        kind_path=(*path, "cable") if given.cable else FABRIC_CABLE,
        authentication=given.authentication,
    )
