"""Reachability matrix by class of servers: equivalent servers are computed once.

Servers are equivalent if they are in one segment on one leaf, tag the same VLAN and have the same
faults, and if no table, subnet or filter rule separates their addresses. For each class of
destinations only exceptions are computed: servers in the same subnet, servers without a gateway,
leaves without a full path, and sources that a filter drops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network
from typing import TypeVar

from rocefort.models.device.packet_filters import Flow
from rocefort.models.network.network import Network
from rocefort.validators.routing.forwarding import (
    IN,
    OUT,
    Attachment,
    PacketOrigins,
    ServerJourneys,
)
from rocefort.validators.routing.longest_match import PrefixTable
from rocefort.validators.routing.packet_filters import PacketFilter
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
