"""Suites that load the fabric: incast, parallel TCP, link failure, storage and MPI."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocefort.base.errors import BadInput
from rocefort.models.device.lossless import default_queue
from rocefort.models.network.network import End, Network, Server
from rocefort.rdma.plan.shared_links import qps_for
from rocefort.rdma.plan.site import FAR, NEAR, RdmaSite
from rocefort.rdma.rdma_plan import Program, RdmaPlan, RdmaRun, Round, StorageJob, Suite

FAILOVER_S = 30
EVERY_S = 1
STORAGE_S = 100  # EANTC's storage bed
BLOCKS = (4096, 4 * 2**20)  # EANTC: 4 KB and 4 MB
DEPTHS = (1, 32, 128)  # EANTC
COLLECTIVES = ("alltoall", "allgather", "allreduce", "gather", "reduce")  # EANTC's table
FEW_REPETITIONS = 100
DIRECTORY = re.compile(r"/[A-Za-z0-9._/-]{1,200}")


def incast(site: RdmaSite) -> RdmaPlan:
    """Plan one sender to one server as the reference, then all senders at the same time."""
    site.require(3, Suite.INCAST)
    sink = _target(site)
    senders = [s for s in site.servers.values() if s is not sink and site.are_separate(s, sink)]
    if not senders:
        raise BadInput(f"all servers are one machine with {sink.name}", how="name others")
    offered = sum(site.load.rate_gbps(s.flow_gbps) for s in senders)
    rounds = [
        site.round([site.run(Program.WRITE_BW, senders[0], sink)], f"one to {sink.name}"),
        site.round(
            [site.run(Program.WRITE_BW, sender, sink) for sender in senders],
            f"{len(senders)} to {sink.name}",
            total_gbps=float(min(sink.flow_gbps, offered)),
        ),
    ]
    return site.plan(Suite.INCAST, rounds)


def _target(site: RdmaSite) -> Server:
    """Return the server that all send to: the named one, otherwise the first of the fastest."""
    if site.options.target is not None:
        return site.server(site.options.target)
    return max(site.servers.values(), key=lambda server: server.flow_gbps)


# --- beside TCP -----------------------------------------------------------------------------------


def mixed(site: RdmaSite) -> RdmaPlan:
    """Plan RDMA and TCP from different servers to one, so its leaf's port schedules the queues."""
    site.require(3, Suite.MIXED)
    queue, roce = default_queue(site.options.tcp_dscp), site.lossless.queue
    if queue == roce:
        raise BadInput(
            f"TCP with DSCP {site.options.tcp_dscp} would be in queue {roce}, together with RoCE",
            how="choose a DSCP of another queue",
        )
    sink = _target(site)
    others = [s for s in site.servers.values() if s is not sink and site.are_separate(s, sink)]
    if len(others) < 2:
        raise BadInput(f"fewer than two machines beside {sink.name}", how="name others")
    sender, talker = others[:2]
    alone = site.run(Program.WRITE_BW, sender, sink)
    tcp = site.run(
        Program.IPERF3,
        talker,
        sink,
        size_bytes=None,
        qps=site.options.tcp_streams,
        traffic_class=site.options.tcp_dscp << 2,
    )
    beside = _background_run(site, alone, sink, queue)
    together = site.round([alone, tcp], f"RDMA in queue {roce}, TCP in queue {queue}")
    load = {"reach_gbps": None, "reach_why": "TCP is the load here"}
    background = together.runs[1].model_copy(update=load)
    together = together.model_copy(update={"runs": (beside, background)})
    return site.plan(Suite.MIXED, [site.round([alone], "RDMA alone"), together])


def _background_run(site: RdmaSite, run: RdmaRun, sink: Server, queue: int) -> RdmaRun:
    """Return the RDMA run with its rate by the port's weights, if TCP would fill the port too."""
    weights = _weights(site.network, sink.port) or _weights(site.network, sink.ports[0])
    roce, tcp = weights.get(site.lossless.queue), weights.get(queue)
    if roce is None or tcp is None:
        why = f"{sink.port} does not serve both queues by weight: no share is sure"
        return run.model_copy(update={"reach_gbps": None, "reach_why": why})
    share = roce / (roce + tcp)
    why = f"{sink.port} weighs RDMA {roce} against TCP {tcp}"
    rate = min(site.servers[run.client].flow_gbps, sink.flow_gbps)
    reach = min(rate * share, run.limit_gbps or rate)
    return run.model_copy(update={"reach_gbps": reach, "reach_why": why})


