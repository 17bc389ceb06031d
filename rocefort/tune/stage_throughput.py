"""Throughput of a fabric by stage: of its capacity, and in the packet simulator.

HEPS reports that throughput grows linearly with the spines. Here each server of a beamline sends at
line rate to one receiver of its own, through the switches and cables of the stage. With few flows,
the hash of ECMP puts several on one cable while others are idle; the throughput that this costs is
the loss by collisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from pydantic import Field

from rocefort.beamline.stages import StageFabric, stage_fabrics
from rocefort.models.base import Frozen
from rocefort.models.fabric.congestion_control import Dcqcn
from rocefort.models.network.beamlines import spread_over_leaves
from rocefort.models.network.network import Network, Server, SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Block, Items, Note, Section, Table, TableColumn
from rocefort.reports.page_parts import LinearScale, Plot, PlotAxis, curve_of
from rocefort.reports.writers.pages import PageHead, framed_page, html_of
from rocefort.tune.fabric_search import buffers_of, cables_of, fabric_search, scenario_keys
from rocefort.tune.model import ConfidenceInterval, Settings
from rocefort.tune.run import EvaluatorOf
from rocefort.tune.scenario import Scenario
from rocefort.tune.search.jobs import Base
from rocefort.tune.search.paired import interval_of
from rocefort.tune.simulator.layout import Ground, Pair
from rocefort.tune.simulator.simulate import NOT_MODELLED
from rocefort.verification.capacity import capacity_of, demand_of, number, percent
from rocefort.verification.page.content import Provenance

CONFIDENCE = 0.95
FEW, MANY = 1, 16  # queue pairs of a sender
TIMES: dict[str, float] = {"duration_ms": 1.5, "measure_from_ms": 0.5}
ASSUMPTIONS = (
    "each server of a beamline sends at line rate to one receiver, which no other sends to",
    "model: what the ports of senders and receivers and the fullest cable carry, ECMP even",
    "full size: all switches, servers and cables of the stage; 1 ms is measured, after 0.5 ms",
    "each switch draws the cable of each flow, as the hash of the switches is not known",
    "ECN, PFC and DCQCN are those of the fabric; AI-ECN has the bounds of the vendor's sample",
)


class StageThroughput(Frozen):
    """Throughput of one stage, Gb/s of payload. uplinks_gbps: of the leaves of the senders."""

    name: str
    beamlines: int
    leaves: int
    spines: int
    senders: int
    demand_gbps: float
    uplinks_gbps: int = Field(description="Uplinks of the leaves of beamlines, one way.")
    model_gbps: float = Field(description="Where ECMP divides evenly.")
    few_gbps: ConfidenceInterval = Field(description="With one queue pair of each sender.")
    many_gbps: ConfidenceInterval = Field(description="With 16 queue pairs of each sender.")

    @property
    def few_share(self) -> float:
        """Share of the model's throughput that one queue pair reaches."""
        return self.few_gbps.mean / self.model_gbps

    @property
    def many_share(self) -> float:
        """Share of the model's throughput that 16 queue pairs reach."""
        return self.many_gbps.mean / self.model_gbps


class StageCurve(Frozen):
    """Result of `tune compare stages`."""

    fabric: str
    ecn: str
    seeds: tuple[int, ...]
    stages: tuple[StageThroughput, ...]
    assumptions: tuple[str, ...]
    not_modelled: tuple[str, ...]
    simulated: int = Field(description="Simulations that this command ran.")
    reused: int = Field(description="Simulations whose results the folder had.")


@dataclass(frozen=True)
class _Load:
    """Senders and receivers of a stage."""

    stage: StageFabric
    pairs: tuple[tuple[Server, Server], ...]

    @property
    def network(self) -> Network:
        return self.stage.subject.network


