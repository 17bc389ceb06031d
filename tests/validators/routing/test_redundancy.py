"""Rules on redundancy that a change removes, judged from studies of real failures."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from rocefort.models.finding import Severity, Waiver
from rocefort.models.network.network import End, Network, SwitchRole
from rocefort.validators.failures.study import study
from rocefort.validators.routing_results import FailureStudy
from rocefort.validators.rules.verification.answers import verify_redundancy

Clos = Callable[..., Network]
Edits = dict[str, Callable[..., Network]]
UNSTUDIED = "not every single failure of both versions is studied"


def told(before: Network, after: Network, *, studied: bool = True) -> list[str]:
    studies = (study(before), study(after)) if studied else (None, None)
    report = verify_redundancy(before, after, studies)
    assert report.failed == bool(report.findings)
    assert [f.rule for f in report.not_judged] == ([] if studied else ["CHG107"])
    return [f"{f.rule} {f.where}: {f.message}" for f in report.findings]


def without(network: Network, *switches: str) -> Network:
    """The network without some switches, their cables, and the sessions to them."""
    gone = [x for x in network.links or () if {x.a.device, x.b.device} & {*switches}]
    cut = uncabled(network, *gone)
    servers = tuple(s for s in cut.servers or () if s.port.device not in switches)
    segments = tuple(s for s in cut.segments or () if s.leaf not in switches)
    left = tuple(node for node in cut.nodes if node.name not in switches)
    return cut.model_copy(update={"nodes": left, "servers": servers, "segments": segments})


def uncabled(network: Network, *gone: object) -> Network:
    """The network without some links; their ports are disabled."""
    ends = {end for link in network.links or () if link in gone for end in (link.a, link.b)}
    nodes = tuple(
        node.model_copy(
            update={
                "device": node.device.model_copy(
                    update={
                        "interfaces": tuple(
                            port.model_copy(update={"enabled": False})
                            if End(device=node.name, interface=port.name) in ends
                            else port
                            for port in node.device.interfaces
                        )
                    }
                )
            }
        )
        for node in network.nodes
    )
    links = tuple(link for link in network.links or () if link not in gone)
    return network.model_copy(update={"nodes": nodes, "links": links})


def cables(network: Network, *pairs: tuple[str, str]) -> list[object]:
    """Links between a spine and a leaf."""
    return [x for x in network.links or () if (x.a.device, x.b.device) in pairs]


def test_a_spine_that_goes_takes_all_redundancy(clos: Clos) -> None:
    two, three = clos(spines=2, leaves=2), clos(spines=3, leaves=8)
    assert told(two, drop(two, "spine2")) == [
        "CHG104 spine1: the change removes all spine redundancy: spine2 goes, and the loss of "
        "spine1 cuts 2 of 2 leaf pairs"
    ]
    assert told(three, drop(three, "spine1", "spine3")) == [
        "CHG104 spine2: the change removes all spine redundancy: spine1 and spine3 go, and the "
        "loss of spine2 cuts 56 of 56 leaf pairs"
    ]
    assert told(three, drop(three, "spine3")) == []
    assert (
        "and the loss of spine1 separates all leaves"
        in (told(two, drop(two, "spine2"), studied=False)[0])
    )


def drop(network: Network, *spines: str) -> Network:
    kept = without(network, *spines)
    return kept.model_copy(update={"spines": len(kept.role(SwitchRole.SPINE))})


def test_what_a_fabric_never_had_is_not_lost(clos: Clos) -> None:
    one = clos(spines=1, leaves=3)
    assert told(one, one) == []
    assert told(one, without(one, "leaf3")) == []
    assert told(without(one, "leaf3"), one) == []  # a new leaf is no worse than the others
    assert told(one, clos(spines=2, leaves=3)) == []
    two = clos(spines=2, leaves=3)
    assert told(drop(two, "spine2"), drop(two, "spine1")) == []  # another spine in its place


def test_a_leaf_with_one_spine_left(clos: Clos) -> None:
    two = clos(spines=2, leaves=2)
    assert told(two, uncabled(two, *cables(two, ("spine2", "leaf2")))) == [
        "CHG105 leaf2: the change leaves leaf2 its one uplink to spine1, instead of uplinks to "
        "spine1 and spine2: the loss of spine1 cuts it off"
    ]
    wide = clos(spines=2, leaves=3, links=2)
    assert told(wide, uncabled(wide, *cables(wide, ("spine1", "leaf3")))) == [
        "CHG105 leaf3: the change leaves leaf3 its 2 uplinks to spine2, instead of uplinks to "
        "spine1 and spine2: the loss of spine2 cuts it off"
    ]
    assert told(wide, uncabled(wide, cables(wide, ("spine1", "leaf3"))[0])) == []
    lone = clos(spines=1, leaves=2, links=2)
    assert told(lone, uncabled(lone, cables(lone, ("spine1", "leaf1"))[0])) == [
        "CHG105 leaf1: the change leaves leaf1 one uplink of 2, to spine1: the loss of spine1 "
        "cuts it off"
    ]


def test_a_cable_between_leaves_is_no_uplink(clos: Clos) -> None:
    two = clos(spines=2, leaves=2)
    cut = uncabled(two, *cables(two, ("spine2", "leaf2")))
    ends = {
        "a": End(device="leaf1", interface="25GE1/0/1"),
        "b": End(device="leaf2", interface="25GE1/0/1"),
    }
    beside = (cut.links or ())[0].model_copy(update=ends)
    after = cut.model_copy(update={"links": (*(cut.links or ()), beside)})
    assert told(two, after, studied=False) == told(two, cut, studied=False) != []


def test_a_server_that_loses_its_bond(clos: Clos) -> None:
    single = clos()
    first, *others = single.servers or ()
    ports = tuple(End(device="leaf1", interface=f"25GE1/0/{n}") for n in (1, 2))
    bond = first.model_copy(update={"members": ports})
    bonded = single.model_copy(update={"servers": (bond, *others)})
    assert told(bonded, single) == [
        "CHG106 leaf1 25GE1/0/1: the change leaves srv1-1 1 port of 2: the loss of leaf1 25GE1/0/1 "
        "ends its service"
    ]
    assert told(single, single) == told(bonded, bonded) == told(single, bonded) == []


def test_pairs_that_survived_every_failure(clos: Clos) -> None:
    """leaf1 keeps spine1 and spine2, leaf2 keeps spine2 and spine3: they share one spine."""
    three = clos(spines=3, leaves=3)
    after = uncabled(three, *cables(three, ("spine3", "leaf1"), ("spine1", "leaf2")))
    assert told(three, after) == [
        "CHG107 leaf1: the change removes the redundancy of 2 leaf pairs: the loss of spine2 "
        "cuts leaf1 from leaf2"
    ]
    assert told(after, after) == told(after, three) == []


def test_a_sample_of_failures_judges_no_pair(clos: Clos) -> None:
    network = clos()
    sample = study(network, "single:3")
    report = verify_redundancy(network, network, (sample, sample))
    assert [(v.rule, v.reason) for v in report.not_judged] == [("CHG107", UNSTUDIED)]


def test_a_waiver_accepts_it(clos: Clos) -> None:
    two = clos(spines=2, leaves=2)
    waiver = Waiver(rule="CHG104", why="spine2 is repaired", until=date(2030, 1, 1))
    after = drop(two, "spine2").model_copy(update={"waivers": (waiver,)})
    studies: tuple[FailureStudy, FailureStudy] = study(two), study(after)
    report = verify_redundancy(two, after, studies, today=date(2026, 1, 1))
    assert not report.failed
    assert [one.finding.severity for one in report.waived] == [Severity.ERROR]
    assert verify_redundancy(two, after, studies, today=date(2031, 1, 1)).failed


@pytest.mark.parametrize("known", ["links", "servers"])
def test_what_is_not_known_is_not_judged(clos: Clos, known: str) -> None:
    network = clos().model_copy(update={known: None})
    report = verify_redundancy(network, network, (None, None))
    assert not report.findings
    rules = {"links": {"CHG104", "CHG105", "CHG107"}, "servers": {"CHG106", "CHG107"}}[known]
    assert {verdict.rule for verdict in report.not_judged} == rules
