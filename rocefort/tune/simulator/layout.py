"""Servers, switches and cables of a scenario, with the paths of its flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from random import Random

from rocefort.tune.scenario import MAIN_GROUP, Scenario
from rocefort.tune.traffic import Flows

PortName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Cable:
    """Cable between two nodes: speed in Gb/s, delay of one way in us."""

    a: str
    b: str
    gbps: int
    delay_us: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Sender and receiver; most_gbps: highest rate of all their flows, None: line rate."""

    sender: str
    receiver: str
    most_gbps: float | None = None
    group: str = MAIN_GROUP


@dataclass(frozen=True)
class Ground:
    """Switches, cables and pairs of servers; buffers: bytes of switches that are known."""

    switches: tuple[str, ...]
    cables: tuple[Cable, ...]
    pairs: tuple[Pair, ...]
    buffers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlowSpec:
    """Flow along nodes from its sender to its receiver; payload in bytes, None: endless.

    bursts_us: length and period of its bursts, None: it sends without breaks. cables: number, from
    0, of the cable of each hop, of those between its two nodes; empty: the first.
    """

    nodes: tuple[str, ...]
    payload: int | None
    start_us: float = 0
    most_gbps: float | None = None
    group: str = MAIN_GROUP
    tcp: bool = False
    bursts_us: tuple[float, float] | None = None
    cables: tuple[int, ...] = ()

    @property
    def ports(self) -> tuple[PortName, ...]:
        """Ports that it leaves by."""
        hops = pairwise(self.nodes)
        return tuple(map(port_name, hops, self.cables or repeat(0)))

    @property
    def ports_back(self) -> tuple[PortName, ...]:
        """Ports of its way back, over the same cables."""
        hops = pairwise(self.nodes[::-1])
        return tuple(map(port_name, hops, self.cables[::-1] or repeat(0)))


def port_name(ends: tuple[str, str], cable: int) -> PortName:
    """Return the name of a port by its node, the node at its other end, and its cable's number."""
    near, far = ends
    return (near, f"{far}#{cable + 1}") if cable else (near, far)


def port_names(cables: Sequence[Cable]) -> list[PortName]:
    """Return the names of the ports at the first ends of all cables, then at the others."""
    numbered = [*numbered_cables(cables)]
    first = [port_name((cable.a, cable.b), number) for cable, number in numbered]
    return [*first, *(port_name((cable.b, cable.a), number) for cable, number in numbered)]


def numbered_cables(cables: Iterable[Cable]) -> Iterator[tuple[Cable, int]]:
    """Yield each cable with its number, from 0, of those between its two nodes."""
    seen: Counter[tuple[str, str]] = Counter()
    for cable in cables:
        yield cable, seen[cable.a, cable.b]
        seen[cable.a, cable.b] += 1


@dataclass(frozen=True)
class RunLayout:
    """A ground with the flows of one run."""

    ground: Ground
    flows: tuple[FlowSpec, ...]


def layout_of(scenario: Scenario, ground: Ground, seed: int) -> RunLayout:
    """Return the flows of a run; starts and paths by the seed, as a vendor's hash is not known.

    A path is a shortest one, and each next hop of the shortest ones is as likely as the others.
    """
    random, ways = Random(seed), _Ways(ground)  # noqa: S311 - a simulation
    groups, flows = scenario.groups, []
    for pair in ground.pairs:
        group = groups[pair.group]
        count, most = group.queue_pairs, group.gbps
        if pair.most_gbps is not None:
            most = min(pair.most_gbps / count, most or pair.most_gbps)
        for _ in range(count):
            start = random.random() * group.start_spread_us
            nodes, cables = ways.draw(pair.sender, pair.receiver, random)
            tcp, bursts = group.transport == "tcp", group.bursts_us
            own = cables if any(cables) else ()
            flows.append(FlowSpec(nodes, group.bytes, start, most, pair.group, tcp, bursts, own))
    return RunLayout(ground, tuple(flows))


