"""Scenarios of a fabric: congestions that its servers, their speeds and its demand can cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.models.fabric.lossless import Lossless
from rocefort.models.network.demand import Demand
from rocefort.models.network.network import Network
from rocefort.validators.capacity.traffic_matrix import DemandMatrix, Term, spread
from rocefort.validators.routing.engine import analyse

INCAST_BYTES, READ_BYTES, MIXED_BYTES = 1_000_000, 1_000_000, 500_000  # of each sender
PORT_BYTES = 1_000_000  # what each server gets in all-to-all
BURST_US, BURSTS = 100, 4
LEAST_DUTY, MOST_DUTY = 10, 50  # percent
MOST_SENDERS, MOST_ALL_TO_ALL = 32, 16
DEMAND_MS = 3
Keys = Mapping[str, Any]


@dataclass(frozen=True)
class FabricServers:
    """Servers of a fabric with what its scenarios are chosen by.

    Only those with RoCE. speeds: rate of one flow, Gb/s; leaves: first leaf; storage: those of
    storage segments; rates: demand between them that each sends and receives, Gb/s.
    """

    speeds: dict[str, int]
    leaves: dict[str, str]
    storage: tuple[str, ...]
    rates: dict[str, tuple[float, float]]

    @classmethod
    def of(cls, derived: DerivedNetwork, demand: Demand | None) -> FabricServers:
        """Return the servers of a fabric."""
        network = derived.network
        servers = [server for server in network.servers or () if server.roce]
        kept = {segment.name for segment in derived.fabric.segments if segment.role == "storage"}
        return cls(
            speeds={server.name: server.flow_gbps for server in servers},
            leaves={server.name: server.ports[0].device for server in servers},
            storage=tuple(server.name for server in servers if server.segment in kept),
            rates=_rates(demand, network) if demand else {},
        )

    @property
    def senders(self) -> list[str]:
        """Servers that send by the demand."""
        return [name for name, (out, _) in self.rates.items() if out > 0]

    @property
    def receivers(self) -> list[str]:
        """Servers that receive by the demand, the busiest first."""
        into = {name: rate for name, (_, rate) in self.rates.items() if rate > 0}
        return sorted(into, key=lambda name: -into[name])

    def fastest(self, *, but: Sequence[str] = ()) -> list[str]:
        """Return servers, the fastest first."""
        return sorted((n for n in self.speeds if n not in but), key=lambda n: -self.speeds[n])

    def target(self, gbps: int) -> str:
        """Return the server of a speed that gets an incast: the demand's busiest, if any."""
        own = [name for name, speed in self.speeds.items() if speed == gbps]
        return next((name for name in self.receivers if name in own), own[0])

    def fills_a_port(self) -> bool:
        """Whether the demand, as far as its senders' ports carry it, fills a receiver's port."""
        offered = sum(out for out, _ in self.rates.values())
        carried = sum(min(out, self.speeds[name]) for name, (out, _) in self.rates.items())
        return any(
            into * carried / offered >= self.speeds[name]
            for name, (_, into) in self.rates.items()
            if into
        )


def _rates(demand: Demand, network: Network) -> dict[str, tuple[float, float]]:
    """Return the demand between servers with RoCE that each of them sends and receives, Gb/s."""
    own = {server.name: server for server in network.servers or () if server.roce}
    terms = (
        Term(
            rates={name: rate for name, rate in term.rates.items() if name in own},
            weights={name: weight for name, weight in term.weights.items() if name in own},
            by_leaf={},
            towards={},
        )
        for term in spread(demand, analyse(network)).terms
    )
    return DemandMatrix(tuple(terms), own, {}, {}).by_server()


def scenarios_of(servers: FabricServers, lossless: Lossless) -> Iterator[Keys]:
    """Yield the keys of each scenario that a fabric has, named by what it is.

    Each congests a port, so that thresholds decide it. Where no traffic does, there is one incast,
    by which a search finds that thresholds decide nothing.
    """
    if len(servers.speeds) < 2:
        return
    fast = max(servers.speeds.values())
    yield from list(_congestions(servers, fast, lossless)) or [_incast(servers, fast)]


def _congestions(servers: FabricServers, fast: int, lossless: Lossless) -> Iterator[Keys]:
    """Yield the scenarios that congest a port.

    Incast: all servers to one, at the slowest and at the fastest speed. All-to-all. Detector bursts
    of the demand's senders beside writers. Reads of storage from many to few and from few to many.
    Victims that share paused links with an incast, and TCP beside an incast. The demand at its
    rates only where it fills a port.
    """
    slow = min(servers.speeds.values())
    for gbps in dict.fromkeys((slow, fast)):
        keys = _incast(servers, gbps)
        if sum(servers.speeds[name] for name in keys["flows"]["senders"]) > gbps:
            yield keys
    yield from _all_to_all(servers)
    yield from _detectors(servers)
    yield from _reads(servers, slow, fast)
    yield from _victims(servers, slow)
    yield from _beside_tcp(servers, slow, lossless)
    if servers.fills_a_port():
        yield {
            "scenario": "demand at its rates",
            "flows": {"pattern": "demand"},
            "duration_ms": DEMAND_MS,
        }


