"""Cyclic buffer dependencies after failures, with a proof that avoids most searches.

Where BGP alone forwards, and a table only loses next hops, its dependencies are a subset of those
before, so that no cycle is new. If a switch uses another next hop, each new dependency must lead
from a lower to a higher layer of the links, as all dependencies before did; then no cycle exists.
The whole graph is searched only if one does not, and wherever a static route forwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network

from rocefort.validators.facts.roce_ports import lossless_queues
from rocefort.validators.failures.lost_pairs import TablesAfterFailure
from rocefort.validators.failures.routing_delta import FailureBaseline, PrefixRoutes
from rocefort.validators.routing.buffer_dependencies import (
    Graph,
    Hop,
    Traffic,
    components,
    cycle,
    excluded,
    gateways,
    traffic,
    words,
)


@dataclass(frozen=True)
class Buffers:
    """Buffer dependencies of a solution, with indexes for the study of failures."""

    base: FailureBaseline

    @cached_property
    def queue(self) -> int | None:
        """Lossless queue; None: not known. Of several one: packets of all take the same paths."""
        return next(iter(lossless_queues(self.base.solution.underlay.network)), None)

    @cached_property
    def excluded(self) -> str:
        """Reason why no failure can cause a cycle; empty: each failure must be checked."""
        return excluded(self.base.solution.underlay.network)

    @cached_property
    def traffic(self) -> Traffic:
        """Packets between gateways without failures."""
        return traffic(self.base.solution.trips.forwarder, self.served)

    @cached_property
    def circle_before(self) -> str:
        """Cyclic buffer dependency without any failure."""
        return _circle(self.traffic.graph(self.served, self.queue or 0))

    @cached_property
    def carried(self) -> Mapping[Hop, int]:
        """Classes that pass each link without failures."""
        return self.traffic.carried(self.served)

    @cached_property
    def layers(self) -> Mapping[Hop, int]:
        """Layer of each link with traffic, above all links whose buffers wait for it."""
        links = self.carried
        onward: defaultdict[str, list[Hop]] = defaultdict(list)
        for hop in links:
            onward[hop[0]].append(hop)
        layer = dict.fromkeys(links, 0)
        waiting = list(links)
        while waiting:
            hop = waiting.pop()
            for after in onward[hop[1]]:
                if links[hop] & links[after] and layer[after] <= layer[hop]:
                    layer[after] = layer[hop] + 1
                    waiting.append(after)
        return layer

    @cached_property
    def served(self) -> Mapping[str, list[IPv4Network]]:
        """Subnets of servers by device."""
        return gateways(self.base.solution.underlay)

    @cached_property
    def prefixes(self) -> frozenset[IPv4Network]:
        """Prefixes of all tables that contain a part of a subnet of servers."""
        table = self.base.solution.trips.forwarder.prefixes
        subnets = (subnet for own in self.served.values() for subnet in own)
        parts = (address for subnet in subnets for address in table.parts(subnet))
        return frozenset(prefix for address in parts for prefix in table.holding(address))

    @cached_property
    def server_classes(self) -> frozenset[int]:
        """Classes of routes to subnets of servers."""
        class_of = self.base.class_of
        return frozenset(class_of[prefix] for prefix in self.prefixes if prefix in class_of)

    @cached_property
    def bgp_alone(self) -> bool:
        """Whether every packet follows one prefix of BGP, so that a failure changes only those.

        No switch that a packet reaches uses a static route, or lacks the longest prefix that any
        of them has.
        """
        under, learned = self.base.solution.underlay, self.base.solution.learned
        reached = dict.fromkeys(self.served, -1)
        for (_, head), classes in self.carried.items():
            reached[head] = reached.get(head, 0) | classes
        for bit, matching in enumerate(self.traffic.classes):
            at = {name for name, classes in reached.items() if classes >> bit & 1}
            for prefix in matching:
                own = at & under.local.get(prefix, frozenset())
                routes = learned.get(prefix)
                has = own | {name for name in at if routes and routes.of(name)}
                if has:
                    if has != at or any(prefix in under.static[name] for name in own):
                        return False
                    break
        return True

    @property
    def is_judged(self) -> bool:
        """Whether the queue is known and the fabric has no cycle without failures."""
        return self.queue is not None and not self.excluded and not self.circle_before

    def circle(self, after: TablesAfterFailure) -> str:
        """Cyclic buffer dependency after a failure, by its switches; empty: none."""
        weak = after.weak
        same = all(self.prefixes.isdisjoint(local.changed) for local in weak.local.values())
        if same and self.bgp_alone:
            left = {p for name in self.served.keys() - weak.dead for p in self.served[name]}
            lost = {p for name in weak.dead for p in self.served.get(name, ())} - left
            fates = (fate for fate in after.fates if fate.number in self.server_classes)
            if all(lost.issuperset(f.prefixes) or self._in_order(f, after) for f in fates):
                return ""
        served = gateways(weak.underlay)
        packets = traffic(after.forwarder(self.prefixes), served)
        return _circle(packets.graph(served, self.queue or 0))

    def _in_order(self, fate: PrefixRoutes, after: TablesAfterFailure) -> bool:
        """Whether all new dependencies of a class lead to higher layers."""
        dead = after.weak.dead
        names = self.base.solution.routing.names
        for device, edges in fate.used.items():
            gained = set(edges) - set(fate.before.used[device])
            if (edges and not gained) or names[device] in dead:
                continue
            before = set(self._before(device, fate, dead))
            if not before and names[device] not in self.served:
                continue  # no packet gets there
            if not edges and self._has_wider(fate):
                return False  # another prefix leads its packets now
            if not all(self._upward(edge, before, fate, set()) for edge in gained):
                return False
        return True

    def _has_wider(self, fate: PrefixRoutes) -> bool:
        """Whether a wider prefix of any table contains prefixes of a class."""
        table = self.base.solution.trips.forwarder.prefixes
        return any(len(table.holding(p.network_address)) > 1 for p in fate.prefixes)

    def _before(self, device: int, fate: PrefixRoutes, dead: Set[str]) -> Iterator[Hop]:
        """Links by which packets of a class may now reach a device."""
        routing = self.base.solution.routing
        for receiver, _ in routing.graph.outgoing[device]:
            if routing.names[receiver] not in dead and any(
                routing.graph.ways[edge].sender == device for edge in fate.uses(receiver)
            ):
                yield routing.names[receiver], routing.names[device]

    def _upward(self, edge: int, before: set[Hop], fate: PrefixRoutes, seen: set[Hop]) -> bool:
        """Whether an edge and all following links are in higher layers than the links before it."""
        routing = self.base.solution.routing
        session = routing.graph.ways[edge]
        hop = routing.names[session.receiver], routing.names[session.sender]
        layer = self.layers.get(hop)
        if layer is None or any(self.layers.get(b, layer) >= layer for b in before):
            return False
        if hop in seen:
            return True
        seen.add(hop)
        return all(self._upward(e, {hop}, fate, seen) for e in fate.uses(session.sender))


def _circle(graph: Graph) -> str:
    cycles = components(graph)
    return words(cycle(graph, cycles[0])) if cycles else ""
