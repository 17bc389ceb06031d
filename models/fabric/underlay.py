"""Intent for addresses and routing: capacity, pools, BGP, and ranges of AS numbers."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Literal

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.device.routing import Bfd
from rocefort.models.device.secret import Authentication
from rocefort.models.fabric.types import MOST_LEAVES, MOST_PATHS, MOST_SPINES, Asn, Id, LinksPerPair
from rocefort.models.wording import named


class Capacity(Frozen):
    """Numbers of spines, leaves and links that allocation reserves addresses and ports for."""

    spines: int = Field(
        ge=1,
        le=MOST_SPINES,
        json_schema_extra=named("a number of spines"),
        description="Highest spine id that there will ever be.",
    )
    leaves: int = Field(
        ge=1,
        le=MOST_LEAVES,
        json_schema_extra=named("a number of leaves"),
        description="Highest leaf id that there will ever be.",
    )
    links_per_pair: LinksPerPair = Field(
        default=1,
        description="Most links that a leaf will ever have to each spine; raising it moves "
        "nothing, but takes ports and addresses of pools.links.",
    )
    beamline_ports: int | None = Field(
        default=None,
        ge=1,
        le=64,
        json_schema_extra=named("a number of ports"),
        description="Leaf ports kept for each beamline: `beamline add` then gives beamline N "
        "block N of the leaves of its segment, in whatever order beamlines are added. None: the "
        "first free ports.",
        examples=[3],
    )
    beamlines_per_leaf: int | None = Field(
        default=None,
        ge=1,
        le=64,
        json_schema_extra=named("a number of beamlines"),
        description="Most blocks of beamline_ports on one leaf, where its uplinks carry no more; "
        "None: as many as it has ports for.",
        examples=[4],
    )
    retired_spines: tuple[Id, ...] = Field(
        default=(),
        examples=[[3]],
        description="Ids of spines that are gone; no other spine gets them.",
    )
    retired_leaves: tuple[Id, ...] = Field(
        default=(),
        examples=[[5, 6]],
        description="Ids of leaves that are gone; no other leaf gets them.",
    )
    retired_beamlines: tuple[Id, ...] = Field(
        default=(),
        examples=[[7]],
        description="Ids of beamlines that are gone; no other beamline gets them.",
    )


class Pools(Frozen):
    """Pools of addresses for loopbacks and links."""

    spine_loopbacks: IPv4Network = Field(
        description="Loopbacks of spines: address number `id`.", examples=["10.0.0.0/26"]
    )
    leaf_loopbacks: IPv4Network = Field(
        description="Loopbacks of leaves: address number `id`.", examples=["10.0.1.0/24"]
    )
    links: IPv4Network = Field(
        description="Leaf-spine links, one subnet for each link of the capacity.",
        examples=["10.1.0.0/22"],
    )
    link_prefix_length: Literal[30, 31] = Field(
        default=31, description="31 (RFC 3021), or 30 where a release refuses 31-bit masks."
    )


class Routing(Frozen):
    """EBGP of RFC 7938: an AS for each leaf, one for all or each of the spines. Times in s, ms."""

    spine_asn: Asn = Field(
        description="AS number of all spines; with `spine_asns: each`, a spine's less its id.",
        examples=[65000],
    )
    spine_asns: Literal["shared", "each"] = Field(
        default="shared",
        description="Whether all spines share spine_asn, or each has spine_asn plus its id; then "
        "leaves share paths over unlike AS numbers.",
    )
    leaf_asn_base: Asn = Field(description="A leaf's AS number less its id.", examples=[65100])
    maximum_paths: int = Field(
        ge=1,
        le=MOST_PATHS,
        json_schema_extra=named("a number of equal paths"),
        description="How many equal paths BGP uses: at least the spines of the capacity times its "
        "links_per_pair.",
    )
    keepalive_s: int = Field(
        default=10,
        ge=1,
        le=21845,
        json_schema_extra=named("a BGP keepalive"),
        description="BGP keepalive, s.",
    )
    hold_s: int = Field(
        default=30,
        ge=3,
        le=65535,
        json_schema_extra=named("a BGP hold time"),
        description="BGP hold time, s; at least three keepalives.",
    )
    bfd: Bfd | None = Field(default=None, description="BFD of all BGP peers; none: no BFD.")
    authentication: Authentication | None = Field(
        default=None, description="Authentication of all BGP sessions; none: none."
    )


@dataclass(frozen=True, slots=True)
class AsnBlock:
    """Range of AS numbers of one kind, from the first to the last."""

    first: int
    last: int
    what: str
    private: bool

    def __str__(self) -> str:
        return f"the {self.what} AS numbers {self.first} to {self.last}"


BLOCKS = (
    AsnBlock(1, 64511, "public 2-byte", private=False),
    AsnBlock(64512, 65534, "private 2-byte", private=True),  # RFC 6996
    AsnBlock(65536, 4199999999, "public 4-byte", private=False),
    AsnBlock(4200000000, 4294967294, "private 4-byte", private=True),  # RFC 6996
)
REFUSED = {
    0: "is reserved (RFC 7607)",
    23456: "represents every 4-byte AS number (AS_TRANS, RFC 6793)",
    65535: "is reserved (RFC 7300)",
    4294967295: "is reserved (RFC 7300)",
}


def block_of(asn: int) -> AsnBlock | None:
    """Block of an AS number; None for a number that no switch may have."""
    if asn in REFUSED:
        return None
    return next((block for block in BLOCKS if block.first <= asn <= block.last), None)


def is_private(asn: int) -> bool:
    """Whether RFC 6996 reserves the number for private use."""
    return any(block.private and block.first <= asn <= block.last for block in BLOCKS)
