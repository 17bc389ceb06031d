"""Intent for segments, switches, servers and links."""

from __future__ import annotations

from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.device.secret import Authentication
from rocefort.models.fabric.cables import CableKind
from rocefort.models.fabric.exits import ExitIntent
from rocefort.models.fabric.hosts import LeafName, LonePort, ServerBond, ServerHost
from rocefort.models.fabric.types import (
    Asn,
    Id,
    InterfaceName,
    LinksPerPair,
    LinkSubnet,
    Metres,
    Vlan,
)
from rocefort.models.hardware.hardware import PortRange, expand_ports
from rocefort.models.hardware.media import SplitType
from rocefort.models.wording import count_of, named


class SegmentIntent(Frozen):
    """Network segment; each leaf that serves it has a gateway in its own part of the prefix."""

    name: Name = Field(description="The segment's name.", examples=["compute"])
    role: Literal["beamline", "compute", "storage", "transfer", "management"] = Field(
        description="What its servers are for."
    )
    prefix: IPv4Network = Field(
        description="All its addresses; leaf number `id` takes part number `id`.",
        examples=["10.65.0.0/16"],
    )
    vlan: Vlan | None = Field(
        default=None, description="VLAN on the leaves; none: the switches' out-of-band network."
    )
    leaf_prefix_length: int = Field(
        default=24,
        ge=8,
        le=30,
        json_schema_extra=named("a prefix length"),
        description="Length of one leaf's part of the prefix.",
    )


class SwitchPins(Frozen):
    """Values given by hand that allocation would derive otherwise."""

    asn: Asn | None = Field(default=None, examples=[65150], description="AS number.")
    loopback: IPv4Address | None = Field(
        default=None, examples=["10.0.1.50"], description="Loopback address and router id."
    )
    management: IPv4Address | None = Field(
        default=None, examples=["10.255.0.50"], description="Address of MEth0/0/0."
    )
    gateways: dict[Name, IPv4Interface] = Field(
        default_factory=dict,
        description="Gateway address with its prefix length, by segment.",
        examples=[{"compute": "10.65.1.1/24"}],
    )


class Switch(Frozen):
    """Spine; `id` is permanent and never given to another switch."""

    id: Id = Field(description="Permanent number; addresses, AS number and ports follow from it.")
    name: Name = Field(description="The switch's sysname.", examples=["leaf01"])
    hardware: Name = Field(
        description="A model of inventory/hardware.", examples=["CE8850-64CQ-EI"]
    )
    software: Name = Field(description="The release that it runs.", examples=["V200R022C00"])
    rack: Name | None = Field(default=None, description="Rack that it is in.")
    breakout: dict[PortRange, SplitType] = Field(
        default_factory=dict,
        description="Ports that are split: 100GE1/0/1 as 4*25GE is 100GE1/0/1:1 to 100GE1/0/1:4.",
        examples=[{"100GE1/0/1-4": "4*25GE"}],
    )
    pins: SwitchPins = Field(default=SwitchPins(), description="Values given by hand.")

    @cached_property
    def splits(self) -> dict[str, str]:
        """Split type by name of each split port."""
        return {
            name: split_type
            for ports, split_type in self.breakout.items()
            for name in expand_ports(ports)
        }


class Leaf(Switch):
    """Leaf, and the segments that it has gateways for."""

    segments: tuple[Name, ...] = Field(description="Names of segments that it has gateways for.")
    exits: tuple[ExitIntent, ...] = Field(
        default=(), description="Cables out of the fabric: to beamlines, to the WAN."
    )
    links_per_pair: LinksPerPair | None = Field(
        default=None,
        examples=[2],
        description="Links to each spine; otherwise the fabric's links_per_pair.",
    )


