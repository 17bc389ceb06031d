"""Blast radius of a change: all that it affects, the redundancy left, the path of management."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address

from rocefort.change.results import (
    BlastRadius,
    FabricDifference,
    LostServer,
    ManagementChange,
    ManagementPath,
    Redundancy,
    SwitchAddress,
)
from rocefort.dialects.choose import dialect_of
from rocefort.models.base import natural
from rocefort.models.change.compare import classify, counts, effect_of
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import Change
from rocefort.models.device.device import Device
from rocefort.models.device.interface import gateway_vlan
from rocefort.models.effect import AccessTopic, FaultDelay, TouchedObject
from rocefort.models.fabric.topology import ServerIntent
from rocefort.models.hardware.media import whole_port
from rocefort.models.network.network import End, Link, Network, Node, Segment, Server, SwitchRole

EVERY_SESSION = "*"


@dataclass
class AffectedPart:
    """Affected objects of one switch. `whole`: reason why the whole switch is affected."""

    ports: set[str] = field(default_factory=set)
    peers: set[str] = field(default_factory=set)  # addresses; EVERY_SESSION
    vlans: set[int] = field(default_factory=set)
    prefixes: set[str] = field(default_factory=set)
    whole: str = ""

    @property
    def is_any(self) -> bool:
        """Whether any object is affected."""
        return bool(self.ports or self.peers or self.vlans or self.prefixes or self.whole)


@dataclass(frozen=True)
class AffectedObjects:
    """Objects that a change of one switch affects, and those that it takes down for a while."""

    felt: AffectedPart
    down: AffectedPart


def affected_objects_of(
    device: Device, edits: Iterable[Edit], lossless: Iterable[str], disrupts: Mapping[str, str]
) -> AffectedObjects:
    """Return the objects that edits affect. device: before; lossless: its lossless port names.

    disrupts: table of the switch's dialect.
    """
    felt, down = AffectedPart(), AffectedPart()
    names = tuple(lossless)
    for edit in _felt_edits(edits, disrupts):
        _add(felt, device, edit, names)
        if counts(edit, effect_of(edit).down):
            _add(down, device, edit, names)
    return AffectedObjects(felt, down)


def replaced(why: str) -> AffectedObjects:
    """Affected objects of a switch that is replaced or removed."""
    return AffectedObjects(AffectedPart(whole=why), AffectedPart(whole=why))


def _felt_edits(edits: Iterable[Edit], disrupts: Mapping[str, str]) -> Iterator[Edit]:
    """Service-affecting edits; edits of one port are evaluated together."""
    groups: dict[str, list[Edit]] = defaultdict(list)
    for edit in edits:
        groups[edit.port_and_rest[0] or f" {edit.path}"].append(edit)
    for group in groups.values():
        if classify(group, (), disrupts)[1]:
            yield from group


def timed(
    device: Device, edits: Iterable[Edit], disrupts: Mapping[str, str]
) -> dict[FaultDelay, AffectedPart]:
    """Objects of edits whose faults show only when a timer expires. device: before.

    For a changed filter these are the routed ports that apply a filter: it may drop BGP packets.
    """
    parts: dict[FaultDelay, AffectedPart] = {}
    for edit in _felt_edits(edits, disrupts):
        effect = effect_of(edit)
        if effect.timer in (None, FaultDelay.NONE) or gateway_vlan(edit.port_and_rest[0]):
            continue
        touched = parts.setdefault(effect.timer, AffectedPart())
        _add(touched, device, edit, ())
        if effect.touches is TouchedObject.EVERY_VLAN:
            touched.ports |= {i.name for i in device.interfaces if i.filter_in or i.filter_out}
    return parts


def _add(to: AffectedPart, device: Device, edit: Edit, lossless: tuple[str, ...]) -> None:
    name = next(iter(edit.keys), "")
    match effect_of(edit).touches:
        case TouchedObject.PORT:
            vlan = gateway_vlan(name)
            if vlan is None:
                to.ports.add(name)
            else:
                to.vlans.add(vlan)
        case TouchedObject.SPLIT:
            to.ports |= {i.name for i in device.interfaces if whole_port(i.name) == name}
        case TouchedObject.PEER:
            to.peers.add(name)
        case TouchedObject.EVERY_SESSION:
            to.peers.add(EVERY_SESSION)
        case TouchedObject.PREFIX:
            to.prefixes.add(name)
        case TouchedObject.LOSSLESS:
            to.ports.update(lossless)
        case TouchedObject.VLAN:
            to.vlans.add(int(name))
        case TouchedObject.EVERY_VLAN:
            to.vlans |= set(device.vlans)


Intents = Mapping[str, ServerIntent]


def blast_radius(
    before: Network, after: Network, change: FabricDifference, intents: Intents
) -> BlastRadius:
    """Blast radius of a change among the objects that exist before it.

    intents: servers of the fabric file, for their owners. New objects do not count.
    """
    lossless: dict[str, list[str]] = defaultdict(list)
    for port in before.roce_ports:
        lossless[port.end.device].append(port.end.interface)
    touches = {
        switch.device: replaced("; ".join(switch.facts))
        if switch.facts
        else _touch(before.by_name[switch.device], switch.change, lossless[switch.device])
        for switch in change.changed
    }
    touches |= {gone.device: replaced("it is removed") for gone in change.only_before}
    return _BlastRadiusStudy(before, after, touches, intents).blast()


def _touch(node: Node, change: Change, lossless: Iterable[str]) -> AffectedObjects:
    return affected_objects_of(node.device, change.edits, lossless, dialect_of(node).disrupts)


@dataclass(frozen=True)
class _BlastRadiusStudy:
    before: Network
    after: Network
    touches: Mapping[str, AffectedObjects]
    intents: Intents

    def blast(self) -> BlastRadius:
        """Complete result in order of names."""
        links = [link for link in self._links if self._reached(link)]
        servers = [server for server in self.before.servers or () if self._server_felt(server)]
        pairs, in_all = self._pairs(servers, links)
        return BlastRadius(
            sessions=tuple(sorted(self._sessions(), key=natural)),
            links=tuple(f"{link.a} - {link.b}" for link in links),
            servers=tuple(sorted((server.name for server in servers), key=natural)),
            racks=tuple(sorted(self._racks(servers), key=natural)),
            segments=tuple(sorted(self._segments(servers), key=natural)),
            pairs=pairs,
            pairs_in_all=in_all,
            redundancy=tuple(self._redundancy()),
            lost=tuple(self._lost()),
        )

    @property
    def _links(self) -> tuple[Link, ...]:
        return self.before.links or ()

    @cached_property
    def _kept_links(self) -> frozenset[tuple[End, End]]:
        return frozenset((link.a, link.b) for link in self.after.links or ())

    def _reached(self, link: Link) -> bool:
        if (link.a, link.b) not in self._kept_links:
            return True
        return any(
            self._port_in(end, self.touches[end.device].felt)
            for end in _ends(link)
            if end.device in self.touches
        )

    def _port_in(self, end: End, touched: AffectedPart) -> bool:
        """Whether a routed port or its session is affected."""
        if touched.whole or end.interface in touched.ports:
            return True
        if not touched.peers:
            return False
        peers = self._peers_at.get(end, ())
        return bool(peers) and (
            EVERY_SESSION in touched.peers or any(str(peer) in touched.peers for peer in peers)
        )

    @cached_property
    def _peers_at(self) -> dict[End, tuple[IPv4Address, ...]]:
        """BGP peers by the port of their subnet, on switches that change."""
        peers_by_port: dict[End, list[IPv4Address]] = defaultdict(list)
        for name in self.touches:
            device = self.before.by_name[name].device
            at: dict[int, dict[int, str]] = defaultdict(dict)  # by length and bits of the subnet
            for interface in device.interfaces:
                for address in interface.addresses:
                    length = address.network.prefixlen
                    at[length][int(address) >> (32 - length)] = interface.name
            lengths = sorted((length for length in at if length > 7), reverse=True)
            for peer in device.bgp.peers if device.bgp else ():
                bits = int(peer.address)
                ports = (at[length].get(bits >> (32 - length)) for length in lengths)
                if (port := next(filter(None, ports), None)) is not None:
                    peers_by_port[End(device=name, interface=port)].append(peer.address)
        return {end: tuple(peers) for end, peers in peers_by_port.items()}

    def _sessions(self) -> Iterator[str]:
        owners = {  # by number: Python's library is slow to hash an address
            int(address): node.name
            for node in self.before.nodes
            for interface in node.device.interfaces
            if interface.addresses and interface.routed
            for address in interface.addresses
        } if self._peers_at else {}  # fmt: skip
        names: dict[frozenset[object], str] = {}
        for end, peers in self._peers_at.items():
            if not self._port_in(end, self.touches[end.device].felt):
                continue
            for peer in peers:
                far = owners.get(int(peer), str(peer))
                ends = sorted((end.device, far), key=natural)
                port = self.before.interface(end)
                subnet = port.addresses[0].network if port and port.addresses else peer
                names.setdefault(frozenset((*ends, subnet)), f"{ends[0]} - {ends[1]} ({subnet})")
        yield from names.values()

    def _server_felt(self, server: Server) -> bool:
        touch = self.touches.get(server.port.device)
        return bool(touch) and self._server_in(server, touch.felt if touch else AffectedPart())

    def _server_in(self, server: Server, touched: AffectedPart) -> bool:
        ports = {server.port.interface, *(port.interface for port in server.ports)}
        segment = self._segment_of(server)
        return bool(
            touched.whole
            or ports & touched.ports
            or (segment and segment.vlan in touched.vlans)
            or (segment and str(segment.prefix) in touched.prefixes)
        )

    def _segment_of(self, server: Server) -> Segment | None:
        return self._served.get((server.port.device, server.segment))

    @cached_property
    def _served(self) -> dict[tuple[str, str], Segment]:
        return {(segment.leaf, segment.name): segment for segment in self.before.segments or ()}

    def _segments(self, servers: list[Server]) -> set[str]:
        own = {server.segment for server in servers}
        for segment in self.before.segments or ():
            touch = self.touches.get(segment.leaf)
            if touch and (touch.felt.whole or segment.vlan in touch.felt.vlans):
                own.add(segment.name)
        return own

    def _racks(self, servers: list[Server]) -> set[str]:
        racks = (self.before.by_name[server.port.device].rack for server in servers)
        return {rack for rack in racks if rack is not None}

    def _pairs(self, servers: list[Server], links: list[Link]) -> tuple[int, int]:
        """Number of RoCE server pairs on different leaves: affected, and all that may exchange."""
        felt = {server.name for server in servers}
        behind = {end.device for link in links for end in _ends(link)} & self._leaves
        roce = [server for server in self.before.servers or () if server.roce]
        rest = [s for s in roce if s.name not in felt and s.port.device not in behind]
        every = _across(self.before, roce)
        return every - _across(self.before, rest), every

    @cached_property
    def _leaves(self) -> frozenset[str]:
        return frozenset(node.name for node in self.before.role(SwitchRole.LEAF))

    @cached_property
    def _uplinks(self) -> Counter[str]:
        return Counter(
            end.device for link in self._links for end in _ends(link) if end.device in self._leaves
        )

    def _redundancy(self) -> Iterator[Redundancy]:
        """Leaves with fewer uplinks while one switch changes."""
        for name, links in self._links_of.items():
            touched = self.touches[name].down
            out: Counter[str] = Counter()
            for link in links if touched.is_any else ():
                near = next(end for end in _ends(link) if end.device == name)
                if self._port_in(near, touched) or (link.a, link.b) not in self._kept_links:
                    out.update(end.device for end in _ends(link) if end.device in self._leaves)
            for leaf, count in out.items():
                uplinks = self._uplinks[leaf]
                yield Redundancy(changing=name, leaf=leaf, uplinks=uplinks, left=uplinks - count)

    @cached_property
    def _links_of(self) -> dict[str, list[Link]]:
        links: dict[str, list[Link]] = {name: [] for name in self.touches}
        for link in self._links:
            for end in _ends(link):
                if end.device in links:
                    links[end.device].append(link)
        return links

    def _lost(self) -> Iterator[LostServer]:
        old_names = {server.name for server in self.before.servers or ()}
        later = {server.name: server for server in self.after.servers or ()}
        at = {s.ports: s for s in later.values() if s.name not in old_names}  # maybe renamed
        alone = {r.leaf for r in self._redundancy() if r.changing == r.leaf and not r.left}
        for server in self.before.servers or ():
            why = self._why_lost(server, later.get(server.name), at.get(server.ports), alone)
            if why:
                intent = self.intents.get(server.name)
                yield LostServer(
                    server=server.name,
                    leaf=server.port.device,
                    why=why,
                    owner=intent.owner if intent else None,
                    maintenance=intent.maintenance if intent else None,
                )

    def _why_lost(
        self, server: Server, later: Server | None, instead: Server | None, alone: set[str]
    ) -> str:
        """Reason why a server loses service, else empty. instead: server that gets its ports."""
        leaf = server.port.device
        if later is None and instead and _service(instead) == _service(server):
            later = instead
        if later is None:
            return "it is no longer in the fabric"
        if later.ports != server.ports:
            return f"it moves to {', '.join(map(str, later.ports))}"
        touch = self.touches.get(leaf)
        return self._why_down(server, touch.down, leaf in alone) if touch else ""

    def _why_down(self, server: Server, down: AffectedPart, alone: bool) -> str:
        if down.whole:
            return f"its only leaf changes as a whole: {down.whole}"
        if alone:
            return f"{server.port.device} has no uplink while it changes"
        ports = {port.interface for port in server.ports}
        if ports <= down.ports or server.port.interface in down.ports:
            return "its only connection to the fabric goes down"
        segment = self._segment_of(server)
        gone = segment and segment.vlan in down.vlans
        return f"its VLAN {segment.vlan} or its gateway changes" if segment and gone else ""


def _ends(link: Link) -> tuple[End, End]:
    return link.a, link.b


def _service(server: Server) -> tuple[object, ...]:
    """Ports, addresses and settings of a server, without its name."""
    return server.port, server.segment, server.address, server.nic, server.roce


def _across(network: Network, servers: list[Server]) -> int:
    """Number of unordered pairs on different leaves that the policy lets exchange RDMA."""
    on_leaf: defaultdict[str, Counter[str]] = defaultdict(Counter)
    first: dict[str, Server] = {}
    for server in servers:
        on_leaf[server.segment][server.port.device] += 1
        first.setdefault(server.segment, server)
    ordered = sum(
        here.total() * there.total() - sum(count * there[leaf] for leaf, count in here.items())
        for a, here in on_leaf.items()
        for b, there in on_leaf.items()
        if network.lets_rdma(first[a], first[b])
    )
    return ordered // 2


ITSELF = "the switch itself"


def management_path(before: Network, after: Network, change: FabricDifference) -> ManagementPath:
    """Compare the management path of every switch of both sides; list the others separately.

    An unchanged switch has an equal Device, so an equal path.
    """
    return ManagementPath(
        aspects=tuple(AccessTopic),
        switches=change.compared,
        changes=tuple(
            found
            for switch in change.changed
            for found in (
                *(
                    ManagementChange(device=switch.device, aspect=ITSELF, what=fact)
                    for fact in switch.facts  # new hardware has no path until it is configured
                ),
                *_changes(
                    before.by_name[switch.device], after.by_name[switch.device], switch.change.edits
                ),
            )
        ),
        removed=tuple(_access(before.by_name[side.device]) for side in change.only_before),
        new=tuple(_access(after.by_name[side.device]) for side in change.only_after),
    )


def _access(node: Node) -> SwitchAddress:
    return SwitchAddress(
        device=node.name,
        address=str(node.management) if node.management else None,
        port=next(iter(_ports(node)), None),
    )


def _changes(old: Node, new: Node, edits: tuple[Edit, ...]) -> Iterator[ManagementChange]:
    ports = {*_ports(old), *_ports(new)}
    aspects = [_aspect(edit, ports) for edit in edits]
    for aspect in AccessTopic:
        for edit, of_edit in zip(edits, aspects, strict=True):
            if of_edit is aspect:
                was, will = (text or "none" for text in (edit.before_text, edit.after_text))
                what = f"{edit.path}: {was} -> {will}"
                yield ManagementChange(device=old.name, aspect=aspect, what=what)


def _aspect(edit: Edit, ports: Container[str]) -> AccessTopic | None:
    access = effect_of(edit).access
    return None if access is AccessTopic.PORT and edit.keys[0] not in ports else access


def _ports(node: Node) -> list[str]:
    """Interfaces with the management address; all out-of-band ports if it is unknown."""
    return [
        interface.name
        for interface in node.device.interfaces
        if (node.management in interface.addresses if node.management else False)
        or interface.name.startswith("MEth")
    ]
