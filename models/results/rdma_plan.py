"""RdmaPlan: which server measures what against which, round by round.

Runs of one round go at the same time; a round begins when the one before has ended. What a run
can reach and which paths a plan covers stand in it with the reason, so that a report need not
know how it was planned.
"""

from __future__ import annotations

import json
from enum import StrEnum
from functools import cached_property

from pydantic import Field

from rocefort.models.base import Frozen, Name

ARROW = " -> "  # between client and server, in words
UNPROBED = "unprobed"  # in place of a device, in a plan that nobody has asked the servers for


class Suite(StrEnum):
    """What a plan is for."""

    WRITE = "write"
    READ = "read"
    SEND = "send"
    MESH = "mesh"
    SWEEP = "sweep"
    INCAST = "incast"
    MIXED = "mixed"
    FAILOVER = "failover"
    STORAGE = "storage"
    MPI = "mpi"


class Program(StrEnum):
    """A program that measures, as it is called on a server."""

    WRITE_BW = "ib_write_bw"
    WRITE_LAT = "ib_write_lat"
    READ_BW = "ib_read_bw"
    READ_LAT = "ib_read_lat"
    SEND_BW = "ib_send_bw"
    SEND_LAT = "ib_send_lat"
    IPERF3 = "iperf3"
    FIO = "fio"
    OSU = "osu"  # osu_alltoall and its siblings
    IMB = "IMB-MPI1"

    @property
    def is_perftest(self) -> bool:
        """Whether it is one of perftest's."""
        return self.startswith("ib_")

    @property
    def measures_latency(self) -> bool:
        """Whether its figure is a time, not a rate."""
        return self.endswith("_lat") or self in (Program.OSU, Program.IMB)

    @property
    def has_server(self) -> bool:
        """Whether the other end runs it too, and must listen first."""
        return self.is_perftest or self is Program.IPERF3


class RdmaHost(Frozen):
    """What is known of one server before a plan: device, GID index, place, version.

    gid_index: of the RoCE v2 GID with the server's address in its segment. machine: where two names
    are two NICs of one machine (a server on two leaves), what they have in common. qp_timeout: of
    its connections file.
    """

    name: Name
    device: Name
    gid_index: int = Field(ge=0, le=255)
    numa_node: int | None = Field(default=None, ge=0)  # of the device; None: not pinned
    machine: str = ""
    perftest: str | None = None  # what `--version` says, such as 6.06; None: not asked
    qp_timeout: int | None = None


class StorageJob(Frozen):
    """One job of fio on a mounted directory."""

    directory: str
    block_bytes: int
    depth: int
    targets: int = 1


class RdmaRun(Frozen):
    """One program between one pair (or on one server, or on `ranks`), at one size.

    reach_gbps: what the fabric is sure to leave it beside the other runs of its round, Gb/s, None
    where that is not known; why stands in reach_why. switches: on its way, 1 within a leaf.
    """

    id: str
    program: Program
    client: str
    server: str = ""
    client_address: str = ""
    server_address: str = ""
    port: int = 0
    size_bytes: int | None = None
    duration_s: int | None = None  # else `iterations`
    iterations: int | None = None
    qps: int = 1
    traffic_class: int = 0
    switches: int | None = None
    reach_gbps: float | None = None
    reach_why: str = ""
    limit_gbps: float | None = None
    every_s: int | None = None  # a row every so many seconds instead of one at the end
    storage: StorageJob | None = None
    collective: str = ""  # of MPI: alltoall, allgather, allreduce, gather, reduce
    ranks: tuple[str, ...] = ()  # servers of an MPI run, one process each

    @property
    def servers(self) -> tuple[str, ...]:
        """All servers that it loads."""
        return self.ranks or tuple(name for name in (self.client, self.server) if name)

    @property
    def detail(self) -> str:
        """What tells it from another of its program, pair and size, in a word; often empty."""
        if self.storage is not None:
            return f"depth {self.storage.depth}"
        return self.collective

    @property
    def pair(self) -> str:
        """Who against whom, in words."""
        if self.ranks:
            return f"{len(self.ranks)} servers"
        return f"{self.client}{ARROW}{self.server}" if self.server else self.client


class Round(Frozen):
    """Runs that go at the same time. total_gbps: what they must share, where they share one port.

    fault: what fails while it runs, in words, where something is meant to.
    """

    number: int
    runs: tuple[RdmaRun, ...]
    note: str = ""
    total_gbps: float | None = None
    fault: str = ""
    fault_links: tuple[str, ...] = ()  # `DEVICE INTERFACE` of the leaf's end; any one of them


class Coverage(Frozen):
    """Which leaf-spine-leaf paths a plan means to use; a path stands once, whatever its direction.

    ECMP chooses by hash: a path can be made likely, not sure. missed: how likely it is, for one
    pair, that some path between its leaves stays unused, if the hash is even.
    """

    paths: tuple[tuple[str, str, str], ...]
    uncovered: tuple[tuple[str, str, str], ...] = ()
    qps: int
    missed: float
    claim: str


class RdmaPlan(Frozen):
    """All rounds of one suite. unmeasured: what cannot be measured, each with the reason."""

    fabric: str
    suite: Suite
    hosts: tuple[RdmaHost, ...]
    rounds: tuple[Round, ...]
    coverage: Coverage | None = None
    unmeasured: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def by_host(self) -> dict[str, RdmaHost]:
        """Hosts by name."""
        return {host.name: host for host in self.hosts}

    @property
    def runs(self) -> tuple[RdmaRun, ...]:
        """All runs, in order."""
        return tuple(run for each in self.rounds for run in each.runs)

    @cached_property
    def shapes(self) -> dict[str, str]:
        """What a value depends on besides program, pair and size, by run: only alike ones compare.

        How many QPs, under which limit, beside how much load, with which servers.
        """
        return {run.id: _shape(run, each) for each in self.rounds for run in each.runs}

    @property
    def least_seconds(self) -> int:
        """How long it takes at least: each round as long as the longest duration in it."""
        return sum(max((run.duration_s or 1 for run in r.runs), default=0) for r in self.rounds)


def _shape(run: RdmaRun, beside: Round) -> str:
    rows = (run.qps, run.limit_gbps, run.reach_gbps, run.every_s, run.collective)
    depth = run.storage.depth if run.storage else None
    ranks = [list(run.ranks)] if run.ranks else []
    return json.dumps([*rows, depth, len(beside.runs) if beside.total_gbps else 1, *ranks])
