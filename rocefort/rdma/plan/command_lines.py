"""Build the command line of each end of a run, with options that its version supports.

Options by version are from perftest's sources, from 5.60 (4.2-0.5) on. A JSON report is requested
only if the caller names a file, and only from 6.20 (24.01) on, the first version that writes valid
JSON. Every version prints the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Literal

from rocefort.base.errors import BadInput
from rocefort.fleet.ssh_exec import RUN_MARK
from rocefort.models.wording import names_text
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.plan.message_sizes import doubling_sizes
from rocefort.rdma.plan.transfer_commands import transfer_argv
from rocefort.rdma.rdma_plan import Program, RdmaHost, RdmaRun

Side = Literal["client", "server"]
Version = tuple[int, int]
Argv = tuple[str, ...]

OLDEST: Version = (5, 60)
NEWEST_TRIED: Version = (6, 29)  # 26.04; 6.28 is 26.01, 6.20 is 24.01, 6.06 is 4.5-0.17
VALID_JSON: Version = (6, 20)
VERSION = re.compile(
    r"^[ \t]*(?:Version:[ \t]*)?(?P<major>\d+)\.(?P<minor>\d{1,3})[ \t]*$", re.MULTILINE
)
MPI_OSU = {
    name: f"osu_{name}" for name in ("alltoall", "allgather", "allreduce", "gather", "reduce")
}
MPI_IMB = {
    "alltoall": "Alltoall",
    "allgather": "Allgather",
    "allreduce": "Allreduce",
    "gather": "Gather",
    "reduce": "Reduce",
}
DEFAULT_BYTES = 65536  # message size of a bandwidth run, if none is given
FIO_BYTES = 2**30  # size of each server's file, which fio removes when it has ended
MPI_LARGEST = {"allreduce": 2**22}  # EANTC's table goes up to 4 MiB for it,
MPI_USUAL = 2**20  # and up to 1 MiB for the others
BURST_BYTES = 2**20  # with a rate limit: sent at line rate, then a pause until its time is over
TX_DEPTH = 128  # perftest's default, the maximum number of messages in one burst
MOST_PER_S = 2**31 - 1  # perftest computes messages per second in an int


def version_of(text: str) -> Version:
    """Parse the output of `--version`: `Version: 6.06` is (6, 6); raises BadInput otherwise.

    Other lines, such as warnings of libibverbs, do not matter.
    """
    match = VERSION.search(text)
    if match is None:
        raise BadInput(f"{text.strip()[:40]!r} is no version of perftest")
    return int(match["major"]), int(match["minor"])


def untried_versions(versions: Mapping[str, str]) -> tuple[str, ...]:
    """Return one sentence per version that is newer than all tried ones.

    versions: output of `--version` by server; an output without a version is left out.
    """
    newer: dict[Version, list[str]] = {}
    for server, text in versions.items():
        with suppress(BadInput):
            if (version := version_of(text)) > NEWEST_TRIED:
                newer.setdefault(version, []).append(server)
    tried = "{}.{:02}".format(*NEWEST_TRIED)
    return tuple(
        f"perftest {major}.{minor:02} on {names_text(servers)} is newer than {tried}, the newest "
        "that Rocefort was tried with"
        for (major, minor), servers in newer.items()
    )


def ends_fit(client: RdmaHost, server: RdmaHost) -> tuple[Outcome, str] | None:
    """Return the reason why two versions cannot measure together; None: none is known."""
    versions = {h.name: version_of(h.perftest) for h in (client, server) if h.perftest}
    for host in (client, server):
        if versions.get(host.name, OLDEST) < OLDEST:
            return (
                Outcome.OLD_PERFTEST,
                f"{host.name} has {host.perftest}, 5.60 or later is supported",
            )
    if len(set(versions.values())) > 1:
        versions_text = f"{client.name} has {client.perftest}, {server.name} has {server.perftest}"
        return Outcome.VERSIONS_DIFFER, versions_text
    return None


def argv(run: RdmaRun, side: Side, hosts: Mapping[str, RdmaHost], report: str = "") -> Argv:
    """Return the command of one end, program and arguments, for an exec without a shell.

    report: file for perftest's JSON report; left out if its version writes invalid JSON. Raises
    BadInput for the server of a program without a server.
    """
    if side == "server" and not run.program.has_server:
        raise BadInput(f"{run.program} has no server")
    host = hosts[run.server if side == "server" else run.client]
    if run.program.is_perftest:
        words = list(_perftest(run, side, host, report))
    elif run.program is Program.IPERF3:
        words = list(_iperf3(run, side))
    elif run.program is Program.FIO:
        words = list(_fio(run))
    elif run.program.moves_data:
        words = list(transfer_argv(run, side))
    else:
        return tuple(_mpi(run, hosts))
    return (*_pinned(host), *_line_buffered(run), *words)


def prechecks(run: RdmaRun) -> tuple[Argv, ...]:
    """Return the commands that must end with exit code 0 on the client before its run.

    Fio creates a missing directory, so it would fill a local disk if the storage is not mounted.
    """
    if run.storage is None:
        return ()
    return tuple(("mountpoint", "-q", each) for each in run.storage.directories)


def _pinned(host: RdmaHost) -> Argv:
    """Return a prefix that pins CPU and memory to the NIC's NUMA node."""
    if host.numa_node is None:
        return ()
    return ("numactl", f"--cpunodebind={host.numa_node}", f"--membind={host.numa_node}")


