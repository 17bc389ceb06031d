"""ByteTuning's bed in the simulator: its columns, baselines and search, and the rows of Table V.

ByteTuning, IEEE Trans. Cloud Computing 13(1), doi 10.1109/TCC.2025.3525496. What the paper does
not publish is assumed here, and listed in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rocefort.base.errors import BadInput
from rocefort.base.repository import this_site
from rocefort.design.load.profiles import profiles_of
from rocefort.models.fabric.congestion_control import Dcqcn
from rocefort.tune.compare_model import (
    LossRow,
    SearchAxis,
    WatermarkColumn,
    WatermarkRow,
    WatermarkTable,
)
from rocefort.tune.fabric_search import HEADERS, byte_tuning_start
from rocefort.tune.model import Measures, Settings, Simulation
from rocefort.tune.options import PUBLISHED_BUDGET, PUBLISHED_NIC
from rocefort.tune.run import EvaluatorOf
from rocefort.tune.scenario import Control, Marking, Scenario
from rocefort.tune.search import methods
from rocefort.tune.search.byte_tuning import (
    BYTE_TUNING,
    DEFAULT_WEIGHTS,
    THROUGHPUT,
    Extremes,
    Weights,
)
from rocefort.tune.search.evaluate import Evaluator
from rocefort.tune.search.jobs import Base
from rocefort.tune.search.limits import scenario_refusal
from rocefort.tune.search.objectives import WORST
from rocefort.tune.search.paired import interval_of
from rocefort.tune.search.points import (
    CELL_KBYTES,
    Point,
    Space,
    axes_of,
    published_space,
    settings_of,
)
from rocefort.tune.simulator.layout import Cable, Ground, Pair
from rocefort.tune.simulator.simulate import NOT_MODELLED

PUBLICATION = "ByteTuning, IEEE Trans. Cloud Computing 13(1), Table V"
SERVERS, ACCESS, AGGREGATION = 24, ("access1", "access2"), ("aggregation1", "aggregation2")
ACCESS_GBPS, AGGREGATION_GBPS = 25, 100
ACCESS_US, AGGREGATION_US = 0.05, 0.25  # cables of 10 and 50 m
VALUE_BYTES, VALUES = 65_536, 16  # of each client
BUFFER_CELLS = 131_072
PAYLOAD = 1024
NIC_PROFILE = "hpcc-simulator"
CONFIDENCE = 0.95
SEARCH_SEED = 1
ASSUMPTIONS = (
    (
        f"{SERVERS} servers at {ACCESS_GBPS} Gb/s, half of them on each access switch; each access "
        f"switch has one cable of {AGGREGATION_GBPS} Gb/s to both aggregation switches (published "
        "speeds and counts; cables of 10 and 50 m assumed)"
    ),
    (
        f"one server has Redis, and the {SERVERS - 1} others are its clients: each writes {VALUES} "
        "values of 64 KiB by one queue pair, all at once (assumed; published throughput by IOPS is "
        "65 to 71 kbytes)"
    ),
    f"packets of {PAYLOAD} bytes of payload",
    (
        "a pause stops the peer at once, as in the HPCC simulator: the smallest headroom of the "
        "published space is below what the bounds of IEEE 802.3 need at 100 Gb/s"
    ),
    (
        f"cells of {CELL_KBYTES * 1000:.0f} bytes, {BUFFER_CELLS:,} in each switch; all ports have "
        "the same watermarks"
    ),
    (
        "manufacturer: the WRED table that H3C's and HPE's guides call default; its PFC is not "
        "published, so it has the experience's"
    ),
    "DCTCP: step at 30 kbytes per 10 Gb/s, as in the HPCC simulator, with the experience's PFC",
    "queue: mean of the fullest port; IOPS: throughput by the size of a value",
)
MISSING = (
    "Redis, TCP and the servers' processors: DCTCP sends at line rate, as RDMA does",
    *NOT_MODELLED,
)
DCTCP, EXPERIENCE, MANUFACTURER, TUNED = "DCTCP", "experience", "manufacturer", "ByteTuning"


def dcqcn_of(name: str) -> Dcqcn:
    """Return a profile of DCQCN, of this site or shipped; raises BadInput."""
    library = profiles_of(this_site())
    chosen = library.get("congestion_control", name)
    if chosen is None:
        what, how = library.what_is_wrong("congestion_control", name)
        raise BadInput(what, where="--nic", how=how)
    if not isinstance(chosen.profile, Dcqcn):
        how = f"name one that is: --nic {NIC_PROFILE}"
        raise BadInput(f"{name!r} is no profile of DCQCN", where="--nic", how=how)
    return chosen.profile


def bed(control: Control, profile: str = NIC_PROFILE) -> Base:
    """Return the bed with its traffic; profile: of the NICs' DCQCN; raises BadInput."""
    servers = tuple(f"server{n + 1:02}" for n in range(SERVERS))
    uplinks = [Cable(a, b, AGGREGATION_GBPS, AGGREGATION_US) for a in ACCESS for b in AGGREGATION]
    half = SERVERS // len(ACCESS)
    links = [Cable(s, ACCESS[n // half], ACCESS_GBPS, ACCESS_US) for n, s in enumerate(servers)]
    redis, *clients = servers
    ground = Ground(
        (*ACCESS, *AGGREGATION),
        (*uplinks, *links),
        tuple(Pair(client, redis) for client in clients),
    )
    scenario = Scenario.model_validate(
        {
            "scenario": "bytetuning",
            "congestion_control": control,
            "flows": {"count": len(clients), "bytes": VALUES * VALUE_BYTES},
            "port_gbps": ACCESS_GBPS,
            "packet_bytes": PAYLOAD + HEADERS,
            "header_bytes": HEADERS,
            "buffer": {
                "total_kbytes": BUFFER_CELLS * CELL_KBYTES,
                "scale_alpha_with_speed": False,
                "response_quanta": 0,
                "interface_quanta": 0,
            },
            "nic": {"profile": profile},
        }
    )
    return Base(scenario, dcqcn_of(profile) if control == "dcqcn" else None, ground)


def space_of(base: Base) -> Space:
    """Return the 3,300 combinations, with those that the rules refuse."""
    return Space(
        axes_of(published_space(ACCESS_GBPS, static=False)),
        lambda values: settings_of(values, base.scenario),
        scenario_refusal(base.scenario, base.ground),
    )


AXES: Final = {
    "kmin_kbytes": ("Kmin", "cells", CELL_KBYTES),
    "width_kbytes": ("Kmax above Kmin", "cells", CELL_KBYTES),
    "pmax_percent": ("Pmax", "%", 1.0),
    "alpha": ("alpha", "x", 1.0),
    "headroom_kbytes": ("headroom", "cells", CELL_KBYTES),
}


def _axes(space: Space) -> Iterator[SearchAxis]:
    for axis in space.axes:
        name, unit, size = AXES[axis.name]
        values = tuple(round(value / size, 6) for value in axis.values)
        yield SearchAxis(name=name, unit=unit, values=values)


@dataclass
class Tuner:
    """ByteTuning's search: it measures a candidate once, and takes the best by its objective."""

    space: Space
    evaluator: Evaluator
    start: Settings
    objective: str
    weights: Weights
    table: dict[Point, tuple[Simulation, ...]] = field(default_factory=dict)
    extremes: Extremes = field(default_factory=Extremes)
    _first: tuple[Simulation, ...] = ()

    def tuned(self, method: str, budget: int) -> Settings:
        """Search by annealing or the grid; return the best settings.

        budget: most candidates of annealing.
        """
        (self._first,) = self.evaluator.evaluate([self.start], [SEARCH_SEED], "simulate the start")
        self.extremes.add(self._first)
        if method == "grid":
            methods.grid(self.space, self.ask)
        else:
            methods.annealing(self.space, self.ask, budget, SEARCH_SEED, self.objective)
        return self.space.at(min(self.table, key=lambda point: self._ratio(self.table[point])))

    def ask(self, points: Sequence[Point]) -> list[dict[str, float]]:
        """Evaluate points; return the start's objective divided by theirs."""
        new = [point for point in dict.fromkeys(points) if point not in self.table]
        settings = [self.space.at(point) for point in new]
        done = self.evaluator.evaluate(settings, [SEARCH_SEED], "simulate candidates")
        self.table.update(zip(new, done, strict=True))
        for evaluation in done:
            self.extremes.add(evaluation)
        return [{self.objective: self._ratio(self.table[point])} for point in points]

    def values(self, evaluation: Sequence[Measures]) -> dict[str, float]:
        """Return each objective of a candidate, among all that were evaluated."""
        return {name: self.extremes.value(name, evaluation, self.weights) for name in BYTE_TUNING}

    def _ratio(self, own: Sequence[Measures]) -> float:
        """Return the start's objective divided by a candidate's; below 1 is better."""
        if any(m.drops > s.drops for m, s in zip(own, self._first, strict=True)):
            return WORST
        return self.values(self._first)[self.objective] / self.values(own)[self.objective]


@dataclass(frozen=True)
class TableRequest:
    """Request of the table. budget: most candidates of annealing. nic: profile of DCQCN."""

    seeds: tuple[int, ...]
    nic: str = PUBLISHED_NIC
    objective: str = THROUGHPUT
    weights: Weights = DEFAULT_WEIGHTS
    method: str = "annealing"
    budget: int = PUBLISHED_BUDGET


def watermark_table(request: TableRequest, evaluator_of: EvaluatorOf) -> WatermarkTable:
    """Return Table V from simulations."""
    dcqcn, dctcp = bed("dcqcn", request.nic), bed("dctcp", request.nic)
    space = space_of(dcqcn)
    evaluator, other = evaluator_of((dcqcn,)), evaluator_of((dctcp,))
    experience = byte_tuning_start(space.refusal)
    start = experience.settings
    tuner = Tuner(space, evaluator, start, request.objective, request.weights)
    best = tuner.tuned(request.method, request.budget)
    default = start.like(ecn=_cells_marking(100, 1000, 10))
    every = (start, default, best)
    measured = evaluator.evaluate(every, request.seeds, "simulate the columns")
    lossy = evaluator_of(_loss_bases(dcqcn))
    (losses,) = lossy.evaluate([start], request.seeds, "simulate the loss rates")
    plain = start.like(ecn=None)
    results = [other.evaluate([plain], request.seeds, "simulate DCTCP")[0], *measured]
    for own in measured:
        tuner.extremes.add(own)
    sources = (
        "HPCC simulator",
        experience.source,
        "default WRED table of H3C's and HPE's guides",
        f"{request.method}, {len(tuner.table)} candidates",
    )
    names = (DCTCP, EXPERIENCE, MANUFACTURER, TUNED)
    columns = [
        _column(name, base, settings, source, space.refusal(settings))
        for name, base, settings, source in zip(
            names, (dctcp, dcqcn, dcqcn, dcqcn), (plain, *every), sources, strict=True
        )
    ]
    return WatermarkTable(
        publication=PUBLICATION,
        objective=request.objective,
        beta=request.weights.beta,
        gamma=request.weights.gamma,
        method=request.method,
        combinations=space.combinations,
        axes=tuple(_axes(space)),
        refused=space.refused,
        evaluated=len(tuner.table),
        search_seed=SEARCH_SEED,
        seeds=request.seeds,
        columns=tuple(
            column.like(objectives=tuner.values(results[n]) if n else {})
            for n, column in enumerate(columns)
        ),
        rows=tuple(_rows([own[0] for own in results])),
        losses=tuple(_losses(losses)),
        loss_text=LOSS_TEXT,
        assumptions=(*ASSUMPTIONS, _nic_words(dcqcn)),
        not_modelled=MISSING,
        simulated=sum(each.simulated for each in (evaluator, other, lossy)),
        reused=sum(each.reused for each in (evaluator, other, lossy)),
    )


def _nic_words(base: Base) -> str:
    """Return the profile of the NICs, with its lowest rate."""
    rate = None if base.profile is None else base.profile.min_rate_mbps
    lowest = "" if rate is None else f", whose lowest rate is {rate} Mb/s"
    return (
        f"NICs with profile {base.scenario.nic.profile}{lowest}; the paper has the vendor's "
        "defaults, whose lowest rate of 1 Mb/s is not validated here and decides the result: "
        "--nic connectx-dcqcn"
    )


def _cells_marking(kmin: int, kmax: int, percent: float) -> Marking:
    """Return the ECN of thresholds in cells."""
    low, high = kmin * CELL_KBYTES, kmax * CELL_KBYTES
    return Marking(kmin_kbytes=low, kmax_kbytes=high, pmax_percent=percent)


def _column(
    name: str, base: Base, settings: Settings, source: str, refused: str
) -> WatermarkColumn:
    from rocefort.tune.simulator.tables import marking_of  # noqa: PLC0415 - numba's numpy

    scenario = settings.applied(base.scenario)
    marking = marking_of(scenario)
    headroom = scenario.buffer.headroom_kbytes or 0
    sizes = {"kmin": marking.kmin_kbytes, "kmax": marking.kmax_kbytes, "headroom": headroom}
    return WatermarkColumn(
        name=name,
        control=scenario.congestion_control,
        source=source,
        refused=refused,
        cells={key: round(size / CELL_KBYTES) for key, size in sizes.items()},
        pmax_percent=marking.pmax_percent,
        alpha=scenario.buffer.alpha,
        objectives={},
    )


# --- loss rate ------------------------------------------------------------------------------------

LOSS_PERCENTS = (0, 0.001, 0.01, 0.1, 1, 5)
LOSS_MS, LOSS_FROM_MS = 10, 1
LOSS_TEXT = (
    "one flow between servers of both access switches; packets arrive corrupted at this rate, and "
    "the NICs send again from the lost one (go-back-N, as in the HPCC simulator)"
)


def _loss_bases(base: Base) -> tuple[Base, ...]:
    """Return one flow of the bed at each loss rate."""
    pair = Pair(f"server{SERVERS:02}", base.ground.pairs[0].receiver)
    ground = replace(base.ground, pairs=(pair,))
    keys = {
        "flows": {"count": 1},
        "duration_ms": LOSS_MS,
        "measure_from_ms": LOSS_FROM_MS,
    }
    plain = base.scenario.model_dump(exclude_unset=True) | keys
    return tuple(
        replace(
            base,
            scenario=Scenario.model_validate(plain | {"corrupted_percent": percent}),
            ground=ground,
        )
        for percent in LOSS_PERCENTS
    )


def _losses(results: Sequence[Simulation]) -> Iterator[LossRow]:
    for percent, result in zip(LOSS_PERCENTS, results, strict=True):
        span_s = (LOSS_MS - LOSS_FROM_MS) / 1000
        shares = [
            100 * run.resent_kbytes * 8e3 / max(1.0, run.goodput_gbps * 1e9 * span_s)
            for run in result.runs
        ]
        yield LossRow(
            percent=percent,
            gbps=interval_of([run.goodput_gbps for run in result.runs], CONFIDENCE),
            resent_percent=interval_of(shares, CONFIDENCE),
        )


# --- rows -----------------------------------------------------------------------------------------

Reader = Callable[[Measures], float]
READERS: tuple[tuple[str, str, Reader], ...] = (
    ("throughput", "Gb/s", lambda m: m.goodput_gbps),
    ("IOPS", "K", lambda m: m.goodput_gbps * 1e9 / 8 / VALUE_BYTES / 1000),
    ("completion, mean", "ms", lambda m: m.completion_us.mean / 1000 if m.completion_us else 0),
    ("queue, mean", "K cells", lambda m: m.queue_kbytes.mean / CELL_KBYTES / 1000),
    ("packets marked", "K", lambda m: m.marks / 1000),
    ("pause frames", "", lambda m: m.pauses),
    ("packets dropped", "", lambda m: m.drops),
)


def _rows(results: Sequence[Simulation]) -> Iterator[WatermarkRow]:
    for measure, unit, read in READERS:
        values = tuple(
            interval_of([read(run) for run in result.runs], CONFIDENCE) for result in results
        )
        yield WatermarkRow(measure=measure, unit=unit, values=values)
