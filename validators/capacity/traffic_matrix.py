"""Traffic matrix: a demand, spread over servers and leaves, by sending leaf and target prefix.

Senders and receivers share a flow in proportion to the speed of their ports, and no server sends to
itself. So the traffic from one leaf to another is a product of two numbers for each flow, except
traffic within a leaf; a sum over pairs of servers is not necessary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network

from rocefort.base.errors import Refused
from rocefort.models.device.routing import StaticRoute
from rocefort.models.network.demand import Demand, members
from rocefort.models.network.network import Server
from rocefort.validators.routing.engine import Solution
from rocefort.validators.routing.external_peers import outside_name
from rocefort.validators.routing.forwarding_table import PrefixTable

Target = tuple[str, IPv4Network]  # leaf, and the prefix that leads to it
Inflow = dict[str, float]  # Gb/s by leaf that sends


@dataclass
class Term:
    """Flow in product form. rates: Gb/s that a server sends for each Gb/s of a receiver's port."""

    rates: Mapping[str, float]
    weights: Mapping[str, int]  # of receivers, Gb/s of their ports
    by_leaf: Mapping[str, float]  # rates of all senders of a leaf
    towards: Mapping[str, int]  # weights of all receivers of a leaf


@dataclass
class DemandMatrix:
    """Traffic matrix of all flows; `inflow` has no traffic within a leaf: it uses no uplink."""

    terms: tuple[Term, ...]
    servers: Mapping[str, Server]
    targets: Mapping[str, Target]  # by server
    inflow: dict[Target, Inflow]
    own: dict[tuple[str, Target], float] = field(default_factory=dict)  # traffic within a leaf
    cut: dict[tuple[str, str], float] = field(default_factory=dict)  # without a path, by leaf

    def by_server(self) -> dict[str, tuple[float, float]]:
        """Demand that each server sends and receives, Gb/s."""
        out, into = defaultdict[str, float](float), defaultdict[str, float](float)
        for term in self.terms:
            rates, total = term.rates, sum(term.rates.values())
            received = sum(term.weights.values())
            for name, rate in rates.items():
                out[name] += rate * (received - term.weights.get(name, 0))
            for name, weight in term.weights.items():
                into[name] += weight * (total - rates.get(name, 0.0))
        return {name: (out[name], into[name]) for name in self.servers}

    def crossing(self, half: frozenset[str], others: frozenset[str]) -> tuple[float, float]:
        """Demand with a path from one half of the leaves to the other, and back, Gb/s."""
        out = into = 0.0
        for term in self.terms:
            rates, towards = term.by_leaf, term.towards
            sides = [
                (sum(rates.get(n, 0.0) for n in side), sum(towards.get(n, 0) for n in side))
                for side in (half, others)
            ]
            out += sides[0][0] * sides[1][1]
            into += sides[1][0] * sides[0][1]
        for (a, b), rate in self.cut.items():
            out -= rate if a in half and b in others else 0
            into -= rate if a in others and b in half else 0
        return max(out, 0.0), max(into, 0.0)

    def balance(self) -> dict[str, tuple[float, float]]:
        """Sent minus received traffic of each leaf, and sent traffic, as shares of all.

        Rounded, so that equal leaves stay equal for any multiple of the demand.
        """
        out, into = defaultdict[str, float](float), defaultdict[str, float](float)
        for (leaf, _), inflow in self.inflow.items():
            for source, rate in inflow.items():
                out[source] += rate
                into[leaf] += rate
        total = sum(out.values()) or 1.0
        leaves = out.keys() | into.keys()
        return {
            leaf: (round((out[leaf] - into[leaf]) / total, 9), round(out[leaf] / total, 9))
            for leaf in leaves
        }


def spread(demand: Demand | None, solution: Solution) -> DemandMatrix:
    """Spread a demand; demand that is not delivered by every path is cut off.

    Raises Refused if another switch than the leaf has the subnet of a server on an interface.
    """
    network = solution.underlay.network
    servers = {server.name: server for server in network.servers or ()}
    targets = _targets(solution, servers.values())
    terms = tuple(_terms(demand, solution)) if demand else ()
    matrix = DemandMatrix(terms, servers, targets, {})
    for term in terms:
        _add(matrix, term)
    if terms:
        _cut_undelivered(matrix, solution)
    return matrix


