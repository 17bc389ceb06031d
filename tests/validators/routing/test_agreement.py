"""Comparison of two engines' answers: disagreements, and the message of each."""

from __future__ import annotations

from datetime import date
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.models.finding import Waiver
from rocefort.models.network.network import Network, Sources
from rocefort.validators.engine_choice import engine_comparison
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import Route, RoutingState, SessionStatus, reachability
from rocefort.validators.rules.verification.engine_difference import HINT, disagreements

if TYPE_CHECKING:
    from collections.abc import Callable

    Clos = Callable[..., Network]
    Edits = dict[str, Callable[..., Network]]


def other(state: RoutingState, **changes: object) -> RoutingState:
    return state.model_copy(update={"engine": "batfish", **changes})


def routes_with(state: RoutingState, device: str, prefix: str, hops: str) -> tuple[Route, ...]:
    wanted = device, IPv4Network(prefix)
    next_hops = tuple(IPv4Address(hop) for hop in hops.split())
    changed = tuple(
        route._replace(next_hops=next_hops) if (route.device, route.prefix) == wanted else route
        for route in state.routes
    )
    assert next_hops
    return changed


def test_equal_answers_agree(clos: Clos) -> None:
    solution = analyse(clos(2, 3))
    assert disagreements(solution, other(solution.state)) == ()


def test_a_session_that_differs_is_told_with_its_line(clos: Clos, sources: Sources) -> None:
    solution = analyse(clos(2, 3))
    first, *rest = solution.state.sessions
    changed = first.model_copy(update={"status": SessionStatus.NOT_ESTABLISHED})
    (finding,) = disagreements(
        solution, other(solution.state, sessions=(changed, *rest[:-1])), sources
    )
    assert f"{finding.where}: {finding.message}" == (
        "leaf1 (leaf1.cfg:45): the engines disagree: session of leaf1 with 172.16.0.0: "
        "embedded reports established, batfish reports not-established (and 1 more session)"
    )
    assert (finding.rule, finding.hint) == ("BGP104", HINT)


def test_a_route_that_differs_is_told(clos: Clos) -> None:
    solution = analyse(clos(2, 3))
    routes = routes_with(solution.state, "leaf2", "10.1.10.0/24", "172.16.0.2")
    (finding,) = disagreements(solution, other(solution.state, routes=routes[1:]))
    assert finding.message == (
        "the engines disagree: leaf1 to 10.2.10.0/24: embedded reports 172.16.0.0 and 172.16.0.6, "
        "batfish reports no route (and 1 more route)"
    )


def test_a_pair_that_differs_is_told(clos: Clos, sources: Sources) -> None:
    solution = analyse(clos(2, 3))
    classes = solution.state.reachability.classes
    changed = reachability(classes, {"srv2-1": {"srv3-1"}})
    (finding,) = disagreements(solution, other(solution.state, reachability=changed), sources)
    assert f"{finding.where}: {finding.message}" == (
        "leaf3: the engines disagree: srv3-1 to srv2-1: "
        "embedded reports delivered, batfish reports not delivered"
    )


@pytest.mark.parametrize(
    ("limit", "hops", "agree"),
    [
        (1, "172.16.0.4", True),  # the other of two equals
        (1, "172.16.0.0 172.16.0.4", False),  # two paths where the switch takes one
        (1, "172.16.0.9", False),  # the address of no device
        (32, "172.16.0.0", False),  # one path of two
    ],
)
def test_only_an_arbitrary_choice_is_free(
    clos: Clos, edits: Edits, limit: int, hops: str, agree: bool
) -> None:
    network = edits["bgp"](clos(2, 2), "leaf1", maximum_paths=limit)
    solution = analyse(network)
    routes = routes_with(solution.state, "leaf1", "10.2.10.0/24", hops)
    found = disagreements(solution, other(solution.state, routes=routes))
    assert (found == ()) is agree


@given(st.integers(2, 4))
@settings(max_examples=tries(6))
def test_batfish_installs_all_paths_where_a_switch_takes_some(
    clos: Clos, edits: Edits, limit: int
) -> None:
    whole = clos(4, 2)
    solution = analyse(edits["bgp"](whole, "leaf1", maximum_paths=limit))
    assert disagreements(solution, other(analyse(whole).state)) == ()


def test_spines_of_different_asn_leave_the_choice_of_one_free(clos: Clos) -> None:
    solution = analyse(clos(2, 2, asn_per_spine=True))
    routes = routes_with(solution.state, "leaf1", "10.2.10.0/24", "172.16.0.4")
    assert disagreements(solution, other(solution.state, routes=routes)) == ()


def test_a_waiver_covers_a_disagreement(clos: Clos) -> None:
    today = date(2026, 11, 20)
    waiver = Waiver(rule="BGP104", why="known", until=today)
    network = clos(2, 2).model_copy(update={"waivers": (waiver,)})
    solution = analyse(network)
    differing = other(solution.state, routes=solution.state.routes[1:])
    report = engine_comparison(network, solution, differing, Sources(), today)
    assert (report.rules, report.findings) == (("BGP104",), ())
    assert [entry.why for entry in report.waived] == ["known"]
    agreeing = engine_comparison(network, solution, other(solution.state), Sources(), today)
    assert [finding.severity.value for finding in agreeing.findings] == ["warning"]
