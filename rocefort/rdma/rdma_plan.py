"""RdmaPlan: measurements between servers, round by round.

Runs of one round run at the same time; a round begins when the previous one has ended. A plan
contains the reachable rate of each run and the covered paths, with reasons. So a report does not
depend on the planner.
"""

from __future__ import annotations

import json
import math
from enum import StrEnum
from functools import cached_property
from typing import Literal

from pydantic import Field

from rocefort.models.base import Frozen, Name
from rocefort.models.network.beamlines import ExpectedRate
from rocefort.models.wording import count_of

LARGE_BYTES = 65_536  # smallest message that an expected rate applies to; REDIGO: near line rate
ARROW = " -> "  # between client and server, in text
UNPROBED = "unprobed"  # instead of a device, in a plan without a probe of the servers


class Suite(StrEnum):
    """Purpose of a plan."""

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
    TRANSFER = "transfer"
    GATE = "gate"  # of a wave of a rollout; only a rollout runs it


class Program(StrEnum):
    """Measuring program, by its name on a server."""

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
    IPERF = "iperf"  # version 2
    LFTP = "lftp"  # with ProFTPD at the other end
    RSYNC = "rsync"
    SCP = "scp"
    # not in Debian: only their kept outputs are read
    HPNSCP = "hpnscp"  # of HPN-SSH
    BBCP = "bbcp"
    WDT = "wdt"

    @property
    def is_perftest(self) -> bool:
        """Whether the program is part of perftest."""
        return self.startswith("ib_")

    @property
    def measures_latency(self) -> bool:
        """Whether its result is a time, not a rate."""
        return self.endswith("_lat") or self in (Program.OSU, Program.IMB)

    @property
    def has_server(self) -> bool:
        """Whether the other end runs it, too, and must listen first."""
        return self.is_perftest or self in (Program.IPERF3, Program.IPERF) or self.is_daemon

    @property
    def is_daemon(self) -> bool:
        """Whether its other end serves until it is ended, so that its output is no evidence."""
        return self in (Program.LFTP, Program.RSYNC)

    @property
    def moves_data(self) -> bool:
        """Whether it transfers files, or fills a TCP connection as transfers do."""
        return self in TRANSFERS

    @property
    def is_only_read(self) -> bool:
        """Whether Rocefort reads its kept outputs, and does not run it."""
        return self in ONLY_READ


ONLY_READ = (Program.HPNSCP, Program.BBCP, Program.WDT)
TRANSFERS = (Program.IPERF, Program.LFTP, Program.RSYNC, Program.SCP, *ONLY_READ)


class RdmaHost(Frozen):
    """Facts of one server for a plan: device, GID index, NUMA node, version.

    gid_index: of the RoCE v2 GID with the server's address in its segment. machine: common to two
    names that are two NICs of one machine (a server on two leaves). qp_timeout: of its connections
    file.
    """

    name: Name
    device: Name
    gid_index: int = Field(ge=0, le=255)
    numa_node: int | None = Field(default=None, ge=0)  # of the device; None: not pinned
    machine: str = ""
    perftest: str | None = None  # output of `--version`, such as 6.06; None: not read
    qp_timeout: int | None = None


class StorageJob(Frozen):
    """Job of fio on mounted directories, one for each target.

    directory: all of them in fio's form, with colons between.
    """

    directory: str
    block_bytes: int
    depth: int
    targets: int = 1

    @property
    def directories(self) -> tuple[str, ...]:
        """Directories of the targets."""
        return tuple(self.directory.split(":"))


class TransferJob(Frozen):
    """Transfer of files of zeros, or of memory (iperf).

    files: 0: memory. total_bytes: of all files together. directory: at both ends. window_bytes: of
    TCP; None: the kernels choose it. round_trip_ms: that the lab is to add; None: the path's own.
    """

    files: int = 0
    total_bytes: int = 0
    directory: str = ""
    window_bytes: int | None = None
    round_trip_ms: float | None = None

    @property
    def detail(self) -> str:
        """Files and window, as text."""
        parts = [count_of(self.files, "file")] if self.files else []
        if self.window_bytes is not None:
            parts.append(f"window {self.window_bytes} bytes")
        if self.round_trip_ms is not None:
            parts.append(f"{self.round_trip_ms:g} ms")
        return ", ".join(parts)


