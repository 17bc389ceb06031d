"""Convergence of a twin: sessions are up, kernels have the routes that BGP chose, nothing changes.

This module has no expected routes: the engines compute those, and are compared with the kernels
afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from time import monotonic, sleep
from typing import Any, Protocol

from rocefort.base.errors import ServiceFailed
from rocefort.lab.twin.kernel_routes import chosen_of, read_fib
from rocefort.models.wording import count_of

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
