"""Subject of live rules: readings of the switches, compared with the intended state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import ClassVar

from rocefort.base.errors import Refused
from rocefort.models.network.network import End, Network, Node, Port
from rocefort.models.network.observed import DeviceSeen, Observed, PortSeen, StateTopic
from rocefort.validators.routing.engine import solve
from rocefort.validators.routing_results import RoutingState, SessionStatus
from rocefort.validators.rules.missing import Missing
from rocefort.validators.rules.registry import RuleTopics, Subject, Verdict

ONE_READING = "one reading shows no change; take two (--interval), or name an earlier (--baseline)"
UNREAD_LINE = "a line of the output that may be about it was not read (LIV001)"
SILENT = "it could not be read (LIV001)"
NOT_BEFORE = "the earlier reading lacks this switch, so no change can be judged"
TWICE = Missing("the change between two readings", run="rocefort health FABRIC --interval 10")
SHOWN_BY = {  # terms of the commands that show each topic
    StateTopic.FACTS: "model and release",
    StateTopic.PEERS: "state of BGP peers",
    StateTopic.ROUTES: "routing table",
    StateTopic.NEIGHBOURS: "neighbours of ports",
    StateTopic.PORTS: "state of ports",
    StateTopic.PFC_PORTS: "PFC of ports",
    StateTopic.PFC_PROFILES: "queues of PFC profiles",
    StateTopic.PFC_COUNTERS: "counters of PFC",
    StateTopic.THRESHOLDS: "thresholds of ports",
    StateTopic.QUEUES: "counters of queues",
    StateTopic.AI_ECN: "state of AI-ECN",
    StateTopic.ECN_MARKS: "packets that ECN marked",
    StateTopic.CLOCK: "the clock",
    StateTopic.DISK: "list of files",
    StateTopic.CPU: "load of the CPU",
    StateTopic.MEMORY: "use of memory",
    StateTopic.SAVED: "what a restart loads",
}


def _no_interface(key: str, node: Node) -> bool:
    """Whether a key of a line is neither an interface of the switch nor an address or prefix."""
    return not key[:1].isdigit() and key not in node.device.by_interface


def of_topic(topic: StateTopic) -> Missing:
    """Return the missing reading of a topic, with the command that shows it."""
    return Missing(f"{SHOWN_BY[topic]}, as the switch shows it", SHOWN_BY[topic])


def reading(*topics: StateTopic, twice: bool = False) -> RuleTopics:
    """Topics that a rule reads; twice: it needs an earlier reading, too."""
    return RuleTopics(topics, twice)


Hops = Mapping[IPv4Network, tuple[IPv4Address, ...]]


@dataclass(frozen=True, slots=True)
class HealthLimits:
    """Limits that no vendor prescribes: choices, each an option of `rocefort health`."""

    clock_s: float = 5.0
    disk_mbytes: int = 100  # a configuration takes less than one of them
    pause_rate: int = 1000  # PFC frames a second, in one direction of a port


@dataclass(frozen=True, slots=True)
class IntendedState:
    """Intended sessions and routes by switch, from the embedded engine.

    up: peers, and whether their session should be established. hops: next hops of server segments;
    of all prefixes where no segment is known. used: number of prefixes that should be used from a
    peer. refused: reason why the engine has no answer.
    """

    up: Mapping[str, Mapping[IPv4Address, bool]] = field(default_factory=dict)
    hops: Mapping[str, Hops] = field(default_factory=dict)
    used: Mapping[tuple[str, IPv4Address], int] = field(default_factory=dict)
    refused: str = ""


def intended_of(network: Network) -> IntendedState:
    """Intended routing of a network."""
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
    segments = None if network.segments is None else {s.prefix for s in network.segments}
    next_hops: dict[str, dict[IPv4Network, tuple[IPv4Address, ...]]] = {}
    for route in state.routes:
        if segments is None or route.prefix in segments:
            next_hops.setdefault(route.device, {})[route.prefix] = route.next_hops
    return dict(next_hops)


@dataclass(frozen=True, slots=True)
class SwitchReadings:
    """Present and earlier state of the switches; before is None without an earlier reading."""

    now: Observed
    before: Observed | None = None
    limits: HealthLimits = field(default_factory=HealthLimits)


@dataclass(frozen=True)
class LiveSubject(Subject):
    """Intended network and readings of its switches, under one rule."""

    readings: SwitchReadings
    intended: IntendedState

    given: ClassVar[str] = "a reading of the switches"

    def verdicts(self) -> Iterator[Verdict]:
        """Verdicts on missing readings, by reason, then those of any subject."""
        reads = self.rule.reads
        if reads.twice and self.before is None:
            yield self.not_judged(None, ONE_READING, TWICE)
            return
        for node, seen in self.queried_switches:
            topics = (topic for topic in reads.topics if topic in seen.missing)
            if topic := next(topics, None):
                silent = seen.failed and not seen.facts
                reason = SILENT if silent else seen.missing[topic]
                yield self.not_judged(node, reason, of_topic(topic))
            elif reads.twice and self.before and node.name not in self.before.by_name:
                yield self.not_judged(node, NOT_BEFORE, TWICE)
        yield from self._unread_rows()
        yield from Subject.verdicts(self)

    def _unread_rows(self) -> Iterator[Verdict]:
        """Verdicts (not judged) on the lines that may be rows of the rule's topics."""
        reads = self.rule.reads
        for node, seen in self.answering_switches:
            earlier = self.before.by_name.get(node.name) if reads.twice and self.before else None
            readings = [seen, earlier] if earlier else [seen]
            for topic in reads.topics:
                lines = [line for each in readings for line in each.unread.get(topic, ())]
                for key in dict.fromkeys(line.key for line in lines):
                    known = key in node.device.by_interface
                    place = End(device=node.name, interface=key) if known else node
                    yield self.not_judged(place, UNREAD_LINE, of_topic(topic))

    def may_be_unread(self, node: Node, seen: DeviceSeen, topic: StateTopic, key: str) -> bool:
        """Whether a row that a reading lacks may be one of its unread lines.

        key: of the row. A line with the name of an interface that the switch does not have may be
        any row.
        """
        return any(
            line.key == key or not line.key or _no_interface(line.key, node)
            for line in seen.unread.get(topic, ())
        )

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
        """Limits that this project chose."""
        return self.readings.limits

    @cached_property
    def queried_switches(self) -> tuple[tuple[Node, DeviceSeen], ...]:
        """Switches that were read, in the order of the network."""
        seen = self.now.by_name
        return tuple((n, seen[n.name]) for n in self.network.nodes if n.name in seen)

    @cached_property
    def answering_switches(self) -> tuple[tuple[Node, DeviceSeen], ...]:
        """Switches whose reading has all topics of the rule."""
        reads = self.rule.reads.topics
        return tuple(
            (node, seen)
            for node, seen in self.queried_switches
            if not any(map(seen.missing.get, reads))
        )

    def port(self, end: End) -> PortSeen | None:
        """Reading of an interface; None where the switch was not read, or does not show it."""
        seen = self.now.by_name.get(end.device)
        return seen.by_port.get(end.interface) if seen else None

    def roce_ports(self, node: Node) -> Iterable[Port]:
        """The enabled ports of one switch that RoCE passes."""
        return self._roce_ports.get(node.name, {}).values()

    @cached_property
    def _roce_ports(self) -> dict[str, dict[End, Port]]:
        ports: dict[str, dict[End, Port]] = {}
        for port in self.network.roce_ports:
            if port.interface.enabled:
                ports.setdefault(port.end.device, {})[port.end] = port
        return ports

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
        """Time between the two readings of a switch, in seconds."""
        if self.before is None:
            return 0.0
        now, before = (reading.by_name[device].at for reading in (self.now, self.before))
        return (now - before).total_seconds()
