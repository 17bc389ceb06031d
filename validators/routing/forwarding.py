"""Packet forwarding: every ECMP branch from a server's leaf, hop by hop, to the other server.

A pair is delivered only if all branches end at the destination's port. The cause of a drop has a
position, so that many pairs with one cause make one finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from rocefort.base.errors import Refused
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface, gateway_vlan, kind_of
from rocefort.models.device.packet_filters import Flow
from rocefort.models.device.routing import NULL
from rocefort.models.network.network import Segment, Server
from rocefort.validators.routing.forwarding_table import (
    BgpDevices,
    GroupNextHops,
    Hops,
    NextHops,
    PrefixTable,
)
from rocefort.validators.routing.packet_filters import PacketFilter, filters_of
from rocefort.validators.routing.underlay import DevicePlace, Port, Underlay

Fib = Mapping[IPv4Network, Mapping[str, Hops]]  # next hops of BGP routes by device
Step = tuple[IPv4Network, Set[str], Mapping[str, Hops]]  # prefix, owners, next hops of learners
_NOBODY: frozenset[str] = frozenset()
_NO_ROUTE = "no route"
IN, OUT = "filter_in", "filter_out"  # fields of a Vlanif: what enters it, what it sends


@dataclass(frozen=True, slots=True)
class PathEnd:
    """End of a branch: at a connected subnet (`port` is set), or with the reason of a drop."""

    reason: str
    place: DevicePlace
    port: Port | None = None

    @property
    def no_route(self) -> bool:
        """Whether a switch has no route at all."""
        return self.reason == _NO_ROUTE


Ends = frozenset[PathEnd]
Memo = dict[str | tuple[str, ...], Ends]  # by switch, and by the tuple of its next switches


@dataclass
class PacketOrigins:
    """Devices at which packets start, grouped by equal next hops; computed once a group."""

    devices: tuple[str, ...]
    _bunches: dict[GroupNextHops, Sequence[Sequence[str]]] = field(default_factory=dict)
    _by_group: dict[BgpDevices, Mapping[int, Sequence[str]]] = field(default_factory=dict)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Index of each device in their order."""
        return {device: place for place, device in enumerate(self.devices)}

    def together(
        self, forwarder: Forwarder, learned: NextHops, own: Set[str]
    ) -> Sequence[Sequence[str]]:
        """All devices, grouped by the devices of their next hops, in order of their first.

        own: devices with a route of their own, which do not use a learned route.
        """
        alone = {*own, *learned.exceptions}
        groups: list[Sequence[str]] = [[device] for device in alone if device in self.places]
        for number, devices in self._grouped(learned.speakers).items():
            common = learned.common.get(number)
            if common is None:
                groups += ([device] for device in devices if device not in alone)
                continue
            for bunch in self._alike(forwarder, common, devices):
                rest: Sequence[str] = bunch
                if not alone.isdisjoint(bunch):
                    rest = [device for device in bunch if device not in alone]
                if rest:
                    groups.append(rest)
        return sorted(groups, key=lambda bunch: self.places[bunch[0]])

    def _grouped(self, speakers: BgpDevices) -> Mapping[int, Sequence[str]]:
        if speakers not in self._by_group:
            groups: defaultdict[int, list[str]] = defaultdict(list)
            for device in self.devices:
                groups[speakers.group_of.get(device, -1)].append(device)
            self._by_group[speakers] = groups
        return self._by_group[speakers]

    def _alike(
        self, forwarder: Forwarder, common: GroupNextHops, devices: Sequence[str]
    ) -> Sequence[Sequence[str]]:
        if common not in self._bunches:
            groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
            for device in devices:
                onward = forwarder.senders(device, common.hops[device])
                groups[onward or ("", device)].append(device)  # no next hop: a group of its own
            self._bunches[common] = list(groups.values())
        return self._bunches[common]


