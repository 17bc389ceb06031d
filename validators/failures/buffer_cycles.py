"""Cyclic buffer dependencies after failures, with a proof that avoids most searches.

If a table only loses next hops, its dependencies are a subset of those before, so that no cycle is
new. If a switch uses another next hop, each new dependency must lead from a lower to a higher layer
of the links, as all dependencies before did; then no cycle exists. The whole graph is searched only
if one does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from rocefort.validators.failures.bgp_delta import FailureBaseline, PrefixRoutes
from rocefort.validators.failures.lost_pairs import TablesAfterFailure
from rocefort.validators.roce_ports import lossless_queue
from rocefort.validators.rules.lossless.buffer_cycles import (
    Graph,
    Hop,
    carried_classes,
    components,
    cycle,
    forwarding_graph,
)
from rocefort.validators.rules.lossless.deadlock import (
    all_routed,
    an_end_of_every_link_passes_nothing_on,
    gateways,
    one_as_cuts_every_link,
    traffic,
    words,
)


@dataclass(frozen=True)
class Buffers:
    """Buffer dependencies of a solution, with indexes for the study of failures."""

    base: FailureBaseline

    @cached_property
    def queue(self) -> int | None:
        """Lossless queue; None: not known."""
        return lossless_queue(self.base.solution.underlay.network)

    @cached_property
    def excluded(self) -> str:
        """Reason why no failure can cause a cycle; empty: each failure must be checked."""
        network = self.base.solution.underlay.network
        if not network.links or not all_routed(network):
            return ""
        if one_as_cuts_every_link(network):
            return "no path passes the AS of the spines twice"
        if an_end_of_every_link_passes_nothing_on(network):
            return "one end of every link passes nothing on"
        return ""

    @cached_property
    def circle_before(self) -> str:
        """Cyclic buffer dependency without any failure."""
        return _circle(forwarding_graph(*traffic(self.base.solution), self.queue or 0))

    @cached_property
    def layers(self) -> Mapping[Hop, int]:
        """Layer of each link with traffic, above all links whose buffers wait for it."""
        links = carried_classes(*traffic(self.base.solution))
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
    def served(self) -> Mapping[str, frozenset[int]]:
        """Classes with the subnets of a device's servers, by device."""
        class_of = self.base.class_of
        return {
            name: frozenset(class_of[subnet] for subnet in subnets if subnet in class_of)
            for name, subnets in gateways(self.base.solution).items()
        }

    @cached_property
    def wanted(self) -> frozenset[int]:
        """Classes with servers."""
        return frozenset(number for numbers in self.served.values() for number in numbers)

    @property
    def is_judged(self) -> bool:
        """Whether the queue is known and the fabric has no cycle without failures."""
        return self.queue is not None and not self.excluded and not self.circle_before

    def circle(self, after: TablesAfterFailure) -> str:
        """Cyclic buffer dependency after a failure, by its switches; empty: none."""
        if all(self._in_order(fate, after) for fate in after.fates if fate.number in self.wanted):
            return ""
        return _circle(forwarding_graph(*self._traffic(after), self.queue or 0))

    def _in_order(self, fate: PrefixRoutes, after: TablesAfterFailure) -> bool:
        """Whether all new dependencies of a class lead to higher layers."""
        dead = after.weak.dead
        names = self.base.solution.routing.names
        for device, edges in fate.used.items():
            gained = set(edges) - set(fate.before.used[device])
            if not gained or names[device] in dead:
                continue
            before = set(self._before(device, fate, dead))
            if not before and names[device] not in self.served:
                continue  # no packet gets there
            if not all(self._upward(edge, before, fate, set()) for edge in gained):
                return False
        return True

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

    def _traffic(self, after: TablesAfterFailure) -> tuple[dict[str, int], dict[Hop, int]]:
        """Traffic as in deadlock.traffic, after a failure."""
        routing = self.base.solution.routing
        forwards: defaultdict[Hop, int] = defaultdict(int)
        fates = [fate for fate in after.fates if fate.number in self.wanted]
        for bit, fate in enumerate(fates):
            for device, path in enumerate(fate.sent):
                if path is None or routing.names[device] in after.weak.dead:
                    continue
                for edge in fate.uses(device):
                    sender = routing.graph.ways[edge].sender
                    forwards[routing.names[device], routing.names[sender]] |= 1 << bit
        alive = [name for name in self.served if name not in after.weak.dead]
        return dict.fromkeys(alive, (1 << len(fates)) - 1), dict(forwards)


def _circle(graph: Graph) -> str:
    cycles = components(graph)
    return words(cycle(graph, cycles[0])) if cycles else ""
