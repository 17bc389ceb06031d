"""Input of every suite: usable servers, their addresses, wiring, traffic class and options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, Problem, Refused
from rocefort.models.base import Frozen
from rocefort.models.device.lossless_queue import default_queue
from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.network import LosslessIntent, Network, Server
from rocefort.rdma.plan.gate_pairs import traffic_class
from rocefort.rdma.plan.load_rules import Load, LoadRules, LoadVerdict, load_verdict
from rocefort.rdma.plan.message_sizes import WHERE, Kind, SizeSeries, SizeSet
from rocefort.rdma.plan.shared_links import Wiring, with_reach
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaPlan, RdmaRun, Round, Suite

FIRST_PORT = 18515  # perftest's default
PORTS = 4000
# Number of switches in a path: back to back, within a leaf, and across the spines.
DIRECT, NEAR, FAR = 0, 1, 3
PLACES = {DIRECT: "back to back", NEAR: "within a leaf", FAR: "across the spines"}
CABLE_AT_S = 10
BEFORE_CABLE_S, AFTER_CABLE_S = 5, 5  # of a run, so that both states are seen; assumed
LEAST_DURATION_S = 4  # perftest leaves out a quarter at both ends (`--margin`)


def switches_between(one: Server, other: Server) -> int:
    """Return the number of switches on the path between two servers."""
    if one.port.device == other.name:
        return DIRECT
    return NEAR if one.port.device == other.port.device else FAR


class TooFewServers(BadInput):
    """A suite takes more servers than may be used."""


class RdmaPlanOptions(Frozen):
    """Options of a plan that the user may set; None: the suite's default."""

    covering: bool = False  # mesh: each pair of leaves once, not each pair of servers
    programs: tuple[Program, ...] = ()
    duration_s: int | None = None
    iterations: int | None = None
    qps: int | None = None
    target: str | None = None  # incast and mixed: the server that all send to
    beamline: str = ""  # mesh, sweep and incast: its servers to their receivers
    tcp_dscp: int = 0  # mixed: queue 0 by a CloudEngine's default map
    tcp_streams: int = 4
    storage_directory: str | None = None  # several with commas between
    mpi: Literal["IMB-MPI1", "osu"] = "IMB-MPI1"
    repeat: int = 1
    sizes: SizeSet | None = None  # sweep, storage and mpi
    targets: str = ""  # storage: numbers with commas between; empty: all directories at once
    processes_per_server: int = 1  # mpi
    groups: int = 1  # mpi: groups of servers, each with another collective
    tcp_gbps: float | None = None  # mpi and mixed: rate of each TCP sender
    cable_by: Literal["lab", "person"] | None = None  # failover and mpi
    cable_at_s: int | None = None
    total_bytes: int = 2**32  # transfer: of all files of a run together
    files: int = 64  # transfer: instead of one
    round_trips: str = ""  # transfer: ms with commas between; the lab sets them


def best_sink(servers: Iterable[Server], senders: Callable[[Server], int]) -> Server:
    """Return the first of the fastest servers that the most others may send to.

    senders: number of servers that may send to one.
    """
    return max(servers, key=lambda server: (server.flow_gbps, senders(server)))


def mutual_servers(network: Network, servers: Iterable[Server]) -> tuple[Server, ...]:
    """Return servers that may all exchange RDMA with each other by the policy; all without one.

    Of the groups that begin with a segment and take the segments with the most servers first, the
    one with the most servers. A segment that does not reach itself gives one server.
    """
    members: dict[str, list[Server]] = {}
    for server in servers:
        members.setdefault(server.segment, []).append(server)
    usable = [
        own if network.lets_rdma(own[0], own[0]) else own[:1]
        for own in sorted(members.values(), key=len, reverse=True)
    ]
    groups = []
    for seed in usable:
        group = [seed]
        for own in usable:
            if own is not seed and all(network.lets_rdma(own[0], other[0]) for other in group):
                group.append(own)
        groups.append({server.name for own in group for server in own})
    largest = max(groups, key=len, default=set())
    return tuple(server for own in members.values() for server in own if server.name in largest)