def _line_buffered(run: RdmaRun) -> Argv:
    """Return a prefix for line buffering; buffered rows are lost if the run is killed."""
    return ("stdbuf", "-oL") if run.every_s else ()


def _perftest(run: RdmaRun, side: Side, host: RdmaHost, report: str) -> Iterator[str]:
    yield from (run.program.value, "-d", host.device, "-x", str(host.gid_index), "-F")
    yield from ("-p", str(run.port), f"--tclass={run.traffic_class}")
    if run.size_bytes is not None:
        yield from ("-s", str(run.size_bytes))
    if not run.program.measures_latency:
        yield from ("--report_gbits", "-q", str(run.qps))
    if host.qp_timeout is not None:
        yield from ("-u", str(host.qp_timeout))
    yield from _amount(run)
    if run.duration_s is not None and run.every_s is None and not run.program.measures_latency:
        yield "--cpu_util"  # only over a duration
    if run.limit_gbps is not None and side == "client":
        yield from limiter_arguments(run.limit_gbps, run.size_bytes or DEFAULT_BYTES)
    if report and host.perftest and version_of(host.perftest) >= VALID_JSON:
        yield from ("--out_json", f"--out_json_file={report}")
    if side == "client":
        yield run.server_address


def limiter_arguments(limit_gbps: float, size_bytes: int = DEFAULT_BYTES) -> Argv:
    """Return the options of perftest's rate limiter; raises BadInput for a limit out of its range.

    The limit is for all QPs together: one burst and one gap cover the loop over QPs, and the rate
    is not divided (`run_iter_bw` in perftest_resources.c, the same in 4.5-0.2, 4.5-0.17 and 26.04).
    Without a burst size perftest sends a whole queue, 128 messages (1 GiB of 8 MiB each), at line
    rate, and prints a note on stderr. Messages per second overflow an int; no NIC sends so many.
    """
    per_second = limit_gbps * 1e9 / (size_bytes * 8)
    if per_second > MOST_PER_S:
        return ()
    if per_second < 1:
        raise BadInput(
            f"{limit_gbps:g} Gb/s is less than one message of {size_bytes} bytes a second",
            how="raise rdma.rate_limit_gbps",
        )
    # It computes whole bursts per second; zero bursts would disable the limit.
    burst = max(1, min(TX_DEPTH, BURST_BYTES // size_bytes, int(per_second)))
    rate = (f"--rate_limit={limit_gbps:g}", "--rate_units=g", "--rate_limit_type=SW")
    return (*rate, f"--burst_size={burst}")


def _amount(run: RdmaRun) -> Argv:
    if run.every_s is not None:
        return ("--run_infinitely", "-D", str(run.every_s))
    if run.iterations is not None:
        return ("-n", str(run.iterations))
    return ("-D", str(run.duration_s))


def _iperf3(run: RdmaRun, side: Side) -> Argv:
    if side == "server":
        return ("iperf3", "-s", "-1", "-J", "-p", str(run.port), "-B", run.server_address)
    ends = ("-c", run.server_address, "-B", run.client_address, "-p", str(run.port))
    load = ("-t", str(run.duration_s), "-P", str(run.qps), "-S", str(run.traffic_class))
    limit = () if run.limit_gbps is None else ("-b", f"{run.limit_gbps / run.qps * 1000:.0f}M")
    return ("iperf3", *ends, *load, *limit, "-i", "1", "-J")


def _fio(run: RdmaRun) -> Argv:
    job = run.storage
    if job is None:
        raise BadInput(f"run {run.id} has no storage job")
    # Fio's rate is for each job separately (fio's manual, `rate`), so the limit is divided.
    rate = None if run.limit_gbps is None else run.limit_gbps * 1e9 / 8 / job.targets
    limit = () if rate is None else (f"--rate={rate:.0f}",)
    return (
        "fio",
        f"--name={run.client}.{run.id}",
        f"--directory={job.directory}",
        "--rw=randwrite",
        f"--bs={job.block_bytes}",
        f"--iodepth={job.depth}",
        f"--numjobs={job.targets}",
        f"--size={FIO_BYTES}",
        f"--runtime={run.duration_s}",
        "--time_based",
        "--ioengine=libaio",
        "--direct=1",
        "--unlink=1",
        *limit,
        "--output-format=json",
    )


def _mpi(run: RdmaRun, hosts: Mapping[str, RdmaHost]) -> Iterator[str]:
    """Start the processes with Open MPI over UCX, on the RDMA device and GID of each server."""
    devices = {hosts[name].device for name in run.ranks}
    gids = {hosts[name].gid_index for name in run.ranks}
    if len(devices) > 1 or len(gids) > 1:
        raise BadInput(
            f"the servers name different devices or GID indexes: {', '.join(sorted(devices))}; "
            f"{', '.join(map(str, sorted(gids)))}",
            how="choose servers with the same device and GID index: mpirun sets one for all",
        )
    each = run.processes_per_server
    processes = str(len(run.ranks) * each)
    # Without a number of slots a host has one.
    hosts_list = ",".join(name if each == 1 else f"{name}:{each}" for name in run.ranks)
    yield from ("mpirun", "-np", processes, "--host", hosts_list)
    yield from ("--map-by", f"ppr:{each}:node", "--mca", "pml", "ucx")
    yield from ("-x", f"UCX_NET_DEVICES={devices.pop()}:1", "-x", f"UCX_IB_GID_INDEX={gids.pop()}")
    yield from ("-x", f"UCX_IB_TRAFFIC_CLASS={run.traffic_class}", "-x", RUN_MARK)
    sizes = mpi_sizes(run)
    if run.program is Program.IMB:
        yield from ("IMB-MPI1", "-npmin", processes, "-iter", str(run.iterations))
        first, last = (size.bit_length() - 1 for size in (sizes[0], sizes[-1]))
        yield from ("-msglog", f"{first}:{last}", MPI_IMB[run.collective])
    else:
        yield from (MPI_OSU[run.collective], "-m", f"{sizes[0]}:{sizes[-1]}")
        yield from ("-i", str(run.iterations), "-f")


def mpi_sizes(run: RdmaRun) -> tuple[int, ...]:
    """Return the sizes of an MPI run: those of its plan, otherwise from 1 byte on."""
    return run.sizes or doubling_sizes(1, MPI_LARGEST.get(run.collective, MPI_USUAL))
