"""The engine's next hops and Batfish's recorded ones, after each single failure of HEPS.

The kernels of a twin have the same law in tests/twin/test_lab_trials.py, after a few of them.
"""

from __future__ import annotations

import os
from collections import Counter
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.lab.experiments.opinions import Batfish
from rocefort.lab.network import OpinionCounts, compare_tables, tables_of
from rocefort.models.network.network import Network
from rocefort.validators.batfish.access import Service
from rocefort.validators.batfish.batfish_engine import RouteRow
from rocefort.validators.failures.study import dense, single_failures
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import Failure
from rocefort.validators.verification.batfish_recording import (
    Forks,
    ask_forks,
    record_forks,
    replay,
    replay_forks,
    rows_of,
    table_of,
)

RECORDED = Path(__file__).parents[2] / "recorded"
PATH = RECORDED / "heps-forks.json"
BOTH = ("the engine", "Batfish")
SINGLE = range(26)


@pytest.fixture(scope="module")
def network(heps: DerivedNetwork) -> Network:
    """HEPS as its texts say it."""
    texts = render_all(heps.network)
    nodes = (
        node.model_copy(update={"device": parse(texts[node.name], f"{node.name}.cfg").device})
        for node in heps.network.nodes
    )
    return heps.network.model_copy(update={"nodes": tuple(nodes)})


@pytest.fixture(scope="module")
def failures(network: Network) -> tuple[Failure, ...]:
    """Each cable, then each switch."""
    return single_failures(network, analyse(network))


@pytest.fixture(scope="module")
def forks(network: Network) -> Forks:
    """Recorded routes of the whole network and after failures."""
    return replay_forks(network, PATH)


def compared(network: Network, forks: Forks, failure: Failure) -> OpinionCounts:
    """The engine's next hops after a failure with those of Batfish."""
    solution, batfish = dense(network, failure), forks.after(network, failure)
    assert batfish is not None
    alive = [node.name for node in network.nodes if node.name not in failure.nodes]
    return compare_tables(batfish, tables_of(solution.state, alive), solution.ties, BOTH)


@pytest.mark.parametrize("number", SINGLE)
def test_both_agree_after_each_single_failure(
    network: Network, forks: Forks, failures: tuple[Failure, ...], number: int
) -> None:
    found = compared(network, forks, failures[number])
    assert found.differences == ()
    assert found.compared > 130
    fork = forks.forks[number]
    assert fork.failure == failures[number]
    assert fork.gone  # every failure of HEPS removes a path of some switch


def test_every_single_failure_is_there(
    network: Network, forks: Forks, failures: tuple[Failure, ...]
) -> None:
    kinds = Counter(each.nodes[0][:-2] if each.nodes else "link" for each in failures)
    assert kinds == {"link": 16, "leaf": 8, "spine": 2}
    assert [fork.failure for fork in forks.forks] == list(failures)
    assert sum(compared(network, forks, each).compared for each in failures) == 4220


def test_the_whole_is_what_was_recorded_of_it_before(network: Network, forks: Forks) -> None:
    whole = forks.after(network, Failure())
    assert whole is not None
    assert whole.routes == replay(network, RECORDED / "heps.json").routes


def test_a_path_that_batfish_would_keep_is_told(
    network: Network, forks: Forks, failures: tuple[Failure, ...]
) -> None:
    fork = forks.forks[0]
    kept = {node: hops for node, hops in fork.gone.items() if node != "leaf02"}
    assert kept != fork.gone
    others = (fork.model_copy(update={"gone": kept}), *forks.forks[1:])
    found = compared(network, forks.model_copy(update={"forks": others}), failures[0])
    assert {each.switch for each in found.differences} == {"leaf02"}
    assert str(found.differences[0]) == (
        "leaf02 10.0.1.1/32: the engine has 10.1.0.18, Batfish 10.1.0.16, 10.1.0.18"
    )


def test_opinions_take_the_forks_of_just_this_snapshot(
    network: Network, forks: Forks, failures: tuple[Failure, ...]
) -> None:
    batfish, failure = Batfish.of(RECORDED), failures[25]
    assert batfish.on(network, failure) == (forks.after(network, failure), "recorded heps-forks")
    both = Failure(links=failures[0].links, nodes=failure.nodes)
    assert batfish.on(network, both) is None
    smaller = network.model_copy(update={"servers": (network.servers or ())[1:]})
    assert batfish.on(smaller, failure) is None
    with pytest.raises(BadInput, match=r"heps-forks\.json: recorded for snapshot .* -k heps-forks"):
        replay_forks(smaller, PATH)


def test_what_is_no_recording_of_forks_is_said(network: Network) -> None:
    with pytest.raises(BadInput, match=r"heps\.json: not a recording: forked_sha256 Field requ"):
        replay_forks(network, RECORDED / "heps.json")


ROWS = st.builds(
    RouteRow,
    node=st.sampled_from(("leaf01", "leaf02", "spine01")),
    prefix=st.integers(0, 7).map(lambda n: IPv4Network(f"10.0.{n}.0/24")),
    next_hop=st.integers(1, 4).map(lambda n: IPv4Address(f"10.1.0.{n}")),
)


@given(st.sets(ROWS))
def test_rows_are_kept_as_they_were(rows: set[RouteRow]) -> None:
    kept = list(rows_of(table_of(rows)))
    assert len(kept) == len(rows)
    assert set(kept) == rows


@pytest.mark.batfish
@pytest.mark.parametrize("stem", ["heps-forks"])
def test_a_live_service_says_what_is_recorded(
    network: Network, failures: tuple[Failure, ...], service: tuple[str, int], stem: str
) -> None:
    at, path = Service(*service), RECORDED / f"{stem}.json"
    if os.environ.get("ROCEFORT_RECORD") == "1":
        asked = record_forks(network, failures, path, at)
    else:
        asked = ask_forks(network, failures, at)
    recorded = replay_forks(network, path)
    assert (asked.whole, asked.forks) == (recorded.whole, recorded.forks)


@pytest.mark.batfish
def test_opinions_ask_a_service_for_what_is_not_recorded(
    network: Network, forks: Forks, failures: tuple[Failure, ...], service: tuple[str, int]
) -> None:
    at, failure = Service(*service), failures[25]
    state = forks.after(network, failure)
    assert Batfish(service=at).on(network, failure) == (state, f"asked {at}")
