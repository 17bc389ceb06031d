"""Verdicts after all rounds: sums, spreads, outages, history and slow components.

An element is a suspect if a slow pair may have used it and no good pair certainly used it. A pair
certainly uses both servers with their cables, and both leaves. Across the spines ECMP chooses one
of several cables and spines; these are certain only for a pair with enough QPs to use them all.
The explanations are the smallest sets of suspects with an element in the path of every slow pair.
Elements that are in the paths of the same slow pairs cannot be separated; they are named together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rocefort.base.errors import BadInput
from rocefort.models.base import Frozen
from rocefort.models.fabric.rdma import Rdma
from rocefort.models.network.network import Network, Server
from rocefort.models.wording import count_of
from rocefort.rdma.judge.measurement import (
    SWITCH_LATENCY,
    beamline_rates,
    spreads,
    switch_latency,
    total,
)
from rocefort.rdma.judge.regression import LEAST_HISTORY, regression
from rocefort.rdma.judge.rounds import cable_verdicts, failed_at_s, simultaneous
from rocefort.rdma.judge.transfers import transfer_verdicts
from rocefort.rdma.parse.outcome import TableError
from rocefort.rdma.parse.perftest import outage
from rocefort.rdma.plan.shared_links import MISSED, Wiring, miss_probability
from rocefort.rdma.rdma_plan import RdmaPlan, RdmaRun
from rocefort.rdma.results import DerivedVerdict, Measurement, MeasurementVerdict, RdmaResult

LARGEST_SET = 3
MOST_SETS = 5  # explanations in the result


class Explanation(Frozen):
    """One smallest set. Each part is one element, or several that cannot be separated."""

    parts: tuple[tuple[str, ...], ...]

    @property
    def sentence(self) -> str:
        """The set as a phrase."""
        return " and ".join(
            part[0] if len(part) == 1 else f"one of {', '.join(part)}" for part in self.parts
        )


class SlowComponents(Frozen):
    """Explanations of the slow pairs, and the slow pairs without one."""

    slow: tuple[str, ...]
    explanations: tuple[Explanation, ...]
    unexplained: tuple[str, ...]  # good pairs used every element of their path

    @property
    def sentences(self) -> tuple[str, ...]:
        """Each explanation, then each unexplained pair, as a sentence."""
        lines = [f"{self._explained} pass through {e.sentence}" for e in self.explanations[:1]]
        lines += [f"or through {e.sentence}" for e in self.explanations[1:]]
        lines += [
            f"{pair} is slow, though good pairs used every element of its path"
            for pair in self.unexplained
        ]
        return tuple(lines)

    @property
    def _explained(self) -> str:
        return count_of(len(self.slow) - len(self.unexplained), "slow pair")


@dataclass(frozen=True)
class PairComponents:
    """Elements that a pair used for certain, and elements that it may have used."""

    certain: frozenset[str]
    possible: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """All elements that the pair may have used."""
        return self.certain | self.possible


def pair_components(wiring: Wiring, one: Server, other: Server, qps: int = 1) -> PairComponents:
    """Return the elements between two servers; qps: number of flows, each hashed separately."""
    leaves = one.port.device, other.port.device
    certain = {f"server {server.name} or its cables" for server in (one, other)}
    certain |= set(leaves)
    if leaves[0] == leaves[1]:
        return PairComponents(frozenset(certain), frozenset())
    spines = set(wiring.spines(*leaves))
    across = spines | {
        f"cable {uplink.leaf} - {uplink.spine}"
        for leaf in leaves
        for uplink in wiring.uplinks.get(leaf, ())
        if uplink.spine.device in spines
    }
    width = wiring.width(*leaves)
    if width == 1 or miss_probability(width, qps) <= MISSED:
        return PairComponents(frozenset(certain | across), frozenset())
    return PairComponents(frozenset(certain), frozenset(across))


def find_slow_components(
    measurements: Iterable[Measurement], wiring: Wiring, servers: Mapping[str, Server]
) -> SlowComponents:
    """Explain the slow pairs by elements that they share and that good pairs do not use."""
    slow: dict[str, PairComponents] = {}
    good: list[PairComponents] = []
    for each in measurements:
        run = each.run
        if len(run.servers) != 2 or each.verdict not in (
            MeasurementVerdict.PASSED,
            MeasurementVerdict.TOO_SLOW,
        ):
            continue
        components = pair_components(wiring, servers[run.client], servers[run.server], run.qps)
        if each.verdict is MeasurementVerdict.TOO_SLOW:
            slow[run.pair] = components
        else:
            good.append(components)
    return explain(slow, good)


def explain(slow: Mapping[str, PairComponents], good: Iterable[PairComponents]) -> SlowComponents:
    """Return the smallest sets that cover all slow paths; no good path certainly uses them."""
    cleared = frozenset[str]().union(*(each.certain for each in good))
    suspects = {pair: components.all - cleared for pair, components in slow.items()}
    explained = [pair for pair, elements in suspects.items() if elements]
    groups = _suspects_by_pairs({pair: suspects[pair] for pair in explained})
    return SlowComponents(
        slow=tuple(slow),
        explanations=tuple(_smallest(groups, explained)),
        unexplained=tuple(pair for pair in slow if pair not in explained),
    )


def _suspects_by_pairs(
    suspects: Mapping[str, frozenset[str]],
) -> dict[frozenset[str], tuple[str, ...]]:
    """Group suspects by the set of slow pairs whose paths contain them."""
    pairs_of: dict[str, set[str]] = {}
    for pair, elements in suspects.items():
        for element in elements:
            pairs_of.setdefault(element, set()).add(pair)
    groups: dict[frozenset[str], list[str]] = {}
    for element in sorted(pairs_of):
        groups.setdefault(frozenset(pairs_of[element]), []).append(element)
    return {pairs: tuple(elements) for pairs, elements in groups.items()}


def _smallest(
    groups: Mapping[frozenset[str], tuple[str, ...]], pairs: Sequence[str]
) -> Iterator[Explanation]:
    if not pairs:
        return
    slow = frozenset(pairs)
    best = [group for group in groups if not any(group < other for other in groups)]
    for count in range(1, LARGEST_SET + 1):
        covers = [
            chosen
            for chosen in combinations(best, count)
            if frozenset[str]().union(*chosen) == slow
        ]
        if covers:
            for chosen in covers[:MOST_SETS]:
                yield Explanation(parts=tuple(groups[group] for group in chosen))
            return
    yield Explanation(parts=tuple(groups[group] for group in _greedy(best, slow)))


def _greedy(groups: Sequence[frozenset[str]], slow: frozenset[str]) -> list[frozenset[str]]:
    """Cover more than three faults: repeatedly take the group that explains most of the rest."""
    rest, chosen = set(slow), []
    while rest:
        most = max(groups, key=lambda group: len(group & rest))
        chosen.append(most)
        rest -= most
    return chosen


NS_PER_M = 5.0  # propagation in glass or copper, about two thirds of the speed of light
SMALL_BYTES = 64

# Values by program, pair, size and shape.
GoodRuns = Mapping[tuple[str, str, int | None, str], Sequence[float]]


def verdicts(
    network: Network, rdma: Rdma, result: RdmaResult, good: GoodRuns
) -> tuple[DerivedVerdict, ...]:
    """Return all verdicts except those on single runs and counters.

    good: values of earlier good runs.
    """
    plan, measurements = result.plan, result.measurements
    slow_components = slow_components_of(network, measurements)
    return (
        *filter(None, (total(each, measurements, rdma) for each in plan.rounds)),
        *beamline_rates(plan.rounds, measurements, result.conditions.get("servers", "")),
        *spreads(measurements, rdma),
        *simultaneous(result),
        *_outages(result),
        *cable_verdicts(result),
        *_subtracted(network, measurements),
        *transfer_verdicts(measurements),
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


def _outages(result: RdmaResult) -> Iterator[DerivedVerdict]:
    notes = {run.id: each.note for each in result.plan.rounds for run in each.runs}
    for each in result.measurements:
        if each.run.every_s is None or not each.series:
            continue
        note = notes.get(each.run.id, "")
        try:
            sentence = outage(each.series, failed_at_s(result, each)).sentence
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
