"""Objectives of ByteTuning against vectors that are computed by hand, and as goals of a search."""

from __future__ import annotations

from pathlib import Path

import pytest
from outputs import fields_of
from simulators import run_scenario
from typer.testing import CliRunner

from rocefort.tasks import cli
from rocefort.tune import options
from rocefort.tune.model import FlowsUse, Measures, QueueUse, SearchResult, SwitchUse
from rocefort.tune.search import byte_tuning
from rocefort.tune.search.byte_tuning import (
    BYTE_TUNING,
    LATENCY,
    THROUGHPUT,
    Extremes,
    Weights,
)
from rocefort.tune.search.search import OBJECTIVES

SCENARIO = """\
scenario: small
flows: {count: 8, bytes: 400000}
ecn: {kmin_kbytes: 100, kmax_kbytes: 400, pmax_percent: 20}
seeds: [7, 8]
search:
  kmin_kbytes: [5, 50, 400]
  width_kbytes: [50, 300]
  pmax_percent: [1, 50]
"""


def candidate(
    *switches: tuple[str, float, float], flows: tuple[float, float, float, float, float]
) -> Measures:
    """Measures with goodput and queue of each switch.

    flows: mean, highest and spread of their goodput, harmonic mean and smallest of their queues.
    """
    mean, highest, spread, harmonic, least = flows
    return Measures(
        goodput_gbps=1,
        fairness=1,
        completion_us=None,
        unfinished=0,
        groups={},
        queue_kbytes=QueueUse(mean=1, p50=1, p95=1, p99=1, max=1),
        marks=0,
        pauses=0,
        paused_us=0,
        paused_ports={},
        drops=0,
        tcp_drops=0,
        resent_kbytes=0,
        switches=tuple(
            SwitchUse(switch=name, goodput_gbps=gbps, queue_kbytes=kbytes)
            for name, gbps, kbytes in switches
        ),
        flows=FlowsUse(
            count=2,
            mean_gbps=mean,
            highest_gbps=highest,
            spread_gbps=spread,
            queue_kbytes=harmonic,
            harmonic_queue_kbytes=harmonic,
            least_queue_kbytes=least,
        ),
    )


FAST = candidate(("a", 20, 100), ("b", 10, 50), ("idle", 0, 0), flows=(10, 15, 5, 120, 90))
SHORT = candidate(("a", 16, 25), ("b", 10, 40), ("idle", 0, 0), flows=(8, 8, 0, 30, 30))


def extremes() -> Extremes:
    both = Extremes()
    both.add([FAST])
    both.add([SHORT])
    return both


@pytest.mark.parametrize(
    ("own", "beta", "value"),
    [
        # Tmax is 20 and 10, Qmin 25 and 40: each switch has its own; the idle one has no part.
        (FAST, 1.0, (20 / 20 + 10 / 10) / 2),
        (SHORT, 1.0, (16 / 20 + 10 / 10) / 2),
        (FAST, 0.0, (25 / 100 + 40 / 50) / 2),
        (SHORT, 0.0, (25 / 25 + 40 / 40) / 2),
        (FAST, 0.5, 0.7625),
        (SHORT, 0.25, 0.975),
    ],
)
def test_the_throughput_objective_is_of_switches(own: Measures, beta: float, value: float) -> None:
    weights = Weights(beta, gamma=7)
    assert extremes().value(THROUGHPUT, [own], weights) == pytest.approx(value)


@pytest.mark.parametrize(
    ("own", "beta", "gamma", "value"),
    [
        # Tmax is 15 and Qmin 30, of any flow.
        (FAST, 1.0, 0.0, 10 / 15),
        (FAST, 0.0, 0.0, 30 / 120),
        (FAST, 0.5, 9.0, (0.5 * 10 / 15 + 0.5 * 30 / 120) / (1 + 9 * (5 / 15) ** 2)),
        (SHORT, 0.5, 9.0, 0.5 * 8 / 15 + 0.5),  # equal flows lose nothing
    ],
)
def test_the_latency_objective_is_of_flows(
    own: Measures, beta: float, gamma: float, value: float
) -> None:
    assert extremes().value(LATENCY, [own], Weights(beta, gamma)) == pytest.approx(value)


def test_scenarios_have_their_own_extremes_and_equal_parts() -> None:
    both = Extremes()
    both.add([FAST, SHORT])
    both.add([SHORT, SHORT])
    for objective in BYTE_TUNING:
        first = extremes().value(objective, [FAST], Weights())
        alone = Extremes()
        alone.add([SHORT])
        second = alone.value(objective, [SHORT], Weights())
        assert both.value(objective, [FAST, SHORT], Weights()) == pytest.approx(
            (first + second) / 2
        )


