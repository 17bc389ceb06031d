"""Reachability matrix: of servers by class, and from each switch to the segments of the others.

Servers are equivalent if they are in one segment on one leaf, tag the same VLAN and have the same
faults, and if no table, subnet or filter rule separates their addresses. For each class of
destinations only exceptions are computed: servers in the same subnet, servers without a gateway,
leaves without a full path, and sources that a filter drops.

A network without known servers still has gateways. A packet to each subnet, and to each part of it
that any table routes apart, has to end at the gateway of its own switch.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network
from typing import TypeVar

from rocefort.models.device.device import Device
from rocefort.models.device.interface import kind_of
from rocefort.models.device.packet_filters import Flow
from rocefort.models.network.network import Network
from rocefort.validators.routing.forwarding import (
    IN,
    OUT,
    Attachment,
    Forwarder,
    PacketOrigins,
    PathEnd,
    ServerJourneys,
)
from rocefort.validators.routing.forwarding_table import PrefixTable
from rocefort.validators.routing.packet_filters import PacketFilter
from rocefort.validators.routing.underlay import DevicePlace, Underlay
from rocefort.validators.routing_results import Reachability, ServerClass, reachability

K = TypeVar("K")
V = TypeVar("V")
Kind = tuple[int, int, tuple[IPv4Network, ...]]  # filters in and out, prefixes of rules


def reachability_of(trips: ServerJourneys) -> Reachability:
    """Reachability matrix of servers: RDMA by every path."""
    server_classes = _Classes(trips)
    classes = {
        own[0].name: ServerClass(
            leaf=own[0].port[0],
            segment=own[0].segment,
            subnet=own[0].subnet,
            servers=tuple(one.name for one in own),
        )
        for own in server_classes.members
    }
    lost = {target.name: server_classes.lost_to(target) for target in server_classes.firsts}
    return reachability(classes.values(), {name: names for name, names in lost.items() if names})


@dataclass(frozen=True)
class _Classes:
    """Servers by class; the first by name represents the others."""

    trips: ServerJourneys

    @cached_property
    def members(self) -> Sequence[Sequence[Attachment]]:
        """Servers of each class in order of names."""
        groups: defaultdict[object, list[Attachment]] = defaultdict(list)
        for one in self.trips.attachments.values():
            groups[(*_place_key(one), *self._told_apart(one))].append(one)
        return tuple(groups.values())

    def _told_apart(self, one: Attachment) -> tuple[object, ...]:
        """Prefixes and rules that separate an address from others of its subnet."""
        address, forwarder = one.address, self.trips.forwarder
        return (
            forwarder.matching(address),
            self._attached.holding(address),
            self._ruled.holding(address),
            forwarder.underlay.owners.get(address),
        )

    @cached_property
    def _attached(self) -> PrefixTable:
        """Subnets of all servers."""
        return PrefixTable(dict.fromkeys(one.subnet for one in self.trips.attachments.values()))

    @cached_property
    def firsts(self) -> Sequence[Attachment]:
        """First server of each class."""
        return [own[0] for own in self.members]

    def lost_to(self, target: Attachment) -> Set[str]:
        """Classes, by their first servers, without delivery to the target by every path."""
        if target.down:
            return frozenset(self._names)
        beside = self._beside(target)
        routed = self._no_gateway | self._no_way(target) | self._filtered(target)
        return {
            *self._down,
            *(routed - {one.name for one in beside}),
            *(one.name for one in beside if one.switched(target)),
        }

    def _beside(self, target: Attachment) -> list[Attachment]:
        subnets = dict.fromkeys((target.subnet, *self._subnets.holding(target.address)))
        return [one for subnet in subnets for one in self._by_subnet.get(subnet, ())]

    def _no_way(self, target: Attachment) -> set[str]:
        """Servers on leaves from which not every branch reaches the target."""
        groups = self.trips.forwarder.by_ends(self._starts, target.address)
        lost = (leaf for ends, leaves in groups if target.missed(ends) for leaf in leaves)
        return {name for leaf in lost for name in self._by_leaf[leaf]}

    def _filtered(self, target: Attachment) -> set[str]:
        if not self.trips.filters:
            return set()
        there, sources = self._kind(target), set[str]()
        for here, names in self._by_kind.items():
            if self._denied(here, there):
                sources |= names
        return sources

    def _denied(self, here: Kind, there: Kind) -> bool:
        """Whether a filter drops packets from servers of one kind to those of another."""
        if (here, there) not in self._verdicts:
            a, b = self._of_kind[here].address, self._of_kind[there].address
            filters = (self._filters[here[0]], self._filters[there[1]])
            denying = (f.denying(a, b, Flow()) for f in filters if f is not None)
            self._verdicts[here, there] = any(denying)
        return self._verdicts[here, there]

    @cached_property
    def _verdicts(self) -> dict[tuple[Kind, Kind], bool]:
        return {}

    @cached_property
    def _filters(self) -> Sequence[PacketFilter | None]:
        """All distinct filters."""
        return [None, *dict.fromkeys(self.trips.filters.values())]

    @cached_property
    def _number(self) -> Mapping[tuple[str, str, str], int]:
        numbers = {key: number for number, key in enumerate(self._filters)}
        return {place: numbers[key] for place, key in self.trips.filters.items()}

    @cached_property
    def _ruled(self) -> PrefixTable:
        """Prefixes that a rule names."""
        rules = (
            rule
            for packet_filter in self._filters
            if packet_filter
            for rule in packet_filter.acl.rules
        )
        prefixes = (prefix for rule in rules for prefix in (rule.source, rule.destination))
        return PrefixTable(prefix for prefix in prefixes if prefix is not None)

    def _kind(self, one: Attachment) -> Kind:
        """Properties of a server that filters evaluate."""
        at, number = (one.port[0], one.svi), self._number
        held = self._ruled.holding(one.address)
        return number.get((*at, IN), 0), number.get((*at, OUT), 0), held

    @cached_property
    def _by_kind(self) -> Mapping[Kind, set[str]]:
        names: defaultdict[Kind, set[str]] = defaultdict(set)
        for one in self.firsts:
            names[self._kind(one)].add(one.name)
        return names

    @cached_property
    def _of_kind(self) -> Mapping[Kind, Attachment]:
        return {self._kind(one): one for one in self.firsts}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(one.name for one in self.firsts)

    @cached_property
    def _down(self) -> frozenset[str]:
        return frozenset(one.name for one in self.firsts if one.down)

    @cached_property
    def _no_gateway(self) -> frozenset[str]:
        return frozenset(one.name for one in self.firsts if one.no_gateway)

    @cached_property
    def _subnets(self) -> PrefixTable:
        return PrefixTable(self._by_subnet)

    @cached_property
    def _by_subnet(self) -> Mapping[IPv4Network, Sequence[Attachment]]:
        return _items_by_key((one.subnet, one) for one in self.firsts)

    @cached_property
    def _starts(self) -> PacketOrigins:
        return PacketOrigins(tuple(self._by_leaf))

    @cached_property
    def _by_leaf(self) -> Mapping[str, Sequence[str]]:
        return _items_by_key((one.port[0], one.name) for one in self.firsts)


def _place_key(one: Attachment) -> Iterator[object]:
    """Properties of a server's attachment that decide its reachability."""
    yield from (one.port[0], one.segment, one.subnet, one.vlan)
    yield from (one.down, one.no_vlan, one.no_gateway)
    yield one.port if one.unlike_its_segment else None  # its cause names the port


