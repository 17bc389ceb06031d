"""Suites with the work of applications: storage, MPI collectives (EANTC), transfers (LANL)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, zip_longest
from typing import Literal, get_args

from rocefort.base.errors import BadInput
from rocefort.models.network.network import Server
from rocefort.models.network.window import LARGEST_WINDOW, bytes_in_flight
from rocefort.models.wording import count_of, listing
from rocefort.rdma.plan.message_sizes import WHERE, is_power_of_two, ladders
from rocefort.rdma.plan.site import FAR, NEAR, RdmaPlanOptions, RdmaSite, TooFewServers
from rocefort.rdma.rdma_plan import (
    Program,
    RdmaPlan,
    RdmaRun,
    Round,
    StorageJob,
    Suite,
    TransferJob,
)

STORAGE_S = 100  # EANTC's storage bed
BLOCKS = (4096, 4 * 2**20)  # EANTC: 4 KB and 4 MB
DEPTHS = (1, 32, 128)  # EANTC
Collective = Literal["alltoall", "allgather", "allreduce", "gather", "reduce"]
COLLECTIVES: tuple[Collective, ...] = get_args(Collective)  # EANTC's table
SUMS = ("allreduce", "reduce")
FLOAT_BYTES = 4
FEW_REPETITIONS = 100
TCP_S = 120  # of TCP beside MPI
TCP_LEAD_S = 1  # MPI begins when TCP sends
TCP_LOAD = "TCP is the load here"
DIRECTORY = re.compile(r"/[A-Za-z0-9._/-]{1,200}")


def storage(site: RdmaSite) -> RdmaPlan:
    """Plan fio's random writes from all servers at once, to directories mounted there (EANTC)."""
    site.require(1, Suite.STORAGE)
    directories, counts = storage_targets(site.options, site.network.name)
    return site.plan(
        Suite.STORAGE,
        [
            Round(
                number=0,
                note=f"random writes of {block} bytes, depth {depth}{_targets_text(count, counts)}",
                runs=tuple(
                    _job(site, s, ":".join(directories[:count]), block, depth)
                    for s in site.servers.values()
                ),
            )
            for count in counts
            for block in site.sizes("storage", BLOCKS).all_sizes
            for depth in DEPTHS
        ],
    )


