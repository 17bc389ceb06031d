"""Lines of a text that no Device represents and whose effect on routing is certain.

A Device with them is one whose sessions are disabled or that announces more, so that every engine
takes them into account. All other lines stay in the node: an engine refuses them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import RoutingEffect, RoutingLine
from rocefort.models.device.device import Device
from rocefort.models.device.routing import STATIC_PREFERENCE, Bgp, BgpPeer
from rocefort.models.network.network import Network, Node, Sources, TextLine


@dataclass(frozen=True)
class RunningNetwork:
    """Network whose Devices have the effect of these lines.

    closed: by device and peer, the line that closes a session. inert: numbers of lines without any
    effect, by device. effective: of the other ones.
    """

    network: Network
    closed: Mapping[tuple[str, IPv4Address], TextLine] = field(default_factory=dict)
    inert: Mapping[str, Set[int]] = field(default_factory=dict)
    effective: Mapping[str, Set[int]] = field(default_factory=dict)


def as_it_runs(network: Network, sources: Sources) -> RunningNetwork:
    """Network with the effect of lines that no Device represents, as far as it is certain."""
    if not any(node.unmodelled for node in network.nodes):
        return RunningNetwork(network)
    announcing = _announcing(network)
    closed: dict[tuple[str, IPv4Address], TextLine] = {}
    inert: dict[str, Set[int]] = {}
    effective: dict[str, Set[int]] = {}
    nodes = []
    for node in network.nodes:
        device, done, idle = node.device, set[int](), set[int]()
        for line, meaning in routing_lines(node):
            after = _with_line(device, line, meaning, announcing, sources)
            if after is None:
                continue
            (idle if after is device else done).add(line.line)
            for peer in _now_closed(device, after):
                closed[node.name, peer] = line
            device = after
        if done or idle:
            effective[node.name], inert[node.name] = done, idle
            kept = tuple(x for x in node.unmodelled if x.line not in done | idle)
            nodes.append(node.model_copy(update={"device": device, "unmodelled": kept}))
        else:
            nodes.append(node)
    running = network.model_copy(update={"nodes": tuple(nodes)}) if effective else network
    return RunningNetwork(running, closed, inert, effective)


def routing_lines(node: Node) -> Iterator[tuple[TextLine, RoutingLine]]:
    """Lines of a node that may change routing and belong to no design that is not modelled."""
    dialect = dialect_of(node) if node.unmodelled else None
    for line in node.unmodelled if dialect else ():
        if dialect and dialect.forwarding_effect(line) and dialect.foreign_design(line) is None:
            meaning = dialect.routing_line(line)
            if meaning is not None:
                yield line, meaning


def _announcing(network: Network) -> Mapping[IPv4Network, Set[str]]:
    """Devices that announce a prefix by a line of its own."""
    devices: defaultdict[IPv4Network, set[str]] = defaultdict(set)
    for node in network.nodes:
        for prefix in node.device.bgp.networks if node.device.bgp else ():
            devices[prefix].add(node.name)
    return devices


def _with_line(
    device: Device,
    line: TextLine,
    meaning: RoutingLine,
    announcing: Mapping[IPv4Network, Set[str]],
    sources: Sources,
) -> Device | None:
    """Device with the effect of a line, the same one without an effect; None: it is uncertain."""
    after: Device | None = None
    match meaning.effect if device.bgp else None:
        case RoutingEffect.CLOSES:
            after = closing(device, meaning.name)
        case RoutingEffect.DISABLES:
            late = _enabling_line(device, meaning.name, sources) < line.line
            after = _disabling(device, meaning.name) if late else device
        case RoutingEffect.MAY_PREFER_BGP:
            after = None if outranked(device, meaning.preference) else device
        case RoutingEffect.IMPORTS:
            prefixes = imported(device, meaning)
            # Of two origins, BGP prefers that of a `network` line: who wins is not modelled.
            if not any(announcing.get(prefix, set()) - {device.name} for prefix in prefixes):
                after = announced_too(device, prefixes)
    return after


def _enabling_line(device: Device, name: str, sources: Sources) -> int:
    """Number of the line that enables a peer or group by this name; 0: none does."""
    bgp = device.bgp
    rows = {str(p.address): f"bgp.peers[{name}]" for p in bgp.peers if p.active} if bgp else {}
    rows |= {g.name: f"bgp.groups[{name}]" for g in bgp.groups if g.active} if bgp else {}
    position = sources.find(device.name, f"{rows[name]}.active") if name in rows else None
    return position.line if position else 0


def peers_of(device: Device, name: str) -> list[BgpPeer]:
    """Peers of a device by address or by group; without a name, all."""
    peers = device.bgp.peers if device.bgp else ()
    return [peer for peer in peers if not name or name in (str(peer.address), peer.group)]


def _now_closed(before: Device, after: Device) -> Iterator[IPv4Address]:
    """Peers that only the first of two versions of a device enables."""
    for peer in before.bgp.peers if before.bgp and after is not before else ():
        now = after.bgp.settings_at(peer.address) if after.bgp else None
        if before.bgp and before.bgp.settings(peer).active and now and not now.active:
            yield peer.address


def _disabling(device: Device, name: str) -> Device:
    """Device without IPv4 routes of a peer, or of the peers that a group alone enables."""
    bgp = device.bgp
    rows = [p for p in peers_of(device, name) if str(p.address) == name or not p.active]
    peers = {p.address: own_settings(bgp, p, active=False) for p in rows if bgp}
    return with_peers(device, peers) if any(bgp.settings(p).active for p in rows if bgp) else device


def closing(device: Device, name: str) -> Device:
    """Device with a peer, the peers of a group, or without a name all, disabled; or the same."""
    bgp = device.bgp
    rows = [p for p in peers_of(device, name) if bgp and bgp.settings(p).active]
    return with_peers(device, {p.address: own_settings(bgp, p, active=False) for p in rows if bgp})


def own_settings(bgp: Bgp, peer: BgpPeer, **changes: object) -> BgpPeer:
    """Peer with the settings of its group as its own, and changes."""
    return BgpPeer(**{**dict(bgp.settings(peer)), "address": peer.address, **changes})


def with_peers(device: Device, peers: Mapping[IPv4Address, BgpPeer]) -> Device:
    """Device with some peers replaced; the same one without any."""
    if device.bgp is None or not peers:
        return device
    rows = tuple(peers.get(peer.address, peer) for peer in device.bgp.peers)
    return device.model_copy(update={"bgp": device.bgp.model_copy(update={"peers": rows})})


def imported(device: Device, meaning: RoutingLine) -> list[IPv4Network]:
    """Prefixes that a device announces by `IMPORTS`, if they are in use."""
    if meaning.static:
        return [route.prefix for route in device.static_routes if route.vrf is None]
    ports = (i for i in device.interfaces if i.layer3 and not i.vrf)
    return [address.network for port in ports for address in port.addresses]


def announced_too(device: Device, prefixes: list[IPv4Network]) -> Device:
    """Device that announces more prefixes; the same one if it announces them."""
    bgp = device.bgp
    more = tuple(p for p in dict.fromkeys(prefixes) if bgp and p not in bgp.networks)
    if bgp is None or not more:
        return device
    whole = bgp.model_copy(update={"networks": (*bgp.networks, *more)})
    return device.model_copy(update={"bgp": whole})


def outranked(device: Device, preference: int) -> list[IPv4Network]:
    """Prefixes of static routes that BGP may replace with a preference; 0: of any value."""
    return [
        route.prefix
        for route in device.static_routes
        if route.vrf is None and (route.preference or STATIC_PREFERENCE) >= preference
    ]
