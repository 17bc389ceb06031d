"""Slow pairs are explained only by elements that they share and good pairs do not use."""

from __future__ import annotations

from itertools import combinations

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive
from rocefort.models.network.network import Server
from rocefort.rdma.judge.verdicts import (
    PairComponents,
    SlowComponents,
    explain,
    find_slow_components,
    pair_components,
)
from rocefort.rdma.plan.shared_links import Wiring
from rocefort.rdma.rdma_plan import Program, RdmaRun
from rocefort.rdma.results import Figures, Measurement, MeasurementVerdict

NETWORK = derive(INVENTORY / "heps" / "fabric.yaml").network
WIRING = Wiring(NETWORK)
SERVERS: dict[str, Server] = {server.name: server for server in NETWORK.servers or ()}
MANY = 8  # QPs, enough to use both spines almost certainly


def mesh(broken: set[str], qps: int = MANY) -> list[Measurement]:
    """Return all pairs, slow if a broken element is in their path."""
    found = []
    for one, other in combinations(SERVERS, 2):
        elements = pair_components(WIRING, SERVERS[one], SERVERS[other], MANY).all
        verdict = MeasurementVerdict.TOO_SLOW if elements & broken else MeasurementVerdict.PASSED
        run = RdmaRun(id="x", program=Program.WRITE_BW, client=one, server=other, qps=qps)
        found.append(
            Measurement(
                run=run, outcome="measured", sentence="", figures=Figures(gbps=1), verdict=verdict
            )
        )
    return found


def culprits(broken: set[str], qps: int = MANY) -> SlowComponents:
    return find_slow_components(mesh(broken, qps), WIRING, SERVERS)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        ({"leaf01"}, "21 slow pairs pass through leaf01"),
        ({"server k8sgn12 or its cables"}, "11 slow pairs pass through server k8sgn12 or its cables"),
        # Every pair that leaves the leaf uses both cables; only their counters show the faulty one.
        (
            {"cable leaf03 100GE1/0/25 - spine01 100GE1/1/3"},
            "20 slow pairs pass through one of cable leaf03 100GE1/0/25 - spine01 100GE1/1/3,"
            " cable leaf03 100GE1/0/26 - spine02 100GE1/1/3",
        ),
        ({"spine02"}, "62 slow pairs pass through one of spine01, spine02"),
        (
            {"server k8sgn12 or its cables", "server readout01 or its cables"},
            "21 slow pairs pass through one of cable leaf05 100GE1/0/1 - spine01 100GE1/1/5,"
            " cable leaf05 100GE1/0/2 - spine02 100GE1/1/5, leaf05, server readout01 or its cables"
            " and server k8sgn12 or its cables",
        ),
    ],
)  # fmt: skip
def test_faults_of_a_mesh(broken: set[str], sentence: str) -> None:
    assert culprits(broken).sentences == (sentence,)


def test_one_flow_clears_no_spine() -> None:
    """With one QP, a good pair may have used the other spine."""
    one, other = SERVERS["k8sgn12"], SERVERS["k8sgn09"]
    single, many = pair_components(WIRING, one, other, 1), pair_components(WIRING, one, other, MANY)
    assert {"spine01", "spine02"} <= single.possible
    assert {"spine01", "spine02"} <= many.certain
    assert single.all == many.all


def test_a_slow_pair_whose_every_part_is_cleared_stays_unexplained() -> None:
    ways = {"a -> b": PairComponents(frozenset("ab"), frozenset())}
    found = explain(
        ways,
        [PairComponents(frozenset("a"), frozenset()), PairComponents(frozenset("b"), frozenset())],
    )
    assert found.explanations == ()
    assert found.sentences == ("a -> b is slow, though good pairs used every element of its path",)


def test_no_slow_pair_needs_no_culprit() -> None:
    assert culprits(set()).sentences == ()


ELEMENTS = sorted(
    {
        e
        for a, b in combinations(SERVERS.values(), 2)
        for e in pair_components(WIRING, a, b, MANY).all
    }
)


@settings(max_examples=tries(40))
@given(st.sets(st.sampled_from(ELEMENTS), min_size=1, max_size=2))
def test_an_explanation_covers_all_slow_pairs_and_no_cleared_element(broken: set[str]) -> None:
    measured = mesh(broken)
    found = find_slow_components(measured, WIRING, SERVERS)
    ways = {
        m.run.pair: pair_components(WIRING, SERVERS[m.run.client], SERVERS[m.run.server], MANY)
        for m in measured
    }
    good = [m.run.pair for m in measured if m.verdict is MeasurementVerdict.PASSED]
    cleared = {e for pair in good for e in ways[pair].certain}
    for explanation in found.explanations:
        for choice in range(max(map(len, explanation.parts))):
            chosen = {part[min(choice, len(part) - 1)] for part in explanation.parts}
            assert not chosen & cleared
            covered = {pair for pair in found.slow if ways[pair].all & chosen}
            assert covered == set(found.slow) - set(found.unexplained)
        assert len(explanation.parts) <= max(1, len(broken))
