"""Throughput by stage: pairs, parallel cables, and what the report and the page show."""

from __future__ import annotations

from collections import Counter

import pytest

from rocefort.base.repository import INVENTORY
from rocefort.beamline.stages import stage_fabrics
from rocefort.tune.model import ConfidenceInterval
from rocefort.tune.scenario import Scenario
from rocefort.tune.simulator.layout import Cable, Ground, Pair, layout_of, port_names
from rocefort.tune.simulator.simulate import simulate
from rocefort.tune.stage_throughput import (
    StageCurve,
    StageThroughput,
    pairs_of,
    stage_plot,
    verdict_lines,
)

FLOWS = {"pattern": "between", "senders": ["a1", "a2"], "receivers": ["b1", "b2"]}


def two_switches(cables: int) -> Ground:
    """Two servers on each of two switches with parallel cables."""
    joints = [Cable("leaf1", "leaf2", 100, 0.1)] * cables
    ends = {"a1": "leaf1", "a2": "leaf1", "b1": "leaf2", "b2": "leaf2"}
    servers = [Cable(name, leaf, 100, 0.1) for name, leaf in ends.items()]
    return Ground(("leaf1", "leaf2"), (*joints, *servers), (Pair("a1", "b1"), Pair("a2", "b2")))


def scenario(queue_pairs: int) -> Scenario:
    return Scenario.model_validate(
        {
            "flows": {**FLOWS, "queue_pairs": queue_pairs},
            "port_gbps": 100,
            "duration_ms": 0.5,
            "measure_from_ms": 0.1,
            "seeds": [1],
        }
    )


def test_each_parallel_cable_is_a_port_of_its_own() -> None:
    ground = two_switches(2)
    names = port_names(ground.cables)
    assert len(set(names)) == len(names) == 12
    assert names[:2] == [("leaf1", "leaf2"), ("leaf1", "leaf2#2")]
    flows = layout_of(scenario(16), ground, 1).flows
    used = Counter(flow.ports[1] for flow in flows)
    assert set(used) == {("leaf1", "leaf2"), ("leaf1", "leaf2#2")}
    for flow in flows:
        assert set(flow.ports) | set(flow.ports_back) <= set(names)


def test_parallel_cables_carry_more_than_one() -> None:
    one, two = (simulate(scenario(16), None, two_switches(n)).goodput_gbps for n in (1, 2))
    assert one < 100
    assert two > 1.6 * one


def test_each_server_of_a_beamline_has_a_receiver_of_its_own() -> None:
    network = stage_fabrics(INVENTORY / "heps-phase2")[0].subject.network
    pairs = tuple(pairs_of(network))
    assert len(pairs) == 45
    receivers = Counter(receiver.name for _, receiver in pairs)
    assert set(receivers.values()) == {1}
    leaves = Counter(receiver.port.device for _, receiver in pairs)
    assert set(leaves.values()) <= {11, 12}


def curve() -> StageCurve:
    def row(name: str, spines: int, factor: float) -> StageThroughput:
        few, many = (
            ConfidenceInterval(mean=gbps * factor, low=gbps * factor, high=gbps * factor)
            for gbps in (2000.0, 3960.0)
        )
        return StageThroughput(
            name=name,
            beamlines=15,
            leaves=8,
            spines=spines,
            senders=round(45 * factor),
            demand_gbps=3200 * factor,
            uplinks_gbps=6000,
            model_gbps=4000 * factor,
            few_gbps=few,
            many_gbps=many,
        )

    return StageCurve(
        fabric="heps-phase2",
        ecn="ai",
        seeds=(1,),
        stages=(row("base", 4, 1), row("stage1", 8, 2)),
        assumptions=(),
        not_modelled=(),
        simulated=4,
        reused=0,
    )


def test_the_report_names_growth_and_loss() -> None:
    assert list(verdict_lines(curve())) == [
        "from base to stage1: 2.00 times the spines, 2.00 times the senders; throughput by the "
        "model 2.00 times, with 1 QP 2.00, with 16 QPs 2.00",
        "lost by collisions on cables, and by the reaction of DCQCN: 50.0 % to 50.0 % with 1 QP, "
        "1.0 % to 1.0 % with 16",
        "with 1 QP below the demand: base and stage1; the demand needs less than line rate",
    ]


def test_the_plot_has_a_line_for_each_measure() -> None:
    plot = stage_plot(curve())
    assert [one.name for one in plot.curves] == ["model", "16 QPs", "1 QP", "demand"]
    assert [words for _, words in plot.x.ticks] == ["base: 4 spines", "stage1: 8 spines"]
    heights = [dot[1] for dot in plot.curves[0].dots]
    assert heights[1] == pytest.approx(100 - 2 * (100 - heights[0]), abs=0.1)
