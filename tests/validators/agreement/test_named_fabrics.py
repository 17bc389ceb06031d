"""Both engines on fabrics by name: they agree, and find each fault on its device and line.

Batfish's answers are real ones, recorded; with a service they are requested again. HEPS, its faults
and a fabric with exits have tables of their own (see tests/validators/batfish).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocefort.validators.batfish.batfish_engine import ask
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import RoutingState
from rocefort.validators.rules.verification.answers import verify
from rocefort.validators.rules.verification.engine_difference import disagreements
from rocefort.validators.verification.batfish_recording import record, replay

Intent = dict[str, Any]
Base = Callable[..., Intent]
Said = tuple[str, str, str]  # device, its line, sentence

POLICY = {
    "default": "deny",
    "entries": [
        {
            "id": 1,
            "action": "allow",
            "source": ["compute"],
            "destination": ["storage"],
            "protocol": "rdma",
        }
    ],
}
EACH = {"spine_asn": 65000, "spine_asns": "each", "leaf_asn_base": 65100, "maximum_paths": 32}
ROUTE, MASK = "ip route-static", "255.255.255.0"
UPLINK, SHUT = r"^ undo portswitch$", " undo portswitch\n shutdown"


def own_asns(base: Base) -> Intent:
    """One AS for each spine."""
    return base(routing=EACH)


def two_links(base: Base) -> Intent:
    """16 leaves with two links to each of 4 spines."""
    return base(4, 16, links_per_pair=2)


def fewer_links(base: Base) -> Intent:
    """A leaf with half the links of the others."""
    intent = base(links_per_pair=2)
    intent["leaves"][1]["links_per_pair"] = 1
    return intent


def isolated(base: Base) -> Intent:
    """Compute may speak RDMA with storage, and nothing else."""
    intent = base(2, 2)
    intent["leaves"][1]["segments"] = ["storage"]
    intent["servers"][1]["segment"] = "storage"
    intent["security"]["policy"] = POLICY
    return intent


def longer_links(base: Base) -> Intent:
    """Links with four addresses each."""
    intent = base()
    intent["pools"] |= {"link_prefix_length": 30, "links": "10.1.0.0/22"}
    return intent


@dataclass(frozen=True)
class Named:
    """A fabric: its intent, what is replaced in its texts, and what both engines must say."""

    name: str
    intent: Callable[[Base], Intent] = lambda base: base()
    edits: tuple[tuple[str, str, str], ...] = ()
    crossed: bool = False  # two cables of spine01 in each other's place
    says: tuple[Said, ...] = ()  # of several findings those that name the cause


NAMED = (
    Named(  # the mask holds the other uplink's subnet, and both links still work
        "named-wide-mask",
        edits=(("leaf01", r"^( ip address 10\.1\.0\.1) 255\.255\.255\.254$", rf"\1 {MASK}"),),
    ),
    Named(
        "named-narrow-mask",
        longer_links,
        edits=(("leaf01", r"^( ip address 10\.1\.0\.2) \S+$", r"\1 255.255.255.254"),),
        says=(
            (
                "leaf01",
                " peer 10.1.0.1 as-number 65000",
                "BGP session of leaf01 with spine01 (10.1.0.1) is not compatible: no interface of "
                "leaf01 is in the subnet of 10.1.0.1",
            ),
        ),
    ),
    Named("named-one-by-one", lambda base: base(1, 1)),
    Named("named-two-links", two_links),
    Named("named-fewer-links", fewer_links),
    Named("named-relaxed", own_asns),
    Named("named-isolated", isolated),
    Named(
        "named-missing-session",
        edits=(("leaf02", r"^ +peer 10\.1\.0\.8 .*\n", ""),),
        says=(
            (
                "leaf02",
                "bgp 65102",
                "BGP session of spine01 with leaf02 (10.1.0.9) is not compatible: leaf02 has no "
                "peer 10.1.0.8",
            ),
        ),
    ),
    Named(
        "named-wrong-as",
        edits=(("leaf02", r"^( peer 10\.1\.0\.8 as-number) 65000$", r"\1 65009"),),
        says=(
            (
                "leaf02",
                " peer 10.1.0.8 as-number 65009",
                "BGP session of leaf02 with spine01 (10.1.0.8) is not compatible: leaf02 expects "
                "AS 65009, spine01 is AS 65000",
            ),
        ),
    ),
    Named(
        "named-one-path",
        edits=(("leaf03", r"^  maximum load-balancing 32\n", ""),),
        says=(
            (
                "leaf03",
                "bgp 65103",
                "leaf03 has 1 of 2 paths to 10.0.1.1/32 of leaf01 and to 3 more prefixes of other "
                "leaves: `maximum load-balancing` is 1",
            ),
        ),
    ),
    Named(
        "named-unrelaxed",
        own_asns,
        (("leaf01", r"^  load-balancing as-path-relax\n", ""),),
        says=(
            (
                "leaf01",
                "bgp 65101",
                "leaf01 has 1 of 2 paths to 10.0.1.2/32 of leaf02 and to 3 more prefixes of other "
                "leaves",
            ),
        ),
    ),
    Named(
        "named-acl",
        isolated,
        (("leaf01", r"^ rule 10130 permit", " rule 10130 deny"),),
        says=(
            (
                "leaf01",
                " rule 10130 deny udp source 10.120.0.0 0.0.255.255 destination 10.130.0.0 "
                "0.0.255.255 destination-port eq 4791",
                "s1-1 does not reach s2-1 by every path: rule 10130 of ACL VLAN120 on leaf01 "
                "Vlanif120 drops it",
            ),
        ),
    ),
    Named(
        "named-hidden-leaf",
        edits=(("leaf02", r"^(ip ip-prefix LOCAL index 120) permit", r"\1 deny"),),
        says=(
            (
                "leaf02",
                "route-policy EXPORT permit node 10",
                "2 leaves lack paths to 10.120.1.0/24 of leaf02: route-policy EXPORT of leaf02 "
                "denies it",
            ),
        ),
    ),
    Named(
        "named-black-hole",
        edits=(("spine02", r"^aaa$", f"{ROUTE} 10.120.2.0 {MASK} NULL0\n#\naaa"),),
        says=(
            (
                "spine02",
                f"{ROUTE} 10.120.2.0 {MASK} NULL0",
                "s1-1 does not reach s3-1 by every path, nor do 1 more pair: spine02 drops "
                "10.120.2.0/24 (NULL0)",
            ),
        ),
    ),
    Named(
        "named-loop",
        edits=(
            ("leaf01", r"^aaa$", f"{ROUTE} 10.120.1.0 {MASK} 10.1.0.0\n#\naaa"),
            ("spine01", r"^aaa$", f"{ROUTE} 10.120.1.0 {MASK} 10.1.0.1\n#\naaa"),
        ),
        says=(
            (
                "leaf01",
                f"{ROUTE} 10.120.1.0 {MASK} 10.1.0.0",
                "s1-1 does not reach s2-1 by every path, nor do 1 more pair: packets loop: "
                "leaf01 - spine01 - leaf01",
            ),
        ),
    ),
    Named(
        "named-same-loopback",
        edits=(("leaf02", r"^ ip address 10\.0\.1\.2 ", " ip address 10.0.1.1 "),),
        says=(
            (
                "leaf02",
                "  network 10.0.1.2 255.255.255.255",
                "2 leaves lack paths to 10.0.1.2/32 of leaf02: no interface of leaf02 is in it",
            ),
        ),
    ),
    Named(
        "named-same-link-address",
        edits=(("leaf02", r"^ ip address 10\.1\.0\.9 ", " ip address 10.1.0.1 "),),
        says=(
            (
                "leaf02",
                " peer 10.1.0.8 as-number 65000",
                "BGP session of leaf02 with spine01 (10.1.0.8) is not compatible: no interface of "
                "leaf02 is in the subnet of 10.1.0.8",
            ),
        ),
    ),
    Named(
        "named-same-gateway",
        edits=(("leaf02", r"^ ip address 10\.120\.1\.1 ", " ip address 10.120.0.1 "),),
        says=(
            (
                "leaf02",
                "interface Vlanif120",
                "s2-1 does not reach s1-1 by every path, nor do 1 more pair: leaf02 has no "
                "gateway 10.120.1.1 in VLAN 120",
            ),
        ),
    ),
    Named(
        "named-no-gateway",
        edits=(("leaf02", r"^interface Vlanif120\n(?: .*\n)*#\n", ""),),
        says=(
            (
                "leaf02",
                "  network 10.120.1.0 255.255.255.0",
                "2 leaves lack paths to 10.120.1.0/24 of leaf02: no interface of leaf02 is in it",
            ),
        ),
    ),
    Named(
        "named-wrong-cable",
        crossed=True,
        says=(
            (
                "leaf01",
                "interface 100GE1/0/25",
                "BGP session of leaf01 with spine01 (10.1.0.0) is not established: no cable joins "
                "leaf01 100GE1/0/25 and spine01 100GE1/1/1",
            ),
        ),
    ),
    Named(
        "named-spine-down",
        edits=(("spine01", UPLINK, SHUT),),
        says=(
            (
                "spine01",
                " shutdown",
                "BGP session of leaf01 with spine01 (10.1.0.0) is not compatible: spine01 "
                "100GE1/1/1 is shut down",
            ),
        ),
    ),
    Named(
        "named-spines-down",
        edits=(("spine01", UPLINK, SHUT), ("spine02", UPLINK, SHUT)),
        says=(
            (
                "leaf01",
                "bgp 65101",
                "s1-1 does not reach s2-1 by every path: leaf01 has no route to 10.120.1.0/24",
            ),
            (
                "spine02",
                " shutdown",
                "BGP session of leaf01 with spine02 (10.1.0.2) is not compatible: spine02 "
                "100GE1/1/1 is shut down",
            ),
        ),
    ),
    Named(
        "named-no-uplinks",
        edits=(("leaf03", UPLINK, SHUT),),
        says=(
            (
                "leaf03",
                " shutdown",
                "BGP session of leaf03 with spine01 (10.1.0.16) is not compatible: leaf03 "
                "100GE1/0/25 is shut down",
            ),
        ),
    ),
)


@pytest.fixture
def case(named: Named, fabric: Callable[..., Any], intent: Base) -> Any:
    """The fabric that both engines get."""
    found = fabric(named.name, named.intent(intent), named.edits)
    return found.crossed() if named.crossed else found


by_name = pytest.mark.parametrize("named", NAMED, ids=lambda named: named.name)


def said(case: Any, state: RoutingState) -> list[Said]:
    """Findings as device, line and message."""
    found = []
    for finding in verify(case.network, state, case.sources).findings:
        device, line = finding.where.device or "", finding.where.line
        text = case.texts[device].splitlines()[line - 1] if line else ""
        found.append((device, text, finding.message))
    return found


@by_name
def test_both_engines_agree_and_find_the_fault(
    case: Any, named: Named, recording: Callable[[str], Path]
) -> None:
    solution = analyse(case.network, case.sources)
    batfish = replay(case.network, recording(named.name))
    assert disagreements(solution, batfish, case.sources) == ()
    for state in (solution.state, batfish):
        found = said(case, state)
        assert set(named.says) <= set(found)
        assert bool(named.says) is bool(found)


@pytest.mark.batfish
@by_name
def test_a_live_service_says_what_is_recorded(
    case: Any, named: Named, recording: Callable[[str], Path], service: tuple[str, int]
) -> None:
    path = recording(named.name)
    if os.environ.get("ROCEFORT_RECORD") == "1":
        record(case.network, path, *service)
    else:
        assert ask(case.network, *service) == replay(case.network, path)
