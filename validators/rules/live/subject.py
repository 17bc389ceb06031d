"""Rules on what the switches say of their state: the subject that they judge, a reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import ClassVar

from rocefort.errors import Refused
from rocefort.models.network.network import End, Network, Node, Port
from rocefort.models.network.observed import DeviceSeen, Observed, PortSeen, StateTopic
from rocefort.models.results.routing import RoutingState, SessionStatus
from rocefort.validators.routing.engine import solve
from rocefort.validators.rules.registry import RuleTopics, Subject, Verdict

ONE_READING = "one reading tells no change; take two (--interval), or name an earlier (--baseline)"
SILENT = "it could not be read (LIV001)"
NOT_BEFORE = "it was not read before, so no change can be judged"


def reading(*topics: StateTopic, twice: bool = False) -> RuleTopics:
    """Name what a rule reads."""
    return RuleTopics(topics, twice)


Hops = Mapping[IPv4Network, tuple[IPv4Address, ...]]


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """What no vendor prescribes: choices of ours, each an option of `rocefort health`."""

    clock_s: float = 5.0
    disk_mbytes: int = 100  # a configuration takes less than one of them
    pause_rate: int = 1000  # PFC frames a second, in one direction of a port


@dataclass(frozen=True, slots=True)
class IntendedState:
    """The embedded engine's answers about a network, by switch; refused: why it has none.

    up: peers, and whether the session is meant to come up. hops: of the server segments, of all
    prefixes where no segment is known. used: how many prefixes are meant to be used from a peer.
    """

    up: Mapping[str, Mapping[IPv4Address, bool]] = field(default_factory=dict)
    hops: Mapping[str, Hops] = field(default_factory=dict)
    used: Mapping[tuple[str, IPv4Address], int] = field(default_factory=dict)
    refused: str = ""


def intended_of(network: Network) -> IntendedState:
    """What the routing of a network is meant to be."""
    try:
        state = solve(network)
    except Refused as error:
        return IntendedState(refused=f"the embedded engine does not model this fabric: {error}")
    up: dict[str, dict[IPv4Address, bool]] = {}
    for session in state.sessions:
        established = session.status is SessionStatus.ESTABLISHED
        up.setdefault(session.device, {})[session.peer] = established
    used = Counter((route.device, hop) for route in state.routes for hop in route.next_hops)
    return IntendedState(up, _server_hops(network, state), used)


def _server_hops(network: Network, state: RoutingState) -> dict[str, Hops]:
    wanted = None if network.segments is None else {s.prefix for s in network.segments}
    found: dict[str, dict[IPv4Network, tuple[IPv4Address, ...]]] = {}
    for route in state.routes:
        if wanted is None or route.prefix in wanted:
            found.setdefault(route.device, {})[route.prefix] = route.next_hops
    return dict(found)


@dataclass(frozen=True, slots=True)
class Readings:
    """What switches say now; before: what they said earlier, None where nobody asked them."""

    now: Observed
    before: Observed | None = None
    limits: HealthLimits = field(default_factory=HealthLimits)


@dataclass(frozen=True)
class LiveSubject(Subject):
    """A network as it is meant to be, and what its switches say, under one rule."""

    readings: Readings
    intended: IntendedState

    given: ClassVar[str] = "a reading of the switches"

    def verdicts(self) -> Iterator[Verdict]:
        """First what a switch did not tell, by reason, then as of any subject."""
        reads = self.rule.reads
        if reads.twice and self.before is None:
            yield self.not_judged(None, ONE_READING)
            return
        for node, seen in self.queried_switches:
            reasons = (seen.missing[topic] for topic in reads.topics if topic in seen.missing)
            if reason := next(reasons, None):
                yield self.not_judged(node, SILENT if seen.failed and not seen.facts else reason)
            elif reads.twice and self.before and node.name not in self.before.by_name:
                yield self.not_judged(node, NOT_BEFORE)
        yield from Subject.verdicts(self)

    @property
    def now(self) -> Observed:
        """The reading that is judged."""
        return self.readings.now

    @property
    def before(self) -> Observed | None:
        """The earlier reading."""
        return self.readings.before

    @property
    def limits(self) -> HealthLimits:
        """Our choices."""
        return self.readings.limits

    @cached_property
    def queried_switches(self) -> tuple[tuple[Node, DeviceSeen], ...]:
        """Switches that were read, in the order of the network."""
        seen = self.now.by_name
        return tuple((n, seen[n.name]) for n in self.network.nodes if n.name in seen)

    @cached_property
    def answering_switches(self) -> tuple[tuple[Node, DeviceSeen], ...]:
        """Those of them that told all that the rule reads."""
        reads = self.rule.reads.topics
        return tuple(
            (node, seen)
            for node, seen in self.queried_switches
            if not any(map(seen.missing.get, reads))
        )

    def port(self, end: End) -> PortSeen | None:
        """An interface as its switch shows it; None where it shows none, or was not read."""
        seen = self.now.by_name.get(end.device)
        return seen.by_port.get(end.interface) if seen else None

    def roce_ports(self, node: Node) -> Iterable[Port]:
        """The enabled ports of one switch that RoCE passes."""
        return self._roce_ports.get(node.name, {}).values()

    @cached_property
    def _roce_ports(self) -> dict[str, dict[End, Port]]:
        found: dict[str, dict[End, Port]] = {}
        for port in self.network.roce_ports:
            if port.interface.enabled:
                found.setdefault(port.end.device, {})[port.end] = port
        return found

    def named_address(self, address: IPv4Address) -> str:
        """An address with the switch that has it."""
        owner = self._owners.get(address)
        return f"{address} ({owner})" if owner else str(address)

    @cached_property
    def _owners(self) -> dict[IPv4Address, str]:
        return {
            address.ip: node.name
            for node in self.network.nodes
            for interface in node.device.interfaces
            for address in interface.addresses
        }

    def seconds(self, device: str) -> float:
        """How far apart the two readings of a switch are."""
        if self.before is None:
            return 0.0
        now, before = (reading.by_name[device].at for reading in (self.now, self.before))
        return (now - before).total_seconds()