def _between(senders: Sequence[str], receivers: Sequence[str], **keys: float | str) -> Keys:
    return {"pattern": "between", "senders": senders, "receivers": receivers, **keys}


def _incast(servers: FabricServers, gbps: int) -> Keys:
    target = servers.target(gbps)
    senders = servers.fastest(but=[target])[:MOST_SENDERS]
    return {
        "scenario": f"incast {len(senders)}:1 at {gbps}G",
        "flows": _between(senders, [target], bytes=INCAST_BYTES),
    }


def _all_to_all(servers: FabricServers) -> Iterator[Keys]:
    members = servers.fastest()[:MOST_ALL_TO_ALL]
    if len(members) > 2:
        each = PORT_BYTES // (len(members) - 1)
        yield {
            "scenario": f"all-to-all of {len(members)}",
            "flows": _between(members, members, bytes=each),
        }


def _detectors(servers: FabricServers) -> Iterator[Keys]:
    """Yield bursts of the demand's senders to its busiest receiver, where others write, too."""
    receivers, senders = servers.receivers, servers.senders[:MOST_SENDERS]
    if not receivers or not senders:
        return
    target = receivers[0]
    senders = [name for name in senders if name != target]
    writers = servers.fastest(but=[target, *senders])[:2]
    speeds = [servers.speeds[name] for name in (*senders, *writers)]
    if not senders or sum(speeds) <= servers.speeds[target]:
        return
    line = sum(servers.speeds[name] for name in senders)
    share = 100 * sum(servers.rates[name][0] for name in senders) / line
    duty = round(min(MOST_DUTY, max(LEAST_DUTY, share)))
    bytes_each = BURSTS * BURST_US * min(servers.speeds[name] for name in senders) * 125
    keys: dict[str, Any] = {
        "scenario": f"detector bursts {len(senders)}:1, duty {duty} %",
        "flows": _between(
            senders, [target], bytes=bytes_each, burst_us=BURST_US, duty_percent=duty
        ),
    }
    if writers:
        keys["scenario"] += f", beside {len(writers)} writers"
        keys["beside"] = {"writers": _between(writers, [target])}
    yield keys


def _reads(servers: FabricServers, slow: int, fast: int) -> Iterator[Keys]:
    """Yield reads: from the demand's receivers, as far as they keep data, and from storage."""
    stores = servers.receivers[:MOST_SENDERS] or servers.fastest()[:MOST_SENDERS]
    readers = stores[:2]
    many = [name for name in stores if name not in readers]
    if len(many) > 2:
        gbps = min(servers.speeds[name] for name in readers)
        each = READ_BYTES // len(readers)
        yield {
            "scenario": f"reads {len(many)}:{len(readers)} at {gbps}G",
            "flows": _between(many, readers, bytes=each),
        }
    few = [name for name in servers.storage if servers.speeds[name] == fast][:1]
    most = -(-fast // slow) - 1  # so that a reader's share of the store's port is above its own
    slowest = [name for name, gbps in servers.speeds.items() if gbps == slow and name not in few]
    if few and most > 1 and len(slowest) > 1:
        readers = slowest[:most]
        yield {
            "scenario": f"reads 1:{len(readers)} at {slow}G",
            "flows": _between(few, readers, bytes=READ_BYTES),
        }


def _victims(servers: FabricServers, slow: int) -> Iterator[Keys]:
    """Yield an incast with a flow that shares links with it, but neither its ports nor receiver.

    The victim's sender is behind a leaf of the incast's senders, and its receiver behind another
    such leaf, or else behind the receiver's leaf.
    """
    target = servers.target(slow)
    leaf = servers.leaves[target]
    near, by_leaf = list[str](), dict[str, list[str]]()
    for name in servers.fastest(but=[target]):
        own = near if servers.leaves[name] == leaf else by_leaf.setdefault(servers.leaves[name], [])
        own.append(name)
    pair = [*(own[0] for own in by_leaf.values() if len(own) > 1), *near][:2]
    senders = servers.fastest(but=[target, *pair])[:MOST_SENDERS]
    speed = sum(servers.speeds[name] for name in senders)
    if len(pair) == 2 and pair[0] not in near and speed > slow:
        yield {
            "scenario": f"incast {len(senders)}:1 at {slow}G beside a victim",
            "flows": _between(senders, [target], bytes=MIXED_BYTES),
            "beside": {"victim": _between(pair[:1], pair[1:])},
        }


def _beside_tcp(servers: FabricServers, slow: int, lossless: Lossless) -> Iterator[Keys]:
    """Yield an incast with TCP to the same receiver, from one server in three."""
    target = servers.target(slow)
    others = servers.fastest(but=[target])[:MOST_SENDERS]
    talkers = others[::3]
    senders = [name for name in others if name not in talkers]
    if len(senders) < 2:
        return
    weights = {row.queue: row.weight for row in lossless.scheduling}
    own = weights.pop(lossless.queue, None)
    tcp = {"weight": max(weights.values()), "roce_weight": own} if own and weights else {}
    yield {
        "scenario": f"incast {len(senders)}:1 at {slow}G beside TCP {len(talkers)}:1",
        "flows": _between(senders, [target], bytes=MIXED_BYTES),
        "beside": {"tcp": _between(talkers, [target], transport="tcp")},
        "tcp": tcp,
    }