def test_a_run_has_its_switches_and_flows() -> None:
    """Two leaves, one spine: all switches carry the same payload."""
    result = run_scenario(
        flows={"count": 4, "bytes": 300_000},
        topology={"kind": "leaf_spine", "leaves": 2, "spines": 1, "uplink_gbps": 25},
        seeds=[3],
    )
    (run,) = result.runs
    assert [use.switch for use in run.switches] == ["leaf1", "leaf2", "spine1"]
    for use in run.switches:
        assert use.goodput_gbps == pytest.approx(run.goodput_gbps)
    assert max(use.queue_kbytes for use in run.switches) >= run.queue_kbytes.mean
    path = sum(use.queue_kbytes for use in run.switches)
    assert run.flows.count == 4
    assert run.flows.queue_kbytes == pytest.approx(path)
    assert run.flows.harmonic_queue_kbytes == pytest.approx(path)
    assert run.flows.least_queue_kbytes == pytest.approx(path)
    square = (run.flows.spread_gbps / run.flows.mean_gbps) ** 2
    assert run.fairness == pytest.approx(1 / (1 + square))
    assert run.flows.highest_gbps >= run.flows.mean_gbps > run.goodput_gbps / 4 * 0.99
    assert result.flows == run.flows


def test_means_over_seeds_are_those_of_the_runs() -> None:
    result = run_scenario(flows={"count": 3, "bytes": 200_000}, seeds=[1, 2])
    one, other = result.runs
    assert one.flows != other.flows
    assert result.flows.spread_gbps == pytest.approx(
        (one.flows.spread_gbps + other.flows.spread_gbps) / 2
    )
    assert result.switches[0].queue_kbytes == pytest.approx(
        (one.switches[0].queue_kbytes + other.switches[0].queue_kbytes) / 2
    )


def test_options_have_the_names_and_weights_of_the_objectives() -> None:
    assert [str(each) for each in options.SearchObjectiveOption] == [*OBJECTIVES, *BYTE_TUNING]
    assert (options.BETA, options.GAMMA) == (byte_tuning.BETA, byte_tuning.GAMMA)


def searched(tmp_path: Path, *more: str) -> SearchResult:
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    folder = ("--results", str(tmp_path / "results"), "--workers", "2", "--format", "json")
    command = ["tune", "search", "--scenario", str(path), *folder, *more]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.exception
    return SearchResult.model_validate(fields_of(done.stdout))


def test_a_search_chooses_by_them_and_by_their_weights(tmp_path: Path) -> None:
    by_queue = searched(tmp_path, "--objective", THROUGHPUT, "--beta", "0.1")
    by_goodput = searched(tmp_path, "--objective", THROUGHPUT, "--beta", "1")
    assert by_queue.chosen.values["kmin_kbytes"] == 5
    assert by_goodput.chosen.values["kmin_kbytes"] == 400
    for result in (by_queue, by_goodput):
        assert result.chosen == result.best[THROUGHPUT]
    slow, fast = (
        {f.goal: f.mean for f in each.chosen.scenarios[0].figures}
        for each in (by_queue, by_goodput)
    )
    assert slow["queue"] < fast["queue"] / 4
    assert slow["goodput"] < fast["goodput"]


def test_a_search_lists_their_choices_by_weight_without_repeating_one(tmp_path: Path) -> None:
    result = searched(tmp_path, "--gamma", "20")
    assert {each.objective for each in result.byte_tuning} == set(BYTE_TUNING)
    for name in BYTE_TUNING:
        own = [each for each in result.byte_tuning if each.objective == name]
        assert sorted(beta for each in own for beta in each.betas) == [n / 10 for n in range(1, 10)]
        assert len({tuple(each.values.items()) for each in own}) == len(own) > 1
        assert all(each.gamma == 20 and each.value > each.start for each in own)


@pytest.mark.parametrize("option", [("--beta", "1.1"), ("--gamma", "-1")])
def test_a_weight_out_of_its_range_is_refused(tmp_path: Path, option: tuple[str, str]) -> None:
    done = CliRunner().invoke(cli, ["tune", "search", "heps", *option])
    assert done.exit_code == 2
    assert f"Invalid value for '{option[0]}'" in done.stderr