def _items_by_key(items: Iterable[tuple[K, V]]) -> Mapping[K, Sequence[V]]:
    items_of: defaultdict[K, list[V]] = defaultdict(list)
    for key, item in items:
        items_of[key].append(item)
    return items_of


def is_denied(network: Network, source: ServerClass, destination: ServerClass) -> bool:
    """Whether the policy denies RDMA between two classes; it does not cover switched traffic."""
    policy = network.policy
    return (
        policy is not None
        and source.subnet != destination.subnet
        and not policy.allows(source.segment, destination.segment, Flow())
    )


def denied_pairs(network: Network, reached: Reachability) -> int:
    """Ordered pairs of servers that are not delivered, as the policy requires."""
    if network.policy is None:
        return 0
    return sum(
        reached.count(a, b)
        for a, b in reached.lost_classes()
        if is_denied(network, reached.classes[a], reached.classes[b])
    )


@dataclass(frozen=True)
class Gateway:
    """Gateway of a segment: the only interface with its subnet."""

    device: str
    interface: str
    subnet: IPv4Network


@dataclass(frozen=True)
class LostSegment:
    """Segment that a switch does not reach by every path, with the end of one lost branch."""

    source: str
    gateway: Gateway
    end: PathEnd


@dataclass(frozen=True)
class GatewayJourneys:
    """Packets from every switch with a gateway to the segments of the others."""

    underlay: Underlay
    forwarder: Forwarder

    @cached_property
    def gateways(self) -> tuple[Gateway, ...]:
        """Gateways that are up, on switches with a cable to another one.

        A subnet on several switches is left out, and so is one between its switch and a router.
        """
        owners: defaultdict[IPv4Network, list[tuple[str, str]]] = defaultdict(list)
        for name in dict.fromkeys(device for device, _ in self.underlay.far):
            device = self.underlay.network.by_name[name].device
            for subnet, interface in self.underlay.connected[name].items():
                if kind_of(interface) == "vlanif" and not _leads_out(device, subnet):
                    owners[subnet].append((name, interface))
        own = ((*ports[0], subnet) for subnet, ports in owners.items() if len(ports) == 1)
        return tuple(sorted((Gateway(*each) for each in own), key=_order))

    @cached_property
    def by_device(self) -> Counter[str]:
        """Number of gateways of each switch that has any; packets start there."""
        return Counter(gateway.device for gateway in self.gateways)

    @property
    def pairs(self) -> int:
        """Number of ordered pairs of segments on different switches."""
        return sum(self.by_device.total() * own - own * own for own in self.by_device.values())

    @property
    def delivered(self) -> int:
        """Number of pairs whose packets are delivered by every path."""
        return self.pairs - sum(self.by_device[lost.source] for lost in self.lost)

    @cached_property
    def lost(self) -> tuple[LostSegment, ...]:
        """Segments that a switch with a gateway does not reach by every path."""
        starts = PacketOrigins(tuple(self.by_device))
        return tuple(lost for gateway in self.gateways for lost in self._lost_to(gateway, starts))

    def _lost_to(self, gateway: Gateway, starts: PacketOrigins) -> Iterator[LostSegment]:
        """Sources that miss an address of a subnet, in their order, each with the first one."""
        lost: dict[str, LostSegment] = {}
        for address in self.forwarder.prefixes.parts(gateway.subnet):
            for ends, devices in self.forwarder.by_ends(starts, address):
                wrong = [end for end in ends if end.port != (gateway.device, gateway.interface)]
                if not wrong:
                    continue
                end = min(map(_cause, wrong), key=lambda end: end.reason)
                for source in devices:
                    if source != gateway.device:
                        lost.setdefault(source, LostSegment(source, gateway, end))
        yield from (lost[name] for name in starts.devices if name in lost)


def _order(gateway: Gateway) -> tuple[str, IPv4Network]:
    return gateway.device, gateway.subnet


def _leads_out(device: Device, subnet: IPv4Network) -> bool:
    """Whether a subnet that BGP does not announce has another router: a peer or a next hop."""
    if device.bgp is not None and subnet in device.bgp.networks:
        return False
    hops = [route.next_hop for route in device.static_routes if route.next_hop]
    peers = [peer.address for peer in device.bgp.peers] if device.bgp else []
    return any(address in subnet for address in (*hops, *peers))


def _cause(end: PathEnd) -> PathEnd:
    """Reason of an end at another switch or port, or without a route."""
    if end.port is not None:
        place = DevicePlace(end.port[0], f"interfaces[{end.port[1]}]", end.port[1])
        return PathEnd(f"packets end at {' '.join(end.port)}", place)
    return end
