"""Schedules of pairs, and the links and bandwidth that the runs of a round share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeVar

from rocefort.base.errors import BadInput
from rocefort.models.network.network import End, Link, Network, Server, SwitchRole
from rocefort.rdma.rdma_plan import Program, RdmaRun

T = TypeVar("T")


def tournament(players: Sequence[T]) -> Iterator[list[tuple[T, T]]]:
    """Yield rounds with every pair once and no player twice: N-1 rounds for even N, N for odd.

    This is the circle method. Fewer rounds are impossible, because a round has N/2 pairs at most.
    The order in a pair alternates, so each player is first about as often as second.
    """
    circle: list[int | None] = [*range(len(players))]
    if len(circle) % 2:
        circle.append(None)  # the player opposite to it rests
    half = len(circle) // 2
    for _ in range(len(circle) - 1):
        opposites = zip(circle[:half], reversed(circle[half:]), strict=True)
        pairs = [(a, b) for a, b in opposites if a is not None and b is not None]
        yield [_ordered(players, a, b) for a, b in sorted(tuple(sorted(p)) for p in pairs)]
        circle.insert(1, circle.pop())


def _ordered(players: Sequence[T], low: int, high: int) -> tuple[T, T]:
    first, second = (low, high) if (high - low) % 2 else (high, low)
    return players[first], players[second]


def disjoint_rounds(
    items: Iterable[T], uses: Callable[[T], Iterable[Hashable]]
) -> Iterator[list[T]]:
    """Split items into few rounds; items of one round use no resource in common."""
    rest = list(items)
    while rest:
        busy: set[Hashable] = set()
        taken: list[T] = []
        later: list[T] = []
        for item in rest:
            used = set(uses(item))
            (later if busy & used else taken).append(item)
            if not busy & used:
                busy |= used
        yield taken
        rest = later


MOST_QPS = 256
MISSED = 0.01  # accepted probability that a path stays unused, if the hash is even


@dataclass(frozen=True)
class Uplink:
    """A cable between a leaf and a spine."""

    leaf: End
    spine: End
    gbps: int | None
    cable_m: float | None


@dataclass(frozen=True)
class Wiring:
    """The leaf-spine cables of a network."""

    network: Network

    @cached_property
    def uplinks(self) -> dict[str, tuple[Uplink, ...]]:
        """Cables to spines, by leaf; raises BadInput if the links are not known."""
        if self.network.links is None:
            raise BadInput(
                "its links are not known", where=self.network.name, how="plan from a fabric file"
            )
        spines = {node.name for node in self.network.role(SwitchRole.SPINE)}
        uplinks: dict[str, list[Uplink]] = {}
        for link in self.network.links:
            for uplink in self._uplinks_of(link, spines):
                uplinks.setdefault(uplink.leaf.device, []).append(uplink)
        return {leaf: tuple(links) for leaf, links in uplinks.items()}

    def _uplinks_of(self, link: Link, spines: set[str]) -> Iterator[Uplink]:
        for leaf, spine in ((link.a, link.b), (link.b, link.a)):
            if spine.device in spines and leaf.device not in spines:
                yield Uplink(leaf, spine, self.network.speed_gbps(leaf), link.cable_m)

    def spines(self, one: str, other: str) -> tuple[str, ...]:
        """Return the spines that join two leaves, in order of the first leaf's cables."""
        there = {uplink.spine.device for uplink in self.uplinks.get(other, ())}
        here = dict.fromkeys(uplink.spine.device for uplink in self.uplinks.get(one, ()))
        return tuple(spine for spine in here if spine in there)

    def width(self, one: str, other: str) -> int:
        """Return the number of paths between two leaves, counted by cable."""
        up, down = (Counter(u.spine.device for u in self.uplinks.get(x, ())) for x in (one, other))
        return sum(up[spine] * down[spine] for spine in up)

    def paths(self, leaves: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
        """List every leaf-spine-leaf path among leaves once."""
        return tuple(
            (one, spine, other)
            for one, other in combinations(leaves, 2)
            for spine in self.spines(one, other)
        )

    def slowest_gbps(self, leaf: str) -> int | None:
        """Return the speed of the slowest uplink of a leaf; None: not known."""
        speeds = [uplink.gbps for uplink in self.uplinks.get(leaf, ())]
        return min((s for s in speeds if s is not None), default=None) if all(speeds) else None


def miss_probability(paths: int, qps: int) -> float:
    """Upper bound of the probability that one of `paths` gets none of `qps` evenly hashed flows."""
    return 0.0 if paths <= 1 else min(1.0, paths * (1 - 1 / paths) ** qps)


def qps_for(paths: int) -> int:
    """Return the fewest QPs, each with its UDP source port, that keep MISSED for all paths."""
    return next((q for q in range(1, MOST_QPS) if miss_probability(paths, q) <= MISSED), MOST_QPS)


# --- bandwidth that runs of one round leave each other -------------------------------------------


@dataclass(frozen=True)
class _Share:
    """A port or cable that several flows may use: its capacity and their total demand in Gb/s."""

    capacity: float
    demand: float
    where: str


def with_reach(
    runs: Sequence[RdmaRun], wiring: Wiring, servers: dict[str, Server]
) -> list[RdmaRun]:
    """Add to each bandwidth run its guaranteed rate beside the other runs of its round.

    The worst case is taken: ECMP puts all flows that leave (or enter) a leaf onto one of its
    cables, and the flows share that cable in proportion. The flow of a bonded server gets one
    member of its bond.
    """
    flows = [_flow(run, servers) for run in runs]
    demand: Counter[str] = Counter()
    for run, (source, sink) in zip(runs, flows, strict=True):
        for resource in _resources(run, source, sink):
            demand[resource] += int(_rate(run, source, sink) * 1000)
    return [
        _reaching(run, source, sink, wiring, demand)
        for run, (source, sink) in zip(runs, flows, strict=True)
    ]


def _flow(run: RdmaRun, servers: dict[str, Server]) -> tuple[Server, Server]:
    """Return the server that sends the data and the one that receives it."""
    client, server = servers[run.client], servers[run.server]
    return (server, client) if run.program is Program.READ_BW else (client, server)


def _rate(run: RdmaRun, source: Server, sink: Server) -> float:
    rate = float(min(source.flow_gbps, sink.flow_gbps))
    return rate if run.limit_gbps is None else min(rate, run.limit_gbps)


def _resources(run: RdmaRun, source: Server, sink: Server) -> list[str]:
    if run.program.measures_latency:
        return []
    resources = [f"out {source.name}", f"in {sink.name}"]
    if sink.port.device not in (source.port.device, source.name):
        resources += [f"up {source.port.device}", f"down {sink.port.device}"]
    return resources


def _reaching(
    run: RdmaRun, source: Server, sink: Server, wiring: Wiring, demand: Counter[str]
) -> RdmaRun:
    if run.program.measures_latency:
        return run
    rate = _rate(run, source, sink)
    shares = list(_shares(run, source, sink, wiring, demand))
    if unknown := next((share for share in shares if not share.capacity), None):
        why = f"the speed of {unknown.where} is not known"
        return run.model_copy(update={"reach_gbps": None, "reach_why": why})
    tight = min(shares, key=lambda share: min(1.0, share.capacity / share.demand))
    fraction = min(1.0, tight.capacity / tight.demand)
    if fraction < 1:
        why = (
            f"this round needs {tight.demand:g} Gb/s on {tight.where}, which has "
            f"{tight.capacity:g} Gb/s"
        )
    elif run.limit_gbps is not None and rate == run.limit_gbps:
        why = f"limited to {rate:g} Gb/s"
    else:
        slower = source if source.flow_gbps <= sink.flow_gbps else sink
        member = " of one member of its bond" if len(slower.ports) > 1 else ""
        why = f"line rate{member} of {slower.name}"
    return run.model_copy(update={"reach_gbps": rate * fraction, "reach_why": why})


def _shares(
    run: RdmaRun, source: Server, sink: Server, wiring: Wiring, demand: Counter[str]
) -> Iterator[_Share]:
    words = {
        "out": (source.flow_gbps, f"the port of {source.name}"),
        "in": (sink.flow_gbps, f"the port of {sink.name}"),
        "up": (wiring.slowest_gbps(source.port.device), f"one uplink of {source.port.device}"),
        "down": (wiring.slowest_gbps(sink.port.device), f"one uplink of {sink.port.device}"),
    }
    for resource in _resources(run, source, sink):
        capacity, where = words[resource.split(" ", maxsplit=1)[0]]
        yield _Share(float(capacity or 0), demand[resource] / 1000, where)
