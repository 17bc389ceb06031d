"""Plan the suites of RDMA tests: pairs of servers, and suites that load the fabric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from rocefort.base.errors import BadInput, Problem
from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.network import End, Network, Server
from rocefort.models.wording import count_of, names_text
from rocefort.rdma.plan.beamline_suites import beamline_incast, beamline_mesh
from rocefort.rdma.plan.gate_pairs import plan_pairs
from rocefort.rdma.plan.shared_links import disjoint_rounds, miss_probability, qps_for, tournament
from rocefort.rdma.plan.site import (
    RdmaPlanOptions,
    RdmaSite,
    TooFewServers,
    best_sink,
    numbered,
)
from rocefort.rdma.plan.sweep_suite import Pair, beamline_sweep, leaves_of, pair_of_bench, sweep
from rocefort.rdma.plan.work_suites import TCP_LOAD, mpi, storage, transfer
from rocefort.rdma.rdma_plan import (
    Coverage,
    Program,
    RdmaHost,
    RdmaPlan,
    RdmaRun,
    Suite,
)

FAILOVER_S = 30
EVERY_S = 1


def incast(site: RdmaSite) -> RdmaPlan:
    """Plan one sender to one server as the reference, then all senders at the same time."""
    site.require(3, Suite.INCAST)
    sink = _target(site)
    senders = site.senders_to(sink)
    if not senders:
        what = f"no RDMA from another machine may reach {sink.name}"
        raise TooFewServers(what, how="name others")
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
    """Return the server that all send to: the named one, otherwise the best of all."""
    if site.options.target is not None:
        return site.server(site.options.target)
    return best_sink(site.servers.values(), lambda server: len(site.senders_to(server)))


# --- beside TCP -----------------------------------------------------------------------------------


def mixed(site: RdmaSite) -> RdmaPlan:
    """Plan RDMA and TCP from different servers to one, so its leaf's port schedules the queues."""
    site.require(3, Suite.MIXED)
    queue, roce = site.tcp_queue(), site.lossless.queue
    sink = _target(site)
    others = site.senders_to(sink)
    if len(others) < 2:
        what = f"fewer than two machines beside {sink.name} may reach it"
        raise TooFewServers(what, how="name others")
    sender, talker = others[:2]
    alone = site.run(Program.WRITE_BW, sender, sink)
    tcp = site.tcp_run(talker, sink)
    beside = _background_run(site, alone, sink, queue)
    stated = site.options.tcp_gbps
    rate = "" if stated is None else f" at {stated:g} Gb/s"
    together = site.round([alone, tcp], f"RDMA in queue {roce}, TCP in queue {queue}{rate}")
    load = {"reach_gbps": None, "reach_why": TCP_LOAD}
    background = together.runs[1].model_copy(update=load)
    together = together.model_copy(update={"runs": (beside, background)})
    return site.plan(Suite.MIXED, [site.round([alone], "RDMA alone"), together])


def _background_run(site: RdmaSite, run: RdmaRun, sink: Server, queue: int) -> RdmaRun:
    """Return the RDMA run with its rate by the port's weights, if TCP would fill the port too.

    Of a TCP that is slower than its weight, RDMA gets the rest.
    """
    weights = _weights(site.network, sink.port) or _weights(site.network, sink.ports[0])
    roce, tcp = weights.get(site.lossless.queue), weights.get(queue)
    if roce is None or tcp is None:
        why = f"{sink.port} does not serve both queues by weight: no share is sure"
        return run.model_copy(update={"reach_gbps": None, "reach_why": why})
    share = roce / (roce + tcp)
    why = f"{sink.port} weighs RDMA {roce} against TCP {tcp}"
    rate = min(site.servers[run.client].flow_gbps, sink.flow_gbps)
    stated = site.options.tcp_gbps
    rest = 0.0 if stated is None else rate - stated
    if rest > rate * share:
        why = f"{stated:g} Gb/s of {rate} Gb/s are TCP's"
    reach = min(max(rate * share, rest), run.limit_gbps or rate)
    return run.model_copy(update={"reach_gbps": reach, "reach_why": why})


def _weights(network: Network, port: End) -> dict[int, int]:
    interface = network.interface(port)
    return {row.queue: row.weight for row in interface.drr} if interface else {}


# --- through a failure ----------------------------------------------------------------------------