@dataclass
class Forwarder:
    """Lookup of destinations in every device's table, with a cache for one class.

    A device's own route takes precedence over a BGP route to the same prefix.
    """

    underlay: Underlay
    fib: Fib
    neighbours: Mapping[tuple[str, IPv4Address], str]  # device and next hop -> device
    table: PrefixTable | None = None  # prefixes of all tables, where they are known
    _ends: dict[tuple[IPv4Network, ...], Memo] = field(default_factory=dict)
    _senders: dict[str, tuple[Hops, tuple[str, ...]]] = field(default_factory=dict)

    @cached_property
    def prefixes(self) -> PrefixTable:
        """Prefixes of all tables."""
        return self.table or PrefixTable((*self.underlay.local, *self.fib))

    @property
    def local_prefixes(self) -> Set[IPv4Network]:
        """Prefixes of all tables as a set."""
        return self.prefixes.prefixes

    def changed(self, underlay: Underlay, fib: Fib, more: Set[IPv4Network]) -> Forwarder:
        """Forwarder with other tables, whose prefixes are those of this one and `more`."""
        prefixes = (
            self.prefixes
            if more <= self.local_prefixes
            else PrefixTable(self.local_prefixes | more)
        )
        return Forwarder(underlay, fib, self.neighbours, prefixes)

    def matching(self, destination: IPv4Address) -> tuple[IPv4Network, ...]:
        """Prefixes of all tables that contain an address, longest first."""
        return self.prefixes.holding(destination)

    def stops(self, device: str, destination: IPv4Address) -> Ends:
        """Ends of all branches from a device to an address."""
        matching = self.matching(destination)
        memo = self._ends.setdefault(matching, {})
        steps = [  # a plain table: a study of failures calls this a million times
            (prefix, own, routes.whole if isinstance(routes, NextHops) else routes)
            for prefix, own, routes in self.steps(matching)
        ]
        return self._walk(device, steps, memo, ())

    def by_ends(
        self, starts: PacketOrigins, destination: IPv4Address
    ) -> Iterator[tuple[Ends, Sequence[str]]]:
        """Devices by the ends of all their branches to an address."""
        matching = self.matching(destination)
        memo, steps = self._ends.setdefault(matching, {}), self.steps(matching)
        _, own, routes = steps[0] if steps else (None, _NOBODY, {})
        groups: Iterable[Sequence[str]] = ((device,) for device in starts.places)
        if isinstance(routes, NextHops):
            groups = starts.together(self, routes, own)
        for devices in groups:
            yield self._walk(devices[0], steps, memo, ()), devices

    def steps(self, matching: tuple[IPv4Network, ...]) -> list[Step]:
        """Lookup order for an address in these prefixes: prefix, owners, learned next hops."""
        local, fib = self.underlay.local, self.fib
        return [(p, local.get(p, _NOBODY), fib.get(p, {})) for p in matching]

    def senders(self, device: str, hops: Hops) -> tuple[str, ...]:
        """Devices of the next hops of a device, each once."""
        cached = self._senders.get(device)
        if cached is None or cached[0] is not hops:
            names = dict.fromkeys(self.neighbours[device, hop] for hop in hops)
            cached = self._senders[device] = hops, tuple(names)
        return cached[1]

    def onward(self, matching: tuple[IPv4Network, ...]) -> dict[str, tuple[str, ...]]:
        """Next switches of every device with a route to an address in these prefixes.

        None follow where the address is connected, or where a static route drops its packets.
        """
        table: dict[str, tuple[str, ...]] = {}
        for prefix, own, routes in self.steps(matching):
            for device in own - table.keys():
                table[device] = tuple(self.static_senders(device, prefix))
            learned = routes.whole if isinstance(routes, NextHops) else routes
            for device, hops in learned.items():
                if hops and device not in table:
                    table[device] = self.senders(device, hops)
        return table

    def alike(self, prefix: IPv4Network) -> Hashable:
        """Key of a prefix: equal for prefixes with the same next switches at every device."""
        own = self.underlay.local.get(prefix, _NOBODY)
        static = self.underlay.static
        hops = [(device, static[device][prefix]) for device in own if prefix in static[device]]
        return id(self.fib.get(prefix)), frozenset(own), frozenset(hops)

    def static_senders(self, device: str, prefix: IPv4Network) -> Iterator[str]:
        """Switches to which a device's own route to a prefix leads; none for a connected one."""
        if prefix not in self.underlay.connected[device]:
            for hop in self.underlay.static[device][prefix]:
                if hop is not None and (owners := self.underlay.owners.get(hop)):
                    yield owners[0][0]

    def _walk(self, device: str, steps: list[Step], memo: Memo, path: tuple[str, ...]) -> Ends:
        if device in memo:
            return memo[device]
        if device in path:
            return frozenset({self._loop(path[path.index(device) :], steps)})
        reached: Ends = frozenset()
        for prefix, own, routes in steps:
            if device in own:
                port = self.underlay.connected[device].get(prefix)
                if port is not None:
                    stop = PathEnd("", DevicePlace(device, interface=port), (device, port))
                    reached = frozenset({stop})
                else:
                    ends = self._static_ends(device, prefix, steps, memo, (*path, device))
                    reached = _union(ends)
                break
            if hops := routes.get(device):
                below = self.senders(device, hops)
                if below not in memo:  # all leaves continue to the same spines
                    walked = (*path, device)
                    memo[below] = _union(self._walk(hop, steps, memo, walked) for hop in below)
                reached = memo[below]
                break
        memo[device] = reached or frozenset({PathEnd(_NO_ROUTE, DevicePlace(device, "bgp"))})
        return memo[device]

    def _loop(self, devices: tuple[str, ...], steps: list[Step]) -> PathEnd:
        """End in a forwarding loop; a static route in it is a more likely cause than BGP."""
        reason = f"packets loop: {' - '.join((*devices, devices[0]))}"
        for device in devices:
            static = self.underlay.static[device]
            used = next(p for p, own, routes in steps if device in own or routes.get(device))
            if used in static:
                return PathEnd(reason, _static_place(device, used, static[used][0]))
        return PathEnd(reason, DevicePlace(devices[0], "bgp"))

    def _static_ends(
        self,
        device: str,
        prefix: IPv4Network,
        steps: list[Step],
        memo: Memo,
        path: tuple[str, ...],
    ) -> Iterator[Ends]:
        """Ends of a static route's branches: dropped, at a switch, or at an unknown next hop."""
        for hop in self.underlay.static[device][prefix]:
            place = _static_place(device, prefix, hop)
            owners = self.underlay.owners.get(hop, ()) if hop is not None else ()
            if hop is None:
                yield frozenset({PathEnd(f"{device} drops {prefix} (NULL0)", place)})
            elif owners:
                yield self._walk(owners[0][0], steps, memo, path)
            else:
                what = f"{device} sends {prefix} to {hop}, which no device has"
                yield frozenset({PathEnd(what, place)})


