"""Device: what one switch's configuration text says, vendor-neutral, and nothing more.

Collections are kept sorted by key, so two Devices are equal exactly when they mean the same.
What text cannot say (cable lengths, roles, servers) lives in Network.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Literal

from pydantic import Field, model_validator

from rocefort.models.base import Frozen
from rocefort.models.keyed import Keyed
from rocefort.models.management import Acl, Netconf, Snmp, Syslog
from rocefort.models.qos import Colour, Phb

ETHERNET_MTU = 1500  # default of a routed port, V300R023C00 `mtu`
JUMBO_FRAME_BYTES = 9216  # default of a switched port, V300R023C00 `jumboframe enable`
FRAME_OVERHEAD_BYTES = 22  # Ethernet header 14, 802.1Q tag 4, FCS 4
LOGICAL = ("Vlanif", "LoopBack", "MEth")  # layer 3 without `undo portswitch`
DEFAULT_DOMAIN = "default"  # diffserv domain of a port that names none
NO_DOMAIN = "none"  # `trust upstream none`: the port maps no priority at all


class DrrQueue(Frozen):
    """A queue that a port serves by weight; one without a row has strict priority, the default.

    Weight 1 to 100, 1 by default (V300R023C00, `qos queue drr`).
    """

    queue: int
    weight: int = 1

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


class PfcThreshold(Frozen):
    """Static ingress thresholds of one queue of a port, in kbytes."""

    queue: int
    xoff_kbytes: int
    xon_kbytes: int
    headroom_kbytes: int | None = None  # G2 only

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


class InterfacePfc(Frozen):
    """`dcb pfc enable [profile] [mode ..]` on a port."""

    profile: str = "default"
    mode: Literal["manual", "auto"] = "manual"  # omitted = manual, V300R023C00


class PfcTimer(Frozen):
    """Deadlock timers of one queue as multiples of an interval (V200, V300 G2)."""

    queue: int
    detect_time: int | None = None
    recovery_time: int | None = None

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


class PfcProfile(Frozen):
    """`dcb pfc [name]`: the set of paused queues, after the built-in queue 3 is counted."""

    name: str = "default"
    queues: Keyed[int] = (3,)
    timers: Keyed[PfcTimer] = ()

    @property
    def key(self) -> str:
        """Profiles are told apart by name."""
        return self.name


class Pfc(Frozen):
    """PFC settings of the whole switch. Timers in milliseconds, sizes in kbytes."""

    profiles: Keyed[PfcProfile] = ()
    detect_ms: int | None = None  # G1
    recovery_ms: int | None = None  # G1
    interval_ms: int | None = None  # G2: unit of the profiles' multiples
    dscp_mapping: bool = False  # G2: without it PFC keys on 802.1p
    headroom_pool_kbytes: int | None = None


class AiEcnQueue(Frozen):
    """`assign queue Q [model M]`; no model means distributed storage (V300R023C00)."""

    queue: int
    model: str | None = None

    @property
    def key(self) -> int:
        """One row a queue."""
        return self.queue


class AiEcn(Frozen):
    """The `ai-service` / `ai-ecn` block."""

    enabled: bool = False
    queues: Keyed[AiEcnQueue] = ()


class DscpMap(Frozen):
    """`ip-dscp-inbound D phb P colour` or `8021p-inbound P phb ..`."""

    value: int
    phb: Phb
    colour: Colour = "green"

    @property
    def key(self) -> int:
        """One row a DSCP or 802.1p value."""
        return self.value


class DiffservDomain(Frozen):
    """Inbound priority map; what it does not name keeps the default domain's value."""

    name: str
    dscp: Keyed[DscpMap] = ()
    dot1p: Keyed[DscpMap] = ()

    @property
    def key(self) -> str:
        """Domains are told apart by name."""
        return self.name


Kind = Literal["ethernet", "vlanif", "loopback", "management", "other"]
KINDS: dict[str, Kind] = {"Vlanif": "vlanif", "LoopBack": "loopback", "MEth": "management"}


@cache  # the rules ask for each interface again and again, and names repeat from switch to switch
def kind_of(name: str) -> Kind:
    """What the name of an interface says that it is."""
    named = (kind for prefix, kind in KINDS.items() if name.startswith(prefix))
    return next(named, "ethernet" if re.match(r"\d+GE\d", name) else "other")