class ServerIntent(Frozen):
    """Server on one leaf, with one port or a bond of several."""

    name: Name = Field(description="The server's name; no switch has the same.")
    leaf: LeafName = Field(description="Name of its leaf.")
    port: LonePort = Field(
        default=None,
        description="Its port on the leaf, none of those kept for spines.",
        examples=["100GE1/0/1"],
    )
    bond: ServerBond | None = Field(
        default=None, description="Its ports on the leaf where it bundles several; then no port."
    )
    speed_gbps: int | None = Field(
        default=None,
        ge=1,
        json_schema_extra=named("a speed"),
        description="Speed of its NIC, Gb/s, which must be its port's; otherwise not checked.",
        examples=[100],
    )
    segment: Name = Field(description="Name of a segment that the leaf has a gateway for.")
    description: Description | None = Field(
        default=None,
        examples=["storage head, row 3"],
        description="Description of the leaf's port; otherwise `to NAME`.",
    )
    roce: bool = Field(default=True, description="Whether its port is lossless.")
    nic: Name | None = Field(
        default=None,
        description="Name of a NIC profile: how its NIC is set; none: not known, not judged.",
        examples=["connectx-dscp34"],
    )
    host: ServerHost | None = Field(
        default=None, description="What it calls its ports; otherwise found by its address."
    )
    cable_m: Metres | None = Field(
        default=None,
        examples=[10],
        description="Length of its cable, m; otherwise cables.server_m.",
    )
    cable: CableKind | None = Field(
        default=None, description="What its cable is; otherwise cables.server."
    )
    address: IPv4Address | None = Field(
        default=None,
        examples=["10.65.1.20"],
        description="Its address, given by hand; otherwise by its first port.",
    )
    owner: Description | None = Field(
        default=None,
        description="Person or group responsible for it; a review names them if it loses service.",
        examples=["beamline 4, j.doe@example.org"],
    )
    maintenance: Description | None = Field(
        default=None,
        description="Maintenance window that its owner allows, as text, for the same review.",
        examples=["Tuesdays 08:00-12:00"],
    )

    @model_validator(mode="after")
    def _port_or_bond(self) -> Self:
        if (self.port is None) == (self.bond is None):
            given = "neither port nor bond" if self.port is None else "both port and bond"
            raise ValueError(f"{given}; give the server its one port, or the ports of its bond")
        return self

    @model_validator(mode="after")
    def _an_interface_a_port(self) -> Self:
        number = len(self.host.interfaces) if self.host else 0
        if number not in (0, len(self.ports)):
            raise ValueError(
                f"host.interfaces names {number}, and the server has "
                f"{count_of(len(self.ports), 'port')}; name one for each port, in the same order"
            )
        return self

    @property
    def ports(self) -> tuple[str, ...]:
        """All its ports, in the order given."""
        return self.bond.ports if self.bond else (self.port,) if self.port else ()


class LinkPin(Frozen):
    """Values given by hand for one leaf-spine link."""

    spine: Name = Field(examples=["spine01"], description="Name of the spine.")
    leaf: Name = Field(examples=["leaf01"], description="Name of the leaf.")
    number: LinksPerPair = Field(
        default=1, description="Which of the links of this leaf and spine; the first is 1."
    )
    spine_port: InterfaceName | None = Field(
        default=None,
        examples=["100GE1/1/1"],
        description="Port on the spine; otherwise by the leaf's id and number.",
    )
    leaf_port: InterfaceName | None = Field(
        default=None,
        examples=["100GE1/0/25"],
        description="Port on the leaf; otherwise by the spine's id and number.",
    )
    subnet: LinkSubnet | None = Field(
        default=None,
        description="A /31 or /30, its lower address at the spine; otherwise from pools.links.",
        examples=["10.1.0.0/31"],
    )
    cable_m: Metres | None = Field(
        default=None,
        examples=[80],
        description="Length of the cable, m; otherwise cables.fabric_m.",
    )
    cable: CableKind | None = Field(
        default=None, description="What the cable is; otherwise cables.fabric."
    )
    authentication: Authentication | None = Field(
        default=None, description="Of its BGP session; otherwise routing.authentication."
    )
