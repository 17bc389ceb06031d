"""Settings that switches of a kind share, by path: of the switch, and of its ports of a kind."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Literal

from rocefort.models.base import Frozen, natural
from rocefort.models.device.interface import ETHERNET_MTU, Interface
from rocefort.models.device.routing import Bfd, Bgp, BgpPeer, BgpSettings
from rocefort.models.network.network import End, Network, Node
from rocefort.models.vote import Vote
from rocefort.models.wording import listing
from rocefort.validators.facts.overview import Overview, outside_peers, overlay_peers

# Fields of a Device that switches of a kind share; what each has of its own is in OWN.
SHARED = (
    "telnet_off",
    "lldp",
    "bfd",
    "domains",
    "pfc",
    "drop_profiles",
    "ecn_enabled",
    "ai_ecn",
    "bgp",
    "route_policies",
    "ntp_servers",
    "ntp_vrf",
    "ntp_source",
    "user_groups",
    "users",
    "ssh",
    "netconf",
    "acls",
    "vty",
    "syslog",
    "snmp",
    "telemetry",
)
OWN = ("name", "splits", "vlans", "vrfs", "interfaces", "static_routes", "prefix_lists", "filters")
OWN_OF_BGP = ("asn", "router_id", "peers", "networks")
SHARED_OF_PORT = (
    "mtu",
    "edge",
    "flow_control",
    "trust_dscp",
    "domain",
    "drr",
    "markings",
    "pfc",
    "thresholds",
    "other_thresholds",
)
SHARED_OF_PEER = (
    "group",
    "bfd_enabled",
    "bfd",
    "keepalive_s",
    "hold_s",
    "active",
    "import_policy",
    "export_policy",
)
PeerKind = Literal["peer", "external peer"]
PortKind = Literal["fabric port", "server port", "server port without RoCE", "gateway"]
OF_ROCE = ("flow_control", "trust_dscp", "drr", "markings", "pfc", "thresholds", "other_thresholds")
# What the far end of an exit does not decide; the names of its policies are its own.
POLICIES = ("import_policy", "export_policy")
Settings = dict[str, Hashable]  # value by path; a row that is there is True
# Fields of a switch whose lines only some releases have. Two switches that differ in several of
# them have other releases, and are not compared in these fields.
OF_RELEASES = re.compile(
    r"telnet_off|ecn_enabled|pfc\.(?:detect_ms|recovery_ms|interval_ms|recovery_behavior"
    r"|dscp_mapping|headroom_pool_kbytes)|pfc\.profiles\[[^]]*\]\.timers|bgp\.private_4_byte_as"
)
UNSET = (None, False)
LEAST_ALIKE = 2  # settings in which switches of one kind differ alike from the others


@dataclass(frozen=True)
class Outside:
    """Ends that lead out of the texts: BGP peers, and routed ports by switch."""

    peers: frozenset[tuple[str, IPv4Address]]
    ports: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, overview: Overview) -> Outside:
        """Find the peers without a text, and the ports without a cable and a peer inside.

        A peer of a group that peers inside have, too, is a switch whose text is missing.
        """
        peers = {(node.name, peer.address): peer for node, _, peer in outside_peers(overview)}
        inside = {
            (node.name, peer.address): peer.group
            for node in overview.network.nodes
            for peer in (node.device.bgp.peers if node.device.bgp else ())
            if (node.name, peer.address) not in peers
        }
        groups = {*inside.values(), None} - {None} if inside else {p.group for p in peers.values()}
        external = {key for key, peer in peers.items() if peer.group not in groups}
        near = inside.keys() | (peers.keys() - external)
        ports = {
            (node.name, port.name)
            for node in overview.network.nodes
            for port in node.device.interfaces
            if port.kind == "ethernet"
            and port.routed
            and (node.name, port.name) not in overview.cabled
            and not any(
                name == node.name and any(peer in own.network for own in port.addresses)
                for name, peer in near
            )
        }
        return cls(frozenset(external), frozenset(ports))


def settings_of(node: Node, outside: Outside) -> Settings:
    """Return the shared settings of a switch; policies of peers outside are its own."""
    settings: Settings = {}
    device = node.device
    if own := _policies_outside(node, outside):
        shared = tuple(policy for policy in device.route_policies if policy.name not in own)
        device = device.model_copy(update={"route_policies": shared})
    for name in SHARED:
        settings.update(_flat(name, getattr(device, name)))
    return settings


def _policies_outside(node: Node, outside: Outside) -> set[str | None]:
    """Names of the policies that only peers outside have."""
    bgp = node.device.bgp
    ends: dict[bool, set[str | None]] = {True: set(), False: set()}
    for row in (*bgp.groups, *bgp.peers) if bgp else ():
        out = isinstance(row, BgpPeer) and (node.name, row.address) in outside.peers
        ends[out] |= {row.import_policy, row.export_policy}
    return ends[True] - ends[False]


def _flat(path: str, value: object) -> Iterator[tuple[str, Hashable]]:
    if isinstance(value, tuple):
        for row in value:
            at = f"{path}[{getattr(row, 'key', row)}]"
            yield at, True
            if isinstance(row, Frozen):
                yield from _fields(at, row)
    elif isinstance(value, Frozen):
        yield from _fields(path, value)
    elif isinstance(value, Hashable):
        yield path, value


def _fields(path: str, row: Frozen) -> Iterator[tuple[str, Hashable]]:
    for name in type(row).model_fields:
        value = getattr(row, name)
        if value is not getattr(row, "key", None) and not (path == "bgp" and name in OWN_OF_BGP):
            yield from _flat(f"{path}.{name}", value)


def release_fields(settings: Settings) -> frozenset[str]:
    """Return the fields of a switch that are set, and that only some releases have."""
    matches = (OF_RELEASES.match(path) for path, value in settings.items() if value not in UNSET)
    return frozenset(match[0] for match in matches if match)


@dataclass(frozen=True)
class HostNumber:
    """Number of an address in its subnet; the bits of its mask explain another number."""

    number: int
    mask_bits: int = field(compare=False)

    def __str__(self) -> str:
        return str(self.number)


def port_settings(port: Interface) -> Settings:
    """Return the shared settings of a port; of a gateway also its number in its subnet.

    The MTU of a routed port is the one in effect, with or without a line.
    """
    settings: Settings = {}
    if port.kind == "vlanif" and port.addresses:
        first = port.addresses[0]
        settings["addresses.host"] = HostNumber(
            int(first.ip) - int(first.network.network_address), first.network.prefixlen
        )
    for name in SHARED_OF_PORT:
        settings.update(_flat(name, getattr(port, name)))
    return settings | ({"mtu": port.mtu or ETHERNET_MTU} if port.routed else {})


def port_kind(port: Interface) -> PortKind | None:
    """Kind of a port in use; None: another one, or shut down."""
    if not port.enabled:
        return None
    if port.kind == "vlanif":
        return "gateway" if port.addresses else None
    if port.kind != "ethernet" or port.eth_trunk is not None:
        return None
    if port.routed:
        return "fabric port" if port.addresses else None
    if not (port.access_vlan or port.trunk_vlans):
        return None
    roce = any(getattr(port, name) for name in OF_ROCE)
    return "server port" if roce else "server port without RoCE"


def filter_settings(node: Node, gateway: Interface) -> Settings:
    """Return the rules of the ACLs by which a gateway filters, and which policy it applies."""
    filters = node.device.filters
    names = {gateway.filter_in, gateway.filter_out}
    bound = {
        row.classifier
        for policy in filters.policies
        if policy.name in names
        for row in policy.bindings
    }
    acls = {acl for row in filters.classifiers if row.name in bound for acl in row.acls}
    settings: Settings = {
        f"interfaces[{gateway.name}].{way}": getattr(gateway, way)
        for way in ("filter_in", "filter_out")
    }
    used = tuple(acl for acl in filters.acls if acl.name in acls)
    return settings | dict(_flat("filters.acls", used))


@dataclass(frozen=True)
class PortOfKind:
    """Port with its kind, its speed as text, and its shared settings."""

    end: End
    kind: PortKind
    speed: str
    settings: Mapping[str, Hashable]


def ports_of(node: Node, outside: Outside) -> list[PortOfKind]:
    """Return ports of a switch whose settings others share; the far end decides those of exits."""
    return [
        PortOfKind(
            End(device=node.name, interface=port.name),
            kind,
            port.name.partition("GE")[0] if port.kind == "ethernet" else "",
            port_settings(port),
        )
        for port in node.device.interfaces
        if (node.name, port.name) not in outside.ports and (kind := port_kind(port))
    ]


def peer_settings(node: Node, outside: Outside) -> dict[tuple[PeerKind, str], Settings]:
    """Return the own settings of each BGP peer; those of groups are the switch's.

    Peers of an overlay are left out: most peers are those of links, and differ from them. Of a
    peer outside, only whether it has policies is compared. A peer without the group that its switch
    usually has is compared with a member of it.
    """
    bgp = node.device.bgp
    if bgp is None:
        return {}
    overlay = overlay_peers(node)
    groups = Counter(peer.group for peer in bgp.peers if bgp.group_of(peer))
    usual = groups.most_common(1)[0][0] if groups else None
    rows: dict[tuple[PeerKind, str], Settings] = {}
    for peer in bgp.peers:
        if (node.name, peer.address) in outside.peers:
            settings = bgp.settings(peer)
            policies: Settings = {n: getattr(settings, n) is not None for n in POLICIES}
            rows["external peer", str(peer.address)] = policies
        elif peer.address not in overlay:
            own: Settings = {name: getattr(peer, name) for name in SHARED_OF_PEER}
            plain = peer.group is None and usual is not None
            rows["peer", str(peer.address)] = _as_member(bgp, peer, usual) if plain else own
    return rows


def _as_member(bgp: Bgp, peer: BgpPeer, group: str | None) -> Settings:
    """Return the settings of a peer without a group: those of a member, or what differs from it."""
    member = BgpPeer(address=peer.address, group=group)
    here, there = (_effective(bgp.settings(each)) for each in (peer, member))
    different = [
        f"{name} is {value_text(here[name])} for {value_text(there[name])}"
        for name in here
        if here[name] != there[name]
    ]
    own: Settings = {name: getattr(member, name) for name in SHARED_OF_PEER}
    own["active"] = peer.active
    return own | ({"group": f"not set ({listing(different)})"} if different else {})


def _effective(settings: BgpSettings) -> Settings:
    keepalive_s, hold_s = settings.timers_s
    return {
        "keepalive_s": keepalive_s,
        "hold_s": hold_s,
        "bfd": (settings.bfd or Bfd()) if settings.bfd_enabled else None,
        **{name: getattr(settings, name) for name in POLICIES},
    }


def value_text(value: Hashable) -> str:
    """Return a setting in words."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return "/".join(map(str, value))
    return str(value)


