"""Choice of failures for a capacity study: all of a small fabric, else none or a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocefort.base.errors import BadInput
from rocefort.models.network.demand import Demand
from rocefort.models.network.network import Network
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.capacity import symmetry
from rocefort.validators.capacity.capacity import capacity
from rocefort.validators.capacity.link_loads import loads_of
from rocefort.validators.capacity.symmetry import SymmetryClasses
from rocefort.validators.capacity.traffic_matrix import spread
from rocefort.validators.failures.study import single_failures
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import Failure
from rocefort.verification.capacity import capacity_report
from rocefort.verification.page.pictures import picture

Clos = Callable[..., Network]
FLOWS: list[dict[str, Any]] = [
    {"senders": {"leaves": [f"leaf{n}"]}, "share": n / 100} for n in range(1, 5)
]
DEMAND = Demand.model_validate({"demand": "t", "peak": "100 Gb/s", "flows": FLOWS})
TOLD = "14 single failures of 9 kinds not studied: use `rocefort capacity --failures single`"


@pytest.fixture
def network(clos: Clos) -> Network:
    """Two spines, four leaves with different demand: 8 cables, 14 failures of 9 kinds."""
    return clos(2, 4)


def test_what_is_quick_is_studied_whole(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symmetry, "QUICK", 9 * 8)
    found = capacity(network, DEMAND)
    assert (len(found.failures), found.failures_note, found.seed) == (9, "", None)
    assert found == capacity(network, DEMAND, scope="single")
    assert found == capacity(network, DEMAND, scope="single:14")


def test_what_is_not_quick_says_so_and_claims_nothing(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symmetry, "QUICK", 9 * 8 - 1)
    found = capacity(network, DEMAND)
    assert found.failures == ()
    assert found.failures_note == f"{TOLD}, or single:100 for a sample"
    fabric = [use for use in found.uses if use.kind != "servers"]
    assert {(use.after, use.left_gbps, use.failure) for use in fabric} == {(None, None, "")}
    assert found.spines_needed_after is None
    text = text_of(*capacity_report(found), width=80)
    assert TOLD in text.replace("\n  ", " ")
    assert "after each of" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert len(capacity(network, DEMAND, scope="single").failures) == 9
    drawn = picture(found)
    assert drawn is not None
    assert found.failures_note in drawn.verdicts
    assert {bar.after_words for bar in drawn.bars} == {"no failure studied"}


def test_a_sample_is_whole_kinds_and_agrees_with_all_of_them(network: Network) -> None:
    whole = {one.failures: one for one in capacity(network, DEMAND, scope="single").failures}
    found = capacity(network, DEMAND, scope="single:3")
    assert 0 < len(found.failures) <= 3
    assert all(whole[one.failures] == one for one in found.failures)
    studied = sum(len(one.failures) for one in found.failures)
    assert found.failures_note == (
        f"{studied} of 14 single failures studied: 3 drawn with seed 1, and equivalent ones"
    )
    assert found.seed == 1
    assert f"{studied} single failures of those studied" in text_of(
        *capacity_report(found), width=80
    ).replace("\n  ", " ")


def test_none_solves_no_failure(network: Network) -> None:
    found = capacity(network, DEMAND, solution=analyse(network), scope="none")
    assert (found.failures, found.failures_note) == ((), "14 single failures not studied")


@pytest.mark.parametrize(
    "scope", ["", "3", "pairs", "sample:4", "single:", "single:0", "single:-1"]
)
def test_another_scope_is_refused(network: Network, scope: str) -> None:
    with pytest.raises(BadInput) as refused:
        capacity(network, DEMAND, scope=scope)
    assert str(refused.value) == (
        f"--failures {scope!r} is not one of: none, single, single:N, 2; for example "
        "--failures single:100"
    )


@pytest.mark.parametrize("links", [1, 2])
def test_pairs_by_kind_are_what_each_pair_has(clos: Clos, links: int) -> None:
    """Every pair, computed in full, has the effect of the first of its kind."""
    network = clos(3, 3, links)
    flows = [{"senders": {"leaves": ["leaf1"]}, "share": 0.3}]
    demand = Demand.model_validate({"demand": "t", "peak": "300 Gb/s", "flows": flows})
    solution = analyse(network)
    loads = loads_of(solution, spread(demand, solution))
    singles = single_failures(network, solution)
    kinds = list(SymmetryClasses(loads.base, loads.spread).alike_pairs(singles))
    pairs = [pair for kind in kinds for pair in kind]
    assert len({*map(str, pairs)}) == len(pairs) > 3 * len(kinds)

    def effect(failure: Failure) -> tuple[object, ...]:
        carried = loads.after(failure)
        rates = sorted(round(rate, 6) for rate in carried.by_port.values())
        return rates, round(carried.lost, 6), round(carried.cut, 6)

    for kind in kinds:
        first = effect(kind[0])
        assert all(effect(pair) == first for pair in kind[1:]), kind[0]


def test_a_study_of_pairs_reports_its_audit(network: Network) -> None:
    found = capacity(network, DEMAND, scope="2")
    assert found.pairs
    assert sum(len(one.failures) for one in found.failures) == 14 * 13 // 2 - 16
    text = text_of(*capacity_report(found), width=80).replace("\n  ", " ")
    audited = "computed in full beside their kind"
    assert "of 75 pairs of failures (" in text
    assert audited in text
    assert found.spines_needed_after is None
