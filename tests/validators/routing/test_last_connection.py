"""TOP102: no single failure cuts a leaf off by cabling."""

from __future__ import annotations

from collections.abc import Callable

from rocefort.models.finding import Finding
from rocefort.models.network.network import Network
from rocefort.validators.failures.study import study
from rocefort.validators.rules.verification.answers import verify_failures

Clos = Callable[..., Network]
Edits = dict[str, Callable[..., Network]]


def _last_connections(network: Network) -> tuple[Finding, ...]:
    findings = verify_failures(network, study(network)).findings
    assert {finding.rule for finding in findings} <= {"TOP102"}
    return findings


def test_one_cable_to_one_of_two_spines_is_a_last_connection(clos: Clos, edits: Edits) -> None:
    assert _last_connections(clos(2, 2)) == ()  # a leaf that failed cuts off no other
    lone = edits["drop_peer"](clos(2, 3), "leaf1", "172.16.0.0")
    links = [x for x in lone.links or () if {x.a.device, x.b.device} != {"leaf1", "spine1"}]
    (finding,) = _last_connections(lone.model_copy(update={"links": tuple(links)}))
    assert (finding.where.device, finding.message) == (
        "spine2",
        "the loss of spine2 cuts off leaf1, and no other cable leads there",
    )
    (finding,) = _last_connections(clos(1, 5))
    assert "leaf1, leaf2, leaf3 and 2 more, and" in finding.message


def test_one_spine_is_a_last_connection_of_every_leaf(clos: Clos) -> None:
    assert [f"{f.severity} {f.where}: {f.message}" for f in _last_connections(clos(1, 3))] == [
        "warning spine1: the loss of spine1 cuts off leaf1, leaf2 and leaf3, and no other cable "
        "leads there"
    ]