def _static_place(device: str, prefix: IPv4Network, hop: IPv4Address | None) -> DevicePlace:
    return DevicePlace(device, f"static_routes[{prefix} {hop or NULL}]")


def _union(ends: Iterable[Ends]) -> Ends:
    """Union of ends; equal values give the same object, which a cache finds again."""
    different = list(dict.fromkeys(ends))
    return different[0] if len(different) == 1 else frozenset().union(*different)


@dataclass(frozen=True)
class ServerJourneys:
    """Paths of packets between servers, with the reason where they are not delivered."""

    attachments: Mapping[str, Attachment]  # by server, in order of names
    forwarder: Forwarder
    filters: Mapping[tuple[str, str, str], PacketFilter]  # by device, interface and field

    def stop(self, source: str, destination: str, flow: Flow) -> PathEnd | None:
        """Reason why not every branch delivers packets of a flow; None: all deliver."""
        here, there = self.attachments[source], self.attachments[destination]
        return here.stop(there, self.forwarder) or self._filtered(here, there, flow)

    def _filtered(self, source: Attachment, destination: Attachment, flow: Flow) -> PathEnd | None:
        """Rule that drops a flow at the source's gateway (inbound) or the other one (outbound)."""
        if source.beside(destination):
            return None  # switched: it passes no gateway
        for end, field_name in ((source, IN), (destination, OUT)):
            device, svi = end.port[0], end.svi
            packet_filter = self.filters.get((device, svi, field_name))
            rule = (
                packet_filter.denying(source.address, destination.address, flow)
                if packet_filter
                else None
            )
            if packet_filter and rule:
                at = f"filters.acls[{packet_filter.acl.name}].rules[{rule.index}]"
                reason = (
                    f"rule {rule.index} of ACL {packet_filter.acl.name} on {device} {svi} drops it"
                )
                return PathEnd(reason, DevicePlace(device, at, svi))
        return None


def trips(underlay: Underlay, forwarder: Forwarder) -> ServerJourneys:
    """Paths between all servers.

    Raises Refused for a server on a switch that the network does not have.
    """
    network = underlay.network
    segments = {(segment.name, segment.leaf): segment for segment in network.segments or ()}
    by_name: dict[str, Attachment] = {}
    for server in sorted(network.servers or (), key=lambda server: server.name):
        leaf = server.port.device
        if network.lack_of_switches:
            how = "test it with `rocefort rdma`"
            raise Refused(network.lack_of_switches, where=network.name, how=how)
        if leaf not in network.by_name:
            raise Refused(f"server {server.name} is on {leaf}, which is not in the network")
        by_name[server.name] = _attach(server, segments.get((server.segment, leaf)), underlay)
    return ServerJourneys(by_name, forwarder, filters_of(network))


