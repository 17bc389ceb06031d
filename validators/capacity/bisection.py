"""Capacity of a fabric: uplinks, bisection, oversubscription, ECMP width from leaf to leaf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from ipaddress import IPv4Network

from rocefort.base.errors import Refused
from rocefort.models.base import Frozen
from rocefort.models.network.network import Network, Sources, SwitchRole
from rocefort.validators.facts.links import uplink_gbps
from rocefort.validators.routing.engine import Solution, analyse
from rocefort.validators.routing.reachability_matrix import denied_pairs, reachability_of


def bandwidth(network: Network, sources: Sources | None = None) -> Bandwidth:
    """Capacity of a network; without ECMP widths, but with the reason, if the engine refuses it."""
    leaves, uplinks = network.role(SwitchRole.LEAF), uplink_gbps(network)
    servers: Counter[str] = Counter()
    for server in network.servers or ():
        servers[server.port.device] += server.speed_gbps
    totals = Bandwidth(
        spines=len(network.role(SwitchRole.SPINE)),
        leaves=len(leaves),
        loads=tuple(
            LeafLoad(leaf=leaf.name, down_gbps=servers[leaf.name], up_gbps=uplinks.get(leaf.name))
            for leaf in leaves
        ),
        bisection_gbps=bisection_gbps([uplinks.get(leaf.name, 0) for leaf in leaves]),
    )
    try:
        solution = analyse(network, sources)
    except Refused as error:
        return totals.model_copy(update={"refused": str(error)})
    reached = reachability_of(solution.trips)
    allowed = reached.pairs - denied_pairs(network, reached)
    results = {"widths": widths(solution), "pairs": (reached.delivered, allowed)}
    return totals.model_copy(update=results)


def bisection_gbps(uplinks: list[int | None]) -> int | None:
    """Uplinks of the half of the leaves with the least, Gb/s; None where one is not known."""
    speeds = sorted(gbps for gbps in uplinks if gbps is not None)
    return sum(speeds[: len(speeds) // 2]) if len(speeds) == len(uplinks) else None


def widths(solution: Solution, among: Set[str] | None = None) -> tuple[int, int] | None:
    """Least and most equal-cost paths from leaf to leaf; None with fewer than two leaves.

    among: only these leaves.
    """
    network = solution.underlay.network
    names = [n.name for n in network.role(SwitchRole.LEAF) if among is None or n.name in among]
    served = {name: _served(solution, name) for name in names}
    values = {width for name in names for width in _widths_of(solution, name, served)}
    return (min(values), max(values)) if values else None


def _served(solution: Solution, leaf: str) -> Set[IPv4Network]:
    """Connected prefixes that a leaf announces, without those of gateways that are down."""
    bgp = solution.underlay.network.by_name[leaf].device.bgp
    return set(bgp.networks) & solution.underlay.connected[leaf].keys() if bgp else set()


def _widths_of(solution: Solution, leaf: str, served: Mapping[str, Set[IPv4Network]]) -> Set[int]:
    table, static = solution.bgp.get(leaf, {}), solution.underlay.static[leaf]
    others = {p for name, prefixes in served.items() if name != leaf for p in prefixes}
    targets = others - served[leaf]
    hops = {prefix: selection.next_hops for prefix, selection in table.items()}
    ways = (static.get(prefix) or hops.get(prefix, ()) for prefix in targets)
    return {sum(hop is not None for hop in way) for way in ways}


class LeafLoad(Frozen):
    """Servers and uplinks of one leaf, Gb/s; up None: the speed of an uplink is unknown."""

    leaf: str
    down_gbps: int
    up_gbps: int | None

    @property
    def ratio(self) -> float | None:
        """Oversubscription; None without uplinks of a known speed."""
        return self.down_gbps / self.up_gbps if self.up_gbps else None


class Bandwidth(Frozen):
    """Bandwidth of a fabric.

    bisection_gbps: between the half of the leaves with the least uplinks and all others.
    widths: least and most equal-cost paths from leaf to leaf. pairs: of servers, delivered by
    every path, and all that the policy does not deny. None: unknown, or refused by the routing
    engine, with `refused` as reason.
    """

    spines: int
    leaves: int
    loads: tuple[LeafLoad, ...]
    bisection_gbps: int | None
    widths: tuple[int, int] | None = None
    pairs: tuple[int, int] | None = None
    refused: str = ""

    @property
    def uplinks_gbps(self) -> tuple[int, int] | None:
        """Least and most uplinks of a leaf."""
        rates = [load.up_gbps for load in self.loads if load.up_gbps is not None]
        return (min(rates), max(rates)) if rates else None
