"""Effect of a failure on routing, as differences: of the underlay, and of BGP tables.

All interfaces of a failed switch are down, and both ports of a failed cable. Parts that depend on a
port (a subnet, a static route, a Vlanif) are lost with it, at the far end too. Only switches that
lose a port are computed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.network.network import Network, Node
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.path_vector import AsPath, ClassRoutes, Edges
from rocefort.validators.routing.underlay import Port, Statics, Underlay, statics_of, up_ports
from rocefort.validators.routing_results import Failure


def failed_ports(failure: Failure, underlay: Underlay) -> frozenset[Port]:
    """Ports that fail themselves: all of a switch, both ends of a cable."""
    cables = {(end.device, end.interface) for ends in failure.links for end in ends}
    nodes = (underlay.network.by_name[name] for name in failure.nodes)
    return frozenset(cables | {(n.name, i.name) for n in nodes for i in n.device.interfaces})


def failed_network(network: Network, failure: Failure) -> Network:
    """Network with the failed ports shut down, for a full recomputation."""
    shut = {(end.device, end.interface) for ends in failure.links for end in ends}

    def node(one: Node) -> Node:
        interfaces = tuple(
            i.model_copy(update={"enabled": False})
            if one.name in failure.nodes or (one.name, i.name) in shut
            else i
            for i in one.device.interfaces
        )
        return one.model_copy(
            update={"device": one.device.model_copy(update={"interfaces": interfaces})}
        )

    return network.model_copy(update={"nodes": tuple(node(one) for one in network.nodes)})


@dataclass(frozen=True)
class DegradedLocalTable:
    """Local table of a switch that has lost ports."""

    connected: Mapping[IPv4Network, str]
    static: Statics
    changed: frozenset[IPv4Network]  # prefixes that came or went


@dataclass(frozen=True)
class DegradedUnderlay:
    """Underlay after a failure, as a difference."""

    before: Underlay
    dead: frozenset[str]
    down: frozenset[Port]  # all ports that were up and are not
    local: Mapping[str, DegradedLocalTable]  # of remaining switches that lost ports

    @cached_property
    def underlay(self) -> Underlay:
        """Complete underlay after the failure."""
        base, gone = self.before, self.down
        connected = {**base.connected, **{name: {} for name in self.dead}}
        static = {**base.static, **{name: {} for name in self.dead}}
        for name, table in self.local.items():
            connected[name], static[name] = table.connected, table.static
        owners: dict[IPv4Address, tuple[Port, ...]] = dict(base.owners)
        for port in gone:
            for address in base.interface(port).addresses:
                if rest := tuple(p for p in owners.get(address.ip, ()) if p != port):
                    owners[address.ip] = rest
                else:
                    owners.pop(address.ip, None)
        return replace(
            base,
            up=base.up - gone,
            connected=connected,
            owners=owners,
            static=static,
            local={**base.local, **self._local},
        )

    @property
    def _local(self) -> dict[IPv4Network, set[str]]:
        """Devices that still have each prefix, for prefixes of switches that lost some."""
        changed = {prefix for table in self.local.values() for prefix in table.changed}
        for name in self.dead:
            changed.update(self.before.connected[name], self.before.static[name])
        affected = self.dead | self.local.keys()
        return {
            prefix: (set(self.before.local.get(prefix, ())) - affected)
            | {name for name in affected if self.has_own(name, prefix)}
            for prefix in changed
        }

    def has_own(self, name: str, prefix: IPv4Network) -> bool:
        """Whether a switch still has a prefix, connected or as a static route."""
        if name in self.dead:
            return False
        table = self.local.get(name)
        if table is None:
            return prefix in self.before.connected[name] or prefix in self.before.static[name]
        return prefix in table.connected or prefix in table.static


def weaken(underlay: Underlay, failure: Failure) -> DegradedUnderlay:
    """Remove the failed ports from an underlay."""
    failed = failed_ports(failure, underlay)
    lost: defaultdict[str, set[Port]] = defaultdict(set)
    for port in failed:
        for end in (port, underlay.far.get(port)):
            if end is not None:
                lost[end[0]].add(end)
    down: set[Port] = set()
    local: dict[str, DegradedLocalTable] = {}
    dead = frozenset(failure.nodes)
    for name, ports in lost.items():
        gone = ports if name in dead else set(_lost_interfaces(underlay, name, ports, failed))
        gone &= underlay.up
        down |= gone
        if gone and name not in dead:
            local[name] = _local(underlay, name, {port[1] for port in gone})
    return DegradedUnderlay(underlay, dead, frozenset(down), local)


def _lost_interfaces(
    underlay: Underlay, name: str, ports: set[Port], failed: frozenset[Port]
) -> Iterator[Port]:
    """Interfaces of a switch that go down with some of its ports: Vlanifs, bundles."""
    kinds = [underlay.interface(port) for port in ports]
    if all(i.kind == "ethernet" and i.layer3 and i.eth_trunk is None for i in kinds):
        yield from ports  # nothing else depends on a routed port
        return
    network = underlay.network
    still = set(up_ports(network.by_name[name], network, underlay.far, failed))
    for interface in network.by_name[name].device.interfaces:
        if (name, interface.name) not in still:
            yield name, interface.name


def _local(underlay: Underlay, name: str, gone: set[str]) -> DegradedLocalTable:
    was, static = underlay.connected[name], underlay.static[name]
    connected = {subnet: port for subnet, port in was.items() if port not in gone}
    changed = {subnet for subnet, port in was.items() if port in gone}
    device = underlay.network.by_name[name].device
    if device.static_routes:
        after = statics_of(device, connected)
        changed |= {p for p in {*static, *after} if static.get(p) != after.get(p)}
        static = after
    return DegradedLocalTable(connected, static, frozenset(changed))


@dataclass(frozen=True)
class PrefixRoutes:
    """Prefixes of one class with equal routes after a failure."""

    prefixes: tuple[IPv4Network, ...]
    number: int  # of the class; -1 where no device originated them before
    before: ClassRoutes
    sent: list[AsPath | None]
    used: Mapping[int, Edges]  # by device, where they changed

    def uses(self, device: int) -> Edges:
        """Edges to the next hops of a device."""
        return self.used.get(device, self.before.used[device])


@dataclass(frozen=True)
class FailureBaseline:
    """Solution without failures, with indexes for the study of failures."""

    solution: Solution

    @cached_property
    def edges_at(self) -> Mapping[tuple[str, str], tuple[int, ...]]:
        """Edges by the port at either end."""
        routing, far = self.solution.routing, self.solution.underlay.far
        edges: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        owners = self.solution.underlay.owners
        for edge in routing.graph.ways:
            sender = routing.names[edge.sender]
            hop = routing.next_hops[edge.number]
            port = next(p for p in owners[hop] if p[0] == sender)
            edges[port].append(edge.number)
            edges[far[port]].append(edge.number)
        return {port: tuple(numbers) for port, numbers in edges.items()}

    @cached_property
    def class_of(self) -> Mapping[IPv4Network, int]:
        """Number of the class of a prefix."""
        classes = self.solution.classes
        return {p: number for number, group in enumerate(classes) for p in group.prefixes}

    @cached_property
    def foreign(self) -> Mapping[IPv4Network, frozenset[str]]:
        """Prefixes in BGP that a device also has locally, without originating them."""
        underlay = self.solution.underlay
        devices: defaultdict[IPv4Network, set[str]] = defaultdict(set)
        for name in self.solution.routing.numbers:
            for prefix in (*underlay.connected[name], *underlay.static[name]):
                if prefix in self.class_of and prefix not in self.originators[name]:
                    devices[prefix].add(name)
        return {prefix: frozenset(names) for prefix, names in devices.items()}

    @cached_property
    def originators(self) -> Mapping[str, frozenset[IPv4Network]]:
        """Prefixes that a device's text originates, if its table has them."""
        nodes = self.solution.underlay.network.nodes
        return {n.name: frozenset(n.device.bgp.networks if n.device.bgp else ()) for n in nodes}

    def lost_edges(self, weak: DegradedUnderlay) -> frozenset[int]:
        """Edges that are lost with the ports that are down."""
        return frozenset(edge for port in weak.down for edge in self.edges_at.get(port, ()))

    def fates(self, weak: DegradedUnderlay) -> Iterator[PrefixRoutes]:
        """Every class of prefixes after a failure; undivided if its routes are equal."""
        lost, routing = self.lost_edges(weak), self.solution.routing
        dead = {routing.numbers[name] for name in weak.dead if name in routing.numbers}
        moved = self._moved(weak)
        for number, group in enumerate(self.solution.classes):
            unmoved = group.prefixes
            if moved:
                unmoved = tuple(prefix for prefix in unmoved if prefix not in moved)
            if unmoved:
                done = routing.graph.repair(group.table, group.denied, lost, dead)
                yield PrefixRoutes(unmoved, number, group.table, done.sent, done.used)
        for prefix in sorted(moved):
            yield self._anew(prefix, weak, lost)

    def _moved(self, weak: DegradedUnderlay) -> set[IPv4Network]:
        """Prefixes that a remaining switch originates only before or only after the failure."""
        return {
            prefix
            for name, local in weak.local.items()
            for prefix in local.changed & self.originators[name]
            if weak.has_own(name, prefix)
            != (
                prefix in self.solution.underlay.connected[name]
                or prefix in self.solution.underlay.static[name]
            )
        }

    def _anew(
        self, prefix: IPv4Network, weak: DegradedUnderlay, lost: frozenset[int]
    ) -> PrefixRoutes:
        """Routes of a prefix whose originators have changed."""
        routing = self.solution.routing
        origins = [
            routing.numbers[name]
            for name, prefixes in self.originators.items()
            if prefix in prefixes and weak.has_own(name, prefix)
        ]
        number = self.class_of.get(prefix, -1)
        size = len(routing.names)
        before = ClassRoutes([None] * size, [()] * size, [()] * size, [-1] * size)
        if number >= 0:
            before = self.solution.classes[number].table
        after = routing.graph.spread(origins, routing.denied(prefix), lost)
        used = {d: e for d, e in enumerate(after.used) if e != before.used[d]}
        return PrefixRoutes((prefix,), number, before, after.sent, used)
