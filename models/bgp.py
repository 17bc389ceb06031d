"""BGP, prefix lists and route-policies of a switch, as its text says them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Literal

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.keyed import Keyed


class Bfd(Frozen):
    """BFD of a peer or group, milliseconds; VRP's defaults are 1000/1000/3."""

    min_tx_ms: int = Field(default=1000, description="Shortest interval to send at, ms.")
    min_rx_ms: int = Field(default=1000, description="Shortest interval to receive at, ms.")
    multiplier: int = Field(default=3, description="Packets missed before the peer is down.")


class BgpSettings(Frozen):
    """What a peer and a group both can carry."""

    asn: int | None = None
    description: str | None = None
    bfd_enabled: bool = False
    bfd: Bfd | None = None  # explicit timers
    keepalive_s: int | None = None
    hold_s: int | None = None
    active: bool = False  # `peer X enable` in the IPv4 family
    import_policy: str | None = None
    export_policy: str | None = None


class BgpGroup(BgpSettings):
    """`group NAME external|internal`."""

    name: str
    external: bool = True

    @property
    def key(self) -> str:
        """Groups are told apart by name."""
        return self.name


class BgpPeer(BgpSettings):
    """`peer ADDRESS ..`, its own settings only; `group` lends the rest."""

    address: IPv4Address
    group: str | None = None

    @property
    def key(self) -> IPv4Address:
        """Peers are told apart by address."""
        return self.address


class Bgp(Frozen):
    """The BGP process of the switch."""

    asn: int
    router_id: IPv4Address | None = None
    groups: Keyed[BgpGroup] = ()
    peers: Keyed[BgpPeer] = ()
    networks: Keyed[IPv4Network] = ()
    maximum_paths: int = 1  # `maximum load-balancing`, default 1
    as_path_relax: bool = False

    def settings(self, peer: BgpPeer) -> BgpSettings:
        """Effective settings of a peer: its own, then its group's."""
        group = next((g for g in self.groups if g.name == peer.group), None)
        own = {name: getattr(peer, name) for name in BgpSettings.model_fields}
        if group is None:
            return BgpSettings(**own)
        lent = {name: getattr(group, name) for name in BgpSettings.model_fields}
        return BgpSettings(**{k: v if v not in (None, False) else lent[k] for k, v in own.items()})


class PrefixEntry(Frozen):
    """One `ip ip-prefix NAME index I ..` line."""

    index: int
    action: Literal["permit", "deny"] = "permit"
    prefix: IPv4Network
    greater_equal: int | None = None
    less_equal: int | None = None

    @property
    def key(self) -> int:
        """Entries are told apart by index."""
        return self.index

    @property
    def lengths(self) -> tuple[int, int]:
        """Shortest and longest prefix length that it matches; without bounds only its own."""
        own = self.prefix.prefixlen
        longest = own if self.greater_equal is None else 32
        return (
            own if self.greater_equal is None else self.greater_equal,
            longest if self.less_equal is None else self.less_equal,
        )

    def matches(self, route: IPv4Network) -> bool:
        """Whether the entry matches a route."""
        low, high = self.lengths
        return route.subnet_of(self.prefix) and low <= route.prefixlen <= high


class PrefixList(Frozen):
    """`ip ip-prefix NAME`; what no entry matches is denied."""

    name: str
    entries: Keyed[PrefixEntry] = ()

    @property
    def key(self) -> str:
        """Lists are told apart by name."""
        return self.name

    def permits(self, route: IPv4Network) -> bool:
        """First matching entry decides; nothing matches means deny."""
        hit = next((e for e in self.entries if e.matches(route)), None)
        return hit is not None and hit.action == "permit"


class PolicyNode(Frozen):
    """One node of a route-policy; without a match it takes every route."""

    node: int
    action: Literal["permit", "deny"] = "permit"
    match_prefix_list: str | None = None

    @property
    def key(self) -> int:
        """Nodes are told apart by number."""
        return self.node


class RoutePolicy(Frozen):
    """`route-policy NAME`; what no node matches is denied."""

    name: str
    nodes: Keyed[PolicyNode] = ()

    @property
    def key(self) -> str:
        """Policies are told apart by name."""
        return self.name
