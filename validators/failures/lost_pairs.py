"""Server pairs that a failure interrupts, without following packets that cannot be affected.

A switch that keeps some of its next hops and gets no others delivers the same packets. So only
paths from switches with a new next hop, or without any, are followed again. If these still end at
the same ports, so do all paths before them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.device.packet_filters import Flow
from rocefort.validators.failures.routing_delta import (
    DegradedUnderlay,
    FailureBaseline,
    PrefixRoutes,
)
from rocefort.validators.routing.forwarding import Forwarder, PathEnd
from rocefort.validators.routing.forwarding_table import Hops


@dataclass(frozen=True, eq=False)
class Target:
    """Addresses of one subnet behind one switch that all tables route alike."""

    leaf: str
    subnet: IPv4Network
    address: IPv4Address  # any of them
    servers: tuple[str, ...]


@dataclass(frozen=True)
class LostTarget:
    """Leaf that no longer delivers to a target, with the number of lost pairs and the reason."""

    source: str
    target: Target
    pairs: int
    reason: str


@dataclass(frozen=True)
class TablesAfterFailure:
    """Tables after a failure, by prefix and device."""

    base: FailureBaseline
    weak: DegradedUnderlay
    fates: Sequence[PrefixRoutes]

    @cached_property
    def fate_of(self) -> Mapping[IPv4Network, PrefixRoutes]:
        """Routes of each prefix after the failure."""
        return {prefix: fate for fate in self.fates for prefix in fate.prefixes}

    @cached_property
    def fate_of_class(self) -> Mapping[int, PrefixRoutes | None]:
        """Routes of each class after the failure; None where its prefixes differ."""
        fates: dict[int, PrefixRoutes | None] = {}
        for fate in self.fates:
            fates[fate.number] = None if fate.number in fates else fate
        return fates

    def at(self, prefix: IPv4Network) -> PrefixRoutes | None:
        """Routes of a prefix after the failure; None: it was never in BGP."""
        number = self.base.class_of.get(prefix)
        alike = self.fate_of_class.get(number) if number is not None else None
        return alike or self.fate_of.get(prefix)

    def forwarder(self, prefixes: Set[IPv4Network]) -> Forwarder:
        """Forwarding after the failure, correct for addresses that these prefixes contain.

        prefixes: all of the tables before the failure that contain the addresses.
        """
        solution, before = self.base.solution, self.base.solution.trips.forwarder
        prefixes = prefixes | {p for local in self.weak.local.values() for p in local.changed}
        numbers, local = solution.routing.numbers, self.weak.local
        by_fate: dict[int, Mapping[str, Hops]] = {}
        tables: dict[IPv4Network, Mapping[str, Hops]] = {}
        for prefix in prefixes:
            if (fate := self.at(prefix)) is None:
                continue
            if id(fate) not in by_fate:
                learned = solution.learned.get(prefix)
                table = dict(learned.whole) if learned else {}
                for device in {*fate.used, *(numbers[n] for n in local if n in numbers)}:
                    hops = solution.routing.speakers.hops(fate.uses(device))
                    table[solution.routing.names[device]] = hops  # none: no route
                by_fate[id(fate)] = table
            tables[prefix] = by_fate[id(fate)]
        return before.changed(self.weak.underlay, {**before.fib, **tables}, prefixes)


@dataclass(eq=False)
class TracedPackets:
    """Packet paths of a solution, with indexes for the study of failures."""

    base: FailureBaseline
    _pairs: dict[tuple[str, Target], int] = field(default_factory=dict)

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """Destinations: servers, or the gateways' subnets if servers are not known."""
        solution = self.base.solution
        groups: defaultdict[tuple[object, ...], list[tuple[IPv4Address, str]]] = defaultdict(list)
        if solution.underlay.network.servers is not None:
            for name, attached in solution.trips.attachments.items():
                key = (attached.port[0], attached.subnet, self.forwarder.matching(attached.address))
                groups[key].append((attached.address, name))
        else:
            for leaf, connected in solution.underlay.connected.items():
                for subnet, port in connected.items():
                    if port.startswith("Vlanif"):
                        address = subnet.network_address + 1
                        groups[leaf, subnet, ()].append((address, ""))
        return tuple(
            Target(str(leaf), subnet, own[0][0], tuple(name for _, name in own if name))
            for (leaf, subnet, _), own in groups.items()
            if isinstance(subnet, IPv4Network)
        )

    @property
    def forwarder(self) -> Forwarder:
        """Forwarding without failures."""
        return self.base.solution.trips.forwarder

    @cached_property
    def sources(self) -> frozenset[str]:
        """Switches at which packets start."""
        return frozenset(target.leaf for target in self.targets)

    @cached_property
    def leading_to(self) -> Mapping[IPv4Network, tuple[Target, ...]]:
        """Targets by each prefix of any table that contains them."""
        by_prefix: defaultdict[IPv4Network, list[Target]] = defaultdict(list)
        for target in self.targets:
            for prefix in self.forwarder.matching(target.address):
                by_prefix[prefix].append(target)
        return {prefix: tuple(targets) for prefix, targets in by_prefix.items()}

    @cached_property
    def static_hops(self) -> bool:
        """Whether a static route leads to another switch: packets may then pass any switch."""
        tables = self.base.solution.underlay.static.values()
        return any(hop is not None for table in tables for hops in table.values() for hop in hops)

    def lost(self, after: TablesAfterFailure) -> Iterator[LostTarget]:
        """Leaves and targets with delivery by every path before the failure, but not after it."""
        doubtful: dict[Target, set[str]] = {}
        for device, prefix in self._doubts(after):
            for target in self._held(prefix):
                if target.leaf not in after.weak.dead:
                    doubtful.setdefault(target, set()).add(device)
        doubts = {t: d for t, d in doubtful.items() if any(self._passed(x, t, after) for x in d)}
        if not doubts:
            return
        now = after.forwarder({p for t in doubts for p in self.forwarder.matching(t.address)})
        for target, devices in doubts.items():
            if all(self._no_worse(device, target, now) for device in devices):
                continue
            for source in sorted(self.sources - after.weak.dead):
                if not self._no_worse(source, target, now):
                    yield from self._costs(source, target, now)

    def _held(self, prefix: IPv4Network) -> Iterator[Target]:
        if prefix in self.leading_to:
            yield from self.leading_to[prefix]
        elif prefix not in self.forwarder.local_prefixes:  # a static route that came up
            yield from (target for target in self.targets if target.address in prefix)

    def _doubts(self, after: TablesAfterFailure) -> Iterator[tuple[str, IPv4Network]]:
        """Devices and prefixes with a new next hop, or without any remaining one."""
        names = self.base.solution.routing.names
        targets = self.leading_to
        for fate in after.fates:
            if not fate.used:
                continue
            prefixes = [prefix for prefix in fate.prefixes if prefix in targets]
            for device, edges in fate.used.items() if prefixes else ():
                if edges and not set(edges).difference(fate.before.used[device]):
                    continue
                if names[device] not in after.weak.dead:
                    yield from ((names[device], prefix) for prefix in prefixes)
        for name, local in after.weak.local.items():
            yield from ((name, prefix) for prefix in local.changed)

    def _passed(self, name: str, target: Target, after: TablesAfterFailure) -> bool:
        """Whether packets to a target may pass a switch now: from itself or from a neighbour."""
        if name in self.sources or self.static_hops:
            return True
        routing = self.base.solution.routing
        device = routing.numbers.get(name)
        if device is None:
            return False
        prefixes = self.forwarder.matching(target.address)
        fates = [fate for prefix in prefixes if (fate := after.at(prefix))]
        ways = routing.graph.ways
        return any(
            ways[edge].sender == device
            for fate in fates
            for receiver, _ in routing.graph.outgoing[device]
            for edge in fate.uses(receiver)
        )

    def _no_worse(self, name: str, target: Target, now: Forwarder) -> bool:
        """Whether packets from a switch to a target have no new end."""
        return now.stops(name, target.address) <= self.forwarder.stops(name, target.address)

    def _costs(self, source: str, target: Target, now: Forwarder) -> Iterator[LostTarget]:
        """Pairs that were delivered before, if any, with the reason why they are lost."""
        before = self.forwarder.stops(source, target.address)
        new = sorted(now.stops(source, target.address) - before, key=lambda stop: stop.reason)
        stop = new[0]
        if not target.servers:
            if source != target.leaf and all(end.port and end.port[0] == target.leaf
                                             for end in before):  # fmt: skip
                yield LostTarget(source, target, 1, _loss_reason(stop, target))
            return
        if pairs := self._delivered(source, target):
            yield LostTarget(source, target, pairs, _loss_reason(stop, target))

    def _delivered(self, source: str, target: Target) -> int:
        """Number of delivered server pairs from a leaf to a target through a gateway."""
        key = source, target
        if key not in self._pairs:
            trips = self.base.solution.trips
            attached = trips.attachments
            self._pairs[key] = sum(
                trips.stop(name, server, Flow()) is None
                for name in self._servers_at.get(source, ())
                for server in target.servers
                if attached[name].subnet != target.subnet or source != target.leaf
            )
        return self._pairs[key]

    @cached_property
    def _servers_at(self) -> Mapping[str, tuple[str, ...]]:
        servers: defaultdict[str, list[str]] = defaultdict(list)
        for name, attached in self.base.solution.trips.attachments.items():
            servers[attached.port[0]].append(name)
        return {leaf: tuple(names) for leaf, names in servers.items()}


def _loss_reason(stop: PathEnd, target: Target) -> str:
    if stop.port is not None:
        return f"packets to {target.subnet} end at {' '.join(stop.port)}"
    if stop.no_route:
        return f"{stop.place.device} has no route to {target.subnet}"
    return stop.reason
