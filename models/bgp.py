"""BGP, prefix lists and route-policies of a switch, as its text says them."""

from __future__ import annotations

from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import Any, Literal

from pydantic import Field

from rocefort.models.base import Frozen
from rocefort.models.keyed import Keyed
from rocefort.models.secret import Stated

HOLD_S = 180  # default of `timer keepalive K hold H`, V300R023C00


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
    password: Stated | None = None  # MD5: what the text says of it, never the password
    keychain: str | None = None  # by name; excludes a password
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
    private_4_byte_as: bool = True  # whether 4200000000 to 4294967294 count as private

    def settings(self, peer: BgpPeer) -> BgpSettings:
        """Effective settings of a peer: its own, then its group's."""
        known = self._settings.get(peer.address)
        return known[1] if known and known[0] is peer else self._settled(peer)

    def settings_at(self, address: IPv4Address) -> BgpSettings | None:
        """Effective settings of the peer of an address; None: there is none."""
        known = self._settings.get(address)
        return known[1] if known else None

    def _settled(self, peer: BgpPeer) -> BgpSettings:
        own, lent = _said(peer), self._lent.get(peer.group, {})
        if peer.password or peer.keychain:  # one excludes the other, and the peer's own goes first
            lent = lent | {"password": None, "keychain": None}
        return BgpSettings(**lent | own)

    @cached_property
    def by_address(self) -> dict[IPv4Address, BgpPeer]:
        """Peers by address; a spine has one for every leaf."""
        return {peer.address: peer for peer in self.peers}

    @cached_property
    def _settings(self) -> dict[IPv4Address, tuple[BgpPeer, BgpSettings]]:
        """Of every peer: rules and engines ask for each a dozen times."""
        return {peer.address: (peer, self._settled(peer)) for peer in self.peers}

    @cached_property
    def _lent(self) -> dict[str | None, dict[str, Any]]:
        return {group.name: _said(group) for group in self.groups}


def _said(settings: BgpSettings) -> dict[str, Any]:
    """What is set of it."""
    fields = BgpSettings.model_fields
    return {k: v for k, v in vars(settings).items() if k in fields and v not in (None, False)}


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