def _weights(network: Network, port: End) -> dict[int, int]:
    interface = network.interface(port)
    return {row.queue: row.weight for row in interface.drr} if interface else {}


# --- through a failure ----------------------------------------------------------------------------


def failover(site: RdmaSite) -> RdmaPlan:
    """Plan a row per second while an uplink fails, once near the sender, once near the receiver."""
    site.require(2, Suite.FAILOVER)
    site.unlimited(Suite.FAILOVER, "perftest limits no rate in a run that prints periodic rows")
    pair = next(_across(site), None)
    if pair is None:
        return site.plan(Suite.FAILOVER, [], unmeasured=("no two servers of different leaves",))
    leaves = [server.port.device for server in pair]
    width = site.wiring.width(*leaves)
    if width < 2:
        lone = f"{leaves[0]} and {leaves[1]} have one path: a failure of it ends all traffic"
        return site.plan(Suite.FAILOVER, [], unmeasured=(lone,))
    run = site.run(
        Program.WRITE_BW,
        *pair,
        duration_s=site.duration_s(FAILOVER_S),
        every_s=EVERY_S,
        qps=site.options.qps or qps_for(width),
    )
    rounds = [
        site.round(
            [run],
            f"an uplink of {leaf} fails, {side}",
            fault=f"one uplink of {leaf} goes down",
            fault_links=tuple(str(uplink.leaf) for uplink in site.wiring.uplinks[leaf]),
        )
        for leaf, side in zip(leaves, ("near the sender", "near the receiver"), strict=True)
    ]
    return site.plan(Suite.FAILOVER, rounds)


def _across(site: RdmaSite) -> Iterator[tuple[Server, Server]]:
    servers = list(site.servers.values())
    for one in servers:
        for other in servers:
            across = one.port.device != other.port.device and site.are_separate(one, other)
            if across and one.flow_gbps == other.flow_gbps:
                yield one, other


# --- with work ------------------------------------------------------------------------------------


def storage(site: RdmaSite) -> RdmaPlan:
    """Plan fio's random writes from all servers at once, to a directory mounted there (EANTC)."""
    site.require(1, Suite.STORAGE)
    directory = site.options.storage_directory
    if directory is None or not DIRECTORY.fullmatch(directory) or ".." in directory:
        raise BadInput(
            f"{directory!r} is not a directory of remote storage"
            if directory
            else "no directory of remote storage is named",
            where=site.network.name,
            how="name one that is mounted on all servers, by its whole path: --directory /mnt/data",
        )
    return site.plan(
        Suite.STORAGE,
        [
            Round(
                number=0,
                note=f"random writes of {block} bytes, depth {depth}",
                runs=tuple(_job(site, s, directory, block, depth) for s in site.servers.values()),
            )
            for block in BLOCKS
            for depth in DEPTHS
        ],
    )


def _job(site: RdmaSite, server: Server, directory: str, block: int, depth: int) -> RdmaRun:
    return RdmaRun(
        id="",
        program=Program.FIO,
        client=server.name,
        client_address=str(server.address.ip),
        duration_s=site.options.duration_s or STORAGE_S,
        size_bytes=block,
        limit_gbps=site.load.limit_gbps,
        storage=StorageJob(directory=directory, block_bytes=block, depth=depth),
    )


def mpi(site: RdmaSite) -> RdmaPlan:
    """Plan EANTC's collectives over all servers, with one process each."""
    site.require(2, Suite.MPI)
    site.unlimited(Suite.MPI, "MPI sends as fast as it can")
    ranks = tuple(site.servers)
    first = site.servers[ranks[0]]
    near = len(site.by_leaf) == 1
    return site.plan(
        Suite.MPI,
        [
            Round(
                number=0,
                note=f"{collective} over {len(ranks)} servers",
                runs=(
                    RdmaRun(
                        id="",
                        program=Program(site.options.mpi),
                        client=first.name,
                        client_address=str(first.address.ip),
                        collective=collective,
                        ranks=ranks,
                        iterations=site.options.iterations or FEW_REPETITIONS,
                        traffic_class=site.traffic_class,
                        switches=NEAR if near else FAR,
                    ),
                ),
            )
            for collective in COLLECTIVES
        ],
    )