@dataclass(frozen=True)
class RdmaSite:
    """A network, and the servers that a plan may load."""

    network: Network
    rdma: Rdma
    hosts: tuple[RdmaHost, ...]
    options: RdmaPlanOptions = field(default_factory=RdmaPlanOptions)

    @cached_property
    def servers(self) -> dict[str, Server]:
        """Usable servers by name, in the network's order; raises BadInput for an unusable one."""
        usable = {host.name for host in self.hosts}
        by_name = {server.name: server for server in self.network.servers or ()}
        problems = [
            Problem(self.network.name, f"no server {name}", nearest(name, by_name))
            for name in sorted(usable - by_name.keys())
        ]
        problems += [
            Problem(self.network.name, f"{name} does not support RoCE", "leave it out")
            for name in sorted(usable & by_name.keys())
            if not by_name[name].roce
        ]
        if problems:
            raise BadInput(problems=problems)
        return {name: server for name, server in by_name.items() if name in usable}

    @cached_property
    def load(self) -> LoadVerdict:
        """Decision on the load of these servers; its time is not known yet."""
        return load_verdict(LoadRules.of(self.rdma), Load(named=[host.name for host in self.hosts]))

    @property
    def lossless(self) -> LosslessIntent:
        """Lossless settings of RoCE; raises BadInput if the network has none."""
        if self.network.lossless is None:
            raise BadInput(
                "the DSCP of RoCE is not known",
                where=self.network.name,
                how="plan from a fabric file",
            )
        return self.network.lossless

    @property
    def traffic_class(self) -> int:
        """Traffic class of RoCE packets: the DSCP of the plan, and ECT(0)."""
        return traffic_class(self.lossless.roce_dscp)

    @cached_property
    def wiring(self) -> Wiring:
        """Leaf-spine cables of the network."""
        return Wiring(self.network)

    @cached_property
    def by_leaf(self) -> dict[str, list[Server]]:
        """Usable servers by leaf."""
        servers: dict[str, list[Server]] = {}
        for server in self.servers.values():
            servers.setdefault(server.port.device, []).append(server)
        return servers

    def require(self, least: int, suite: Suite) -> None:
        """Refuse a suite that has too few servers."""
        if len(self.servers) < least:
            raise TooFewServers(
                f"{suite} takes {least} RoCE servers, {len(self.servers)} may be used",
                where=self.network.name,
                how="name more with --servers, or list more under rdma.servers",
            )

    def unlimited(self, suite: Suite, why: str) -> None:
        """Refuse a suite whose program cannot hold the fabric's rate limit."""
        if self.load.limit_gbps is not None:
            raise Refused(
                f"{suite} cannot hold rdma.rate_limit_gbps: {why}",
                where=self.network.name,
                how="run it on a fabric without a limit, or choose another suite",
            )

    def server(self, name: str) -> Server:
        """Return one usable server; raises BadInput."""
        if name not in self.servers:
            raise BadInput(
                f"{name} is not among the servers that may be used",
                where=self.network.name,
                how=nearest(name, self.servers),
            )
        return self.servers[name]

    def run(self, program: Program, client: Server, server: Server, **more: object) -> RdmaRun:
        """Return one run between two servers; bandwidth over a time, latency over messages."""
        values: dict[str, object] = {
            "id": "",
            "program": program,
            "client": client.name,
            "server": server.name,
            "client_address": str(client.address.ip),
            "server_address": str(server.address.ip),
            "traffic_class": self.traffic_class,
            "switches": switches_between(client, server),
            "size_bytes": 2 if program.measures_latency else 65536,  # perftest's defaults
        }
        if program.measures_latency:
            values["iterations"] = self.options.iterations or 10_000  # HEPS paper, Table 2
        else:
            values["duration_s"] = self.duration_s()
            values["qps"] = self.options.qps or 1
            values["limit_gbps"] = self.load.limit_gbps
        return RdmaRun.model_validate(values | more)

    def duration_s(self, usual: int = 10) -> int:
        """Return the duration of a bandwidth run; raises BadInput if it is too short to measure."""
        duration_s = self.options.duration_s or usual
        if duration_s < LEAST_DURATION_S:
            raise BadInput(
                f"a bandwidth run of {duration_s} s",
                how=f"use at least {LEAST_DURATION_S} s: perftest leaves out a quarter at both "
                "ends",
            )
        return duration_s

    def sizes(self, kind: Kind, usual: Sequence[int]) -> SizeSeries:
        """Return the sizes of one kind of test; raises BadInput if the named sizes have none."""
        named = self.options.sizes
        if named is None:
            return SizeSeries(of=(kind,), sizes=tuple(usual))
        series = named.of(kind)
        if series is None:
            how = f"it has sizes of {', '.join(named.kinds)}"
            raise BadInput(f"{named.name} has no sizes of {kind}", where=WHERE, how=how)
        return series

    def tcp_queue(self) -> int:
        """Return the queue of TCP; raises BadInput if it is that of RoCE."""
        queue, roce = default_queue(self.options.tcp_dscp), self.lossless.queue
        if queue == roce:
            raise BadInput(
                f"TCP with DSCP {self.options.tcp_dscp} would be in queue {roce}, together with "
                "RoCE",
                how="choose a DSCP of another queue",
            )
        return queue

    def tcp_run(self, sender: Server, sink: Server, **more: object) -> RdmaRun:
        """Return a TCP run, at the stated rate if there is one.

        Raises BadInput if a port is slower than that.
        """
        stated, limit = self.options.tcp_gbps, self.load.limit_gbps
        slower = min((sender, sink), key=lambda server: server.flow_gbps)
        if stated is not None and stated > slower.flow_gbps:
            how = "state a lower rate, or name other servers"
            what = f"{stated:g} Gb/s is more than the {slower.flow_gbps} Gb/s of {slower.name}"
            raise BadInput(what, where="--tcp-gbps", how=how)
        rates = [rate for rate in (stated, limit) if rate is not None]
        values: dict[str, object] = {
            "size_bytes": None,
            "qps": self.options.tcp_streams,
            "traffic_class": self.options.tcp_dscp << 2,
            "limit_gbps": min(rates, default=None),
        }
        return self.run(Program.IPERF3, sender, sink, **(values | more))

    def cable_fault(self, leaf: str, longest_s: int | None = None) -> dict[str, object]:
        """Return the fields of a round in which a leaf loses its cables to one spine.

        longest_s: duration of its run. Raises BadInput if the time is not within it.
        """
        at_s = CABLE_AT_S if self.options.cable_at_s is None else self.options.cable_at_s
        if longest_s is not None and not BEFORE_CABLE_S <= at_s <= longest_s - AFTER_CABLE_S:
            how = f"use at least {BEFORE_CABLE_S} s, and {AFTER_CABLE_S} s less than --duration"
            what = f"a cable taken away at {at_s} s of {longest_s} s"
            raise BadInput(what, where="--cable-at", how=how)
        uplinks = self.wiring.uplinks[leaf]
        spine = uplinks[0].spine.device
        return {
            "fault": f"{leaf} loses its cables to {spine}",
            "fault_links": tuple(str(up.leaf) for up in uplinks if up.spine.device == spine),
            "cable_by": self.options.cable_by,
            "cable_at_s": at_s,
        }

    def are_separate(self, one: Server, other: Server) -> bool:
        """Whether RDMA passes a switch between two servers.

        One machine's own traffic uses none, and the policy may deny it.
        """
        machine = self._machines.get(one.name)
        is_same = bool(machine) and machine == self._machines.get(other.name)
        return not is_same and self.network.lets_rdma(one, other)

    def senders_to(self, sink: Server) -> list[Server]:
        """Usable servers whose RDMA reaches a sink through a switch."""
        return [s for s in self.servers.values() if s is not sink and self.are_separate(s, sink)]

    @cached_property
    def mutual(self) -> tuple[Server, ...]:
        """Usable servers that may all exchange RDMA with each other."""
        return mutual_servers(self.network, self.servers.values())

    @cached_property
    def _machines(self) -> dict[str, str]:
        return {host.name: host.machine for host in self.hosts}

    def round(self, runs: Sequence[RdmaRun], note: str = "", **more: object) -> Round:
        """Return a round whose bandwidth runs have their guaranteed rate; see `numbered`."""
        reached = with_reach(runs, self.wiring, self.servers)
        values: dict[str, object] = {"number": 0, "runs": tuple(reached), "note": note}
        return Round.model_validate(values | more)

    def plan(self, suite: Suite, rounds: Sequence[Round], **more: object) -> RdmaPlan:
        """Return a plan with these rounds."""
        values: dict[str, object] = {
            "fabric": self.network.name,
            "suite": suite,
            "hosts": self.hosts,
            "rounds": tuple(rounds),
        }
        return RdmaPlan.model_validate(values | more)


def numbered(rounds: Iterable[Round]) -> tuple[Round, ...]:
    """Add numbers to rounds, and ids and ports to runs; no port is used twice in a round.

    Port numbers continue from round to round, so a port that is not free yet is not reused soon.
    Two names of one machine do not collide either.
    """
    assigned = 0
    numbered_rounds = []
    for number, each in enumerate(rounds, 1):
        runs = []
        for index, run in enumerate(each.runs, 1):
            port = FIRST_PORT + assigned % PORTS
            assigned += 1
            runs.append(run.model_copy(update={"id": f"{number:03}.{index:02}", "port": port}))
        if len(runs) > PORTS:
            raise BadInput(f"{len(runs)} runs at the same time", how=f"{PORTS} at most")
        numbered_rounds.append(each.model_copy(update={"number": number, "runs": tuple(runs)}))
    return tuple(numbered_rounds)