def kinds_of(network: Network, settings: Mapping[str, Settings]) -> dict[str, str]:
    """Return the kind of each switch: its role, and the first of those that differ alike.

    Switches of one role that differ from most others in several settings, and in the same way,
    are of another model or release. One odd switch is no kind.
    """
    by_role: defaultdict[str, list[str]] = defaultdict(list)
    for node in sorted(network.nodes, key=lambda node: natural(node.name)):
        by_role[node.role or "switch"].append(node.name)
    kinds: dict[str, str] = {}
    for role, names in by_role.items():
        odd = _odd_settings({name: settings[name] for name in names})
        firsts = {name: _first_alike(name, odd) for name in names}
        rest = next((name for name in names if firsts[name] is None), None)
        for name in names:
            first = firsts[name] or rest
            kinds[name] = f"{role} as {first}" if any(firsts.values()) else role
    return kinds


def _first_alike(name: str, odd: Mapping[str, set[tuple[str, Hashable]]]) -> str | None:
    """Return the first switch that differs in the same way; None: no other one does."""
    alike = [other for other in odd if len(odd[name] & odd[other]) >= LEAST_ALIKE]
    return alike[0] if alike[1:] else None


def _odd_settings(settings: Mapping[str, Settings]) -> dict[str, set[tuple[str, Hashable]]]:
    """Return the settings of each switch that differ from those of most."""
    odd: dict[str, set[tuple[str, Hashable]]] = {name: set() for name in settings}
    for path in paths_of(settings.values()):
        vote = Vote({name: own.get(path) for name, own in settings.items()})
        for name, value in vote.others.items():
            odd[name].add((path, value))
    return odd


def paths_of(settings: Iterable[Mapping[str, Hashable]]) -> list[str]:
    """Return all paths, in the order of the first settings that have them."""
    return list(dict.fromkeys(path for own in settings for path in own))
