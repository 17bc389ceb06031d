"""Intent for the topology: segments, switches, servers, links, exits, cables and their ports.

First links to all peers of the capacity come first, then all second links, and so on. More links
for each pair, in the capacity or in use, so leave every earlier port unchanged.
"""

from __future__ import annotations

from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.device.routing import Bfd
from rocefort.models.device.secret import Authentication
from rocefort.models.fabric.hosts import LeafName, LonePort, ServerBond, ServerHost
from rocefort.models.fabric.types import (
    Asn,
    Id,
    InterfaceName,
    LinksPerPair,
    LinkSubnet,
    Metres,
    Mtu,
    PortsOrPart,
    Vlan,
    ports_or_part,
)
from rocefort.models.hardware.hardware import Hardware, PortRange, expand_ports
from rocefort.models.hardware.media import CableMedium, Fec, SplitType
from rocefort.models.wording import count_of, named


class CableKind(Frozen):
    """Medium of a cable, and the FEC and autonegotiation of its two ports."""

    medium: CableMedium = Field(
        description="Copper (dac), an active optical cable (aoc), or the kind of its two optical "
        "modules; with the port's speed it is a layer such as 100GBASE-SR4.",
        examples=["sr4"],
    )
    fec: Fec | None = Field(
        default=None, description="FEC of both ends; otherwise what the medium needs."
    )
    autonegotiation: Literal["on", "off"] | None = Field(
        default=None,
        description="Of copper: on unless FEC is given, which excludes it. Optics have none.",
    )


class Cables(Frozen):
    """Cables by link class: lengths in metres, and their kind."""

    fabric_m: float = Field(
        gt=0, le=10000, json_schema_extra=named("a cable length"), description="Leaf to spine, m."
    )
    server_m: float = Field(
        gt=0, le=10000, json_schema_extra=named("a cable length"), description="Leaf to server, m."
    )
    fabric: CableKind | None = Field(
        default=None, description="What leaf-spine cables are; none: FEC is left to the switches."
    )
    server: CableKind | None = Field(
        default=None, description="What server cables are; none: FEC is left to the switches."
    )


MOST_EXITS, MOST_ACCEPTED = 999, 999  # indexes of prefix lists are built of both numbers
ExitId = Annotated[int, Field(ge=1, le=MOST_EXITS, json_schema_extra=named("an id"))]


class AcceptedPrefix(Frozen):
    """Prefix that an exit accepts from its peer; `id` is permanent and never reused."""

    id: int = Field(
        ge=1, le=MOST_ACCEPTED, examples=[1], description="Permanent number within its exit."
    )
    prefix: IPv4Network = Field(description="The prefix itself.", examples=["172.16.0.0/16"])
    longest: int | None = Field(
        default=None,
        ge=1,
        le=32,
        json_schema_extra=named("a prefix length"),
        examples=[24],
        description="Parts of it down to this length may come in too.",
    )

    @model_validator(mode="after")
    def _longest_is_longer(self) -> Self:
        """Refuse a length that no part of the prefix has, and the default route."""
        if self.prefix.prefixlen == 0:
            raise ValueError("0.0.0.0/0 is the default route; use `default: accept`")
        if self.longest is not None and self.longest <= self.prefix.prefixlen:
            raise ValueError(
                f"longest {self.longest} is not above the length of {self.prefix}; give a larger "
                "one, or leave it out"
            )
        return self


class ExitIntent(Frozen):
    """Cable out of the fabric, to a beamline or the WAN; `id` is permanent and unique."""

    id: ExitId = Field(
        examples=[1], description="Permanent number, of no other exit of the fabric."
    )
    name: Name = Field(
        max_length=40, description="Its name; policies are called after it.", examples=["wan-a"]
    )
    port: InterfaceName = Field(
        description="Port of the leaf, none of those kept for spines.", examples=["100GE1/0/30"]
    )
    address: IPv4Interface = Field(
        description="The leaf's address with its length.", examples=["192.0.2.1/31"]
    )
    peer: IPv4Address = Field(description="The address at the other end.", examples=["192.0.2.0"])
    asn: Asn | None = Field(
        default=None,
        examples=[64900],
        description="AS number of the other end; none: no BGP, a static default.",
    )
    default: Literal["accept", "static", "none"] = Field(
        default="accept",
        description="Default route: accepted from the peer, a static one to it, or none.",
    )
    accepts: tuple[AcceptedPrefix, ...] = Field(
        default=(), description="What else may come in; all the rest is refused."
    )
    announces: tuple[Name, ...] | None = Field(
        default=None,
        examples=[["storage"]],
        description="Segments whose whole prefix is announced there; none given: all of them.",
    )
    description: Description | None = Field(
        default=None,
        examples=["to the campus core"],
        description="Description of port and peer; otherwise `exit NAME`.",
    )
    bfd: Bfd | None = Field(default=None, description="BFD of its session; none: no BFD.")
    authentication: Authentication | None = Field(
        default=None, description="Of its BGP session; none: none."
    )
    mtu: Mtu | None = Field(
        default=None, examples=[1500], description="MTU there; otherwise the fabric's."
    )
    lossless: bool = Field(
        default=False,
        description="Whether PFC and the fabric's priorities apply outside; else neither does.",
    )
    cable_m: Metres | None = Field(
        default=None, examples=[30], description="Length of its cable, m."
    )
    cable: CableKind | None = Field(
        default=None, description="What its cable is; none: FEC is left to the switch."
    )

    @model_validator(mode="after")
    def _without_bgp(self) -> Self:
        """Require a static default route without BGP, and nothing to accept or announce."""
        session = self.accepts or self.announces or self.bfd or self.authentication
        if self.asn is None and (self.default != "static" or session):
            raise ValueError(
                "an exit without asn has no BGP: give asn, or `default: static` and neither "
                "accepts, announces, bfd nor authentication"
            )
        return self


