"""VRFs and static routes in the configuration of a switch."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated

from rocefort.models.base import Frozen
from rocefort.models.effect import KEY, SAME, EditCondition, KeyedRow, OfKey

NULL = "NULL0"  # packets that are routed there are dropped
STATIC_PREFERENCE = 60  # default of `ip route-static`, V300R023C00
FACTORY_VRF = "_management_vpn_"  # V300 has it from the factory, with MEth0/0/0 in it
DEFAULT_ROUTE = IPv4Network("0.0.0.0/0")
ATTRACTS_ALL = OfKey(
    r"(?:\S+ )?0\.0\.0\.0/0 .+",
    EditCondition.COMES,
    "the default route {} attracts all traffic that no other route does",
)


class Vrf(KeyedRow):
    """VRF; it routes IPv4 once its IPv4 family is on."""

    name: Annotated[str, KEY]
    ipv4: Annotated[bool, SAME] = False  # `ipv4-family`


class StaticRoute(Frozen):
    """Static route; the next hop is an address, or NULL0, which drops packets."""

    prefix: Annotated[IPv4Network, KEY]
    next_hop: Annotated[IPv4Address | None, KEY] = None  # None: NULL0
    vrf: Annotated[str | None, KEY] = None  # None: the public table
    preference: Annotated[int | None, SAME] = None  # None: 60, which a switch does not save
    description: Annotated[str | None, SAME] = None

    @property
    def via(self) -> str:
        """Next hop as in the command."""
        return NULL if self.next_hop is None else str(self.next_hop)

    @property
    def key(self) -> str:
        """Key of a route: table, prefix and next hop."""
        return " ".join((*((self.vrf,) if self.vrf else ()), str(self.prefix), self.via))
