"""Routing of a switch: BGP, prefix lists, route-policies, VRFs and static routes."""

from __future__ import annotations

from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any, Literal

from pydantic import Field

from rocefort.models.base import Frozen, Keyed
from rocefort.models.device.secret import Stated
from rocefort.models.effect import (
    BGP,
    HARMLESS,
    KEY,
    PATHS,
    PEER,
    PREFIX,
    RESETS,
    SAME,
    STATED,
    EditCondition,
    FaultDelay,
    KeyedRow,
    OfKey,
)

KEEPALIVE_S, HOLD_S = 60, 180  # defaults of `timer keepalive K hold H`, V300R023C00
OTHER_BFD = HARMLESS.affecting(
    "BFD of {} is negotiated again: failures may be seen late or falsely"
)
OTHER_PROOF = HARMLESS.affecting(  # V300R023C00, `peer password`
    "BGP sessions of {} end with the hold time if the other end has no such password by then",
    down=EditCondition.ALWAYS,
)
OTHER_POLICY = HARMLESS.affecting(
    "routes with {} are filtered differently", timer=FaultDelay.ADVERTISE
)
OTHER_PATHS = PATHS.affecting("traffic spreads over other paths (ECMP width)", EditCondition.GONE)


class Bfd(Frozen):
    """BFD of a peer or group, milliseconds; VRP's defaults are 1000/1000/3."""

    min_tx_ms: Annotated[int, STATED] = Field(
        default=1000, description="Shortest interval to send at, ms."
    )
    min_rx_ms: Annotated[int, STATED] = Field(
        default=1000, description="Shortest interval to receive at, ms."
    )
    multiplier: Annotated[int, STATED] = Field(
        default=3, description="Packets missed before the peer is down."
    )


class BgpSettings(Frozen):
    """Settings that a peer and a group can both have."""

    asn: Annotated[int | None, RESETS] = None
    description: Annotated[str | None, HARMLESS] = None
    # Source of the session, `connect-interface`; without it, the link to the peer.
    source_interface: Annotated[str | None, RESETS] = None
    source_address: Annotated[IPv4Address | None, RESETS] = None  # of that interface
    bfd_enabled: Annotated[bool, OTHER_BFD] = False
    bfd: Annotated[Bfd | None, OTHER_BFD] = None  # explicit timers
    keepalive_s: Annotated[int | None, RESETS] = None
    hold_s: Annotated[int | None, RESETS] = None
    # MD5: its state in the text, never the password.
    password: Annotated[Stated | None, OTHER_PROOF] = None
    keychain: Annotated[str | None, OTHER_PROOF] = None  # by name; excludes a password
    active: Annotated[bool, RESETS] = False  # `peer X enable` in the IPv4 family
    import_policy: Annotated[str | None, OTHER_POLICY] = None
    export_policy: Annotated[str | None, OTHER_POLICY] = None

    @property
    def timers_s(self) -> tuple[int, int]:
        """Keepalive and hold time in seconds, with the defaults of a switch."""
        keepalive, hold = self.keepalive_s, self.hold_s
        return KEEPALIVE_S if keepalive is None else keepalive, HOLD_S if hold is None else hold


class BgpGroup(BgpSettings, KeyedRow):
    """Group of peers, external or internal, whose settings its peers share."""

    name: Annotated[str, KEY]
    external: Annotated[bool, RESETS.but(stated=True)] = True


class BgpPeer(BgpSettings, KeyedRow):
    """One peer with only its own settings; it inherits the rest from `group`."""

    address: Annotated[IPv4Address, KEY]
    group: Annotated[str | None, RESETS] = None


