"""What the derivation of one switch sees: its inputs, and where it notes what came from where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Interface

from rocefort.design import allocate
from rocefort.design.inputs import Common, DeviceInputs, Made, MadeEnd, SwitchInputs
from rocefort.design.links import Joint
from rocefort.design.notes import Note, Origin
from rocefort.documents.read import YamlPath
from rocefort.models.bgp import BgpPeer
from rocefort.models.device import Device
from rocefort.models.fabric import Fabric
from rocefort.models.fabric_nodes import Leaf, SegmentIntent, ServerIntent, Switch
from rocefort.models.hardware import Family, Hardware
from rocefort.models.interface import Interface


@dataclass(frozen=True)
class Scope:
    """One switch with all that its Device may follow from, and what is noted meanwhile."""

    inputs: DeviceInputs
    known: Made | None = None  # the same switch of another version
    notes: dict[str, Note] = field(default_factory=dict)
    lossless_ports: list[str] = field(default_factory=list)

    def note(self, field_path: str, *path: str | int) -> None:
        """Remember that a field came from a YAML path, whose row may be a name."""
        self.notes[field_path] = (Origin.FABRIC, path)

    def note_lossless(self, field_path: str, *path: str | int) -> None:
        """Remember that a field came from a path of the lossless profile."""
        self.notes[field_path] = (Origin.LOSSLESS, path)

    def note_ecn(self, field_path: str, *path: str | int) -> None:
        """Remember that a field came from a path of the ECN profile."""
        self.notes[field_path] = (Origin.ECN, path)

    @property
    def own(self) -> SwitchInputs:
        """What everything of the switch depends on."""
        return self.inputs.own

    @property
    def common(self) -> Common:
        """What all switches have alike."""
        return self.inputs.own.common

    @property
    def fabric(self) -> Fabric:
        """The fabric without its switches, servers and links."""
        return self.inputs.own.common.bare

    @property
    def switch(self) -> Switch:
        """The intent for the switch."""
        return self.inputs.own.switch

    @property
    def hardware(self) -> Hardware:
        """Facts of its model."""
        return self.inputs.own.hardware

    @property
    def family(self) -> Family:
        """Its syntax family."""
        return self.inputs.own.family

    @cached_property
    def path(self) -> YamlPath:
        """Where it stands, by its name."""
        return ("leaves" if isinstance(self.switch, Leaf) else "spines", self.switch.name)

    @cached_property
    def management(self) -> IPv4Interface:
        """Its management address."""
        return allocate.management(self.fabric, self.switch)

    @cached_property
    def gateways(self) -> Sequence[tuple[SegmentIntent, IPv4Interface]]:
        """Segments that a leaf serves, each with its gateway; none on a spine."""
        return allocate.gateways(self.fabric, self.switch)

    def server_address(self, server: ServerIntent) -> IPv4Interface:
        """Address of a server behind its ports."""
        gateway = next(g for segment, g in self.gateways if segment.name == server.segment)
        return allocate.server_address(server, gateway, self.hardware)

    def speed_gbps(self, port: str) -> int | None:
        """Speed of a port, or of a part of one that is split."""
        return self.inputs.own.speed_gbps(port)

    def made_end(self, joint: Joint) -> MadeEnd | None:
        """What the other version has for a link, where nothing that it follows from differs."""
        if self._known_ends is None:
            return None
        own, _ = joint.ends(self.switch)
        made = self._known_ends.get(own.port)
        return made if made and (made.joint is joint or made.joint == joint) else None

    @cached_property
    def _known_ends(self) -> Mapping[str, MadeEnd] | None:
        alike = self.known is not None and self.known.inputs.own == self.inputs.own
        return self.known.ends if self.known and alike else None

    @property
    def _known_device(self) -> Device | None:
        return self.known.node.device if self.known else None

    def shared_port(self, made: Interface) -> Interface:
        """An Interface; the very one of the other version where that says the same."""
        device = self._known_device
        other = device.by_interface.get(made.name) if device else None
        return other if other and other == made else made

    def shared_peer(self, made: BgpPeer) -> BgpPeer:
        """A BGP peer; the very one of the other version where that says the same."""
        bgp = self._known_device.bgp if self._known_device else None
        other = bgp.by_address.get(made.address) if bgp else None
        return other if other and other == made else made
