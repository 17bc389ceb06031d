"""Exits of a fabric as rules and routing engines see them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Literal

from rocefort.models.base import Frozen
from rocefort.models.device.static_routes import DEFAULT_ROUTE
from rocefort.models.hardware.transceivers import CableMedium


class PrefixRange(Frozen):
    """A prefix and its parts down to a length."""

    prefix: IPv4Network
    longest: int

    def holds(self, route: IPv4Network) -> bool:
        """Whether a route is the prefix or one of those parts."""
        return route.prefixlen <= self.longest and route.subnet_of(self.prefix)


class Exit(Frozen):
    """One cable out of the fabric; asn None: no BGP there."""

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
        """Where its peer stands in the leaf's Device."""
        return f"bgp.peers[{self.peer}]" if self.asn else "static_routes"

    def lets_in(self, route: IPv4Network) -> bool:
        """Whether intent allows a route to come in here."""
        if route == DEFAULT_ROUTE:
            return self.default == "accept"
        return any(accepted.holds(route) for accepted in self.accepts)
