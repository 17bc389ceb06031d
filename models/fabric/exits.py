"""Intent for connections out of the fabric: exits of border leaves, and management routing."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rocefort.models.base import Description, Frozen, Name
from rocefort.models.device.routing import Bfd
from rocefort.models.device.secret import Authentication
from rocefort.models.fabric.cables import CableKind
from rocefort.models.fabric.types import Asn, InterfaceName, Metres, Mtu
from rocefort.models.wording import named

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
