"""Plan the suite `sweep`: one run a size, on each path, and between the hosts of a bench."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from rocefort.models.network.network import Server
from rocefort.models.wording import listing
from rocefort.rdma.plan.beamline_suites import BeamlineEnds
from rocefort.rdma.plan.message_sizes import LEAST_MESSAGES, SizeSeries
from rocefort.rdma.plan.site import DIRECT, FAR, NEAR, PLACES, RdmaSite, switches_between
from rocefort.rdma.rdma_plan import Program, RdmaPlan, RdmaRun, Round, Suite

SIZES = tuple(2**n for n in range(1, 24))  # 2 B to 8 MB, as perftest's `-a`
SWEEP_DURATION_S = 5
SMALL_BYTES = 8192  # up to this size as many messages as REDIGO's reflector test: 10^4
FEW_ITERATIONS = 1000

Pair = tuple[Server, Server]


def pair_of_bench(site: RdmaSite) -> tuple[Pair, str]:
    """Return the hosts of a bench, and the path between them in words."""
    one, other, *_ = site.servers.values()
    through = f"through {one.port.device}"
    return (one, other), through if switches_between(one, other) else PLACES[DIRECT]


def leaves_of(pair: Pair) -> tuple[str, str]:
    """Return the leaves of two servers; back to back, the other server of each."""
    return pair[0].port.device, pair[1].port.device


def sweep(site: RdmaSite) -> RdmaPlan:
    """Plan one run a size, within a leaf and across the spines (REDIGO's method).

    By default the sizes are 2 B to 8 MB.

    `-a` is not used: with it perftest sends as many messages for 8 MB as for 2 B, prints `-nan` as
    the deviation of too few, and writes only one row in its JSON.
    """
    site.require(2, Suite.SWEEP)
    if site.network.is_bench:
        pair, path = pair_of_bench(site)
        rounds = _sizes_of(site, path, pair)
        return site.plan(Suite.SWEEP, rounds, notes=tuple(_scaled(site)))
    near, far = _near_and_far(site)
    rounds = _sizes_of(site, PLACES[NEAR], near) + _sizes_of(site, PLACES[FAR], far)
    lacking = [
        "switch latency: no two servers of one leaf may be used" if near is None else "",
        "switch latency: no two servers of different leaves may be used" if far is None else "",
    ]
    unmeasured = tuple(filter(None, lacking))
    return site.plan(Suite.SWEEP, rounds, unmeasured=unmeasured, notes=tuple(_scaled(site)))


def _scaled(site: RdmaSite) -> Iterator[str]:
    """Report that fewer messages are sent than a publication states (--iterations)."""
    most, named = site.options.iterations, site.options.sizes
    for series in named.series if named and most is not None else ():
        if most is not None and named is not None and series.most_messages > most:
            yield (
                f"sizes {named.name}, {listing(series.of)}: {most:,} messages where "
                f"{series.most_messages:,} are published, and other sizes in proportion, at least "
                f"{LEAST_MESSAGES} (--iterations)"
            )


def beamline_sweep(site: RdmaSite) -> RdmaPlan:
    """Plan one run a size, from one server of a beamline to a receiver of each data path."""
    ends = BeamlineEnds(site)
    rounds: list[Round] = []
    for rate in ends.expected:
        if len(rate.to) == 1:
            pair = ends.pairs(rate.to[0])[0]
            sizes = _sizes_of(site, f"{ends.beamline.name} to {rate.to[0]}", pair)
            rounds += [ends.with_expected(each, rate, [pair]) for each in sizes]
    return site.plan(Suite.SWEEP, rounds, unmeasured=tuple(ends.unmeasured()))


def _sizes_of(site: RdmaSite, path: str, pair: Pair | None) -> list[Round]:
    """Return the rounds of one pair; none without a pair."""
    return [
        site.round([_sized(site, program, pair, size, series)], f"{program}, {size} bytes, {path}")
        for program in site.options.programs or (Program.WRITE_LAT, Program.WRITE_BW)
        for series in [site.sizes("latency" if program.measures_latency else "bandwidth", SIZES)]
        for size in series.all_sizes
        if pair is not None
    ]


def _sized(site: RdmaSite, program: Program, pair: Pair, size: int, series: SizeSeries) -> RdmaRun:
    """Return the run of one size: over the published number of messages, if there is one."""
    most = site.options.iterations
    published = series.scaled(size, most)
    if program.measures_latency:
        usual = most or (10_000 if size <= SMALL_BYTES else FEW_ITERATIONS)
        return site.run(program, *pair, size_bytes=size, iterations=published or usual)
    if published is not None and site.options.duration_s is None:
        return site.run(program, *pair, size_bytes=size, iterations=published, duration_s=None)
    duration = site.duration_s(SWEEP_DURATION_S)
    return site.run(program, *pair, size_bytes=size, duration_s=duration)


def _near_and_far(site: RdmaSite) -> tuple[Pair | None, Pair | None]:
    """Choose a pair within a leaf and one across, with the same client if possible.

    With the same client, fewer NICs can differ between the two latencies that are subtracted.
    """

    def cost(pair: Pair) -> tuple[bool, bool]:
        return pair[0].flow_gbps != pair[1].flow_gbps, pair[0].segment != pair[1].segment

    pairs = [pair for pair in combinations(site.servers.values(), 2) if site.are_separate(*pair)]
    near = min((p for p in pairs if len({*leaves_of(p)}) == 1), key=cost, default=None)
    across = [p for p in pairs if len({*leaves_of(p)}) == 2]
    if near is not None:
        client = near[0]
        shared = [(a, b) if a is client else (b, a) for a, b in across if client in (a, b)]
        across = shared or across
    return near, min(across, key=cost, default=None)
