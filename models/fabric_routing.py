"""Intent for addresses and routing: capacity, pools, BGP."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Literal

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.bgp import Bfd
from rocefort.models.fabric_types import MOST_LEAVES, MOST_SPINES, Asn


class Capacity(Frozen):
    """How far the fabric may grow without moving anything: allocation is sized by it."""

    spines: int = Field(
        ge=1, le=MOST_SPINES, description="Highest spine id that there will ever be."
    )
    leaves: int = Field(
        ge=1, le=MOST_LEAVES, description="Highest leaf id that there will ever be."
    )


class Pools(Frozen):
    """Where addresses come from."""

    spine_loopbacks: IPv4Network = Field(
        description="Loopbacks of spines: address number `id`.", examples=["10.0.0.0/26"]
    )
    leaf_loopbacks: IPv4Network = Field(
        description="Loopbacks of leaves: address number `id`.", examples=["10.0.1.0/24"]
    )
    links: IPv4Network = Field(
        description="Leaf-spine links, one subnet for each pair of the capacity.",
        examples=["10.1.0.0/22"],
    )
    link_prefix_length: Literal[30, 31] = Field(
        default=31, description="31 (RFC 3021), or 30 where a release refuses 31-bit masks."
    )


class Routing(Frozen):
    """EBGP of RFC 7938: spines share an ASN, each leaf has base + id. Times in s and ms."""

    spine_asn: Asn = Field(description="AS number of all spines.", examples=[65000])
    leaf_asn_base: Asn = Field(description="A leaf's AS number less its id.", examples=[65100])
    maximum_paths: int = Field(
        ge=1, le=128, description="`maximum load-balancing`: at least the spines of the capacity."
    )
    keepalive_s: int = Field(default=10, ge=1, le=21845, description="BGP keepalive, s.")
    hold_s: int = Field(
        default=30, ge=3, le=65535, description="BGP hold time, s; usually three keepalives."
    )
    bfd: Bfd | None = Field(default=None, description="BFD of all BGP peers; none: no BFD.")
