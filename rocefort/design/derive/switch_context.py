"""Scope of one switch's derivation: its links with both ends, its servers, notes of sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface, IPv4Network
from itertools import product

from rocefort.base.documents.read import YamlPath
from rocefort.design import allocation
from rocefort.design.derive.check_capacity import links_of
from rocefort.design.derive.context import Context
from rocefort.design.load.profiles import LosslessUse
from rocefort.models.device.secret import Authentication
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.topology import CableKind, LinkPin, SegmentIntent, ServerIntent, Switch
from rocefort.models.hardware.hardware import Family, Hardware
from rocefort.models.network.network import End, Link

FABRIC_CABLE: YamlPath = ("cables", "fabric")
UNPINNED = LinkPin(spine="any", leaf="any")  # a link without a pin


@dataclass(frozen=True, slots=True)
class LeafSpineEnd:
    """End of a leaf-spine link."""

    switch: Switch
    port: str
    address: IPv4Interface


@dataclass(frozen=True, slots=True)
class LeafSpineLink:
    """Leaf-spine link."""

    spine: LeafSpineEnd
    leaf: LeafSpineEnd
    subnet: IPv4Network
    cable_m: float
    path: YamlPath  # the pin, or the leaf
    number: int = 1  # among the links of its leaf and spine
    kind: CableKind | None = None
    kind_path: YamlPath = FABRIC_CABLE
    authentication: Authentication | None = None  # of its session only

    def ends(self, switch: Switch) -> tuple[LeafSpineEnd, LeafSpineEnd]:
        """Return (own end, far end) from the view of a switch of the link."""
        own_spine = switch.name == self.spine.switch.name
        return (self.spine, self.leaf) if own_spine else (self.leaf, self.spine)

    @property
    def link(self) -> Link:
        """Cable, in the form for rules."""
        a, b = (End(device=e.switch.name, interface=e.port) for e in (self.spine, self.leaf))
        medium = self.kind.medium if self.kind else None
        return Link(a=a, b=b, cable_m=self.cable_m, medium=medium)

    def __str__(self) -> str:
        ends = f"{self.spine.switch.name} - {self.leaf.switch.name}"
        return f"link {self.number} of {ends}" if self.number > 1 else f"the link {ends}"


def joints_of(context: Context) -> Iterator[LeafSpineLink]:
    """Yield every leaf-spine link, leaf by leaf, with the leaf's number of links to each spine."""
    fabric = context.fabric
    pins = {(p.spine, p.leaf, p.number): (index, p) for index, p in enumerate(fabric.links)}
    spines = [(spine, context.fabric_ports(spine)) for spine in fabric.spines]
    for index, leaf in enumerate(fabric.leaves):
        leaf_ports, numbers = context.fabric_ports(leaf), range(1, links_of(fabric, leaf) + 1)
        for (spine, spine_ports), number in product(spines, numbers):
            pin_index, pin = pins.get((spine.name, leaf.name, number), (None, UNPINNED))
            path = ("leaves", index) if pin_index is None else ("links", pin_index)
            subnet = pin.subnet or allocation.link_subnet(fabric, spine, leaf, number)
            low, high = allocation.link_ends(subnet)
            at_spine = pin.spine_port or allocation.fabric_port(fabric, spine_ports, leaf, number)
            at_leaf = pin.leaf_port or allocation.fabric_port(fabric, leaf_ports, spine, number)
            yield LeafSpineLink(
                spine=LeafSpineEnd(spine, at_spine, low),
                leaf=LeafSpineEnd(leaf, at_leaf, high),
                subnet=subnet,
                cable_m=pin.cable_m or fabric.cables.fabric_m,
                path=path,
                number=number,
                kind=pin.cable or fabric.cables.fabric,
                kind_path=(*path, "cable") if pin.cable else FABRIC_CABLE,
                authentication=pin.authentication,
            )


@dataclass(frozen=True)
class Scope:
    """Switch of a fabric with its links and servers."""

    context: Context
    switch: Switch
    path: YamlPath  # of the switch
    joints: Sequence[LeafSpineLink]  # its leaf-spine links
    servers: Sequence[tuple[int, ServerIntent]]  # behind its ports, with their index in the fabric

    def note(self, field_path: str, *path: str | int) -> None:
        """Note a YAML path as the source of a field."""
        self.context.note(self.switch.name, field_path, *path)

    def note_lossless(self, field_path: str, *path: str | int) -> None:
        """Note a path of the lossless profile as the source of a field."""
        position = self.lossless.use.key_at(path)
        self.context.note_position(self.switch.name, field_path, position)

    def note_ecn(self, field_path: str, *path: str | int) -> None:
        """Note a path of the ECN profile as the source of a field."""
        position = self.lossless.ecn_use.key_at(path)
        self.context.note_position(self.switch.name, field_path, position)

    @cached_property
    def lossless(self) -> LosslessUse:
        """Lossless profile of the switch."""
        return self.context.lossless_of(self.switch)

    @property
    def fabric(self) -> Fabric:
        """Whole fabric."""
        return self.context.fabric

    @cached_property
    def hardware(self) -> Hardware:
        """Facts of the switch's model."""
        return self.context.hardware(self.switch)

    @cached_property
    def family(self) -> Family:
        """Syntax family of the switch."""
        return self.context.family(self.switch)

    @cached_property
    def management(self) -> IPv4Interface:
        """Management address of the switch."""
        return self.context.management(self.switch)

    @property
    def gateways(self) -> Sequence[tuple[SegmentIntent, IPv4Interface]]:
        """Segments of a leaf, each with its gateway; a spine has none."""
        return self.context.gateways(self.switch)

    def server_address(self, server: ServerIntent) -> IPv4Interface:
        """Address of a server on the switch."""
        return allocation.server_address(server, self.context.gateway_of(server), self.hardware)

    def speed_gbps(self, port: str) -> int | None:
        """Speed of a port, or of a part of a split one, Gb/s."""
        return self.context.speed_gbps(self.switch, port)
