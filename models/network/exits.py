"""Exits of a fabric, for rules and routing engines."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Literal

from rocefort.models.base import Frozen
from rocefort.models.device.routing import DEFAULT_ROUTE
from rocefort.models.hardware.media import CableMedium


class PrefixRange(Frozen):
    """Prefix and its parts down to a length."""

    prefix: IPv4Network
    longest: int

    def holds(self, route: IPv4Network) -> bool:
        """Whether the range contains a route."""
        return route.prefixlen <= self.longest and route.subnet_of(self.prefix)


class Exit(Frozen):
    """Cable out of the fabric; asn None: no BGP there."""

    name: str
    leaf: str
    port: str
    address: IPv4Interface
    peer: IPv4Address
    asn: int | None
    default: Literal["accept", "static", "none"]
    accepts: tuple[PrefixRange, ...] = ()
    announces: tuple[IPv4Network, ...] = ()
    lossless: bool = False
    cable_m: float | None = None
    medium: CableMedium | None = None

    @property
    def path(self) -> str:
        """Path of its peer in the leaf's Device."""
        return f"bgp.peers[{self.peer}]" if self.asn else "static_routes"

    def lets_in(self, route: IPv4Network) -> bool:
        """Whether intent accepts a route at this exit."""
        if route == DEFAULT_ROUTE:
            return self.default == "accept"
        return any(accepted.holds(route) for accepted in self.accepts)