class Interface(Frozen):
    """One interface, physical or logical; its kind is its name's first word."""

    name: str
    description: str | None = None
    enabled: bool = True
    routed: bool = False  # `undo portswitch`; always true for logical layer-3 interfaces
    addresses: tuple[IPv4Interface, ...] = ()  # primary first
    mtu: int | None = None
    link_type: Literal["access", "trunk"] = "access"  # the default, which a switch does not save
    access_vlan: int | None = None
    trunk_vlans: Keyed[int] = ()
    edge: bool = False  # `stp edged-port enable`
    flow_control: bool = False  # 802.3x: must be off where PFC is; off is the default
    trust_dscp: bool = False
    domain: str | None = None  # `trust upstream`
    drr: Keyed[DrrQueue] = ()
    pfc: InterfacePfc | None = None
    thresholds: Keyed[PfcThreshold] = ()

    @model_validator(mode="before")
    @classmethod
    def _logical_is_routed(cls, data: object) -> object:
        """Give logical layer-3 interfaces their one value of `routed`: no line says it."""
        if isinstance(data, dict) and str(data.get("name", "")).startswith(LOGICAL):
            return {**data, "routed": True}
        return data

    @property
    def key(self) -> str:
        """Interfaces are told apart by name."""
        return self.name

    @property
    def logical(self) -> bool:
        """Whether the interface is layer 3 by its kind, without `undo portswitch`."""
        return self.name.startswith(LOGICAL)

    @property
    def kind(self) -> Kind:
        """What the name says the interface is."""
        return kind_of(self.name)

    @property
    def layer3(self) -> bool:
        """Whether the interface can carry an address."""
        return self.routed or self.kind in ("vlanif", "loopback", "management")

    def carries(self, vlan: int) -> bool:
        """Whether frames of the VLAN enter and leave here; VLAN 1 is there by default."""
        if self.layer3 or self.kind != "ethernet":
            return False
        if self.link_type == "trunk":
            return vlan in self.trunk_vlans or vlan == 1
        return (self.access_vlan or 1) == vlan


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


class LocalUser(Frozen):
    """`local-user`; its password is a secret of the switch and no part of the Device."""

    name: str
    service_types: Keyed[str] = ()
    level: int | None = None

    @property
    def key(self) -> str:
        """Users are told apart by name."""
        return self.name


class SshUser(Frozen):
    """`ssh user NAME ..`."""

    name: str
    authentication: str | None = None
    service_types: Keyed[str] = ()

    @property
    def key(self) -> str:
        """Users are told apart by name."""
        return self.name


class Ssh(Frozen):
    """The SSH server; without a source interface no interface accepts a session (V300)."""

    stelnet: bool = False
    source_interface: str | None = None
    users: Keyed[SshUser] = ()


class Vty(Frozen):
    """`user-interface vty FIRST LAST`."""

    first: int
    last: int
    authentication: str | None = None
    acl: int | None = None  # who may open a session: `acl N inbound`
    protocol: str | None = None
    idle_timeout_s: int | None = None  # 0: never

    @property
    def key(self) -> int:
        """Lines are told apart by their first number."""
        return self.first


class Device(Frozen):
    """What one switch's text says."""

    name: str  # sysname
    vlans: Keyed[int] = ()
    lldp: bool = False
    bfd: bool = False
    domains: Keyed[DiffservDomain] = ()
    pfc: Pfc = Pfc()
    ai_ecn: AiEcn = AiEcn()
    interfaces: Keyed[Interface] = ()
    bgp: Bgp | None = None
    prefix_lists: Keyed[PrefixList] = ()
    route_policies: Keyed[RoutePolicy] = ()
    ntp_servers: Keyed[IPv4Address] = ()
    users: Keyed[LocalUser] = ()
    ssh: Ssh = Ssh()
    netconf: Netconf = Netconf()
    acls: Keyed[Acl] = ()
    vty: Keyed[Vty] = ()
    syslog: Syslog = Syslog()
    snmp: Snmp = Snmp()

    @cached_property
    def by_interface(self) -> dict[str, Interface]:
        """Interfaces by name."""
        return {interface.name: interface for interface in self.interfaces}

    def profile_of(self, interface: Interface) -> PfcProfile | None:
        """PFC profile that a port applies; the built-in one exists without a line."""
        if interface.pfc is None:
            return None
        known = {profile.name: profile for profile in self.pfc.profiles}
        return known.get(interface.pfc.profile) or (
            PfcProfile() if interface.pfc.profile == "default" else None
        )