@dataclass(frozen=True)
class Attachment:
    """Attachment of a server to its leaf; a PathEnd gives the reason of a fault there."""

    name: str
    segment: str
    address: IPv4Address
    subnet: IPv4Network
    port: Port
    vlan: int | None  # of the server's frames on the leaf
    down: PathEnd | None
    no_vlan: PathEnd | None
    no_gateway: PathEnd | None
    unlike_its_segment: bool  # tags another VLAN than its segment has there
    device: Device = field(repr=False, compare=False)  # its leaf

    def stop(self, destination: Attachment, forwarder: Forwarder) -> PathEnd | None:
        """Reason why not every branch from here reaches the destination; None: all do."""
        if stop := self.down or destination.down:
            return stop
        if self.beside(destination):
            return self.switched(destination)
        if self.no_gateway is not None:
            return self.no_gateway
        return destination.missed(forwarder.stops(self.port[0], destination.address))

    @property
    def svi(self) -> str:
        """Name of its gateway's interface."""
        return f"Vlanif{self.vlan}"

    def beside(self, destination: Attachment) -> bool:
        """Whether packets are switched: the destination is in this subnet."""
        return destination.address in self.subnet

    def switched(self, destination: Attachment) -> PathEnd | None:
        """Reason why a server of the same subnet is not in the same VLAN of the same leaf."""
        if stop := self.no_vlan or destination.no_vlan:
            return stop
        if self.port[0] == destination.port[0] and self.vlan == destination.vlan:
            return None
        reason = f"{' '.join(self.port)} and {' '.join(destination.port)} share no VLAN"
        return PathEnd(reason, _port_place(self.port))

    def missed(self, ends: Ends) -> PathEnd | None:
        """Reason why not all of these ends deliver to this server; None: all do."""
        stops = sorted(ends, key=lambda stop: stop.reason) if len(ends) > 1 else ends
        return next((why for stop in stops if (why := self.misses(stop))), None)

    def misses(self, stop: PathEnd) -> PathEnd | None:
        """Reason why a branch that ends at `stop` does not deliver to this server."""
        subnet, address = self.subnet, self.address
        if stop.port is None:
            if stop.reason == _NO_ROUTE:
                return PathEnd(f"{stop.place.device} has no route to {subnet}", stop.place)
            return stop
        leaf, name = stop.port
        if leaf != self.port[0] or kind_of(name) != "vlanif":
            return PathEnd(
                f"packets to {subnet} end at {' '.join(stop.port)}", _port_place(stop.port)
            )
        interface = self.device.by_interface.get(name) or Interface(name=name)
        if address in {own.ip for own in interface.addresses}:
            reason = f"{address} is also the address of {' '.join(stop.port)}"
            return PathEnd(reason, _port_place(stop.port))
        vlan = gateway_vlan(name)
        if vlan != self.vlan:
            reason = f"{' '.join(self.port)} does not carry VLAN {vlan}"
            return PathEnd(reason, _port_place(self.port))
        return None


def _port_place(port: Port) -> DevicePlace:
    return DevicePlace(port[0], f"interfaces[{port[1]}]", port[1])


def _attach(server: Server, segment: Segment | None, underlay: Underlay) -> Attachment:
    device = underlay.network.by_name[server.port.device].device
    port = server.port.device, server.port.interface
    interface = underlay.interface(port)
    vlan: int | None = None
    if not interface.layer3 and interface.link_type != "trunk":
        vlan = interface.access_vlan or 1
    elif segment is not None and interface.carries(segment.vlan):
        vlan = segment.vlan  # on a trunk the server tags its segment's VLAN
    works = interface.enabled and (interface.kind != "eth-trunk" or port in underlay.up)
    down = None if works else PathEnd(*underlay.why_down(port))
    lost = None
    if vlan is None:
        lost = PathEnd(f"{' '.join(port)} carries no VLAN of {server.name}", _port_place(port))
    elif vlan != 1 and vlan not in device.vlans:
        lost = PathEnd(f"{port[0]} has no VLAN {vlan}", _port_place(port))
    gateway = segment.gateway.ip if segment else None
    return Attachment(
        name=server.name,
        segment=server.segment,
        address=server.address.ip,
        subnet=server.address.network,
        port=port,
        vlan=vlan,
        down=down,
        no_vlan=lost,
        no_gateway=lost or _no_gateway(server, vlan, gateway, underlay),
        unlike_its_segment=segment is not None and vlan != segment.vlan,
        device=device,
    )


def _no_gateway(
    server: Server, vlan: int | None, gateway: IPv4Address | None, underlay: Underlay
) -> PathEnd | None:
    """Reason why the server's gateway is not available; None: it is."""
    leaf = server.port.device
    svi = leaf, f"Vlanif{vlan}"
    for address in underlay.interface(svi).addresses:
        if address.ip == gateway or (gateway is None and server.address.ip in address.network):
            return None if svi in underlay.up else PathEnd(*underlay.why_down(svi))
    name = f" {gateway}" if gateway else ""
    reason = f"{leaf} has no gateway{name} in VLAN {vlan}"
    return PathEnd(reason, DevicePlace(leaf, f"interfaces[{svi[1]}]", svi[1]))
