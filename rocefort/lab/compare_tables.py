"""Comparison of next hops by engines with those of a twin's kernels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.network.network import Network
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import RoutingState

Hops = frozenset[IPv4Address]
Tables = Mapping[str, Mapping[IPv4Network, Hops]]  # of kernels: BGP's routes by switch
KERNEL_ENGINE = ("the kernel", "the engine")
Ties = Callable[[str, IPv4Network], Hops]


@dataclass(frozen=True)
class NextHopDifference:
    """A prefix of one switch with different next hops in two sources.

    who: names of the two sources of tables.
    """

    switch: str
    prefix: IPv4Network
    kernel: Hops
    engine: Hops
    who: tuple[str, str] = KERNEL_ENGINE

    def is_free_choice(self, ties: Hops) -> bool:
        """Whether both have equally many next hops, all from the set of a tie-breaker."""
        both = self.kernel | self.engine
        return bool(self.kernel) and len(self.kernel) == len(self.engine) and ties >= both

    def __str__(self) -> str:
        first, second = self.who
        kernel, engine = (
            ", ".join(map(str, sorted(hops))) or "no route" for hops in (self.kernel, self.engine)
        )
        return f"{self.switch} {self.prefix}: {first} has {kernel}, {second} {engine}"


@dataclass(frozen=True)
class Opinions:
    """Number of compared (switch, prefix) pairs, and the differing ones."""

    engine: str
    compared: int
    differences: tuple[NextHopDifference, ...]


def three_opinions(network: Network, tables: Tables) -> Opinions:
    """Compare kernels with the embedded engine; raises Refused as it does."""
    solution = analyse(network)
    return compare_tables(solution.state, tables, solution.ties)


def compare_tables(
    state: RoutingState, tables: Tables, ties: Ties, who: tuple[str, str] = KERNEL_ENGINE
) -> Opinions:
    """Compare kernels with an engine's answers, or with recorded ones, of these switches.

    ties: next hops that only an arbitrary tie-breaker separates. If a switch may use fewer, two
    sources need equally many of them, not the same ones.
    """
    none: Hops = frozenset()
    engine_tables = tables_of(state, tables)
    pairs = [
        NextHopDifference(
            name, prefix, table.get(prefix, none), engine_tables[name].get(prefix, none), who
        )
        for name, table in tables.items()
        for prefix in sorted({*table, *engine_tables[name]})
    ]
    differences = tuple(
        each
        for each in pairs
        if each.kernel != each.engine and not each.is_free_choice(ties(each.switch, each.prefix))
    )
    return Opinions(state.engine, len(pairs), differences)


def tables_of(state: RoutingState, switches: Collection[str]) -> dict[str, dict[IPv4Network, Hops]]:
    """Return an engine's answers as tables of these switches."""
    tables: dict[str, dict[IPv4Network, Hops]] = {name: {} for name in switches}
    for route in state.routes:
        if route.device in tables:
            tables[route.device][route.prefix] = frozenset(route.next_hops)
    return tables