def failover(site: RdmaSite) -> RdmaPlan:
    """Plan a row per second while an uplink fails, once near the sender, once near the receiver."""
    site.require(2, Suite.FAILOVER)
    site.unlimited(Suite.FAILOVER, "perftest limits no rate in a run that prints periodic rows")
    pair = next(_pair_across(site), None)
    if pair is None:
        return site.plan(Suite.FAILOVER, [], unmeasured=("no two servers of different leaves",))
    leaves = [server.port.device for server in pair]
    width = site.wiring.width(*leaves)
    if width < 2:
        lone = f"{leaves[0]} and {leaves[1]} have one path: a failure of it ends all traffic"
        return site.plan(Suite.FAILOVER, [], unmeasured=(lone,))
    duration_s = site.duration_s(FAILOVER_S)
    taken = site.options.cable_by is not None
    if taken and len(site.wiring.spines(*leaves)) < 2:
        lone = f"{leaves[0]} and {leaves[1]} have one spine: without its cables all traffic ends"
        return site.plan(Suite.FAILOVER, [], unmeasured=(lone,))
    run = site.run(
        Program.WRITE_BW,
        *pair,
        duration_s=duration_s,
        every_s=EVERY_S,
        qps=site.options.qps or qps_for(width),
    )
    rounds = [
        site.round(
            [run],
            f"an uplink of {leaf} fails, {side}",
            **(site.cable_fault(leaf, duration_s) if taken else _any_uplink(site, leaf)),
        )
        for leaf, side in zip(leaves, ("near the sender", "near the receiver"), strict=True)
    ]
    return site.plan(Suite.FAILOVER, rounds)


def _any_uplink(site: RdmaSite, leaf: str) -> dict[str, object]:
    """Return the fields of a round in which a person takes any uplink of a leaf down."""
    return {
        "fault": f"one uplink of {leaf} goes down",
        "fault_links": tuple(str(uplink.leaf) for uplink in site.wiring.uplinks[leaf]),
    }


def _pair_across(site: RdmaSite) -> Iterator[tuple[Server, Server]]:
    servers = list(site.servers.values())
    for one in servers:
        for other in servers:
            across = one.port.device != other.port.device and site.are_separate(one, other)
            if across and one.flow_gbps == other.flow_gbps:
                yield one, other


FEW = (Suite.SWEEP, Suite.MIXED, Suite.FAILOVER, Suite.TRANSFER)  # they use a few servers
MIXED_SPEEDS = "speeds differ: judged by the slower port"


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
    refuse_options(suite, site.options)
    if network.is_bench and suite in OF_FABRICS:
        how = f"use {names_text([each for each in PLANNERS if each not in OF_FABRICS])}"
        what = f"{suite} does not apply to a bench of two hosts"
        raise BadInput(what, where=network.name, how=how)
    planners = BEAMLINE_PLANNERS if site.options.beamline else PLANNERS
    plan = planners[suite](site)
    repeat = site.options.repeat
    return plan.model_copy(
        update={
            "rounds": numbered(
                each.model_copy(update={"repetition": repetition})
                for repetition in range(1, repeat + 1)
                for each in plan.rounds
            ),
            "repeat": repeat,
            "notes": (*_assumed(site), *plan.notes),
            "unmeasured": (*plan.unmeasured, *_resting(site, plan)),
        }
    )


OF_FABRICS = (Suite.MESH, Suite.INCAST, Suite.MIXED, Suite.FAILOVER)  # more than two servers

OF_SUITES: dict[str, tuple[Suite, ...]] = {
    "sizes": (Suite.SWEEP, Suite.STORAGE, Suite.MPI),
    "targets": (Suite.STORAGE,),
    "beamline": (Suite.MESH, Suite.SWEEP, Suite.INCAST),
    "processes_per_server": (Suite.MPI,),
    "groups": (Suite.MPI,),
    "tcp_gbps": (Suite.MIXED, Suite.MPI),
    **dict.fromkeys(("cable_by", "cable_at_s"), (Suite.FAILOVER, Suite.MPI)),
    **dict.fromkeys(("total_bytes", "files", "round_trips"), (Suite.TRANSFER,)),
}


def refuse_options(suite: Suite, options: RdmaPlanOptions) -> None:
    """Raise BadInput for options of other suites."""
    usual = RdmaPlanOptions()
    problems = [
        Problem(
            f"--{name.removesuffix('_s').removeprefix('total_').replace('_', '-')}",
            f"the suite {suite} does not use it",
            f"use it with {names_text(suites)}",
        )
        for name, suites in OF_SUITES.items()
        if suite not in suites and getattr(options, name) != getattr(usual, name)
    ]
    if options.cable_at_s is not None and options.cable_by is None:
        how = "name it: --cable-by lab, or --cable-by person"
        problems.append(Problem("--cable-at", "it is not stated who takes the cable away", how))
    if problems:
        raise BadInput(problems=problems)


