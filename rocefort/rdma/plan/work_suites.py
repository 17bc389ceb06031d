"""Suites with the work of applications: writes to remote storage, and MPI collectives (EANTC)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, get_args

from rocefort.base.errors import BadInput
from rocefort.models.network.network import Server
from rocefort.rdma.plan.message_sizes import WHERE, is_power_of_two, ladders
from rocefort.rdma.plan.site import FAR, NEAR, RdmaSite
from rocefort.rdma.rdma_plan import Program, RdmaPlan, RdmaRun, Round, StorageJob, Suite

STORAGE_S = 100  # EANTC's storage bed
BLOCKS = (4096, 4 * 2**20)  # EANTC: 4 KB and 4 MB
DEPTHS = (1, 32, 128)  # EANTC
Collective = Literal["alltoall", "allgather", "allreduce", "gather", "reduce"]
COLLECTIVES: tuple[Collective, ...] = get_args(Collective)  # EANTC's table
SUMS = ("allreduce", "reduce")
FLOAT_BYTES = 4
FEW_REPETITIONS = 100
DIRECTORY = re.compile(r"/[A-Za-z0-9._/-]{1,200}")


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
            for block in site.sizes("storage", BLOCKS).all_sizes
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
    return site.plan(
        Suite.MPI,
        [
            Round(number=0, note=f"{collective} over {len(ranks)} servers", runs=(run,))
            for collective in _collectives(site)
            for run in _mpi_runs(site, collective, ranks)
        ],
    )


def _collectives(site: RdmaSite) -> tuple[Collective, ...]:
    """Return the collectives that are measured: all, or those with sizes of the named set."""
    named = site.options.sizes
    listed = tuple(each for each in COLLECTIVES if named is None or named.of(each) is not None)
    if not listed:
        site.sizes(COLLECTIVES[0], ())  # raises BadInput
    return listed


def _mpi_runs(site: RdmaSite, collective: Collective, ranks: tuple[str, ...]) -> Iterator[RdmaRun]:
    """Yield a run for each row of sizes in which every size is twice the one before."""
    first = site.servers[ranks[0]]
    near = len({site.servers[name].port.device for name in ranks}) == 1
    for sizes in _ladders(site, collective):
        yield RdmaRun(
            id="",
            program=Program(site.options.mpi),
            client=first.name,
            client_address=str(first.address.ip),
            collective=collective,
            ranks=ranks,
            sizes=sizes,
            size_bytes=sizes[0] if len(sizes) == 1 else None,
            iterations=site.options.iterations or FEW_REPETITIONS,
            traffic_class=site.traffic_class,
            switches=NEAR if near else FAR,
        )


def _ladders(site: RdmaSite, collective: Collective) -> list[tuple[int, ...]]:
    """Return the sizes of each run; one empty row: the usual sizes."""
    if site.options.sizes is None:
        return [()]
    sizes = site.sizes(collective, ()).all_sizes
    if odd := [size for size in sizes if not is_power_of_two(size)]:
        how = "MPI benchmarks double the size from row to row: use powers of two"
        raise BadInput(f"{odd[0]} bytes for {collective}", where=WHERE, how=how)
    if collective in SUMS:  # IMB raises a smaller size to that of a float
        sizes = tuple(sorted({max(FLOAT_BYTES, size) for size in sizes}))
    return ladders(sizes)
