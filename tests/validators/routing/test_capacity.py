"""A demand on a fabric: numbers worked out by hand, laws, and failures against the dense engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from efforts import tries
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocefort.base.errors import Refused
from rocefort.models.network.demand import Demand
from rocefort.models.network.network import End, Network
from rocefort.validators.capacity.capacity import capacity
from rocefort.validators.capacity.capacity_results import CapacityReport, Use
from rocefort.validators.capacity.link_loads import Loads, PortLoads
from rocefort.validators.capacity.symmetry import SymmetryClasses
from rocefort.validators.capacity.traffic_matrix import spread
from rocefort.validators.failures.study import dense, single_failures
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import Failure

Clos = Callable[..., Network]
Edit = Callable[..., Network]
NEAR = 1e-6
QUICK = settings(
    max_examples=tries(40), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def _demand(peak: float = 300, *flows: dict[str, Any]) -> Demand:
    return Demand.model_validate({"demand": "t", "peak": f"{peak:.6f} Gb/s", "flows": list(flows)})


def _flow(share: float, senders: str = "", receivers: str = "") -> dict[str, Any]:
    sides = {"senders": senders, "receivers": receivers}
    named = {side: {"leaves": names.split()} for side, names in sides.items() if names}
    return {"share": share, **named}


def _use(found: CapacityReport, kind: str, name: str) -> Use:
    return next(use for use in found.uses if (use.kind, use.name) == (kind, name))


def test_by_hand(clos: Clos) -> None:
    """leaf1 sends 300 Gb/s to leaf2 over two spines: 150 on each of four cables of 100."""
    found = capacity(clos(2, 3), _demand(300, _flow(1, "leaf1", "leaf2")))
    one, two, three = (_use(found, "leaf", f"leaf{n}") for n in (1, 2, 3))
    assert (one.out_gbps, one.in_gbps, one.capacity_gbps, one.utilisation) == (300, 0, 200, 1.5)
    assert (two.out_gbps, two.in_gbps, two.headroom_gbps) == (0, 300, -100)
    assert (three.out_gbps, three.in_gbps, three.factor, three.headroom_gbps) == (0, 0, None, 200)
    spine = _use(found, "spine", "spine2")
    assert (spine.out_gbps, spine.in_gbps, spine.capacity_gbps) == (150, 150, 300)
    assert (spine.utilisation, spine.after, spine.left_gbps) == (1.5, 3, 200)
    assert spine.failure == "leaf1 100GE1/0/1 - spine1 100GE1/0/1"
    assert (one.after, one.left_gbps) == (3, 100)
    assert one.failure == "leaf1 100GE1/0/1 - spine1 100GE1/0/1"
    half = found.of("bisection")[0]
    assert (half.out_gbps, half.capacity_gbps, half.utilisation) == (300, 200, 1.5)
    servers = _use(found, "servers", "leaf1")
    assert (servers.out_gbps, servers.capacity_gbps, servers.utilisation) == (300, 25, 12)
    assert (found.factor, found.headroom_gbps) == (0.666667, -100)
    assert (found.spines_needed, found.spines_needed_after) == (3, 4)
    assert not found.fits
    assert found.worst is not None
    assert (found.worst.utilisation, found.worst.cut_gbps) == (3, 0)


def test_what_stays_on_a_leaf_loads_no_uplink(clos: Clos) -> None:
    """Two servers on each of two leaves: a third of what each sends is for its neighbour."""
    found = capacity(clos(2, 2, 1, 2), _demand(90))
    one = _use(found, "leaf", "leaf1")
    assert (one.out_gbps, one.in_gbps) == (30, 30)
    servers = _use(found, "servers", "leaf1")
    assert (servers.out_gbps, servers.in_gbps) == (45, 45)
    lost = found.most_lost
    assert lost is not None
    assert (lost.kind, lost.failures, lost.lost_gbps) == ("leaf", ("leaf1", "leaf2"), 75)


def test_parallel_links_share_evenly(clos: Clos) -> None:
    found = capacity(clos(1, 2, 3), _demand(150, _flow(1, "leaf1", "leaf2")))
    assert (found.utilisation, found.worst and found.worst.cut_gbps) == (0.5, 150)
    link = next(one for one in found.failures if one.kind == "link")
    assert (len(link.failures), link.utilisation, link.cut_gbps, link.fits) == (3, 0.75, 0, True)
    spine = next(one for one in found.failures if one.kind == "spine")
    assert (spine.failures, spine.cut_gbps, spine.fits) == (("spine1",), 150, False)


def test_a_slower_cable_is_full_first(clos: Clos) -> None:
    """ECMP does not weigh: half goes over the cable of 25 Gb/s."""
    network = clos(2, 2)
    first = network.links[0] if network.links else None
    assert first is not None
    slow = End(device=first.b.device, interface="25GE1/0/99")
    links = (first.model_copy(update={"b": slow}), *(network.links or ())[1:])
    found = capacity(
        network.model_copy(update={"links": links}),
        _demand(100, _flow(1, "leaf1", "leaf2")),
        solution=analyse(network),
    )
    one = _use(found, "leaf", "leaf1")
    assert one.capacity_gbps == 125
    assert found.spines_needed is None


def test_demand_that_a_policy_hides_has_no_path(clos: Clos, edits: dict[str, Edit]) -> None:
    network = edits["hide"](clos(2, 3), "leaf3", "10.3.10.0/24")
    demand = _demand(80, _flow(0.5, "leaf1", "leaf2"), _flow(0.5, "leaf1", "leaf3"))
    found = capacity(network, demand)
    assert found.asked is not None
    assert (found.asked.no_path_gbps, found.asked.no_path) == (40, "leaf1 to leaf3")
    assert _use(found, "leaf", "leaf1").out_gbps == 40
    assert found.utilisation == 0.2
    assert not found.fits


def test_without_a_demand_there_is_the_supply(clos: Clos) -> None:
    found = capacity(clos(2, 3))
    assert found.asked is None
    assert found.fits
    assert {(u.kind, u.capacity_gbps, u.left_gbps) for u in found.uses} == {
        ("leaf", 200, 100),
        ("spine", 300, 200),
        ("bisection", 200, 100),
        ("servers", 25, 25),
    }


def test_a_cable_of_unknown_speed_is_refused(clos: Clos) -> None:
    network = clos(2, 2)
    links = network.links or ()
    end = links[0].b.model_copy(update={"interface": "Eth-Trunk1"})
    odd = network.model_copy(update={"links": (links[0].model_copy(update={"b": end}), *links[1:])})
    with pytest.raises(Refused) as refused:
        capacity(odd, _demand(), solution=analyse(network))
    assert str(refused.value) == (
        "spine1 100GE1/0/1 - leaf1 Eth-Trunk1: the speed of this cable is not known, so its "
        "capacity is not known; name the hardware of its ends"
    )


leaf_names = st.lists(st.sampled_from(["leaf1", "leaf2", "leaf3"]), min_size=1, max_size=3)


@st.composite
def _flows(draw: st.DrawFn) -> list[dict[str, Any]]:
    pairs = draw(
        st.lists(
            st.tuples(leaf_names, leaf_names, st.sampled_from([0.1, 0.25, 1.0])),
            min_size=1,
            max_size=3,
        )
    )
    return [_flow(s, " ".join(sorted(set(a))), " ".join(sorted(set(b)))) for a, b, s in pairs]


@QUICK
@given(flows=_flows(), factor=st.floats(0.1, 50), links=st.integers(1, 2))
def test_a_demand_k_times_as_large_uses_k_times_as_much(
    clos: Clos, flows: list[dict[str, Any]], factor: float, links: int
) -> None:
    network = clos(2, 3, links, 2)
    solution = analyse(network)
    one = capacity(network, _demand(100, *flows), solution=solution)
    many = capacity(network, _demand(100 * factor, *flows), solution=solution)
    for was, now in zip(one.uses, many.uses, strict=True):
        assert now.utilisation == pytest.approx(was.utilisation * factor, rel=1e-3, abs=1e-4)
        assert now.after == pytest.approx((was.after or 0) * factor, rel=1e-3, abs=1e-4)


@QUICK
@given(flows=_flows(), spines=st.integers(1, 4), links=st.integers(1, 2))
def test_another_spine_never_lowers_headroom(
    clos: Clos, flows: list[dict[str, Any]], spines: int, links: int
) -> None:
    few, more = (capacity(clos(n, 3, links, 2), _demand(100, *flows)) for n in (spines, spines + 1))
    assert more.utilisation <= few.utilisation + NEAR
    for was, now in zip(few.of("leaf"), more.of("leaf"), strict=True):
        assert now.headroom_gbps >= was.headroom_gbps - NEAR
    if spines > 1 and few.worst and more.worst:
        assert more.worst.utilisation <= few.worst.utilisation + NEAR


@QUICK
@given(flows=_flows(), spines=st.integers(1, 3), links=st.integers(1, 2))
def test_a_failure_never_leaves_more_headroom(
    clos: Clos, flows: list[dict[str, Any]], spines: int, links: int
) -> None:
    found = capacity(clos(spines, 3, links, 2), _demand(100, *flows))
    for use in found.uses:
        assert use.after is not None
        assert use.left_gbps is not None
        assert use.after >= use.utilisation
        assert use.left_gbps <= use.capacity_gbps
    for one in found.failures:
        if not (one.lost_gbps or one.cut_gbps):
            assert one.utilisation >= found.utilisation - NEAR
            assert one.factor is None or found.factor is None or one.factor <= found.factor + NEAR
    assert CapacityReport.model_validate_json(found.model_dump_json()) == found


def _same(ours: PortLoads, theirs: PortLoads) -> bool:
    ports = ours.by_port.keys() | theirs.by_port.keys()
    return all(
        abs(ours.by_port.get(port, 0.0) - theirs.by_port.get(port, 0.0)) < NEAR for port in ports
    )


@QUICK
@given(
    flows=_flows(),
    spines=st.integers(1, 3),
    links=st.integers(1, 2),
    per_spine=st.booleans(),
    data=st.data(),
)
def test_after_a_failure_loads_are_those_of_the_dense_engine(
    clos: Clos,
    flows: list[dict[str, Any]],
    spines: int,
    links: int,
    per_spine: bool,
    data: st.DataObject,
) -> None:
    network = clos(spines, 3, links, 2, per_spine)
    solution = analyse(network)
    loads = Loads(solution, spread(_demand(100, *flows), solution))
    failure = data.draw(st.sampled_from(single_failures(network, solution)))
    anew = dense(network, failure)
    # The same demand on the weaker network: what the base spread, less what has died.
    assert _same(loads.after(failure), _dense_loads(loads, anew, failure))


def _dense_loads(loads: Loads, anew: Any, failure: Failure) -> PortLoads:
    """All that is still sent, walked from the start over tables that were solved from the start."""
    dead = set(failure.nodes)
    kept = {
        target: {leaf: rate for leaf, rate in inflow.items() if leaf not in dead}
        for target, inflow in loads.spread.inflow.items()
        if target[0] not in dead
    }
    weaker = loads.spread
    copy = type(weaker)(weaker.terms, weaker.servers, weaker.targets, kept)
    return Loads(anew, copy).whole()


@QUICK
@given(flows=_flows(), spines=st.integers(1, 3), links=st.integers(1, 2), per_spine=st.booleans())
def test_failures_said_to_be_alike_are(
    clos: Clos, flows: list[dict[str, Any]], spines: int, links: int, per_spine: bool
) -> None:
    network = clos(spines, 3, links, 2, per_spine)
    solution = analyse(network)
    loads = Loads(solution, spread(_demand(100, *flows), solution))
    singles = single_failures(network, solution)
    groups = list(SymmetryClasses(loads.base, loads.spread).alike(singles))
    assert sorted(str(f) for group in groups for f in group) == sorted(map(str, singles))
    for first, *others in groups:
        wanted = _outline(loads.after(first))
        for other in others:
            assert _outline(loads.after(other)) == wanted


def _outline(carried: PortLoads) -> tuple[list[float], float, float]:
    """Properties of a report that a swap of switches does not change."""
    rates = sorted(round(rate, 4) + 0.0 for rate in carried.by_port.values())
    return [r for r in rates if r], round(carried.lost, 4), round(carried.cut, 4)


def test_twins_are_found_where_nothing_tells_apart(clos: Clos) -> None:
    network = clos(4, 6)
    solution = analyse(network)
    even = spread(_demand(100), solution)
    loads = Loads(solution, even)
    groups = list(SymmetryClasses(loads.base, even).alike(single_failures(network, solution)))
    assert [len(group) for group in groups] == [24, 6, 4]
    odd = spread(_demand(100, _flow(1, "leaf1", "")), solution)
    loads = Loads(solution, odd)
    groups = list(SymmetryClasses(loads.base, odd).alike(single_failures(network, solution)))
    assert [len(group) for group in groups] == [4, 20, 1, 5, 4]


def test_a_tie_breaker_makes_no_twins(clos: Clos, edits: dict[str, Edit]) -> None:
    """leaf1 uses one of two spines: which of them fails is not the same."""
    network = edits["bgp"](clos(2, 3), "leaf1", maximum_paths=1)
    found = capacity(network, _demand(100))
    assert all(len(one.failures) == 1 for one in found.failures)
    assert len(found.failures) == 11
    spines = [one.utilisation for one in found.failures if one.kind == "spine"]
    assert spines == [0.333333, 0.333333]
    one = _use(found, "leaf", "leaf1")
    assert (one.out_gbps, one.utilisation) == (33.333333, 0.333333)


def test_the_worst_failure_of_a_part_is_one_of_its_own(clos: Clos) -> None:
    found = capacity(clos(3, 4), _demand(100))
    for use in found.of("leaf"):
        assert use.failure.startswith(f"{use.name} ")
    for use in found.of("spine"):
        assert use.failure
        assert use.failure != use.name
