"""Routing tables of the kernels of a twin, and their convergence to what BGP chose.

FRR's tables are not: after a link flap, `show ip route` of 8.4 lists paths that the kernel does not
have.

This module has no expected routes: the engines compute those, and are compared with the kernels
afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network
from time import monotonic, sleep
from typing import Any, Protocol

from rocefort.base.errors import ServiceFailed
from rocefort.models.wording import count_of

DEAD = {"dead", "linkdown"}
Hops = frozenset[IPv4Address]
Fib = dict[IPv4Network, Hops]


def read_fib(text: str, protocols: Iterable[str] = ()) -> Fib:
    """Return next hops by prefix from `ip -j route`; none for connected or dropped prefixes.

    protocols: only routes of these, such as bgp; all by default.
    """
    selected = set(protocols)
    return {
        prefix_of(row["dst"]): frozenset(_hops(row))
        for row in json.loads(text or "[]")
        if not selected or row.get("protocol") in selected
    }


@lru_cache(maxsize=1 << 14)  # a few values repeat in hundreds of tables
def prefix_of(text: str) -> IPv4Network:
    """Return the prefix of a route, as `ip` or bgpd writes it."""
    return IPv4Network("0.0.0.0/0" if text == "default" else text)


@lru_cache(maxsize=1 << 14)
def address_of(text: str) -> IPv4Address:
    """Return a next hop."""
    return IPv4Address(text)


def _hops(row: dict[str, Any]) -> Iterable[IPv4Address]:
    for hop in row.get("nexthops") or [row]:
        if "gateway" in hop and not DEAD & set(hop.get("flags", ())):
            yield address_of(hop["gateway"])


def chosen_of(table: Mapping[str, Any], own: Collection[IPv4Network]) -> Fib:
    """Return the routes that bgpd selected for the kernel, of `show bgp ipv4 unicast json`.

    own: prefixes that the switch has from another source, which wins.
    """
    fib = {}
    for text, paths in table.get("routes", {}).items():
        hops = frozenset(
            address_of(path["nexthops"][0]["ip"])
            for path in paths
            if path.get("valid") and (path.get("bestpath") or path.get("multipath"))
        )
        prefix = prefix_of(text)
        if prefix not in own and not any(hop.is_unspecified for hop in hops) and hops:
            fib[prefix] = hops
    return fib


PAUSE_S = 0.05
QUIET_S = 0.25  # several times bgpd's `coalesce-time`


@dataclass(frozen=True)
class KernelState:
    """State of one switch: state by peer, counters by peer, `ip -j route` of its kernel."""

    sessions: Mapping[str, str]
    counts: tuple[tuple[int, int, int], ...]  # routes received, sent, messages waiting
    routes: str


class TwinState(Protocol):
    """Access to the state of switches."""

    def look(self, names: Collection[str] | None = None) -> dict[str, KernelState]:
        """Return the state of these switches, or all."""

    def chosen(self) -> dict[str, Mapping[str, Any]]:
        """Return the BGP table of each switch."""

    def own(self, switch: str) -> set[IPv4Network]:
        """Return the subnets of a switch's own addresses."""


def summary_of(
    answer: Mapping[str, Any],
) -> tuple[dict[str, str], tuple[tuple[int, int, int], ...]]:
    """Return state and counters by peer, from `show bgp ipv4 unicast summary json`."""
    peers = answer.get("peers", {})
    states = {address: str(peer["state"]) for address, peer in peers.items()}
    counts = tuple(
        (peer.get("pfxRcd", 0), peer.get("pfxSnt", 0), peer.get("inq", 0) + peer.get("outq", 0))
        for _, peer in sorted(peers.items())
    )
    return states, counts


def wait_settled(lab: TwinState, expected: Mapping[str, tuple[str, ...]], limit_s: float) -> float:
    """Wait until expected sessions are up, routes are stable, and kernels have what BGP chose.

    Returns the seconds that it took. Raises ServiceFailed with a session or a switch when the limit
    is over. A whole table is a large answer, so it is read last.
    """
    begin = monotonic()
    before = _sessions_up(lab, expected, begin + limit_s, limit_s)
    while True:
        sleep(QUIET_S)
        seen = lab.look()
        reason = "routes still change"
        if seen == before and not _missing(seen, expected):
            switch = _lagging_switch(lab, seen)
            if switch is None:
                return monotonic() - begin
            reason = f"the kernel of {switch} does not have what BGP chose"
        if monotonic() > begin + limit_s:
            raise _late(_missing(seen, expected), reason, limit_s)
        before = seen


def _sessions_up(
    lab: TwinState, expected: Mapping[str, tuple[str, ...]], until: float, limit_s: float
) -> dict[str, KernelState]:
    """Poll the switches with a missing session, until none is left."""
    seen = lab.look()
    while missing := _missing(seen, expected):
        if monotonic() > until:
            raise _late(missing, "", limit_s)
        sleep(PAUSE_S)
        seen |= lab.look({text.partition(" ")[0] for text in missing})
    return seen


def _lagging_switch(lab: TwinState, seen: Mapping[str, KernelState]) -> str | None:
    """Return a switch whose kernel routes differ from the choice of its bgpd.

    A switch's own prefixes win, and its own loopbacks are in no table that `ip route` lists.
    """
    tables = lab.chosen()
    for name, each in seen.items():
        learned = read_fib(each.routes, ["bgp"])
        own = (read_fib(each.routes).keys() - learned.keys()) | lab.own(name)
        in_kernel = {prefix: hops for prefix, hops in learned.items() if prefix not in own}
        if chosen_of(tables[name], own) != in_kernel:
            return name
    return None


def _missing(seen: Mapping[str, KernelState], expected: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [
        f"{name} to {peer} is {seen[name].sessions.get(peer, 'not configured')}"
        for name, peers in expected.items()
        for peer in peers
        if seen[name].sessions.get(peer) != "Established"
    ]


def _late(missing: list[str], reason: str, limit_s: float) -> ServiceFailed:
    what = f"after {limit_s:.0f} s {reason}"
    if missing:
        what = f"after {limit_s:.0f} s {count_of(len(missing), 'session')} not up: {missing[0]}"
    return ServiceFailed(what, how="see `rocefort lab status`, and how busy this machine is")
