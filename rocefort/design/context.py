"""What all parts of the derivation share: the fabric, the hardware facts, and the side table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Interface

from rocefort.design import allocate
from rocefort.design.load import Catalogue, Loaded
from rocefort.documents.read import YamlPath
from rocefort.errors import Problem
from rocefort.models.fabric import Fabric
from rocefort.models.fabric_nodes import Leaf, SegmentIntent, ServerIntent, Switch
from rocefort.models.hardware import Family, Hardware, SyntaxFamily
from rocefort.models.network import Position

Placed = tuple[YamlPath, Switch]


@dataclass(frozen=True)
class Context:
    """A consistent fabric with its hardware; the tables are filled while Devices are derived."""

    loaded: Loaded
    catalogue: Catalogue
    table: dict[str, Position] = field(default_factory=dict)
    # What all lossless ports of a family share: frozen, so the same few objects serve them all.
    port_fields: dict[SyntaxFamily, dict[str, object]] = field(default_factory=dict)

    @property
    def fabric(self) -> Fabric:
        """The intent."""
        return self.loaded.fabric

    def note(self, device: str, field_path: str, *path: str | int) -> None:
        """Remember that a field of a device came from a YAML path."""
        self.table[f"{device}/{field_path}"] = self.loaded.document.key_at(path)

    def problem(self, path: YamlPath, what: str, how: str = "") -> Problem:
        """One problem at a YAML path."""
        return self.loaded.problem(path, what, how)

    def switches(self) -> Iterator[Placed]:
        """All switches with their YAML paths."""
        for group, members in (("spines", self.fabric.spines), ("leaves", self.fabric.leaves)):
            for index, switch in enumerate(members):
                yield (group, index), switch

    @cached_property
    def servers_of(self) -> Mapping[str, Sequence[tuple[int, ServerIntent]]]:
        """Servers of each leaf that has any, with their index in the fabric."""
        found: dict[str, list[tuple[int, ServerIntent]]] = defaultdict(list)
        for index, server in enumerate(self.fabric.servers):
            found[server.leaf].append((index, server))
        return dict(found)

    def hardware(self, switch: Switch) -> Hardware:
        """Facts of a switch's model."""
        return self.catalogue.hardware[switch.hardware]

    def family(self, switch: Switch) -> Family:
        """Syntax family of a switch's model and release."""
        family = self.hardware(switch).family_of(switch.software)
        if family is None:  # check_intent refuses it
            raise LookupError(switch.software)
        return self.catalogue.families[family]

    def out_of_band(self) -> SegmentIntent:
        """The management segment: the one without a VLAN."""
        return next(s for s in self.fabric.segments if s.vlan is None)

    def management(self, switch: Switch) -> IPv4Interface:
        """Management address of a switch."""
        return allocate.management(self.fabric, switch, self.out_of_band())

    def gateways(self, switch: Switch) -> Iterator[tuple[SegmentIntent, IPv4Interface]]:
        """Segments that a leaf serves, each with its gateway; none on a spine."""
        if isinstance(switch, Leaf):
            for segment in self.fabric.segments:
                if segment.name in switch.segments:
                    yield segment, allocate.gateway(segment, switch)
