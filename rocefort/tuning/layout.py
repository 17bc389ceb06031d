"""Servers, switches and cables of a scenario, with the paths of its flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from rocefort.models.tuning.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Cable:
    """Cable between two nodes: speed in Gb/s, delay of one way in us."""

    a: str
    b: str
    gbps: int
    delay_us: float


@dataclass(frozen=True, slots=True)
class FlowSpec:
    """Flow along nodes from its sender to its receiver; payload in bytes, None: endless."""

    nodes: tuple[str, ...]
    payload: int | None
    start_us: float = 0


@dataclass
class Layout:
    """Nodes and cables of one simulation, and its flows."""

    switches: tuple[str, ...]
    cables: list[Cable] = field(default_factory=list)
    flows: list[FlowSpec] = field(default_factory=list)


def layout_of(scenario: Scenario, seed: int) -> Layout:
    """Return the nodes, cables and flows of a scenario; starts and ECMP choices by the seed."""
    random = Random(seed)  # noqa: S311 - a simulation
    pairs = list(_pairs(scenario))
    servers = list(dict.fromkeys(server for pair in pairs for server in pair))
    topology = scenario.topology
    if topology.kind == "one_switch":
        layout = Layout(("switch",))
        leaf = dict.fromkeys(servers, "switch")
        spines: tuple[str, ...] = ()
    else:
        leaves = tuple(f"leaf{n + 1}" for n in range(topology.leaves))
        spines = tuple(f"spine{n + 1}" for n in range(topology.spines))
        layout = Layout((*leaves, *spines))
        leaf = _leaf_of_servers(scenario, servers, leaves)
        delay = topology.uplink_delay_us
        delay = scenario.link_delay_us if delay is None else delay
        layout.cables += [Cable(x, y, topology.uplink_gbps, delay) for x in leaves for y in spines]
    layout.cables += [
        Cable(server, leaf[server], scenario.port_gbps, scenario.link_delay_us)
        for server in servers
    ]
    for sender, receiver in (pair for pair in pairs for _ in range(scenario.flows.queue_pairs)):
        start = random.random() * scenario.flows.start_spread_us
        way = _way(leaf[sender], leaf[receiver], spines, random)
        layout.flows.append(FlowSpec((sender, *way, receiver), scenario.flows.bytes, start))
    return layout


def _pairs(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield sender and receiver of each flow."""
    flows = scenario.flows
    senders = [f"sender{n + 1}" for n in range(flows.count)]
    if flows.pattern == "incast":
        yield from ((sender, "receiver") for sender in senders)
    elif flows.pattern == "pairs":
        yield from ((sender, f"receiver{n + 1}") for n, sender in enumerate(senders))
    elif flows.pattern == "all_to_all":
        servers = [f"server{n + 1}" for n in range(flows.count)]
        yield from ((a, b) for a in servers for b in servers if a != b)
    else:
        for n in range(flows.count):
            for m in range(flows.targets):
                client, target = f"client{n + 1}", f"storage{m + 1}"
                yield (client, target) if flows.pattern == "write" else (target, client)


def _leaf_of_servers(
    scenario: Scenario, servers: Sequence[str], leaves: Sequence[str]
) -> dict[str, str]:
    """Return the leaf of each server: receivers and storage on the last, others in turn.

    All-to-all has no receivers: its servers are on all leaves in turn. Of a pair, the receiver is
    on the leaf after its sender's.
    """
    if scenario.flows.pattern == "all_to_all" or len(leaves) == 1:
        return {server: leaves[n % len(leaves)] for n, server in enumerate(servers)}
    if scenario.flows.pattern == "pairs":
        return {server: leaves[(n + 1) // 2 % len(leaves)] for n, server in enumerate(servers)}
    own = [s for s in servers if s.startswith(("sender", "client"))]
    out = {server: leaves[n % (len(leaves) - 1)] for n, server in enumerate(own)}
    return out | {server: leaves[-1] for server in servers if server not in out}


def _way(first: str, last: str, spines: Sequence[str], random: Random) -> tuple[str, ...]:
    """Return the switches of a path; the spine is drawn, as the vendor's hash is not known."""
    return (first,) if first == last else (first, random.choice(spines), last)
