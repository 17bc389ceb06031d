"""Spread of PFC pauses: which senders a congested port stops, by the paths of all traffic.

A sender can congest each port that its packets leave by. The switch then pauses the links by which
packets for this port arrive. A paused link stops every packet of the lossless queue on it, and the
switch behind it pauses the links whose packets wait for it. The analysis is of paths, not of rates:
a pause that it shows is possible. One that it does not show is impossible only while all paths are
up, and for senders of the demand: a failure, or other traffic, can cause more.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network

from rocefort.models.network.network import Server
from rocefort.validators.routing.buffer_dependencies import Hop, carried_classes
from rocefort.validators.routing.engine import Solution


@dataclass(frozen=True)
class Sending:
    """Servers that send to servers, all of them in the lossless queue."""

    senders: tuple[str, ...]
    receivers: tuple[str, ...]


@dataclass(frozen=True)
class PausedLink:
    """Link that a pause stops, and the congested link at the end of the chain of pauses."""

    link: Hop
    congested: Hop


@dataclass(frozen=True)
class PauseSpread:
    """Packets of groups of senders on every link, as bits of the receivers."""

    by_group: Mapping[str, Mapping[Hop, int]]

    @cached_property
    def _links(self) -> Mapping[Hop, int]:
        """Receivers of all packets on each link."""
        links: defaultdict[Hop, int] = defaultdict(int)
        for carried in self.by_group.values():
            for hop, bits in carried.items():
                links[hop] |= bits
        return links

    @cached_property
    def _towards(self) -> Mapping[str, tuple[Hop, ...]]:
        """Links by the device that they lead to."""
        links: defaultdict[str, list[Hop]] = defaultdict(list)
        for hop in sorted(self._links):
            links[hop[1]].append(hop)
        return {device: tuple(hops) for device, hops in links.items()}

    def paused_by(self, group: str) -> Mapping[Hop, Hop]:
        """Links that can be paused where a group congests a port, each with the congested link."""
        paused: dict[Hop, Hop] = {}
        waiting = deque((hop, hop) for hop in sorted(self.by_group[group]))
        while waiting:
            hop, congested = waiting.popleft()
            for before in self._towards.get(hop[0], ()):
                if before not in paused and self._links[before] & self._links[hop]:
                    paused[before] = congested
                    waiting.append((before, congested))
        return paused

    def stopped_by(self, group: str) -> dict[str, PausedLink]:
        """Other groups that a group can stop, with the paused link nearest to the congestion."""
        paused, stopped = self.paused_by(group), dict[str, PausedLink]()
        for link, congested in paused.items():
            for name, carried in self.by_group.items():
                if name != group and name not in stopped and link in carried:
                    stopped[name] = PausedLink(link, congested)
        return {name: stopped[name] for name in self.by_group if name in stopped}

    def stoppers_of(self, group: str) -> dict[str, PausedLink]:
        """Other groups that can stop a group, each with the paused link."""
        every = {name: self.stopped_by(name) for name in self.by_group if name != group}
        return {name: stopped[group] for name, stopped in every.items() if group in stopped}


def pause_spread(solution: Solution, groups: Mapping[str, Iterable[Sending]]) -> PauseSpread:
    """Return the packets of groups on every link; only servers with RoCE take part."""
    network = solution.underlay.network
    servers = {server.name: server for server in network.servers or () if server.roce}
    bits = {name: 1 << number for number, name in enumerate(servers)}
    forwards = _forwards(solution, servers, bits)
    return PauseSpread(
        {name: _carried(sendings, bits, forwards) for name, sendings in groups.items()}
    )


def _forwards(
    solution: Solution, servers: Mapping[str, Server], bits: Mapping[str, int]
) -> dict[Hop, int]:
    """Receivers whose packets each link takes: of servers, and between switches."""
    every = (1 << len(bits)) - 1
    forwarder = solution.trips.forwarder
    forwards: defaultdict[Hop, int] = defaultdict(int)
    by_prefixes: defaultdict[tuple[IPv4Network, ...], int] = defaultdict(int)
    for name, server in servers.items():
        forwards[name, server.port.device] = every & ~bits[name]
        forwards[server.port.device, name] = bits[name]
        by_prefixes[forwarder.matching(server.address.ip)] |= bits[name]
    for matching, receivers in by_prefixes.items():
        for device, following in forwarder.onward(matching).items():
            for switch in following:
                forwards[device, switch] |= receivers
    return dict(forwards)


def _carried(
    sendings: Iterable[Sending], bits: Mapping[str, int], forwards: Mapping[Hop, int]
) -> Mapping[Hop, int]:
    """Receivers of a group's packets on each link."""
    links: defaultdict[Hop, int] = defaultdict(int)
    for sending in sendings:
        towards = sum(bits[name] for name in sending.receivers if name in bits)
        sources = {
            name: towards & ~bits[name] for name in sending.senders if name in bits and towards
        }
        for hop, receivers in carried_classes(sources, forwards).items():
            links[hop] |= receivers
    return links