class _Ways:
    """Shortest paths between the servers of a ground."""

    def __init__(self, ground: Ground) -> None:
        self._switches = set(ground.switches)
        self._neighbors: dict[str, list[tuple[str, int]]] = {}
        for cable, number in numbered_cables(ground.cables):
            self._neighbors.setdefault(cable.a, []).append((cable.b, number))
            self._neighbors.setdefault(cable.b, []).append((cable.a, number))
        self._distances: dict[str, dict[str, int]] = {}

    def draw(
        self, sender: str, receiver: str, random: Random
    ) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the nodes and cables of a shortest path; KeyError if there is none."""
        distance = self._distances.get(receiver)
        if distance is None:
            distance = self._distances[receiver] = self._distances_to(receiver)
        way, cables = [sender], list[int]()
        while way[-1] != receiver:
            left = distance[way[-1]] - 1
            ahead = [hop for hop in self._neighbors[way[-1]] if distance.get(hop[0]) == left]
            node, cable = ahead[0] if len(ahead) == 1 else random.choice(ahead)
            way.append(node)
            cables.append(cable)
        return tuple(way), tuple(cables)

    def _distances_to(self, receiver: str) -> dict[str, int]:
        """Return the number of cables from each node; servers forward nothing."""
        distance, edge = {receiver: 0}, [receiver]
        while edge:
            node = edge.pop(0)
            if node != receiver and node not in self._switches:
                continue
            for other, _ in self._neighbors[node]:
                if other not in distance:
                    distance[other] = distance[node] + 1
                    edge.append(other)
        return distance


def ground_of(scenario: Scenario) -> Ground:
    """Return the ground of a scenario without a fabric."""
    pairs = [
        Pair(*ends, group=name) for name, group in scenario.groups.items() for ends in _pairs(group)
    ]
    servers = list(dict.fromkeys(server for p in pairs for server in (p.sender, p.receiver)))
    topology, delay = scenario.topology, scenario.link_delay_us
    uplinks: list[Cable] = []
    if topology.kind == "one_switch":
        switches: tuple[str, ...] = ("switch",)
        leaf = dict.fromkeys(servers, "switch")
    else:
        leaves = tuple(f"leaf{n + 1}" for n in range(topology.leaves))
        spines = tuple(f"spine{n + 1}" for n in range(topology.spines))
        switches = (*leaves, *spines)
        leaf = _leaf_of_servers(scenario, servers, leaves)
        far = delay if topology.uplink_delay_us is None else topology.uplink_delay_us
        uplinks = [Cable(x, y, topology.uplink_gbps, far) for x in leaves for y in spines]
    cables = [Cable(server, leaf[server], scenario.port_gbps, delay) for server in servers]
    return Ground(switches, (*uplinks, *cables), tuple(pairs))


def _pairs(flows: Flows) -> Iterator[tuple[str, str]]:
    """Yield sender and receiver of each flow of a group."""
    count = flows.count or 0
    senders = [f"sender{n + 1}" for n in range(count)]
    if flows.pattern == "incast":
        yield from ((sender, "receiver") for sender in senders)
    elif flows.pattern == "pairs":
        yield from ((sender, f"receiver{n + 1}") for n, sender in enumerate(senders))
    elif flows.pattern == "all_to_all":
        servers = [f"server{n + 1}" for n in range(count)]
        yield from ((a, b) for a in servers for b in servers if a != b)
    elif flows.pattern == "between":
        yield from ((a, b) for a in flows.senders for b in flows.receivers if a != b)
    else:
        for n in range(count):
            for m in range(flows.targets):
                client, target = f"client{n + 1}", f"storage{m + 1}"
                yield (client, target) if flows.pattern == "write" else (target, client)


def _leaf_of_servers(
    scenario: Scenario, servers: Sequence[str], leaves: Sequence[str]
) -> dict[str, str]:
    """Return the leaf of each server: receivers and storage on the last, others in turn.

    All-to-all has no receivers: its servers are on all leaves in turn. Of a pair, the receiver is
    on the leaf after its sender's. Servers that only groups beside have are on all leaves in turn.
    """
    main = dict.fromkeys(name for pair in _pairs(scenario.flows) for name in pair)
    own = _leaf_of_main(scenario, tuple(main), leaves)
    others = (server for server in servers if server not in own)
    return own | {server: leaves[n % len(leaves)] for n, server in enumerate(others)}


def _leaf_of_main(
    scenario: Scenario, servers: Sequence[str], leaves: Sequence[str]
) -> dict[str, str]:
    """Return the leaf of each server of the first group."""
    if scenario.flows.pattern in ("all_to_all", "between") or len(leaves) == 1:
        return {server: leaves[n % len(leaves)] for n, server in enumerate(servers)}
    if scenario.flows.pattern == "pairs":
        return {server: leaves[(n + 1) // 2 % len(leaves)] for n, server in enumerate(servers)}
    own = [s for s in servers if s.startswith(("sender", "client"))]
    out = {server: leaves[n % (len(leaves) - 1)] for n, server in enumerate(own)}
    return out | {server: leaves[-1] for server in servers if server not in out}
