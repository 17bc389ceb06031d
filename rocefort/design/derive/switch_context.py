"""Scope of one switch's derivation: its links, its servers, and notes of sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface

from rocefort.base.documents.read import YamlPath
from rocefort.design import allocation
from rocefort.design.derive.context import Context
from rocefort.design.derive.links import LeafSpineLink
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.fabric.nodes import SegmentIntent, ServerIntent, Switch
from rocefort.models.hardware.hardware import Family, Hardware


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
        self.context.note_lossless(self.switch.name, field_path, *path)

    def note_ecn(self, field_path: str, *path: str | int) -> None:
        """Note a path of the ECN profile as the source of a field."""
        self.context.note_ecn(self.switch.name, field_path, *path)

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
