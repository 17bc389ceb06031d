"""The embedded routing engine: sessions, routes and reachability of an eBGP Clos from its text.

Underlay (what is up and wired) -> sessions -> BGP tables -> forwarding. Each step is a value of
its own, so that a failure can later be answered by redoing only what hangs on it. The engine
models what a Device can say: connected routes and eBGP over routed ports; the rest it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network

from rocefort.models.network import Network, Sources
from rocefort.models.routing import BgpSession, Reachability, Route, RoutingState
from rocefort.validators.bgp_engine import PrefixClass, Selection, solve_bgp
from rocefort.validators.bgp_sessions import Session, sessions
from rocefort.validators.forwarding import Fib, Forwarder, Stop, trips
from rocefort.validators.underlay import Underlay, build

ENGINE = "embedded"


@dataclass(frozen=True)
class Solution:
    """All that the engine knows; `state` is what other engines can answer too."""

    underlay: Underlay
    sessions: tuple[Session, ...]
    classes: tuple[PrefixClass, ...]

    @cached_property
    def bgp(self) -> dict[str, dict[IPv4Network, Selection]]:
        """Learned BGP prefixes in each main table; a connected route of that prefix beats BGP."""
        tables: dict[str, dict[IPv4Network, Selection]] = {}
        for group in self.classes:
            for device, selection in group.selections.items():
                if not selection.next_hops:
                    continue
                table, connected = tables.setdefault(device, {}), self.underlay.connected[device]
                for prefix in group.prefixes:
                    if prefix not in connected:
                        table[prefix] = selection
        return tables

    @cached_property
    def pairs(self) -> dict[tuple[str, str], Stop | None]:
        """Every ordered pair of servers, and what stops a packet on some path; None: nothing."""
        fib: Fib = {
            device: {prefix: selection.next_hops for prefix, selection in table.items()}
            for device, table in self.bgp.items()
        }
        neighbours = {(s.device, s.peer): s.far[0] for s in self.sessions if s.far}
        return dict(trips(self.underlay, Forwarder(self.underlay, fib, neighbours)))

    @cached_property
    def state(self) -> RoutingState:
        """The answers, each collection sorted."""
        return RoutingState.model_construct(
            engine=ENGINE,
            sessions=tuple(
                BgpSession(device=s.device, peer=s.peer, status=s.status) for s in self.sessions
            ),
            routes=tuple(self._routes()),
            reachability=tuple(
                Reachability.model_construct(
                    source=source, destination=destination, delivered=stop is None
                )
                for (source, destination), stop in self.pairs.items()
            ),
        )

    def _routes(self) -> Iterator[Route]:
        # Not validated again: 8 spines with 120 leaves have about 10^5 rows of known types.
        for device in sorted(self.bgp):
            table = self.bgp[device]
            for prefix in sorted(table, key=_prefix_order):
                hops = table[prefix].next_hops
                yield Route.model_construct(device=device, prefix=prefix, next_hops=hops)

    def ties(self, device: str, prefix: IPv4Network) -> frozenset[IPv4Address]:
        """Next hops of all routes that only an arbitrary tie-breaker tells apart."""
        selection = self.bgp.get(device, {}).get(prefix)
        return selection.ties if selection else frozenset()


def _prefix_order(prefix: IPv4Network) -> tuple[int, int]:
    return int(prefix.network_address), prefix.prefixlen


def analyse(network: Network, sources: Sources | None = None) -> Solution:
    """Solve a network and keep the reasons.

    Raises Refused, naming device and line, for what the engine does not model; for a server on
    an unknown switch when `state` or `pairs` is asked for.
    """
    known = sources or Sources()
    underlay = build(network, known)
    found = sessions(underlay, known)
    return Solution(underlay, found, solve_bgp(underlay, found, known))


def solve(network: Network, sources: Sources | None = None) -> RoutingState:
    """Answers of the embedded engine. Raises as `analyse` does."""
    return analyse(network, sources).state
