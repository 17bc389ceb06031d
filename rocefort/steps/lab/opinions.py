"""Next hops by engines against those of a twin's kernels: compares tables that others read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.network import Network, Sources
from rocefort.models.routing import Failure, RoutingState
from rocefort.validators.failures import dense
from rocefort.validators.routing import analyse

Hops = frozenset[IPv4Address]
Tables = Mapping[str, Mapping[IPv4Network, Hops]]  # of kernels: BGP's routes by switch


KERNEL_ENGINE = ("the kernel", "the engine")
Ties = Callable[[str, IPv4Network], Hops]


@dataclass(frozen=True)
class Difference:
    """One prefix of one switch to which two opinions send packets by other next hops.

    who: has the tables that were compared, and what they were compared with.
    """

    switch: str
    prefix: IPv4Network
    kernel: Hops
    engine: Hops
    who: tuple[str, str] = KERNEL_ENGINE

    def __str__(self) -> str:
        first, second = self.who
        return (
            f"{self.switch} {self.prefix}: {first} has {_words(self.kernel)}, "
            f"{second} {_words(self.engine)}"
        )


@dataclass(frozen=True)
class Opinions:
    """How many (switch, prefix) were compared, and which differ."""

    engine: str
    compared: int
    differences: tuple[Difference, ...]


def three_opinions(network: Network, tables: Tables, sources: Sources | None = None) -> Opinions:
    """Compare kernels with the embedded engine; raises Refused as it does."""
    solution = analyse(network, sources)
    return compare_tables(solution.state, tables, solution.ties)


def after_failure(network: Network, failure: Failure, tables: Tables) -> Opinions:
    """The same, after a failure; switches that failed are left out."""
    alive = {name: table for name, table in tables.items() if name not in failure.nodes}
    solution = dense(network, failure)
    return compare_tables(solution.state, alive, solution.ties)


def compare_tables(
    state: RoutingState, tables: Tables, ties: Ties, who: tuple[str, str] = KERNEL_ENGINE
) -> Opinions:
    """Compare kernels with an engine's answers, or with recorded ones, of these switches.

    ties: next hops that only an arbitrary tie-breaker tells apart: where a switch may use fewer,
    two opinions need to have equally many of them, not the same ones.
    """
    wanted = tables_of(state, tables)
    pairs = [
        (name, prefix)
        for name, table in tables.items()
        for prefix in sorted({*table, *wanted[name]})
    ]
    differences = tuple(
        each
        for each in _differing(pairs, wanted, tables, who)
        if not _same_choice(each, ties(each.switch, each.prefix))
    )
    return Opinions(state.engine, len(pairs), differences)


def tables_of(state: RoutingState, switches: Collection[str]) -> dict[str, dict[IPv4Network, Hops]]:
    """An engine's answers as tables of these switches."""
    found: dict[str, dict[IPv4Network, Hops]] = {name: {} for name in switches}
    for route in state.routes:
        if route.device in found:
            found[route.device][route.prefix] = frozenset(route.next_hops)
    return found


def _same_choice(difference: Difference, ties: Hops) -> bool:
    kernel, engine = difference.kernel, difference.engine
    return bool(kernel) and len(kernel) == len(engine) and ties >= kernel | engine


def _differing(
    pairs: Collection[tuple[str, IPv4Network]],
    wanted: Tables,
    tables: Tables,
    who: tuple[str, str],
) -> Iterator[Difference]:
    for name, prefix in pairs:
        kernel = tables[name].get(prefix, frozenset())
        engine = wanted[name].get(prefix, frozenset())
        if kernel != engine:
            yield Difference(name, prefix, kernel, engine, who)


def _words(hops: Hops) -> str:
    return ", ".join(map(str, sorted(hops))) or "no route"
