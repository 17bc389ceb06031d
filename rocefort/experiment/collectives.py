"""Collectives of MPI in the packet simulator, at each level of an experiment.

Traffic of m bytes, p processes a server and n servers, by the direct algorithm: each process sends
to each receiver at once, and a step begins when the one before has ended everywhere.

| collective | steps, each with the bytes of a pair of servers |
|---|---|
| AllToAll, AllGather | all to all: p^2 m |
| AllReduce | reduce-scatter, then all-gather; each all to all: p m / n |
| Gather | all to the first server: p m |
| Reduce | reduce-scatter, all to all: p m / n; then all to the first server: m / n |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.experiment.factor import LevelFabric
from rocefort.experiment.model import CellValue, End, ExperimentRun, PlannedRun
from rocefort.models.fabric.lossless import AiEcnProfile, StaticEcn
from rocefort.models.network.network import SwitchRole
from rocefort.models.wording import count_of
from rocefort.reports.wording import bytes_words
from rocefort.tune.fabric_search import (
    AI_ECN_SAMPLE,
    buffers_of,
    cables_of,
    dcqcn_of,
    in_proportion,
    joined_cables,
    marking_of_profile,
    own_reference,
    port_speeds,
    scenario_keys,
)
from rocefort.tune.model import Settings, Simulation
from rocefort.tune.scenario import Scenario, lowest_rate_mbps
from rocefort.tune.search.evaluate import Evaluator
from rocefort.tune.search.jobs import Base
from rocefort.tune.simulator.layout import Ground, Pair
from rocefort.tune.simulator.simulate import NOT_MODELLED, with_profile
from rocefort.validators.facts.headroom import RESPONSE_QUANTA

# By the direct algorithm, AllToAll and AllGather are the same traffic, and one cell.
EXCHANGE, ALL_REDUCE, GATHER, REDUCE = COLLECTIVES = (
    "AllToAll, AllGather",
    "AllReduce",
    "Gather",
    "Reduce",
)
SIZES = (256, 262_144)  # those of EANTC's examples of AllGather and AllToAll (Huawei AI Fabric)
MOST_BYTES = 5_000_000_000  # payload of one simulation: seconds of CPU time
# Counters of a cell: of the leaf with the most marks, of the busiest spine, and of all spines.
LEAF_MARKS, SPINE_GBPS, SPINES_GBPS = "marks of a leaf", "Gb/s of a spine", "Gb/s of all spines"
TCP_DROPS = "TCP drops"
MOST_FLOWS, MOST_OF_PAIR = 8_192, 256  # the latter: of a group of flows
TCP_STREAMS = 4  # of each sender, as in the suite mpi
FIRST_SEED = 2001  # those of searches and tables are smaller
AI_LOW = "huawei-delay-sensitive"


@dataclass(frozen=True)
class CollectiveStep:
    """Step of a collective: bytes and connections of each pair of servers, between which pairs."""

    to_all: bool
    pair_bytes: int
    connections: int


@dataclass(frozen=True)
class CollectiveCell:
    """Collective with its processes a server and its message size."""

    collective: str
    processes: int
    size: int

    @property
    def label(self) -> str:
        """Name in tables."""
        processes = count_of(self.processes, "process")
        return f"{self.collective} {bytes_words(self.size)}, {processes}"

    def steps(self, servers: int) -> tuple[CollectiveStep, ...]:
        """Steps between so many servers."""
        p, m = self.processes, self.size
        part = max(1, p * m // servers)
        exchange = CollectiveStep(to_all=True, pair_bytes=part, connections=p * p)
        if self.collective == EXCHANGE:
            return (replace(exchange, pair_bytes=p * p * m),)
        if self.collective == ALL_REDUCE:
            return exchange, exchange
        if self.collective == GATHER:
            return (CollectiveStep(to_all=False, pair_bytes=p * m, connections=p),)
        last = CollectiveStep(to_all=False, pair_bytes=max(1, m // servers), connections=p)
        return exchange, last


@dataclass(frozen=True)
class SimulatedLevel:
    """Level of a simulated experiment: a fabric with its settings, or an end of its AI-ECN."""

    note: str
    fabric: LevelFabric
    settings: Settings
    end: End = ""

    @property
    def name(self) -> str:
        """Name of the level."""
        return f"{self.fabric.name}-{self.end}" if self.end else self.fabric.name


def simulated_levels(levels: Sequence[LevelFabric]) -> list[SimulatedLevel]:
    """Return the levels to simulate; one with AI-ECN is two, with fixed thresholds for its ends."""
    return [each for level in levels for each in _ends(level)]


def _ends(level: LevelFabric) -> Iterator[SimulatedLevel]:
    derived = level.derived
    speeds = port_speeds(derived.network)
    if not speeds:
        what = "the fabric has no port of servers with RoCE"
        raise BadInput(what, file=derived.document.file, how="add its servers")
    own = own_reference(derived, derived.profiles, speeds, min(speeds)).settings
    chosen = derived.profiles.get("ecn", derived.lossless.ecn)
    profile = chosen.profile if chosen else None
    if not isinstance(profile, AiEcnProfile):
        if own.ecn is None:
            what = f"ECN profile {derived.lossless.ecn} lacks a speed of the fabric's ports"
            raise BadInput(what, where=level.name, how="add its thresholds to the profile")
        yield SimulatedLevel(level.note, level, own)
        return
    low = derived.profiles.get("ecn", AI_LOW)
    if low is None or not isinstance(low.profile, StaticEcn):
        what, how = derived.profiles.what_is_wrong("ecn", AI_LOW)
        raise BadInput(what, where=level.name, how=how)
    whole, notes = in_proportion(low.profile, speeds)
    marking = marking_of_profile(whole, speeds, min(speeds))
    text = "; ".join((f"low end: thresholds of {AI_LOW}", *notes))
    yield SimulatedLevel(text, level, own.like(ecn=marking), "low")
    high = f"high end: {AI_ECN_SAMPLE}, 200 to 600 kbytes, 5 %, at every speed"
    yield SimulatedLevel(high, level, own, "high")


def servers_of(derived: DerivedNetwork, names: Sequence[str] = ()) -> list[str]:
    """Return the servers with RoCE, or those that are named: two or more; raises BadInput."""
    own = [server.name for server in derived.network.servers or () if server.roce]
    for name in names:
        if name not in own:
            what = f"the fabric has no server {name!r} with RoCE"
            raise BadInput(what, where="--servers", how="name one of its servers")
    if len(set(names)) < len(names):
        raise BadInput("a server is there twice", where="--servers", how="name each server once")
    if len(names) == 1:
        what = f"{names[0]} alone exchanges nothing"
        raise BadInput(what, where="--servers", how="name two servers or more")
    if len(own) < 2:
        what = "the fabric has fewer than two servers with RoCE"
        raise BadInput(what, file=derived.document.file, how="add its servers")
    return list(names) or own


TCP = "tcp"  # group of flows


@dataclass(frozen=True)
class TcpLoad:
    """TCP beside the collectives, as the suite mpi has it: sender and receiver of each pair."""

    gbps: float
    pairs: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """Load in words."""
        return f"{count_of(len(self.pairs), 'TCP sender')} at {self.gbps:g} Gb/s"

    @property
    def flows(self) -> dict[str, Any]:
        """Group of a scenario; the ground has its pairs."""
        return {
            "transport": "tcp",
            "pattern": "between",
            "senders": [sender for sender, _ in self.pairs],
            "receivers": [receiver for _, receiver in self.pairs],
            "queue_pairs": TCP_STREAMS,
            "gbps": self.gbps / TCP_STREAMS,
        }


def divided(
    servers: Sequence[str], tcp_gbps: float | None
) -> tuple[tuple[str, ...], TcpLoad | None]:
    """Return the servers of MPI, and the load: with TCP every second server sends it instead.

    Raises BadInput.
    """
    if tcp_gbps is None:
        return tuple(servers), None
    if len(servers) < 4:
        what = f"{count_of(len(servers), 'server')}, and half of them send TCP"
        raise BadInput(what, where="--tcp-gbps", how="name four servers or more: --servers")
    senders = servers[1::2]
    away = len(senders) // 2
    pairs = zip(senders, [*senders[away:], *senders[:away]], strict=True)
    return tuple(servers[::2]), TcpLoad(tcp_gbps, tuple(pairs))


def cells_of(
    sizes: Sequence[int], processes: Sequence[int], servers: int
) -> tuple[list[CollectiveCell], list[str]]:
    """Return the cells, and a sentence for each that is too large.

    sizes: bytes; empty: SIZES.
    """
    cells, left_out = list[CollectiveCell](), list[str]()
    for name in COLLECTIVES:
        for size in dict.fromkeys(sizes or SIZES):
            for p in processes:
                cell = CollectiveCell(name, p, size)
                total = sum(
                    step.pair_bytes * (servers - 1) * (servers if step.to_all else 1)
                    for step in cell.steps(servers)
                )
                if total <= MOST_BYTES:
                    cells.append(cell)
                else:
                    gigabytes = f"{total / 1e9:,.0f} GB"
                    left_out.append(f"{cell.label}: {gigabytes} of payload, too much to simulate")
    return cells, left_out


class CollectiveRuns:
    """Simulated runs: all cells of one level with one seed."""

    def __init__(
        self,
        levels: Sequence[SimulatedLevel],
        cells: Sequence[CollectiveCell],
        servers: Sequence[str],
        load: TcpLoad | None = None,
    ) -> None:
        self.cells, self.servers, self.load = cells, servers, load
        self.roles = {node.name: node.role for node in levels[0].fabric.derived.network.nodes}
        self.joined = False
        self.bases: list[Base] = []
        self._numbers: dict[str, list[list[int]]] = {}
        grounds = self._grounds(levels[0])
        for level in levels:
            keys, dcqcn = _keys(level)
            rows: list[list[int]] = []
            for cell in cells:
                rows.append([])
                for step in cell.steps(len(servers)):
                    scenario = self._scenario(keys, cell, step)
                    rows[-1].append(len(self.bases))
                    base = Base(level.settings.applied(scenario), dcqcn, grounds[step.to_all])
                    self.bases.append(base)
            self._numbers[level.name] = rows

    def _ends_of(self, step: CollectiveStep) -> tuple[list[str], list[str]]:
        names = list(self.servers)
        return (names, names) if step.to_all else (names[1:], names[:1])

    def _scenario(
        self, keys: Mapping[str, Any], cell: CollectiveCell, step: CollectiveStep
    ) -> Scenario:
        senders, receivers = self._ends_of(step)
        pairs = len(senders) * len(receivers)
        flows = min(step.connections, MOST_OF_PAIR, max(1, MOST_FLOWS // pairs))
        return Scenario.model_validate(
            {
                **keys,
                "scenario": cell.label,
                "flows": {
                    "pattern": "between",
                    "senders": senders,
                    "receivers": receivers,
                    "queue_pairs": flows,
                    "bytes": max(1, -(-step.pair_bytes // flows)),
                },
                **({"beside": {TCP: self.load.flows}} if self.load else {}),
            }
        )

    def _grounds(self, level: SimulatedLevel) -> dict[bool, Ground]:
        """Return the ground of steps to one server, and of those to all; the cables are shared."""
        keys, _ = _keys(level)
        network = level.fabric.derived.network
        step = CollectiveStep(to_all=False, pair_bytes=1, connections=1)
        scenario = self._scenario(keys, CollectiveCell(GATHER, 1, 1), step)
        every = tuple(cables_of(scenario, network))
        cables = joined_cables(every)
        self.joined = len(cables) < len(every)
        if strange := next((x for x in cables if x.gbps not in RESPONSE_QUANTA), None):
            what = f"{strange.a} and {strange.b} have {strange.gbps} Gb/s together"
            how = "simulate a fabric with one cable for each pair"
            raise BadInput(what, where=network.name, how=how)
        names = tuple(node.name for node in network.nodes)
        pairs = tuple(Pair(a, b) for a in self.servers for b in self.servers if a != b)
        to_first = tuple(pair for pair in pairs if pair.receiver == self.servers[0])
        beside = tuple(Pair(*ends, group=TCP) for ends in (self.load.pairs if self.load else ()))
        ground = Ground(names, cables, (*pairs, *beside), buffers_of(network))
        return {True: ground, False: replace(ground, pairs=(*to_first, *beside))}

    def carry_out(self, run: PlannedRun, evaluator: Evaluator) -> ExperimentRun:
        """Simulate all cells of a run."""
        began, rows = datetime.now(UTC), self._numbers[run.level]
        seed = FIRST_SEED + run.repetition
        numbers = [number for row in rows for number in row]
        title = f"run {run.number}: {run.level}, repetition {run.repetition}"
        (results,) = evaluator.evaluate([Settings()], (seed,), title, numbers)
        by_number = dict(zip(numbers, results, strict=True))
        return ExperimentRun(
            run=run,
            id=f"seed {seed}",
            began=began,
            ended=datetime.now(UTC),
            values=tuple(
                _value(cell, [by_number[number] for number in row], self.roles)
                for cell, row in zip(self.cells, rows, strict=True)
            ),
        )


def _keys(level: SimulatedLevel) -> tuple[dict[str, Any], Any]:
    derived = level.fabric.derived
    base_gbps = min(port_speeds(derived.network))
    dcqcn = dcqcn_of(derived, derived.profiles)
    file = Path(derived.document.file)
    return scenario_keys(derived, file, dcqcn, base_gbps), dcqcn


def _value(
    cell: CollectiveCell, steps: Sequence[Simulation], roles: Mapping[str, SwitchRole | None]
) -> CellValue:
    """Return the time until the last flow of the last step has ended, and counters over all.

    roles: of the switches. Rates are those of the busiest step.
    """
    marks: dict[str, float] = {}
    for use in (use for step in steps for use in step.switches):
        marks[use.switch] = marks.get(use.switch, 0) + use.marks
    leaves = [n for name, n in marks.items() if roles.get(name) is SwitchRole.LEAF]
    rates = [
        [use.sent_gbps for use in step.switches if roles.get(use.switch) is SwitchRole.SPINE]
        for step in steps
    ]
    times = [step.completion_us.max for step in steps if step.completion_us and not step.unfinished]
    return CellValue(
        cell=cell.label,
        value=sum(times) if len(times) == len(steps) else None,
        unit="us",
        counters={
            "marks": sum(step.marks for step in steps),
            "pauses": sum(step.pauses for step in steps),
            "drops": sum(step.drops for step in steps),
            LEAF_MARKS: max(leaves, default=0),
            SPINE_GBPS: max((max(step, default=0) for step in rates), default=0),
            SPINES_GBPS: max(map(sum, rates), default=0),
            TCP_DROPS: sum(step.tcp_drops for step in steps),
        },
    )


def assumptions(runs: CollectiveRuns, levels: Sequence[SimulatedLevel]) -> Iterator[str]:
    """Yield what the figures rest on, as sentences."""
    processes = sorted({cell.processes for cell in runs.cells})
    yield (
        f"processes a server: {', '.join(map(str, processes))}. The published test (EANTC, Huawei "
        "AI Fabric) does not state them, and they decide the traffic: 36 processes exchange 1,296 "
        "times as many bytes in AllToAll and AllGather as 1"
    )
    yield (
        "algorithm: direct. Each process sends to each receiver at once, and a step begins when "
        "the one before has ended, so AllToAll and AllGather are the same traffic. An MPI library "
        "chooses by size; the published test names none"
    )
    if any(base.scenario.congestion_control == "pfc_only" for base in runs.bases):
        yield (
            "congestion control: the fabric names no DCQCN profile (congestion_control), so its "
            "senders ignore ECN"
        )
    else:
        base = runs.bases[0]
        lowest = lowest_rate_mbps(with_profile(base.scenario, base.profile))
        yield (
            f"a NIC's lowest rate is {lowest:g} Mb/s. With many senders to one it decides how long "
            "the slowest takes, and one seed can be far from another"
        )
    if any(level.end for level in levels):
        yield (
            "AI-ECN: its model is not public. Two fixed sets of thresholds stand for its ends; a "
            "switch moves between them, and nothing here shows how"
        )
    if any(step.connections > 1 for cell in runs.cells for step in cell.steps(len(runs.servers))):
        yield (
            f"connections of two servers are simulated as one flow or more, at most {MOST_FLOWS:,} "
            "flows in all; fewer senders than in reality share a port"
        )
    if runs.joined:
        yield "several cables of two switches are one cable of their joint speed"
    yield (
        "time: until the last flow has its last acknowledgment. Software, PCIe and memory take no "
        "time, so that small messages are faster than measured ones"
    )
    if runs.load is not None:
        yield (
            f"TCP: {runs.load.text}, {TCP_STREAMS} streams each, to a server half a list away. It "
            "begins with the collective, so that it is in slow start during a short one; "
            "the published test names no receivers"
        )
    yield "paths are drawn by the seed; the runs of a repetition have the same seed and paths"


LIMITS = NOT_MODELLED
