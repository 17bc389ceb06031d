"""Load of a demand on every cable where static routes forward, too: by the tables of all switches.

It follows every target hop by hop, so that it takes longer than loads by routes of BGP alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from rocefort.validators.capacity.link_loads import Loads, PortLoads
from rocefort.validators.capacity.traffic_matrix import (
    DemandMatrix,
    Inflow,
    Target,
    carrying_statics,
)
from rocefort.validators.failures.lost_pairs import TablesAfterFailure
from rocefort.validators.failures.underlay_delta import weaken
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.forwarding import Forwarder, Step
from rocefort.validators.routing.underlay import Port, Underlay
from rocefort.validators.routing_results import Failure

NOTHING_GBPS = 1e-9  # below it, a rate is what rounding left

Way = tuple[Port | None, str | None]  # sending port, and the switch behind it; None: dropped


@dataclass(frozen=True)
class ForwardedLoads(Loads):
    """Demand on a solution, as its forwarding tables carry it."""

    def whole(self) -> PortLoads:
        """Loads without failures."""
        solution = self.solution
        loads = PortLoads(defaultdict(float))
        for target, inflow in self.spread.inflow.items():
            self._carry(solution.trips.forwarder, solution.underlay, target, inflow, loads)
        return loads

    def after(self, failure: Failure) -> PortLoads:
        """Loads after one failure; failed parts have none."""
        weak = weaken(self.solution.underlay, failure)
        tables = TablesAfterFailure(self.base, weak, tuple(self.base.fates(weak)))
        forwarder = tables.forwarder(self._prefixes)
        loads = PortLoads(defaultdict(float))
        for target, inflow in self.spread.inflow.items():
            gone = {source: inflow[source] for source in weak.dead & inflow.keys()}
            gone = inflow if target[0] in weak.dead else gone
            loads.lost += sum(gone.values())
            stays = {source: rate for source, rate in inflow.items() if source not in gone}
            self._carry(forwarder, weak.underlay, target, stays, loads)
        own = self.spread.own.items()
        loads.lost += sum(rate for (leaf, _), rate in own if leaf in weak.dead)
        return loads

    @cached_property
    def _addresses(self) -> Mapping[Target, IPv4Address]:
        """Address of one server of each target; all of a target are routed alike."""
        servers, targets = self.spread.servers, self.spread.targets
        return {target: servers[name].address.ip for name, target in targets.items()}

    @cached_property
    def _prefixes(self) -> frozenset[IPv4Network]:
        """Prefixes of all tables that contain a target."""
        matching = self.solution.trips.forwarder.matching
        return frozenset(p for address in self._addresses.values() for p in matching(address))

    def _carry(
        self,
        forwarder: Forwarder,
        underlay: Underlay,
        target: Target,
        inflow: Inflow,
        loads: PortLoads,
    ) -> None:
        """Add the traffic to a target; what loops is cut after it has passed every switch once."""
        steps = forwarder.steps(forwarder.matching(self._addresses[target]))
        ways: dict[str, list[Way] | None] = {}
        rates = {source: rate for source, rate in inflow.items() if rate > NOTHING_GBPS}
        for _ in underlay.network.nodes:
            onward: defaultdict[str, float] = defaultdict(float)
            for device, rate in rates.items():
                if device not in ways:
                    ways[device] = _ways(forwarder, underlay, device, steps)
                following = ways[device]
                if following is None:
                    loads.cut += rate if device != target[0] else 0.0
                    continue
                for port, switch in following:
                    share = rate / len(following)
                    if port is not None:
                        loads.by_port[port] += share
                    if switch is None:
                        loads.cut += share
                    else:
                        onward[switch] += share
            rates = onward
        loads.cut += sum(rates.values())


def _ways(
    forwarder: Forwarder, underlay: Underlay, device: str, steps: list[Step]
) -> list[Way] | None:
    """Ways of packets on from a device, one a next hop; None: they end there."""
    for prefix, own, routes in steps:
        if device in own:
            if prefix in underlay.connected[device]:
                return None
            return [_static_way(underlay, device, hop) for hop in underlay.static[device][prefix]]
        if hops := routes.get(device):
            return [(_port(underlay, device, h), forwarder.neighbours[device, h]) for h in hops]
    return [(None, None)]


def _static_way(underlay: Underlay, device: str, hop: IPv4Address | None) -> Way:
    if hop is None:
        return None, None
    owners = underlay.owners.get(hop)
    return _port(underlay, device, hop), owners[0][0] if owners else None


def _port(underlay: Underlay, device: str, hop: IPv4Address) -> Port | None:
    """Port of a device whose subnet contains a next hop."""
    subnets = underlay.connected[device].items()
    return next(((device, port) for subnet, port in subnets if hop in subnet), None)


def loads_of(solution: Solution, spread: DemandMatrix) -> Loads:
    """Loads by the routes of BGP, or by all tables where a static route may carry the demand."""
    kind = ForwardedLoads if any(carrying_statics(solution, spread)) else Loads
    return kind(solution, spread)