def stage_curve(fabric: Path, seeds: tuple[int, ...], evaluator_of: EvaluatorOf) -> StageCurve:
    """Return the throughput of each stage of a fabric with stages; raises BadInput."""
    own = fabric_search(fabric, None, nic=False)
    today = own.references[0]
    loads = [
        _Load(stage, tuple(pairs_of(stage.subject.network))) for stage in stage_fabrics(fabric)
    ]
    keys = scenario_keys(own.derived, own.file, own.congestion_control, 100)
    bases = tuple(
        _base(load, keys, own.congestion_control, today.settings, count)
        for load in loads
        for count in (FEW, MANY)
    )
    evaluator = evaluator_of(bases)
    (results,) = evaluator.evaluate([Settings()], seeds, "simulate the stages")
    means = [interval_of([run.goodput_gbps for run in one.runs], CONFIDENCE) for one in results]
    rows = (
        _row(load, base.scenario, few, many)
        for load, base, few, many in zip(loads, bases[::2], means[::2], means[1::2], strict=True)
    )
    return StageCurve(
        fabric=own.name,
        ecn=f"{today.name}: {today.source}" if today.source else today.name,
        seeds=seeds,
        stages=tuple(rows),
        assumptions=ASSUMPTIONS,
        not_modelled=NOT_MODELLED,
        simulated=evaluator.simulated,
        reused=evaluator.reused,
    )


def pairs_of(network: Network) -> Iterator[tuple[Server, Server]]:
    """Yield each server of a beamline with a receiver; receivers of all leaves take turns."""
    senders = {name for beamline in network.beamlines for name in beamline.servers}
    targets = {path.to for beamline in network.beamlines for path in beamline.sends_to}
    servers = [server for server in network.servers or () if server.roce]
    own = [server for server in servers if server.name in senders]
    receivers = spread_over_leaves(
        [server for server in servers if server.segment in targets and server.name not in senders]
    )
    yield from zip(own, islice(cycle(receivers), len(own)), strict=False)


def _base(
    load: _Load, keys: dict[str, Any], profile: Dcqcn | None, settings: Settings, count: int
) -> Base:
    """Return the scenario of a stage with a number of queue pairs, and its ground."""
    names = [server.name for server, _ in load.pairs]
    scenario = settings.applied(
        Scenario.model_validate(
            {
                **keys,
                **TIMES,
                "scenario": f"{load.stage.name}, {count} QP",
                "flows": {
                    "pattern": "between",
                    "senders": names,
                    "receivers": [receiver.name for _, receiver in load.pairs],
                    "queue_pairs": count,
                },
            }
        )
    )
    network = load.network
    cables = tuple(cables_of(scenario, network))
    pairs = tuple(Pair(sender.name, receiver.name) for sender, receiver in load.pairs)
    nodes = tuple(node.name for node in network.nodes)
    return Base(scenario, profile, Ground(nodes, cables, pairs, buffers_of(network)))


def _row(
    load: _Load, scenario: Scenario, few: ConfidenceInterval, many: ConfidenceInterval
) -> StageThroughput:
    network = load.network
    given = demand_of(None, None, network)
    report = capacity_of(load.stage.subject, given, scope="none")
    demand = given.demand.peak if given.demand else 0.0
    ports = [sum(server.flow_gbps for server in side) for side in zip(*load.pairs, strict=True)]
    payload = 1 - scenario.header_bytes / scenario.packet_bytes
    leaves = {sender.port.device for sender, _ in load.pairs}
    uplinks = sum(use.capacity_gbps for use in report.of("leaf") if use.name in leaves)
    limit = min(*ports, demand * (report.factor or 1))
    return StageThroughput(
        name=load.stage.name,
        beamlines=len(network.beamlines),
        leaves=len(network.role(SwitchRole.LEAF)),
        spines=len(network.role(SwitchRole.SPINE)),
        senders=len(load.pairs),
        demand_gbps=round(demand, 3),
        uplinks_gbps=uplinks,
        model_gbps=round(limit * payload, 3),
        few_gbps=few,
        many_gbps=many,
    )


def stage_curve_report(result: StageCurve) -> Iterator[Block]:
    """Show the throughput of each stage, the loss by collisions, and what is assumed."""
    yield Note(f"{result.fabric}: simulated, not measured; Gb/s of payload")
    yield Table(COLUMNS, tuple(map(_cells, result.stages)))
    yield Items(tuple(verdict_lines(result)))
    yield Section("Assumed", (Items((*result.assumptions, f"ECN: {result.ecn}")),))
    yield Section("Not modelled", (Items(result.not_modelled),))


TITLES = ("spines", "demand", "model", "1 QP", "lost", "16 QPs", "lost")
COLUMNS = (TableColumn("stage"), *(TableColumn(title, align="right") for title in TITLES))