class Bgp(Frozen):
    """BGP process of a switch."""

    asn: Annotated[
        int, BGP.affecting("the AS number changes", EditCondition.GONE, down=EditCondition.GONE)
    ]
    router_id: Annotated[
        IPv4Address | None,
        BGP.affecting("the router ID changes: every BGP session resets", down=EditCondition.GONE),
    ] = None
    groups: Annotated[
        Keyed[BgpGroup],
        BGP.affecting(
            "BGP group {} is removed: its sessions go down",
            EditCondition.GONE,
            down=EditCondition.GONE,
            resets="the sessions of BGP group {} reset",
        ),
    ] = ()
    peers: Annotated[
        Keyed[BgpPeer],
        PEER.affecting(
            "BGP peer {} is removed: its session goes down",
            EditCondition.GONE,
            down=EditCondition.GONE,
            resets="the session with BGP peer {} resets",
            grows="BGP peer",
        ),
    ] = ()
    networks: Annotated[
        Keyed[IPv4Network],
        PREFIX.affecting("{} is no longer announced", EditCondition.GONE, grows="announced prefix"),
    ] = ()
    maximum_paths: Annotated[int, OTHER_PATHS] = 1  # `maximum load-balancing`, default 1
    as_path_relax: Annotated[bool, OTHER_PATHS] = False
    # Whether 4200000000 to 4294967294 count as private.
    private_4_byte_as: Annotated[bool, BGP] = True

    def settings(self, peer: BgpPeer) -> BgpSettings:
        """Effective settings of a peer: its own, then its group's."""
        cached = self._settings.get(peer.address)
        return cached[1] if cached and cached[0] is peer else self._settled(peer)

    def settings_at(self, address: IPv4Address) -> BgpSettings | None:
        """Effective settings of the peer with an address; None: there is none."""
        cached = self._settings.get(address)
        return cached[1] if cached else None

    def _settled(self, peer: BgpPeer) -> BgpSettings:
        own, lent = _set_values(peer), self._lent.get(peer.group, {})
        if peer.password or peer.keychain:  # one excludes the other; the peer's own has priority
            lent = lent | {"password": None, "keychain": None}
        return BgpSettings(**lent | own)

    def group_of(self, peer: BgpPeer) -> BgpGroup | None:
        """Group of a peer; None: it has none, or one that does not exist."""
        return next((group for group in self.groups if group.name == peer.group), None)

    @cached_property
    def by_address(self) -> dict[IPv4Address, BgpPeer]:
        """Peers by address; a spine has one for every leaf."""
        return {peer.address: peer for peer in self.peers}

    @cached_property
    def _settings(self) -> dict[IPv4Address, tuple[BgpPeer, BgpSettings]]:
        """Settings of every peer, cached: rules and engines read each a dozen times."""
        return {peer.address: (peer, self._settled(peer)) for peer in self.peers}

    @cached_property
    def _lent(self) -> dict[str | None, dict[str, Any]]:
        return {group.name: _set_values(group) for group in self.groups}


def _set_values(settings: BgpSettings) -> dict[str, Any]:
    """Return the settings that are not at their default."""
    fields = BgpSettings.model_fields
    values = vars(settings).items()
    return {k: v for k, v in values if k in fields and v is not None and v is not False}


class PrefixEntry(KeyedRow):
    """One entry of a prefix list, by its index."""

    index: Annotated[int, KEY]
    action: Annotated[
        Literal["permit", "deny"], SAME.but(when=EditCondition.ALWAYS, stated=True)
    ] = "permit"
    prefix: Annotated[IPv4Network, SAME.but(when=EditCondition.ALWAYS)]
    greater_equal: Annotated[int | None, SAME.but(when=EditCondition.ALWAYS, stated=True)] = None
    less_equal: Annotated[int | None, SAME.but(when=EditCondition.ALWAYS, stated=True)] = None

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


class PrefixList(KeyedRow):
    """Prefix list; it denies routes that no entry matches."""

    name: Annotated[str, KEY]
    entries: Annotated[Keyed[PrefixEntry], SAME.but(grows="member of a prefix list")] = ()

    def permits(self, route: IPv4Network) -> bool:
        """Whether the list permits a route: the first matching entry decides, else deny."""
        hit = next((e for e in self.entries if e.matches(route)), None)
        return hit is not None and hit.action == "permit"


class PolicyNode(KeyedRow):
    """One node of a route-policy; without a match it applies to every route."""

    node: Annotated[int, KEY]
    action: Annotated[
        Literal["permit", "deny"], SAME.but(when=EditCondition.ALWAYS, stated=True)
    ] = "permit"
    match_prefix_list: Annotated[str | None, SAME.but(when=EditCondition.ALWAYS)] = None


class RoutePolicy(KeyedRow):
    """Route-policy; it denies routes that no node matches."""

    name: Annotated[str, KEY]
    nodes: Annotated[Keyed[PolicyNode], SAME] = ()


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