class RdmaRun(Frozen):
    """Run of one program between one pair (or on one server, or on `ranks`), at one size.

    reach_gbps: rate that the fabric guarantees beside the other runs of its round, Gb/s; None:
    unknown. reach_why: the reason for it. switches: on its path, 1 within a leaf.
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
    transfer: TransferJob | None = Field(default=None, exclude_if=lambda job: job is None)
    collective: str = ""  # of MPI: alltoall, allgather, allreduce, gather, reduce
    ranks: tuple[str, ...] = ()  # servers of an MPI run
    processes_per_server: int = 1  # of an MPI run
    after_s: int = 0  # it begins so many seconds after its round, so that the other load is there
    sizes: tuple[int, ...] = ()  # of an MPI run, powers of two in a row; empty: the usual ones

    @property
    def servers(self) -> tuple[str, ...]:
        """All servers that it loads."""
        return self.ranks or tuple(name for name in (self.client, self.server) if name)

    @property
    def detail(self) -> str:
        """Word that distinguishes it from runs of the same program, pair and size; often empty."""
        if self.storage is not None:
            targets = f", {self.storage.targets} targets" if self.storage.targets > 1 else ""
            return f"depth {self.storage.depth}{targets}"
        if self.transfer is not None:
            return self.transfer.detail
        return self.collective

    @property
    def label(self) -> str:
        """Program, distinct from its other runs: `IMB-MPI1 alltoall`."""
        return f"{self.program} {self.detail}".rstrip()

    @property
    def is_small(self) -> bool:
        """Whether its messages are too small to fill a port."""
        return self.size_bytes is not None and self.size_bytes < LARGE_BYTES

    @property
    def least_s(self) -> float:
        """Least duration, s: as planned, or that of its messages at the rate that it can reach."""
        if self.duration_s is not None:
            return self.duration_s
        if self.reach_gbps and self.iterations and self.size_bytes:
            return max(1.0, self.iterations * self.qps * self.size_bytes * 8e-9 / self.reach_gbps)
        return 1.0

    @property
    def pair(self) -> str:
        """Client and server, as text."""
        if self.ranks:
            return f"{len(self.ranks)} servers"
        return f"{self.client}{ARROW}{self.server}" if self.server else self.client


class Round(Frozen):
    """Runs at the same time. total_gbps: rate that they share, if they share one port.

    fault: intended failure during the round, as text. repetition: of the plan, from 1. cable_by:
    who takes all cables of `fault_links` away, `cable_at_s` after the round begins. expected: rate
    of a beamline; expected_gbps: the part of it that must come through. round_trip_ms,
    reorder_percent: that a lab gives the path for this round.
    """

    number: int
    runs: tuple[RdmaRun, ...]
    note: str = ""
    total_gbps: float | None = None
    expected: ExpectedRate | None = None
    expected_gbps: float | None = None
    fault: str = ""
    fault_links: tuple[str, ...] = ()  # `DEVICE INTERFACE` of the leaf's end; any one of them
    repetition: int = 1
    cable_by: Literal["lab", "person"] | None = None
    cable_at_s: int | None = None
    round_trip_ms: float | None = Field(default=None, exclude_if=lambda time: time is None)
    reorder_percent: float = Field(default=0, exclude_if=lambda share: not share)


class Coverage(Frozen):
    """Leaf-spine-leaf paths that a plan should use; each path once, for both directions.

    ECMP chooses by hash, so a path is likely, but not certain. missed: probability, for one pair,
    that a path between its leaves stays unused, if the hash is even.
    """

    paths: tuple[tuple[str, str, str], ...]
    uncovered: tuple[tuple[str, str, str], ...] = ()
    qps: int
    missed: float
    claim: str


class RdmaPlan(Frozen):
    """All rounds of one suite. unmeasured: what cannot be measured, with the reasons.

    repeat: how often its rounds are run; all of them once, then all of them again.
    """

    fabric: str
    suite: Suite
    hosts: tuple[RdmaHost, ...]
    rounds: tuple[Round, ...]
    coverage: Coverage | None = None
    unmeasured: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    repeat: int = 1

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
        """Conditions of each run besides program, pair and size; only equal ones are compared.

        They are the number of QPs, the rate limit, the other load, and the servers.
        """
        return {run.id: _shape(run, each) for each in self.rounds for run in each.runs}

    @property
    def least_seconds(self) -> int:
        """Least duration of the plan, s: each round lasts as long as its longest run."""
        longest = (max((run.least_s for run in each.runs), default=0) for each in self.rounds)
        return math.ceil(sum(longest))


def _shape(run: RdmaRun, beside: Round) -> str:
    rows = (run.qps, run.limit_gbps, run.reach_gbps, run.every_s, run.collective)
    depth = run.storage.depth if run.storage else None
    ranks = [list(run.ranks)] if run.ranks else []
    more: dict[str, object] = {"sizes": run.sizes} if run.sizes else {}
    if run.storage is not None and run.storage.targets > 1:
        more["targets"] = run.storage.targets
    if run.transfer is not None:
        more["transfer"] = run.transfer.model_dump(exclude={"directory"})
    if run.processes_per_server > 1:
        more["processes"] = run.processes_per_server
    others = [[r.collective, len(r.ranks), r.limit_gbps] for r in beside.runs if r.id != run.id]
    if beside.cable_by:
        more["cables"] = beside.fault_links
    if run.ranks and others:
        more["beside"] = sorted(others, key=str)
    rest = [len(beside.runs) if beside.total_gbps else 1, *ranks, *([more] if more else [])]
    return json.dumps([*rows, depth, *rest])
