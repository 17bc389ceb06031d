"""Intent for what is cabled: segments, switches, servers, links."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Literal

from pydantic import Field

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.fabric_types import Asn, Id, InterfaceName, LinkSubnet, Metres, Vlan


class Cables(Frozen):
    """Cable lengths by link class, metres."""

    fabric_m: float = Field(gt=0, le=10000, description="Leaf to spine, m.")
    server_m: float = Field(gt=0, le=10000, description="Leaf to server, m.")


class SegmentIntent(Frozen):
    """A segment; each leaf that serves it has a gateway in its own part of the prefix."""

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
        default=24, ge=8, le=30, description="Length of one leaf's part of the prefix."
    )


class SwitchPins(Frozen):
    """Values given by hand that allocation would derive otherwise."""

    asn: Asn | None = Field(default=None, description="AS number.")
    loopback: IPv4Address | None = Field(
        default=None, description="Loopback address and router id."
    )
    management: IPv4Address | None = Field(default=None, description="Address of MEth0/0/0.")
    gateways: dict[Name, IPv4Interface] = Field(
        default_factory=dict,
        description="Gateway address with its prefix length, by segment.",
        examples=[{"compute": "10.65.1.1/24"}],
    )


class Switch(Frozen):
    """A spine; `id` is permanent and never given to another switch."""

    id: Id = Field(description="Permanent number; addresses, AS number and ports follow from it.")
    name: Name = Field(description="The switch's sysname.", examples=["leaf01"])
    hardware: Name = Field(
        description="A model of inventory/hardware.", examples=["CE8850-64CQ-EI"]
    )
    software: Name = Field(description="The release that it runs.", examples=["V200R022C00"])
    rack: Name | None = Field(default=None, description="Where it stands.")
    pins: SwitchPins = Field(default=SwitchPins(), description="Values given by hand.")


class Leaf(Switch):
    """A leaf and the segments it has gateways for."""

    segments: tuple[Name, ...] = Field(description="Names of segments that it has gateways for.")


class ServerIntent(Frozen):
    """A server on one leaf port."""

    name: Name = Field(description="The server's name; no switch has the same.")
    leaf: Name = Field(description="Name of its leaf.")
    port: InterfaceName = Field(
        description="Its port on the leaf, none of those kept for spines.",
        examples=["100GE1/0/1"],
    )
    speed_gbps: int | None = Field(
        default=None,
        ge=1,
        description="Speed of its NIC, Gb/s, which must be its port's; otherwise not checked.",
        examples=[100],
    )
    segment: Name = Field(description="Name of a segment that the leaf has a gateway for.")
    description: Description | None = Field(
        default=None, description="Description of the leaf's port; otherwise `to NAME`."
    )
    roce: bool = Field(default=True, description="Whether its port is lossless.")
    cable_m: Metres | None = Field(
        default=None, description="Length of its cable, m; otherwise cables.server_m."
    )
    address: IPv4Address | None = Field(
        default=None, description="Its address, given by hand; otherwise by its port."
    )


class LinkPin(Frozen):
    """What is given by hand for one leaf-spine link."""

    spine: Name = Field(description="Name of the spine.")
    leaf: Name = Field(description="Name of the leaf.")
    spine_port: InterfaceName | None = Field(
        default=None, description="Port on the spine; otherwise by the leaf's id."
    )
    leaf_port: InterfaceName | None = Field(
        default=None, description="Port on the leaf; otherwise by the spine's id."
    )
    subnet: LinkSubnet | None = Field(
        default=None,
        description="A /31 or /30, its lower address at the spine; otherwise from pools.links.",
        examples=["10.1.0.0/31"],
    )
    cable_m: Metres | None = Field(
        default=None, description="Length of the cable, m; otherwise cables.fabric_m."
    )