def _assumed(site: RdmaSite) -> Iterator[str]:
    """Report what a published set of sizes leaves open."""
    named = site.options.sizes
    if named is not None and named.assumed:
        yield f"sizes {named.name}: assumed: {named.assumed}"


def _resting(site: RdmaSite, plan: RdmaPlan) -> Iterator[str]:
    """Report servers that a suite over all servers leaves out, and why."""
    if plan.suite in FEW or site.options.beamline or not plan.rounds:
        return
    used_names = {name for run in plan.runs for name in run.servers}
    unused: dict[str, list[str]] = {}
    for name in site.servers:
        if name not in used_names:
            unused.setdefault(_unused_reason(site, plan, name), []).append(name)
    for reason, names in unused.items():
        yield f"in no pair, because {reason}: {', '.join(names)}"


def _unused_reason(site: RdmaSite, plan: RdmaPlan, name: str) -> str:
    if plan.suite is Suite.MPI:
        return "the policy denies RDMA between them and other members"
    if plan.suite is Suite.INCAST:
        return f"no RDMA of theirs may reach {plan.runs[0].server} through a switch"
    if not site.senders_to(site.servers[name]):
        return "the policy lets RDMA of no other server reach them"
    return "their leaf is in one already"


# --- pairs across the spines ----------------------------------------------------------------------


def _across(suite: Suite, *programs: Program) -> Callable[[RdmaSite], RdmaPlan]:
    """Return a planner of both figures between leaves, with every leaf in a pair (HEPS paper)."""

    def plan(site: RdmaSite) -> RdmaPlan:
        site.require(2, suite)
        if site.network.is_bench:
            pair, path = pair_of_bench(site)
            runs = [site.run(program, *pair) for program in site.options.programs or programs]
            return site.plan(suite, [site.round([run], f"{run.program}, {path}") for run in runs])
        usable = site.network.model_copy(update={"servers": tuple(site.servers.values())})
        pairs = [
            (site.servers[pair.client], site.servers[pair.server]) for pair in plan_pairs(usable)
        ]
        pairs = [pair for pair in pairs if site.are_separate(*pair)]
        alone = () if pairs else ("all servers are on one leaf: no path crosses the spines",)
        rounds = [
            site.round([site.run(program, *pair) for pair in group], f"{program}, leaf to leaf")
            for program in site.options.programs or programs
            for group in disjoint_rounds(pairs, leaves_of)
        ]
        return site.plan(suite, rounds, unmeasured=alone, notes=_notes(pairs))

    return plan


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
    denied = () if covering else tuple(_denied(site))
    return site.plan(Suite.MESH, rounds, coverage=coverage, notes=_notes(pairs), unmeasured=denied)


def _denied(site: RdmaSite) -> Iterator[str]:
    """Report the pairs of servers that the policy excludes, by segments."""
    counts: dict[tuple[str, ...], int] = {}
    for one, other in combinations(site.servers.values(), 2):
        if not site.network.lets_rdma(one, other):
            between = tuple(sorted({one.segment, other.segment}))
            counts[between] = counts.get(between, 0) + 1
    if counts:
        listed = ", ".join(" and ".join(between) for between in sorted(counts))
        yield f"{count_of(sum(counts.values()), 'pair')}: the policy denies RDMA between {listed}"


def _spread(site: RdmaSite, program: Program, pair: Pair, qps: int) -> RdmaRun:
    run = site.run(program, *pair)
    return run if program.measures_latency else run.model_copy(update={"qps": qps})


def _width(site: RdmaSite, pair: Pair) -> int:
    one, other = leaves_of(pair)
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
    met = {frozenset(leaves_of(pair)) for pair in pairs}
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


PLANNERS: dict[Suite, Callable[[RdmaSite], RdmaPlan]] = {
    Suite.WRITE: _across(Suite.WRITE, Program.WRITE_BW, Program.WRITE_LAT),
    Suite.READ: _across(Suite.READ, Program.READ_BW, Program.READ_LAT),
    Suite.SEND: _across(Suite.SEND, Program.SEND_BW, Program.SEND_LAT),
    Suite.MESH: _mesh,
    Suite.SWEEP: sweep,
    Suite.INCAST: incast,
    Suite.MIXED: mixed,
    Suite.FAILOVER: failover,
    Suite.STORAGE: storage,
    Suite.MPI: mpi,
    Suite.TRANSFER: transfer,
}
BEAMLINE_PLANNERS: dict[Suite, Callable[[RdmaSite], RdmaPlan]] = {
    Suite.MESH: beamline_mesh,
    Suite.SWEEP: beamline_sweep,
    Suite.INCAST: beamline_incast,
}
