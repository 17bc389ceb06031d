"""Verdicts after all rounds: sums, spreads, outages, history and slow components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rocefort.base.errors import BadInput
from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of
from rocefort.rdma.judge.expectations import SWITCH_LATENCY, spreads, switch_latency, total
from rocefort.rdma.judge.regression import LEAST_HISTORY, regression
from rocefort.rdma.judge.slow_components import SlowComponents, find_slow_components
from rocefort.rdma.parse.bandwidth_series import outage
from rocefort.rdma.parse.result_row import TableError
from rocefort.rdma.plan.shared_links import Wiring
from rocefort.rdma.rdma_plan import RdmaPlan, RdmaRun
from rocefort.rdma.results import DerivedVerdict, Measurement

NS_PER_M = 5.0  # propagation in glass or copper, about two thirds of the speed of light
SMALL_BYTES = 64

# Values by program, pair, size and shape.
GoodRuns = Mapping[tuple[str, str, int | None, str], Sequence[float]]


def verdicts(
    network: Network,
    rdma: Rdma,
    plan: RdmaPlan,
    measurements: Sequence[Measurement],
    good: GoodRuns,
) -> tuple[DerivedVerdict, ...]:
    """Return all verdicts except those on single runs and counters.

    good: values of earlier good runs.
    """
    slow_components = slow_components_of(network, measurements)
    return (
        *filter(None, (total(each, measurements, rdma) for each in plan.rounds)),
        *spreads(measurements, rdma),
        *_outages(plan, measurements),
        *_subtracted(network, measurements),
        *_regressions(plan, measurements, good),
        *(
            DerivedVerdict(subject="slow pairs", ok=None, sentence=s)
            for s in slow_components.sentences
        ),
    )


def slow_components_of(network: Network, measurements: Iterable[Measurement]) -> SlowComponents:
    """Explain the slow pairs; no explanation if the links are not known."""
    servers = {server.name: server for server in network.servers or ()}
    in_network = [m for m in measurements if set(m.run.servers) <= servers.keys()]
    try:
        return find_slow_components(in_network, Wiring(network), servers)
    except BadInput:
        return SlowComponents(slow=(), explanations=(), unexplained=())


def _outages(plan: RdmaPlan, measurements: Iterable[Measurement]) -> Iterator[DerivedVerdict]:
    notes = {run.id: each.note for each in plan.rounds for run in each.runs}
    for each in measurements:
        if each.run.every_s is None or not each.series:
            continue
        note = notes.get(each.run.id, "")
        try:
            sentence = outage(each.series).sentence
        except TableError as flaw:
            sentence = f"the loss is not known: {flaw.line}"
        yield DerivedVerdict(subject=note, ok=None, sentence=f"{each.run.pair}, {note}: {sentence}")


def _subtracted(network: Network, measurements: Iterable[Measurement]) -> Iterator[DerivedVerdict]:
    """Latency of one switch, for the smallest size measured on both paths."""
    metres = [link.cable_m for link in network.links or () if link.cable_m is not None]
    fabric_us = 2 * max(metres, default=0.0) * NS_PER_M / 1000
    latencies = [row for row in switch_latency(measurements, fabric_us) if row[0] <= SMALL_BYTES]
    if latencies:
        size, microseconds, runs = latencies[0]
        yield DerivedVerdict(
            subject=SWITCH_LATENCY,
            ok=None,
            value=microseconds,
            sentence=f"one switch takes {microseconds:.2f} us of {size} bytes, by subtraction of "
            f"{runs} runs, {fabric_us:.2f} us of cable taken off",
        )


def _regressions(
    plan: RdmaPlan, measurements: Iterable[Measurement], good: GoodRuns
) -> Iterator[DerivedVerdict]:
    fresh: dict[tuple[str, str, int | None, str], list[Measurement]] = {}
    for each in measurements:
        # The average of a run through a failure does not predict that of the next one.
        if each.value is not None and each.run.every_s is None:
            program, pair, size = each.key
            key = (program.value, pair, size, plan.shapes.get(each.run.id, ""))
            fresh.setdefault(key, []).append(each)
    compared = [(mine, past) for key, mine in fresh.items() if (past := good.get(key, ()))]
    for mine, past in compared:
        if len(past) >= LEAST_HISTORY:
            yield _regression(mine, past)
    short = sum(len(past) < LEAST_HISTORY for _, past in compared)
    if short:
        sentence = f"{count_of(short, 'measurement')} not compared with earlier runs: fewer than "
        sentence += f"{LEAST_HISTORY} good runs of the same pair, program, size and load"
        yield DerivedVerdict(subject="history", ok=None, sentence=sentence)


def _regression(mine: Sequence[Measurement], earlier: Sequence[float]) -> DerivedVerdict:
    values = [m.value for m in mine if m.value is not None]
    run = mine[0].run
    result = regression(earlier, values, higher_is_better=not run.program.measures_latency)
    ok = None if result.slower is None else not result.slower
    sentence = f"{run.pair} {measured_words(run)}: {result.sentence}"
    return DerivedVerdict(subject=f"history of {run.pair}", ok=ok, sentence=sentence)


def measured_words(run: RdmaRun) -> str:
    """Describe a run without its servers: `ib_write_bw of 65536 bytes`."""
    detail = f" {run.detail}" if run.detail else ""
    return f"{run.program}{detail}" + (f" of {run.size_bytes} bytes" if run.size_bytes else "")
