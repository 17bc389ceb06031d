"""What the derivation of one switch sees: its links and servers, and where to note what came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface

from rocefort.design import allocation
from rocefort.design.derive.context import Context
from rocefort.design.derive.links import LeafSpineLink
from rocefort.documents.read import YamlPath
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.nodes import SegmentIntent, ServerIntent, Switch
from rocefort.models.hardware.hardware import Family, Hardware


@dataclass(frozen=True)
class Scope:
    """One switch of a fabric, with what belongs to it."""

    context: Context
    switch: Switch
    path: YamlPath  # of the switch
    joints: Sequence[LeafSpineLink]  # its leaf-spine links
    servers: Sequence[tuple[int, ServerIntent]]  # behind its ports, with their index in the fabric

    def note(self, field_path: str, *path: str | int) -> None:
        """Remember that a field came from a YAML path."""
        self.context.note(self.switch.name, field_path, *path)

    def note_lossless(self, field_path: str, *path: str | int) -> None:
        """Remember that a field came from a path of the lossless profile."""
        self.context.note_lossless(self.switch.name, field_path, *path)

    def note_ecn(self, field_path: str, *path: str | int) -> None:
        """Remember that a field came from a path of the ECN profile."""
        self.context.note_ecn(self.switch.name, field_path, *path)

    @property
    def fabric(self) -> Fabric:
        """The whole fabric."""
        return self.context.fabric

    @cached_property
    def hardware(self) -> Hardware:
        """Facts of its model."""
        return self.context.hardware(self.switch)

    @cached_property
    def family(self) -> Family:
        """Its syntax family."""
        return self.context.family(self.switch)

    @cached_property
    def management(self) -> IPv4Interface:
        """Its management address."""
        return self.context.management(self.switch)

    @property
    def gateways(self) -> Sequence[tuple[SegmentIntent, IPv4Interface]]:
        """Segments that a leaf serves, each with its gateway; none on a spine."""
        return self.context.gateways(self.switch)

    def server_address(self, server: ServerIntent) -> IPv4Interface:
        """Address of a server behind its ports."""
        return allocation.server_address(server, self.context.gateway_of(server), self.hardware)

    def speed_gbps(self, port: str) -> int | None:
        """Speed of a port, or of a part of one that is split."""
        return self.context.speed_gbps(self.switch, port)