class Management(Frozen):
    """Routing of the switches' management ports to the rest of the site."""

    vrf: Name | None = Field(
        default=None,
        max_length=31,  # V300R023C00 `ip vpn-instance`
        description="Routing table of the management ports; none: the public one.",
        examples=["MGMT"],
    )
    gateway: IPv4Address | None = Field(
        default=None,
        description="Next hop of their static default route, in the management segment; none: no "
        "route beyond it.",
        examples=["10.255.0.254"],
    )


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


class WanPath(Frozen):
    """Path of a long round trip between the servers of two segments, such as to another site."""

    between: tuple[Name, Name] = Field(
        description="Its two segments, each with a VLAN.", examples=[["transfer", "storage"]]
    )
    round_trip_ms: float = Field(
        gt=0,
        le=10000,
        json_schema_extra=named("a round trip"),
        description="Time from a packet to its acknowledgement, ms.",
        examples=[44],
    )
    rate_gbps: float = Field(
        gt=0,
        le=3200,
        json_schema_extra=named("a rate"),
        description="Rate that transfers over it are to reach, Gb/s.",
        examples=[400],
    )
    reorder_percent: float = Field(
        default=0,
        ge=0,
        le=100,
        json_schema_extra=named("a share of packets"),
        description="Share of the packets that arrive out of order, percent.",
        examples=[0.02],
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


class Rack(Frozen):
    """Rack whose switches differ from the rest of the fabric."""

    name: Name = Field(description="The rack's name, as its switches have it.", examples=["row2"])
    lossless: Name = Field(
        description="Name of the lossless profile of its switches; one of a switch precedes it.",
        examples=["deep-buffer"],
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
    lossless: Name | None = Field(
        default=None,
        description="Name of its own lossless profile; otherwise its rack's, or the fabric's.",
        examples=["deep-buffer"],
    )
    breakout: dict[PortRange, SplitType] = Field(
        default_factory=dict,
        description="Ports that are split: 100GE1/0/1 as 4*25GE is 100GE1/0/1:1 to 100GE1/0/1:4.",
        examples=[{"100GE1/0/1-4": "4*25GE"}],
    )
    fabric_ports: tuple[PortRange, ...] = Field(
        default=(),
        description="Its ports to spines or leaves, in the order of peer ids, where they are not "
        "those of its model in this role.",
        examples=[["100GE1/0/5-8"]],
    )
    pins: SwitchPins = Field(default=SwitchPins(), description="Values given by hand.")

    def hardware_in_role(self, hardware: Hardware) -> Hardware:
        """Facts of its model, with the fabric ports of this switch."""
        return hardware.in_role(spine=not isinstance(self, Leaf), own=self.fabric_ports)

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
    retired_ports: tuple[PortsOrPart, ...] = Field(
        default=(),
        examples=[["100GE1/0/1-3"]],
        description="Ports of beamlines that are gone; no server gets them, nor their addresses.",
    )

    @cached_property
    def retired_port_names(self) -> frozenset[str]:
        """Each of its retired ports."""
        return frozenset(name for ports in self.retired_ports for name in ports_or_part(ports))


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


def place_of(peer_id: int, number: int, peers: int) -> int:
    """Index, from 0, of the fabric port of link `number` to a peer; peers: of the capacity."""
    return (number - 1) * peers + peer_id - 1


def peer_at(index: int, peers: int) -> tuple[int, int]:
    """Return (id of the peer, number of the link) of a port's index: inverse of `place_of`."""
    return index % peers + 1, index // peers + 1