def storage_targets(
    options: RdmaPlanOptions, where: str, option: str = "--directory"
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return directories, and numbers of those that are written at the same time.

    option: that names the directories, for the sentences. Raises BadInput.
    """
    directories = _directories(options.storage_directory, where, option)
    return directories, _target_counts(options.targets, len(directories), option)


def _target_counts(targets: str, directories: int, option: str) -> tuple[int, ...]:
    words = (targets or str(directories)).split(",")
    if wrong := [word for word in words if not re.fullmatch(r" *[1-9][0-9]{0,3} *", word)]:
        raise BadInput(f"{wrong[0]!r} is no number of targets", where="--targets", how="write 1,4")
    counts = tuple(dict.fromkeys(map(int, words)))
    if max(counts) > directories:
        raise BadInput(
            f"{max(counts)} targets, and {count_of(directories, 'directory')}",
            where="--targets",
            how=f"name a directory for each target: {option} /mnt/a,/mnt/b",
        )
    return counts


def _targets_text(count: int, counts: tuple[int, ...]) -> str:
    return "" if counts == (1,) else f", {count_of(count, 'target')}"


def _directories(given: str | None, where: str, option: str) -> tuple[str, ...]:
    """Return the directory of each target; raises BadInput."""
    how = f"name one that is mounted on all servers, by its whole path: {option} /mnt/data"
    if given is None:
        what = "no directory of remote storage is named"
        raise BadInput(what, where=where, how=how)
    directories = tuple(given.split(","))
    for each in directories:
        if not DIRECTORY.fullmatch(each) or ".." in each:
            what = f"{each!r} is not a directory of remote storage"
            raise BadInput(what, where=where, how=how)
    if len(set(directories)) < len(directories):
        how = "name each target's directory once"
        raise BadInput("a directory is there twice", where=option, how=how)
    return directories


def _job(site: RdmaSite, server: Server, directory: str, block: int, depth: int) -> RdmaRun:
    targets = directory.count(":") + 1
    return RdmaRun(
        id="",
        program=Program.FIO,
        client=server.name,
        client_address=str(server.address.ip),
        duration_s=site.options.duration_s or STORAGE_S,
        size_bytes=block,
        limit_gbps=site.load.limit_gbps,
        storage=StorageJob(directory=directory, block_bytes=block, depth=depth, targets=targets),
    )


# --- MPI ------------------------------------------------------------------------------------------


def mpi(site: RdmaSite) -> RdmaPlan:
    """Plan EANTC's collectives over all servers, or those that the policy lets exchange RDMA.

    With groups, each has another collective at the same time. With a rate of TCP, every second
    server sends TCP instead.
    """
    groups, tcp = site.options.groups, site.options.tcp_gbps is not None
    least = 2 * groups * (2 if tcp else 1)
    site.require(least, Suite.MPI)
    site.unlimited(Suite.MPI, "MPI sends as fast as it can")
    if len(site.mutual) < least:
        what = f"the policy lets RDMA pass among {len(site.mutual)} servers, {least} are needed"
        raise TooFewServers(what, where=site.network.name, how="name others")
    ordered = [s for servers in site.by_leaf.values() for s in servers if s in site.mutual]
    members = ordered[::2] if tcp else [s for s in site.servers.values() if s in site.mutual]
    load = _tcp_load(site, ordered[1::2]) if tcp else ()
    collectives = _collectives(site)
    works: list[Work]
    if groups == 1:
        works = [((collective, members),) for collective in collectives]
    elif groups <= len(collectives):
        dealt = [server for server in ordered if server in members]
        parts = [dealt[number::groups] for number in range(groups)]
        works = [tuple(zip(collectives, parts, strict=False))]
    else:
        named = f"{count_of(len(collectives), 'collective')} with the chosen sizes"
        raise BadInput(f"{groups} unlike groups, and {named}", where="--groups", how="use fewer")
    rounds = [each for work in works for each in _rounds(site, work, load)]
    if site.options.cable_by is not None:
        rounds = [both for each in rounds for both in _with_and_without(site, each)]
    return site.plan(Suite.MPI, rounds)


def _with_and_without(site: RdmaSite, each: Round) -> tuple[Round, Round]:
    """Return a round as it is, and the same while a leaf loses its cables to one spine.

    Raises BadInput if the servers of no run are behind several leaves, or if a leaf has one spine.
    """
    leaves = list(dict.fromkeys(site.servers[name].port.device for name in each.runs[0].ranks))
    if len(leaves) < 2 or len(site.wiring.spines(*leaves[:2])) < 2:
        how = "choose servers of two leaves with two spines between them"
        raise BadInput("no cable can be taken away", where="--cable-by", how=how)
    fault = site.cable_fault(leaves[0])
    note = f"{each.note}, {fault['fault']}"
    return each, each.model_copy(update={**fault, "note": note})


Work = tuple[tuple[Collective, Sequence[Server]], ...]  # of one round: collectives, their servers


def _rounds(site: RdmaSite, work: Work, load: tuple[RdmaRun, ...]) -> Iterator[Round]:
    """Yield a round for each row of sizes: one run for each group, beside the other load."""
    each_rows = [list(_mpi_runs(site, *group, after_s=TCP_LEAD_S if load else 0)) for group in work]
    each = site.options.processes_per_server
    processes = f", {each} processes each" if each > 1 else ""
    beside = ""
    if load:
        beside = f", beside {count_of(len(load), 'TCP sender')} at {site.options.tcp_gbps:g} Gb/s"
    sets = [f"{collective} over {len(servers)} servers" for collective, servers in work]
    for runs in zip_longest(*each_rows):
        together = tuple(run for run in runs if run is not None)
        note = f"{listing(sets)}{processes}{beside}"
        yield Round(number=0, note=note, runs=(*together, *load))


def _tcp_load(site: RdmaSite, senders: Sequence[Server]) -> tuple[RdmaRun, ...]:
    """Return a TCP run of each sender to the one half a round of the list away.

    So each also receives from one, and most pairs cross the spines. The publication does not say
    who receives.
    """
    site.tcp_queue()
    away = len(senders) // 2
    sinks = [*senders[away:], *senders[:away]]
    if lone := [a.name for a, b in zip(senders, sinks, strict=True) if not site.are_separate(a, b)]:
        how = "leave one of its names out"
        raise BadInput(f"{lone[0]} would send TCP to its own machine", where="--servers", how=how)
    why = {"reach_gbps": None, "reach_why": TCP_LOAD}
    duration = site.duration_s(TCP_S)
    return tuple(
        site.tcp_run(one, other, duration_s=duration, **why)
        for one, other in zip(senders, sinks, strict=True)
    )


def _collectives(site: RdmaSite) -> tuple[Collective, ...]:
    """Return the collectives that are measured: all, or those with sizes of the named set."""
    named = site.options.sizes
    listed = tuple(each for each in COLLECTIVES if named is None or named.of(each) is not None)
    if not listed:
        site.sizes(COLLECTIVES[0], ())  # raises BadInput
    return listed


def _mpi_runs(
    site: RdmaSite, collective: Collective, members: Sequence[Server], after_s: int
) -> Iterator[RdmaRun]:
    """Yield a run for each row of sizes in which every size is twice the one before."""
    first = members[0]
    near = len({server.port.device for server in members}) == 1
    for sizes in _ladders(site, collective):
        yield RdmaRun(
            id="",
            program=Program(site.options.mpi),
            client=first.name,
            client_address=str(first.address.ip),
            collective=collective,
            ranks=tuple(server.name for server in members),
            processes_per_server=site.options.processes_per_server,
            after_s=after_s,
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


# --- transfers ------------------------------------------------------------------------------------

FILE_PROGRAMS = (Program.LFTP, Program.RSYNC, Program.SCP)
TRANSFER_S = 20  # of iperf, so that its rate over time is seen; assumed
IN_MEMORY = "/dev/shm"  # noqa: S108 - no disk is measured
RATIOS = "the ratios of transfers are compared, not their rates"
ROUND_TRIP = re.compile(r" *(\d{1,5}(?:\.\d{1,3})?) *")
NO_WAN = "windows, and the sweep of the round trip: the fabric names no path (wan)"
NO_SWEEP = "the sweep of the round trip: a lab sets it (--round-trips)"


def transfer(site: RdmaSite) -> RdmaPlan:
    """Plan LANL's transfers: tools, one file against many, and windows over the path of `wan`.

    With round trips, which a lab gives the path, each is measured with the window of the first,
    which is that of a LAN, and with the window of the last.
    """
    site.require(2, Suite.TRANSFER)
    site.unlimited(Suite.TRANSFER, "transfers send as fast as they can")
    (directory,) = _one_directory(site)
    options, pair = site.options, _transfer_pair(site)
    rounds = [_memory_round(site, pair, TransferJob(), f"{Program.IPERF}, memory")]
    for program in FILE_PROGRAMS:
        for files in (1, options.files):
            job = TransferJob(files=files, total_bytes=options.total_bytes, directory=directory)
            run = _transfer_run(program, pair, job)
            rounds.append(Round(number=0, runs=(run,), note=f"{program}, {job.detail}"))
    unmeasured = []
    if not site.network.wan:
        unmeasured = [NO_WAN]
    elif options.round_trips:
        rounds += _sweep_of_round_trips(site, pair)
    else:
        path = site.network.wan[0]
        window = _window(path.rate_gbps, path.round_trip_ms)
        job = TransferJob(window_bytes=window)
        rounds.append(_memory_round(site, pair, job, f"{Program.IPERF}, {job.detail}"))
        unmeasured = [NO_SWEEP]
    return site.plan(Suite.TRANSFER, rounds, unmeasured=tuple(unmeasured))


def _one_directory(site: RdmaSite) -> tuple[str, ...]:
    directories = _directories(
        site.options.storage_directory or IN_MEMORY, site.network.name, "--directory"
    )
    if len(directories) > 1:
        how = "name one that both servers have"
        raise BadInput("a transfer takes one directory", where="--directory", how=how)
    return directories


def _transfer_pair(site: RdmaSite) -> tuple[Server, Server]:
    """Return client and server: of the segments of `wan`, else of two leaves where possible."""
    servers = list(site.servers.values())
    pairs = [each for each in combinations(servers, 2) if site.are_separate(*each)]
    if site.network.wan:
        ends = site.network.wan[0].between
        both = [
            (one, other) if one.segment == ends[0] else (other, one)
            for one, other in pairs
            if {one.segment, other.segment} == {*ends}
        ]
        if both:
            return both[0]
        raise TooFewServers(
            f"no two of the servers are in {listing(ends)}, with RDMA allowed between them",
            where=site.network.name,
            how="name one of each segment with --servers",
        )
    if not pairs:
        raise TooFewServers("no two of the servers may exchange data", where=site.network.name)
    return next((p for p in pairs if p[0].port.device != p[1].port.device), pairs[0])


def _window(rate_gbps: float, round_trip_ms: float) -> int:
    return min(LARGEST_WINDOW, bytes_in_flight(rate_gbps, round_trip_ms))


def _sweep_of_round_trips(site: RdmaSite, pair: tuple[Server, Server]) -> Iterator[Round]:
    trips = _round_trips(site.options.round_trips)
    path = site.network.wan[0]
    for trip in trips:
        for window in (_window(path.rate_gbps, trips[0]), _window(path.rate_gbps, trips[-1])):
            job = TransferJob(window_bytes=window, round_trip_ms=trip)
            each = _memory_round(site, pair, job, f"{Program.IPERF}, {job.detail}")
            far = {"round_trip_ms": trip, "reorder_percent": path.reorder_percent}
            yield each.model_copy(update=far)


def _round_trips(text: str) -> list[float]:
    words = text.split(",")
    if wrong := [word for word in words if not ROUND_TRIP.fullmatch(word)]:
        what = f"{wrong[0]!r} is no round trip in ms"
        raise BadInput(what, where="--round-trips", how="write 0.4,1,10,44")
    trips = [float(word) for word in words]
    if len(trips) < 2 or trips != sorted(set(trips)) or not trips[0]:
        how = "write two or more above 0, the shortest first: 0.4,1,10,44"
        raise BadInput(f"{text!r} is no sweep", where="--round-trips", how=how)
    return trips


def _memory_round(
    site: RdmaSite, pair: tuple[Server, Server], job: TransferJob, note: str
) -> Round:
    run = _transfer_run(Program.IPERF, pair, job)
    duration = site.duration_s(TRANSFER_S)
    return Round(number=0, runs=(run.model_copy(update={"duration_s": duration}),), note=note)


def _transfer_run(program: Program, pair: tuple[Server, Server], job: TransferJob) -> RdmaRun:
    near = pair[0].port.device == pair[1].port.device
    return RdmaRun(
        id="",
        program=program,
        client=pair[0].name,
        server=pair[1].name,
        client_address=str(pair[0].address.ip),
        server_address=str(pair[1].address.ip),
        switches=NEAR if near else FAR,
        reach_why=RATIOS,
        transfer=job,
    )