def _cells(row: StageThroughput) -> tuple[str | int, ...]:
    return (
        row.name,
        row.spines,
        *(number(gbps) for gbps in (row.demand_gbps, row.model_gbps)),
        *_simulated(row.few_gbps, row.few_share),
        *_simulated(row.many_gbps, row.many_share),
    )


def _simulated(gbps: ConfidenceInterval, share: float) -> tuple[str, str]:
    return f"{gbps.mean:,.0f}", percent(max(0.0, 1 - share))


def verdict_lines(result: StageCurve) -> Iterator[str]:
    """Yield how throughput grows from the first to the last stage, and what collisions cost."""
    first, last = result.stages[0], result.stages[-1]
    grown = last.model_gbps / first.model_gbps
    yield (
        f"from {first.name} to {last.name}: {last.spines / first.spines:.2f} times the spines, "
        f"{last.senders / first.senders:.2f} times the senders; throughput by the model "
        f"{grown:.2f} times, with 1 QP {last.few_gbps.mean / first.few_gbps.mean:.2f}, with "
        f"{MANY} QPs {last.many_gbps.mean / first.many_gbps.mean:.2f}"
    )
    few = [1 - row.few_share for row in result.stages]
    many = [1 - row.many_share for row in result.stages]
    yield (
        f"lost by collisions on cables, and by the reaction of DCQCN: {_range(few)} with 1 QP, "
        f"{_range(many)} with {MANY}"
    )
    low = [row.name for row in result.stages if row.few_gbps.mean < row.demand_gbps]
    below = f"with 1 QP below the demand: {listing(low)}" if low else "with 1 QP above the demand"
    yield f"{below}; the demand needs less than line rate"


def _range(shares: Sequence[float]) -> str:
    low, high = (percent(max(0.0, share)) for share in (min(shares), max(shares)))
    return f"{low} to {high}"


def stage_plot(result: StageCurve) -> Plot:
    """Return throughput by stage: of the model, with 16 queue pairs and with one, and demand."""
    last = len(result.stages) - 1
    lines: tuple[tuple[str, str, list[float]], ...] = (
        ("model", "c1", [row.model_gbps for row in result.stages]),
        (f"{MANY} QPs", "c3", [row.many_gbps.mean for row in result.stages]),
        ("1 QP", "c2", [row.few_gbps.mean for row in result.stages]),
        ("demand", "c4", [row.demand_gbps for row in result.stages]),
    )
    x = LinearScale(-0.25, last + 0.25)
    y = LinearScale(0, max(max(values) for *_, values in lines) * 1.08)
    curves = []
    for name, style, values in lines:
        points = [
            (x.percent(n), y.percent(gbps), f"{name}, {row.name}: {gbps:,.0f} Gb/s")
            for n, (row, gbps) in enumerate(zip(result.stages, values, strict=True))
        ]
        curves.append(curve_of(name, style, points))
    ticks = tuple(
        (x.percent(n), f"{row.name}: {row.spines} spines") for n, row in enumerate(result.stages)
    )
    return Plot(
        title=f"Throughput of {result.fabric} by stage",
        x=PlotAxis("stage and its spines", ticks),
        y=PlotAxis("payload, Gb/s", y.ticks),
        curves=tuple(curves),
        words=" ".join(verdict_lines(result)),
        notes=tuple(verdict_lines(result)),
    )


def stage_page(result: StageCurve, origin: Provenance) -> str:
    """Return the page of the curve; every value is escaped by the template."""
    title = f"Throughput of {result.fabric} by stage"
    shown: dict[str, object] = {
        "plot_of": stage_plot(result),
        "table": html_of(Table(COLUMNS, tuple(map(_cells, result.stages)))),
        "assumptions": html_of(Items((*result.assumptions, f"ECN: {result.ecn}"))),
        "missing": html_of(Items(result.not_modelled)),
    }
    head = PageHead(
        title=title,
        heading=title,
        verdict="simulated, not measured",
        tone="clean",
        sizes=(
            count_of(len(result.stages), "stage"),
            count_of(len(result.seeds), "seed"),
        ),
        provenance=[
            ("Made", f"{origin.made_text} by Rocefort {origin.version}"),
            ("From", f"{origin.source}, {origin.revision_text}"),
        ],
        sections=[("curve", "Curve"), ("assumed", "Assumed"), ("missing", "Not modelled")],
    )
    return framed_page("stages.html.j2", head, shown, files=("rdma.css", "tuning.css"))
