"""Failures and changes asked of a live Batfish are those of the embedded engine; nothing stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network

import pytest

from rocefort.base.errors import Refused
from rocefort.models.device.device import Device
from rocefort.models.finding import Severity
from rocefort.models.network.network import End, Network, Sources
from rocefort.validators.batfish.access import ENDING, Service
from rocefort.validators.engine_choice import Engine, StudyOptions, run
from rocefort.validators.failures.impact import FailureCosts, difference
from rocefort.validators.failures.study import dense, single_failures, study
from rocefort.validators.routing.engine import analyse, change_of, common_switches
from rocefort.validators.routing_results import (
    BgpSession,
    Failure,
    FailureEffect,
    FailureStudy,
    Reachability,
    Route,
    RoutingState,
    SessionStatus,
    WidthLoss,
)
from rocefort.validators.rules.verification.answers import verify_change
from rocefort.validators.rules.verification.engine_difference import disagreement
from rocefort.validators.verification.batfish_session import choose, deactivated, disagreeing

Clos = Callable[..., Network]
Edit = Callable[[Device], Device]
LEAVES = {"leaf1", "leaf2", "leaf3", "spine1", "spine2"}


def without_network(device: Device) -> Device:
    assert device.bgp is not None
    bgp = device.bgp.model_copy(update={"networks": device.bgp.networks[1:]})
    return device.model_copy(update={"bgp": bgp})


def test_what_two_states_tell_of_a_failure_is_what_the_study_tells(clos: Clos) -> None:
    network = clos(2, 3)
    solution = analyse(network)
    costs = FailureCosts(network, solution.state)
    for effect in study(network, solution=solution).effects:
        ours = costs.effect(effect.failure, dense(network, effect.failure).state)
        assert difference(effect, ours, ("repair", "dense")) is None
        assert (ours.bisection, ours.own_servers) == (effect.bisection, effect.own_servers)


def test_a_difference_is_told_with_its_failure(clos: Clos) -> None:
    failure = Failure(nodes=("spine1",))
    prefix = IPv4Network("10.1.2.0/24")
    loss = WidthLoss(leaves=("leaf1",), prefixes=(prefix,), was=2, now=1)
    studies = [
        FailureStudy(
            scope="single", population=1, effects=(FailureEffect(failure=failure, widths=w),)
        )
        for w in ((loss,), ())
    ]
    both, findings = disagreeing(studies[0], studies[1], ("embedded", "batfish"), Sources())
    assert both == 1
    assert [f.message for f in findings] == [
        "the engines disagree: after loss of spine1, leaf1 to 10.1.2.0/24: embedded reports width "
        "2 -> 1, batfish reports unchanged"
    ]


def test_a_sample_of_single_failures_says_of_how_many(clos: Clos) -> None:
    network = clos(2, 3)
    chosen = choose(single_failures(network, analyse(network)), "single:4")
    assert (len(chosen.failures), chosen.population) == (4, 11)


def test_a_fork_is_made_without_both_ends() -> None:
    a, b = End(device="Leaf1", interface="100GE1/0/1"), End(device="spine1", interface="25GE1/0/2")
    nodes, ports = deactivated(Failure(links=((a, b),), nodes=("Spine2",)))
    assert nodes == ("spine2",)
    assert [str(port) for port in ports] == ["leaf1 Ethernet100/1/0/1", "spine1 Ethernet25/1/0/2"]


def test_a_change_is_told_by_pairs_and_routes(clos: Clos) -> None:
    before, after = analyse(clos()), analyse(clos(leaf1=without_network))
    change = change_of(before.state, after.state, LEAVES)
    assert change.lost == (("server2", "server1"),)  # the way back is not asked about
    report = verify_change(clos(leaf1=without_network), change, solution=after)
    assert [(f.rule, f.severity) for f in report.findings[-1:]] == [("CHG102", Severity.WARNING)]
    assert report.findings[-1].message == (
        "by the change 3 switches lose their routes to 10.1.1.0/24 (2 -> 0)"
    )
    assert {f.rule for f in report.findings} == {"CHG101", "CHG102"}
    assert report.findings[0].message == (
        "by the change server2 no longer reaches server1 by every path: leaf2 has no route to "
        "10.1.1.0/24"
    )
    back = change_of(after.state, before.state, LEAVES)
    assert [f.message for f in verify_change(clos(), back).findings] == [
        "by the change server2 reaches server1"
    ]
    assert not verify_change(clos(), change_of(before.state, before.state, LEAVES)).findings


def test_a_switch_that_no_longer_runs_bgp_has_lost_its_routes(clos: Clos) -> None:
    def silent(device: Device) -> Device:
        return device.model_copy(update={"bgp": None})

    networks = clos(), clos(leaf1=silent)
    before, after = (analyse(network) for network in networks)
    change = change_of(before.state, after.state, common_switches(*networks))
    gone = [route for route in change.gone if route.device == "leaf1"]
    assert gone and all(route.now == 0 for route in gone)
    told = [f.message for f in verify_change(networks[1], change, solution=after).findings]
    assert any(line.startswith("by the change leaf1 loses its route to ") for line in told), told


def test_what_is_refused_in_the_version_before_is_said_to_stand_there(clos: Clos) -> None:
    def in_a_vpn(device: Device) -> Device:
        first, *others = device.interfaces
        ports = (first.model_copy(update={"vrf": "RED"}), *others)
        return device.model_copy(update={"interfaces": ports})

    with pytest.raises(Refused, match=r"^the version before, leaf1 .*vpn-instance RED"):
        run(clos(), Sources(), Engine.EMBEDDED, None, StudyOptions(before=clos(leaf1=in_a_vpn)))


def state(engine: str, *hops: str) -> RoutingState:
    session = BgpSession(
        device="leaf1", peer=IPv4Address("10.0.1.0"), status=SessionStatus.ESTABLISHED
    )
    next_hops = tuple(map(IPv4Address, hops))
    route = Route(device="leaf1", prefix=IPv4Network("10.1.2.0/24"), next_hops=next_hops)
    return RoutingState(
        engine=engine,
        sessions=(session,),
        routes=(route,) if hops else (),
        reachability=Reachability(),
    )


def test_engines_that_see_different_changes_disagree() -> None:
    two, one = ("10.0.1.0", "10.0.1.2"), ("10.0.1.0",)
    ours = change_of(state("embedded", *two), state("embedded", *one), LEAVES)
    theirs = change_of(state("batfish", *two), state("batfish"), LEAVES)
    assert [f.message for f in disagreement(ours, theirs, (), Sources())] == [
        "the engines disagree about the change: only batfish reports that leaf1 to 10.1.2.0/24 "
        "goes "
        "2 -> 0 (and 1 more)"
    ]
    assert disagreement(ours, ours, (), Sources()) == ()
    same = ours.model_copy(update={"engine": "batfish"})
    assert [f.message for f in disagreement(ours, same, [("a", "b")], Sources())] == [
        "the engines disagree about the change: only batfish reports that a to b changes by "
        "differential reachability"
    ]


@pytest.mark.batfish
def test_every_single_failure_costs_the_same_by_both_engines(
    live_service: Service, clos: Clos
) -> None:
    from rocefort.validators.verification.batfish_session import ask_all  # noqa: PLC0415 - after the skip

    network = clos(2, 2)
    solution = analyse(network)
    ours = study(network, solution=solution)
    asked = ask_all(network, live_service, choose(single_failures(network, solution), "single"))
    assert asked.study is not None
    assert disagreeing(ours, asked.study, ("embedded", "batfish"), Sources()) == (8, ())


@pytest.mark.batfish
def test_a_failure_that_cuts_servers_off_does_so_by_both_engines(
    live_service: Service, clos: Clos
) -> None:
    from rocefort.validators.verification.batfish_session import ask_all  # noqa: PLC0415 - after the skip

    network = clos(1, 2)
    solution = analyse(network)
    ours = study(network, solution=solution)
    asked = ask_all(network, live_service, choose(single_failures(network, solution), "single"))
    assert asked.study is not None
    assert disagreeing(ours, asked.study, ("embedded", "batfish"), Sources()) == (5, ())
    assert [effect.pairs for effect in asked.study.effects] == [2, 2, 0, 0, 2]
    assert [len(effect.cut_off) for effect in asked.study.effects] == [2, 2, 0, 0, 2]


@pytest.mark.batfish
def test_both_engines_see_the_same_change(live_service: Service, clos: Clos) -> None:
    from rocefort.validators.verification.batfish_session import ask_all  # noqa: PLC0415 - after the skip

    before, after = clos(), clos(leaf1=without_network)
    asked = ask_all(after, live_service, before=before)
    assert asked.before is not None
    ours = change_of(analyse(before).state, analyse(after).state, common_switches(before, after))
    theirs = change_of(asked.before, asked.state, common_switches(before, after))
    examples = [(e.source, e.destination) for e in asked.examples]
    assert disagreement(ours, theirs, examples, Sources()) == ()
    assert set(examples) == set(ours.lost)


@pytest.mark.batfish
@pytest.mark.parametrize("number", ENDING)
def test_a_signal_leaves_nothing_on_the_service(
    live_service: Service, number: signal.Signals
) -> None:
    from pybatfish.client.session import Session  # noqa: PLC0415 - the extra may be missing

    session = Session(host=live_service.host, port=live_service.port)
    name = f"rocefort-test-{uuid.uuid4().hex}"
    words = ["verify", "heps", "--engine", "batfish", "--failures", "single"]
    command = (
        "from rocefort.validators.batfish import client; from rocefort.tasks import app; "
        f"client.network_name = lambda: {name!r}; app()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", command, *words, "--batfish", str(live_service)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ,
    )
    while process.poll() is None and name not in session.list_networks():
        time.sleep(0.1)
    process.send_signal(number)
    assert process.wait(timeout=60) == 130
    assert name not in session.list_networks()
