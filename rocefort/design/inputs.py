"""What a Device is derived from: one value for each switch, compared as a whole.

Who derives a Device sees nothing else of the fabric. So where the inputs of two versions are
equal, their Devices are, and the one that is there is taken.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from rocefort.design.links import Joint, LeafLinks
from rocefort.design.notes import Notes
from rocefort.design.segment_rules import segment_acls
from rocefort.models.bgp import BgpPeer
from rocefort.models.breakout import whole_port
from rocefort.models.fabric import Fabric
from rocefort.models.fabric_border import ExitIntent
from rocefort.models.fabric_ecn import AiEcnProfile, StaticEcn
from rocefort.models.fabric_lossless import Lossless
from rocefort.models.fabric_nodes import ServerIntent, Switch
from rocefort.models.hardware import Family, Hardware
from rocefort.models.interface import Interface
from rocefort.models.network import Node, Server
from rocefort.models.static import StaticRoute
from rocefort.models.traffic import FilterAcl

Fields = Mapping[str, object]  # of a model


@dataclass(frozen=True)
class Common:
    """What the Devices of all switches are derived from alike."""

    bare: Fabric  # without its switches, servers and links
    lossless: Lossless
    ecn_name: str
    ecn: StaticEcn | AiEcnProfile
    exits: tuple[ExitIntent, ...]  # of all leaves
    spines_differ: bool
    shared: Fields  # of a Device: what all of them have
    static_routes: tuple[StaticRoute, ...]  # that all of them have beside their own
    # What lossless ports share, by whether the family sets their headroom, and by speed where that
    # matters: frozen, so a few objects serve them all.
    port_fields: dict[tuple[bool, int | None], Fields] = field(default_factory=dict, compare=False)
    # A port of each kind, from which the others of it differ in name, description and address.
    ports: dict[Hashable, Interface] = field(default_factory=dict, compare=False)
    peers: dict[str, BgpPeer] = field(default_factory=dict, compare=False)  # one of each group

    @cached_property
    def segment_acls(self) -> Mapping[str, FilterAcl]:
        """What the policy says of each segment's packets, by segment: the same on every leaf."""
        return segment_acls(self.bare.security.policy, self.bare.segments)


@dataclass(frozen=True)
class SwitchInputs:
    """What everything of a switch depends on."""

    common: Common
    switch: Switch
    hardware: Hardware
    family: Family

    def speed_gbps(self, port: str) -> int | None:
        """Speed of a port, or of a part of one that is split."""
        return self.hardware.speed_gbps(port, self.switch.splits.get(whole_port(port)))


@dataclass(frozen=True)
class DeviceInputs:
    """All that the Device of a switch is derived from, and its Node, and its servers."""

    own: SwitchInputs
    joints: tuple[Joint, ...]  # its leaf-spine links
    servers: tuple[ServerIntent, ...]  # behind its ports


class MadeEnd(NamedTuple):
    """A port of a leaf-spine link and its BGP peer; they follow from SwitchInputs and the link."""

    joint: Joint
    port: Interface
    peer: BgpPeer


@dataclass(frozen=True)
class Made:
    """What was derived from the inputs of a switch."""

    inputs: DeviceInputs
    node: Node
    ends: Mapping[str, MadeEnd]  # by port
    servers: tuple[Server, ...]
    notes: Notes
    lossless_ports: tuple[str, ...]  # keys of the side table


@dataclass(frozen=True)
class Known:
    """What was derived of one version of a fabric, for another to take from."""

    fabric: Fabric
    common: Common
    links: Mapping[str, LeafLinks]  # by leaf
    switches: Mapping[str, Made]
