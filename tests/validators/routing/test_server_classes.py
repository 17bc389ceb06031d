"""Reachability by class of servers equals the result of following every pair."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv4Network
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.models.device.packet_filters import (
    Behavior,
    Classifier,
    ClassifierBinding,
    FilterAcl,
    FilterRule,
    Filters,
    Flow,
    TrafficPolicy,
)
from rocefort.models.device.routing import StaticRoute
from rocefort.models.network.demand import Demand
from rocefort.models.network.network import Network
from rocefort.reports.writers.terminal import text_of
from rocefort.validators.capacity.capacity import capacity
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import Reachability
from rocefort.verification.verify import segments

if TYPE_CHECKING:
    from collections.abc import Callable

    Clos = Callable[..., Network]
    Edits = dict[str, Callable[..., Network]]
    Fault = Callable[[Network, Edits], Network]


def shut_link(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf1", "100GE1/0/1", enabled=False)


def shut_server(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf2", "25GE1/0/1", enabled=False)


def shut_gateway(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf1", "Vlanif10", enabled=False)


def wrong_vlan(network: Network, edits: Edits) -> Network:
    return edits["port"](network, "leaf1", "25GE1/0/2", access_vlan=20)


def hidden(network: Network, edits: Edits) -> Network:
    return edits["hide"](network, "leaf2", "10.2.10.0/24")


def black_hole(network: Network, edits: Edits) -> Network:
    routes = (StaticRoute(prefix=IPv4Network("10.1.10.12/32")),)  # the second server's alone
    return edits["device"](network, "spine1", static_routes=routes)


def same_address(network: Network, _: Edits) -> Network:
    """A server has its gateway's address."""
    first, *rest = network.servers or ()
    gateway = (network.segments or ())[0].gateway
    return network.model_copy(
        update={"servers": (first.model_copy(update={"address": gateway}), *rest)}
    )


def other_segment(network: Network, _: Edits) -> Network:
    first, *rest = network.servers or ()
    return network.model_copy(
        update={"servers": (first.model_copy(update={"segment": "storage"}), *rest)}
    )


def stretched(network: Network, _: Edits) -> Network:
    """The last server has an address in the first one's subnet."""
    *rest, last = network.servers or ()
    moved = last.model_copy(update={"address": type(last.address)("10.1.10.77/24")})
    return network.model_copy(update={"servers": (*rest, moved)})


def wide_mask(network: Network, _: Edits) -> Network:
    """The first server takes every other one for a neighbour of its own subnet."""
    first, *rest = network.servers or ()
    wide = first.model_copy(update={"address": IPv4Interface(f"{first.address.ip}/8")})
    return network.model_copy(update={"servers": (wide, *rest)})


def filtered(field: str) -> Fault:
    """leaf1 drops what leaves for, or comes from, the first server of leaf2."""

    def fault(network: Network, edits: Edits) -> Network:
        end = {"source" if field == "filter_out" else "destination": "10.2.10.11/32"}
        filters = Filters(
            acls=(FilterAcl(name="3001", rules=(FilterRule(index=5, action="deny", **end),)),),
            classifiers=(Classifier(name="C", acls=("3001",)),),
            behaviors=(Behavior(name="B"),),
            policies=(
                TrafficPolicy(
                    name="P", bindings=(ClassifierBinding(classifier="C", behavior="B"),)
                ),
            ),
        )
        network = edits["device"](
            network, "leaf1", filters=Filters.model_validate(filters.model_dump())
        )
        return edits["port"](network, "leaf1", "Vlanif10", **{field: "P"})

    return fault


FAULTS: dict[str, Fault] = {
    one.__name__: one
    for one in (
        *(shut_link, shut_server, shut_gateway, wrong_vlan, hidden, black_hole),
        *(same_address, other_segment, stretched, wide_mask),
    )
} | {"filter in": filtered("filter_in"), "filter out": filtered("filter_out")}


def test_demand_that_a_filter_drops_has_no_path(clos: Clos, edits: Edits) -> None:
    """Two servers share 80 Gb/s, each sends and receives; what one sends is dropped."""
    demand = Demand.model_validate({"demand": "t", "peak": "80 Gb/s"})
    found = capacity(filtered("filter_in")(clos(2, 2), edits), demand)
    assert found.asked is not None
    assert (found.asked.no_path_gbps, found.asked.no_path) == (40, "leaf1 to leaf2")


def agree(network: Network) -> Reachability:
    """Compare the result of every single pair with that of the classes."""
    solution = analyse(network)
    reached, trips = solution.state.reachability, solution.trips
    names = [server.name for server in network.servers or ()]
    truth = {pair: trips.stop(*pair, Flow()) is None for pair in permutations(names, 2)}
    assert {pair: reached.delivers(*pair) for pair in truth} == truth
    assert sorted(reached.lost_pairs()) == sorted(pair for pair, good in truth.items() if not good)
    assert (reached.pairs, reached.delivered) == (len(truth), sum(truth.values()))
    segment = {server.name: server.segment for server in network.servers or ()}
    for told in reached.by_segment():
        here = [
            pair
            for pair in truth
            if (segment[pair[0]], segment[pair[1]]) == (told.source, told.destination)
        ]
        lost = sorted(pair for pair in here if not truth[pair])
        assert (told.pairs, told.delivered) == (len(here), len(here) - len(lost))
        assert told.witness == (lost[0] if lost else None)
    return reached


@given(
    st.tuples(st.integers(1, 2), st.integers(2, 4), st.just(1), st.integers(2, 3)),
    st.lists(st.sampled_from(sorted(FAULTS)), max_size=3, unique=True),
)
@settings(max_examples=tries(60))
def test_classes_say_what_pairs_say(
    clos: Clos, edits: Edits, size: tuple[int, int, int, int], names: list[str]
) -> None:
    network = clos(*size)
    filters = [name for name in names if name.startswith("filter")]
    for name in names:
        if name not in filters[1:]:
            network = FAULTS[name](network, edits)
    agree(network)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_costs_pairs_or_splits_a_class(clos: Clos, edits: Edits, name: str) -> None:
    """Each fault affects the comparison above."""
    whole, spoiled = clos(2, 3, 1, 2), FAULTS[name](clos(2, 3, 1, 2), edits)
    before, after = agree(whole), agree(spoiled)
    if name != "shut_link":
        assert after != before


def test_a_server_with_a_wide_mask_sends_nothing_to_another_leaf(clos: Clos, edits: Edits) -> None:
    reached = analyse(wide_mask(clos(2, 2, 1, 2), edits)).state.reachability
    assert sorted(reached.lost_pairs()) == [("srv1-1", "srv2-1"), ("srv1-1", "srv2-2")]


def test_one_class_a_leaf_however_many_servers(clos: Clos) -> None:
    for servers in (2, 40):
        reached = analyse(clos(2, 3, 1, servers)).state.reachability
        assert [len(one.servers) for one in reached.classes] == [servers] * 3
        assert (reached.lost, reached.pairs) == ((), 3 * servers * (3 * servers - 1))


def test_segments_in_a_matrix(clos: Clos, edits: Edits) -> None:
    network = other_segment(hidden(clos(2, 3, 1, 2), edits), edits)
    lines = text_of(*segments(analyse(network).state.reachability), width=80).splitlines()
    assert lines == [
        "pairs delivered, from segment     1    2",
        "   1 compute                   some  all",
        "   2 storage                   some    -",
    ]
    assert list(segments(analyse(clos(2, 2)).state.reachability)) == []