def _terms(demand: Demand, solution: Solution) -> Iterator[Term]:
    network = solution.underlay.network
    for flow in demand.all_flows:
        weights = {s.name: s.speed_gbps for s in members(flow.receivers, network)}
        all_weights = sum(weights.values())
        senders = {
            server.name: (server.speed_gbps, all_weights - weights.get(server.name, 0))
            for server in members(flow.senders, network)
            if all_weights > weights.get(server.name, 0)
        }
        scale = demand.rate_of(flow) / sum(speed for speed, _ in senders.values())
        rates = {name: scale * speed / others for name, (speed, others) in senders.items()}
        by_leaf, towards = defaultdict[str, float](float), defaultdict[str, int](int)
        for server in network.servers or ():
            by_leaf[server.port.device] += rates.get(server.name, 0.0)
            towards[server.port.device] += weights.get(server.name, 0)
        yield Term(rates, weights, by_leaf, towards)


def _targets(solution: Solution, servers: Iterable[Server]) -> dict[str, Target]:
    """Leaf of each server, and the longest prefix of any table for its address.

    A static route counts even if it is not in use: after a failure it may be.
    """
    forwarder, connected = solution.trips.forwarder, solution.underlay.connected
    statics = PrefixTable(route.prefix for _, route in static_routes(solution))
    targets: dict[str, Target] = {}
    for server in servers:
        leaf, address = server.port.device, server.address.ip
        known = next(iter(forwarder.matching(address)), server.address.network)
        prefix = max([known, *statics.holding(address)[:1]], key=lambda one: one.prefixlen)
        others = [name for name in sorted(connected) if name != leaf and prefix in connected[name]]
        if others:
            what = f"{others[0]} has {prefix} in its own table, and so has {leaf}"
            how = "give each leaf its own prefix: which servers a sender reaches is not modelled"
            raise Refused(what, where=server.name, how=how)
        targets[server.name] = leaf, prefix
    return targets


def static_routes(solution: Solution) -> Iterator[tuple[str, StaticRoute]]:
    """Static routes of all public tables, in use or not, with their switches."""
    network = solution.underlay.network
    outside = {outside_name(exit_) for exit_ in network.exits or ()}
    for node in (node for node in network.nodes if node.name not in outside):
        yield from ((node.name, r) for r in node.device.static_routes if r.vrf is None)


def carrying_statics(solution: Solution, matrix: DemandMatrix) -> Iterator[StaticRoute]:
    """Static routes that may carry demand: to a part of a target, or on to another switch.

    A wider prefix that leads nowhere in the network drops packets, as no route does.
    """
    prefixes = {prefix for _, prefix in matrix.targets.values()}
    owned = {
        address.ip
        for node in solution.underlay.network.nodes
        for interface in node.device.interfaces
        for address in interface.addresses
    }
    for _, route in static_routes(solution):
        within = any(route.prefix.subnet_of(prefix) for prefix in prefixes)
        around = route.next_hop in owned and any(p.subnet_of(route.prefix) for p in prefixes)
        if within or around:
            yield route


def _add(matrix: DemandMatrix, term: Term) -> None:
    """Add one flow's products to the matrix."""
    weights = defaultdict[Target, int](int)
    for name, weight in term.weights.items():
        weights[matrix.targets[name]] += weight
    sending = [(leaf, rate) for leaf, rate in term.by_leaf.items() if rate]
    for target, weight in weights.items():
        inflow = matrix.inflow.setdefault(target, {})
        for leaf, rate in sending:
            if leaf != target[0]:
                inflow[leaf] = inflow.get(leaf, 0.0) + rate * weight
        key = target[0], target
        matrix.own[key] = matrix.own.get(key, 0.0) + term.by_leaf.get(target[0], 0.0) * weight
    for name, rate in term.rates.items():  # no server sends to itself
        if name in term.weights:
            target = matrix.targets[name]
            matrix.own[target[0], target] -= rate * term.weights[name]


def _cut_undelivered(matrix: DemandMatrix, solution: Solution) -> None:
    """Remove demand that the routing engine does not deliver: filtered, or without a route."""
    reached = solution.state.reachability
    names = [one.servers for one in reached.classes]
    for term in matrix.terms:
        rates = [sum(term.rates.get(name, 0.0) for name in own) for own in names]
        weights = [sum(term.weights.get(name, 0) for name in own) for own in names]
        for source, target in reached.lost_classes():
            rate = rates[source] * weights[target]
            if source == target:
                rate -= _to_itself(term, names[source])
            if rate > 0:
                _take(matrix, names[source][0], names[target][0], rate)


def _to_itself(term: Term, names: Sequence[str]) -> float:
    return sum(term.rates.get(name, 0.0) * term.weights.get(name, 0) for name in names)


def _take(matrix: DemandMatrix, source: str, destination: str, rate: float) -> None:
    leaf, target = matrix.servers[source].port.device, matrix.targets[destination]
    key = leaf, target[0]
    matrix.cut[key] = matrix.cut.get(key, 0.0) + rate
    if leaf == target[0]:
        matrix.own[leaf, target] -= rate
    else:
        matrix.inflow[target][leaf] -= rate
