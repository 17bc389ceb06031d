"""Loads by forwarding tables: those of BGP without static routes, and those of the routes with."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.models.device.routing import StaticRoute
from rocefort.models.network.demand import Demand
from rocefort.models.network.network import Network
from rocefort.validators.capacity.capacity import capacity
from rocefort.validators.capacity.link_loads import ForwardedLoads, Loads, PortLoads, loads_of
from rocefort.validators.capacity.traffic_matrix import spread
from rocefort.validators.failures.study import dense, single_failures
from rocefort.validators.routing.engine import analyse

Clos = Callable[..., Network]
Edits = dict[str, Callable[..., Network]]


def demand() -> Demand:
    """100 Gb/s from all servers to all."""
    return Demand.model_validate({"demand": "t", "peak": "100 Gb/s", "flows": []})


def same(one: PortLoads, other: PortLoads) -> bool:
    """Whether loads are equal, up to rounding."""
    ports = one.by_port.keys() | other.by_port.keys()
    rates = [(one.by_port.get(p, 0.0), other.by_port.get(p, 0.0)) for p in ports]
    rates += [(one.lost, other.lost), (one.cut, other.cut)]
    return all(a == pytest.approx(b, abs=1e-6) for a, b in rates)


@settings(max_examples=tries(60))
@given(
    spines=st.integers(1, 3),
    links=st.integers(1, 2),
    per_spine=st.booleans(),
    hidden=st.booleans(),
)
def test_without_static_routes_they_are_those_of_bgp(
    clos: Clos, edits: Edits, spines: int, links: int, per_spine: bool, hidden: bool
) -> None:
    network = clos(spines, 3, links, 2, per_spine)
    if hidden:
        network = edits["hide"](network, "leaf3", "10.3.10.0/24")
    solution = analyse(network)
    matrix = spread(demand(), solution)
    assert type(loads_of(solution, matrix)) is Loads
    by_bgp, by_tables = Loads(solution, matrix), ForwardedLoads(solution, matrix)
    assert same(by_bgp.whole(), by_tables.whole())
    for failure in single_failures(network, solution):
        assert same(by_bgp.after(failure), by_tables.after(failure)), failure


def routed(network: Network, edits: Edits, name: str, prefix: str, via: str) -> Network:
    """The network with a static route of a switch over its first link to another one."""
    link = next(x for x in network.links or () if {x.a.device, x.b.device} == {name, via})
    end = link.a if link.a.device == via else link.b
    port = network.interface(end)
    assert port is not None
    route = StaticRoute(prefix=IPv4Network(prefix), next_hop=port.addresses[0].ip)
    return edits["device"](network, name, static_routes=(route,))


def test_a_static_route_puts_all_traffic_on_one_cable(clos: Clos, edits: Edits) -> None:
    network = clos(2, 2)
    plain = capacity(network, demand())
    found = capacity(routed(network, edits, "leaf1", "10.2.10.0/24", "spine2"), demand())
    assert found.utilisation == pytest.approx(2 * plain.utilisation)
    assert found.fullest == "leaf1 100GE1/0/2 to spine2"
    assert found.asked is not None
    assert found.asked.no_path_gbps == 0


def test_a_longer_static_prefix_carries_its_servers_alone(clos: Clos, edits: Edits) -> None:
    network = routed(clos(2, 2), edits, "leaf1", "10.2.10.0/25", "spine2")
    assert capacity(network, demand()).fullest == "leaf1 100GE1/0/2 to spine2"


def test_dropped_demand_has_no_path(clos: Clos, edits: Edits) -> None:
    drop = StaticRoute(prefix=IPv4Network("10.2.10.0/24"))
    found = capacity(edits["device"](clos(2, 2), "leaf1", static_routes=(drop,)), demand())
    assert found.asked is not None
    assert (found.asked.no_path_gbps, found.asked.no_path) == (50, "leaf1 to leaf2")


@settings(max_examples=tries(60))
@given(
    spines=st.integers(1, 3),
    at=st.sampled_from(["leaf1", "leaf2", "spine1"]),
    prefix=st.sampled_from(["10.3.10.0/24", "10.3.10.0/25", "10.3.0.0/16", "0.0.0.0/0"]),
)
def test_after_a_failure_loads_are_those_of_tables_from_the_start(
    clos: Clos, edits: Edits, spines: int, at: str, prefix: str
) -> None:
    via = "leaf2" if at == "spine1" else "spine1"
    network = routed(clos(spines, 3, 1, 2), edits, at, prefix, via)
    solution = analyse(network)
    loads = loads_of(solution, spread(demand(), solution))
    assert isinstance(loads, ForwardedLoads)
    matrix = loads.spread
    for failure in single_failures(network, solution):
        dead = set(failure.nodes)
        kept = {
            target: {leaf: rate for leaf, rate in inflow.items() if leaf not in dead}
            for target, inflow in matrix.inflow.items()
            if target[0] not in dead
        }
        copy = type(matrix)(matrix.terms, matrix.servers, matrix.targets, kept)
        anew = ForwardedLoads(dense(network, failure), copy).whole()
        after = loads.after(failure)
        anew.lost = after.lost
        assert same(after, anew), failure
