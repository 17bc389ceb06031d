"""Plan the suites of RDMA tests: rounds of runs between the servers of a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.network import Network, Server
from rocefort.rdma.plan import load_suites
from rocefort.rdma.plan.gate import plan_pairs
from rocefort.rdma.plan.shared_links import disjoint_rounds, miss_probability, qps_for, tournament
from rocefort.rdma.plan.site import RdmaPlanOptions, RdmaSite, numbered
from rocefort.rdma.rdma_plan import Coverage, Program, RdmaHost, RdmaPlan, RdmaRun, Suite

SIZES = tuple(2**n for n in range(1, 24))  # 2 B to 8 MB, as perftest's `-a`
SWEEP_DURATION_S = 5
SMALL_BYTES = 8192  # up to this size as many messages as REDIGO's reflector test: 10^4
FEW_ITERATIONS = 1000
FEW = (Suite.SWEEP, Suite.MIXED, Suite.FAILOVER)  # suites that use a few servers only
MIXED_SPEEDS = "speeds differ: judged by the slower port"

Pair = tuple[Server, Server]


def plan_suite(
    network: Network,
    rdma: Rdma,
    suite: Suite,
    hosts: Sequence[RdmaHost],
    options: RdmaPlanOptions | None = None,
) -> RdmaPlan:
    """Plan a suite on these servers; the same input gives the same plan.

    Raises BadInput for servers that the network lacks, for too few servers, or for options that
    cannot be measured.
    """
    site = RdmaSite(network, rdma, tuple(hosts), options or RdmaPlanOptions())
    plan = PLANNERS[suite](site)
    return plan.model_copy(
        update={
            "rounds": numbered(plan.rounds),
            "unmeasured": (*plan.unmeasured, *_resting(site, plan)),
        }
    )


def _resting(site: RdmaSite, plan: RdmaPlan) -> Iterator[str]:
    """Report servers that a suite over all servers leaves out."""
    if plan.suite in FEW or not plan.rounds:
        return
    used_names = {name for run in plan.runs for name in run.servers}
    if unused := [name for name in site.servers if name not in used_names]:
        yield f"in no pair, because their leaf is in one already: {', '.join(unused)}"


# --- pairs across the spines ----------------------------------------------------------------------


def _across(suite: Suite, *programs: Program) -> Callable[[RdmaSite], RdmaPlan]:
    """Return a planner of both figures between leaves, with every leaf in a pair (HEPS paper)."""

    def plan(site: RdmaSite) -> RdmaPlan:
        site.require(2, suite)
        usable = site.network.model_copy(update={"servers": tuple(site.servers.values())})
        pairs = [
            (site.servers[pair.client], site.servers[pair.server]) for pair in plan_pairs(usable)
        ]
        pairs = [pair for pair in pairs if site.are_separate(*pair)]
        alone = () if pairs else ("all servers are on one leaf: no path crosses the spines",)
        rounds = [
            site.round([site.run(program, *pair) for pair in group], f"{program}, leaf to leaf")
            for program in site.options.programs or programs
            for group in disjoint_rounds(pairs, _leaves)
        ]
        return site.plan(suite, rounds, unmeasured=alone, notes=_notes(pairs))

    return plan


def _leaves(pair: Pair) -> tuple[str, str]:
    return pair[0].port.device, pair[1].port.device


def _notes(pairs: Sequence[Pair]) -> tuple[str, ...]:
    return tuple(
        f"{one.name} -> {other.name}: {one.flow_gbps} and {other.flow_gbps} Gb/s, {MIXED_SPEEDS}"
        for one, other in pairs
        if one.flow_gbps != other.flow_gbps
    )


# --- mesh -----------------------------------------------------------------------------------------


def _mesh(site: RdmaSite) -> RdmaPlan:
    site.require(2, Suite.MESH)
    covering = site.options.covering
    everything = _covering(site) if covering else tournament(list(site.servers.values()))
    schedule = [[pair for pair in group if site.are_separate(*pair)] for group in everything]
    pairs = [pair for group in schedule for pair in group]
    qps = site.options.qps or max((qps_for(_width(site, pair)) for pair in pairs), default=1)
    word = "each pair of leaves once" if covering else "each pair of servers once"
    rounds = [
        site.round([_spread(site, program, pair, qps) for pair in group], f"{program}, {word}")
        for program in site.options.programs or (Program.WRITE_BW,)
        for group in schedule
        if group
    ]
    coverage = _coverage(site, pairs, qps)
    return site.plan(Suite.MESH, rounds, coverage=coverage, notes=_notes(pairs))


def _spread(site: RdmaSite, program: Program, pair: Pair, qps: int) -> RdmaRun:
    run = site.run(program, *pair)
    return run if program.measures_latency else run.model_copy(update={"qps": qps})


def _width(site: RdmaSite, pair: Pair) -> int:
    one, other = _leaves(pair)
    return 1 if one == other else site.wiring.width(one, other)


def _covering(site: RdmaSite) -> Iterator[list[Pair]]:
    """Yield the fewest pairs that cover every leaf-spine-leaf path: one for each pair of leaves.

    A pair of servers uses the paths of one pair of leaves only, so fewer pairs are not enough. A
    round is one round of a tournament of leaves, so each leaf has one flow at most, at full speed.
    """
    used: dict[str, int] = {}
    for group in tournament(list(site.by_leaf)):
        pairs = []
        for one, other in group:
            pair = _fittest(site, site.by_leaf[one], site.by_leaf[other], used)
            for server in pair:
                used[server.name] = used.get(server.name, 0) + 1
            pairs.append(pair)
        yield pairs


def _fittest(
    site: RdmaSite, ones: Sequence[Server], others: Sequence[Server], used: dict[str, int]
) -> Pair:
    """Choose servers by equal speed, then by least use, then within a segment."""

    def cost(pair: Pair) -> tuple[bool, bool, int, bool]:
        one, other = pair
        return (
            not site.are_separate(one, other),
            one.flow_gbps != other.flow_gbps,
            used.get(one.name, 0) + used.get(other.name, 0),
            one.segment != other.segment,
        )

    pairs = [(one, other) for one in ones for other in others]
    return min(pairs, key=cost)


def _coverage(site: RdmaSite, pairs: Sequence[Pair], qps: int) -> Coverage:
    met = {frozenset(_leaves(pair)) for pair in pairs}
    paths = site.wiring.paths(list(site.by_leaf))
    covered = tuple(path for path in paths if frozenset((path[0], path[2])) in met)
    widest = max((_width(site, pair) for pair in pairs), default=1)
    likely = miss_probability(widest, qps)
    return Coverage(
        paths=covered,
        uncovered=tuple(path for path in paths if path not in covered),
        qps=qps,
        missed=likely,
        claim=f"{len(covered)} leaf-spine-leaf paths, {qps} QPs a pair, each with its own UDP "
        f"source port where the NIC gives it one; ECMP chooses by hash, so that a path between two "
        f"leaves stays unused with a probability of at most {likely:.2g} if the hash is even: "
        "check the uplinks' counters",
    )


# --- sweep ----------------------------------------------------------------------------------------


def _sweep(site: RdmaSite) -> RdmaPlan:
    """Plan sizes 2 B to 8 MB, one run each, within a leaf and across the spines (REDIGO's method).

    `-a` is not used: with it perftest sends as many messages for 8 MB as for 2 B, prints `-nan` as
    the deviation of too few, and writes only one row in its JSON.
    """
    site.require(2, Suite.SWEEP)
    near, far = _near_and_far(site)
    rounds = [
        site.round([_sized(site, program, pair, size)], f"{program}, {size} bytes, {path}")
        for path, pair in (("within a leaf", near), ("across the spines", far))
        if pair is not None
        for program in site.options.programs or (Program.WRITE_LAT, Program.WRITE_BW)
        for size in SIZES
    ]
    lacking = [
        "switch latency: no two servers of one leaf may be used" if near is None else "",
        "switch latency: no two servers of different leaves may be used" if far is None else "",
    ]
    return site.plan(Suite.SWEEP, rounds, unmeasured=tuple(filter(None, lacking)))


def _sized(site: RdmaSite, program: Program, pair: Pair, size: int) -> RdmaRun:
    if not program.measures_latency:
        duration = site.duration_s(SWEEP_DURATION_S)
        return site.run(program, *pair, size_bytes=size, duration_s=duration)
    iterations = site.options.iterations or (10_000 if size <= SMALL_BYTES else FEW_ITERATIONS)
    return site.run(program, *pair, size_bytes=size, iterations=iterations)


def _near_and_far(site: RdmaSite) -> tuple[Pair | None, Pair | None]:
    """Choose a pair within a leaf and one across, with the same client if possible.

    With the same client, fewer NICs can differ between the two latencies that are subtracted.
    """

    def cost(pair: Pair) -> tuple[bool, bool]:
        return pair[0].flow_gbps != pair[1].flow_gbps, pair[0].segment != pair[1].segment

    pairs = [pair for pair in combinations(site.servers.values(), 2) if site.are_separate(*pair)]
    near = min((p for p in pairs if len({*_leaves(p)}) == 1), key=cost, default=None)
    across = [p for p in pairs if len({*_leaves(p)}) == 2]
    if near is not None:
        client = near[0]
        shared = [(a, b) if a is client else (b, a) for a, b in across if client in (a, b)]
        across = shared or across
    return near, min(across, key=cost, default=None)


PLANNERS: dict[Suite, Callable[[RdmaSite], RdmaPlan]] = {
    Suite.WRITE: _across(Suite.WRITE, Program.WRITE_BW, Program.WRITE_LAT),
    Suite.READ: _across(Suite.READ, Program.READ_BW, Program.READ_LAT),
    Suite.SEND: _across(Suite.SEND, Program.SEND_BW, Program.SEND_LAT),
    Suite.MESH: _mesh,
    Suite.SWEEP: _sweep,
    Suite.INCAST: load_suites.incast,
    Suite.MIXED: load_suites.mixed,
    Suite.FAILOVER: load_suites.failover,
    Suite.STORAGE: load_suites.storage,
    Suite.MPI: load_suites.mpi,
}
