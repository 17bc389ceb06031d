"""Beamlines of a fabric: what follows from them, in any order, and problems of bad ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from planned import own_policy

from rocefort.base.documents.read import document_of
from rocefort.base.errors import BadInput
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import DerivedNetwork, derive, derive_document
from rocefort.dialects.network_text import render_all
from rocefort.models.network.demand import with_beamlines

EditHeps = Callable[..., Path]
HEPS = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
BEFORE = "\nsecurity:\n"
POLICY = """
security:
  policy:
    default: deny
    entries:
      - {id: 1, action: allow, source: [compute], destination: [storage]}
"""
IMAGING = """
  - id: 7
    name: bl07
    leaf: leaf05
    ports: [25GE1/0/9-10, 25GE1/0/20]
    segment: beamline
    nic: connectx-dscp34
    detectors:
      - {name: eiger, rate: 40 Gb/s, duty: 0.25, burst_ms: 200}
      - {name: camera, rate: 10 Gb/s}
    sends_to: [{to: compute}, {to: storage, share: 0.5}]
    owner: imaging group
"""
SPECTRA = """
  - id: 8
    name: bl08
    leaf: leaf03
    ports: [100GE1/0/10]
    segment: beamline
    transport: tcp
    detectors: [{name: xspress, rate: 20 Gb/s}]
    sends_to: [{to: storage}]
"""
BEAMLINES = f"\nbeamlines:{IMAGING}{SPECTRA}"


def with_text(beamlines: str) -> tuple[str, str]:
    return BEFORE, f"{beamlines}{BEFORE}"


@pytest.fixture
def two(edit_heps: EditHeps) -> DerivedNetwork:
    return derive(edit_heps(with_text(BEAMLINES)))


def test_servers_gateways_and_labels_follow_from_beamlines(two: DerivedNetwork) -> None:
    servers = {server.name: server for server in two.network.servers or ()}
    own = {name: server for name, server in servers.items() if name.startswith("bl")}
    assert {name: (str(s.port), str(s.address), s.roce) for name, s in own.items()} == {
        "bl07-1": ("leaf05 25GE1/0/9", "10.64.4.18/24", True),
        "bl07-2": ("leaf05 25GE1/0/10", "10.64.4.19/24", True),
        "bl07-3": ("leaf05 25GE1/0/20", "10.64.4.29/24", True),
        "bl08-1": ("leaf03 100GE1/0/10", "10.64.2.19/24", False),
    }
    leaf03 = two.network.by_name["leaf03"].device
    assert {*leaf03.vlans} == {110, 120}
    labels = {one.name: one.description for one in leaf03.interfaces}
    assert labels["100GE1/0/10"] == "to bl08-1"
    line = two.sources.table["bl07-2/"].line
    text = Path(two.document.file).read_text(encoding="utf-8").splitlines()
    assert text[line - 1].strip() == "name: bl07"


def test_demand_of_beamlines(two: DerivedNetwork) -> None:
    demand = with_beamlines(None, two.network)
    assert demand is not None
    assert demand.peak == 70
    assert [(flow.words, flow.peak) for flow in demand.flows] == [
        ("bl07 to compute", 50),
        ("bl07 to storage", 25),
        ("bl08 to storage", 20),
    ]
    first, _ = two.network.beamlines
    assert (first.average_gbps, first.detectors[0].period_ms, first.sent_gbps) == (20, 800, 75)


def test_a_rate_keeps_its_digits(edit_heps: EditHeps) -> None:
    changes = (("rate: 40 Gb/s", "rate: 0.0000014 Gb/s"), ("share: 0.5", "share: 0.9"))
    text = BEAMLINES.replace("rate: 10 Gb/s", "rate: 0.0000003 Gb/s")
    for old, new in changes:
        text = text.replace(old, new)
    demand = with_beamlines(None, derive(edit_heps(with_text(text))).network)
    assert demand is not None
    assert [flow.peak for flow in demand.flows] == pytest.approx([1.7e-6, 1.53e-6, 20])


def test_policy_of_beamlines_allows_their_data_paths_alone(edit_heps: EditHeps) -> None:
    fabric = derive(edit_heps(with_text(BEAMLINES), own_policy(POLICY)))
    policy = fabric.network.policy
    assert policy is not None
    assert [(entry.id, entry.source, entry.destination) for entry in policy.entries] == [
        (1, ("compute",), ("storage",)),
        (5110, ("beamline",), ("compute", "storage")),
    ]


def test_a_beamline_with_the_same_data_path_changes_no_filter(edit_heps: EditHeps) -> None:
    one = derive(edit_heps(with_text(f"\nbeamlines:{IMAGING}"), own_policy(POLICY))).network
    both = derive(edit_heps(with_text(BEAMLINES), own_policy(POLICY))).network
    for node in one.nodes:
        assert {*node.device.filters.acls} <= {*both.by_name[node.name].device.filters.acls}
        if node.name != "leaf03":
            assert both.by_name[node.name].device == node.device


@given(order=st.permutations(range(5)), leaves=st.lists(st.integers(5, 8), min_size=5, max_size=5))
@settings(max_examples=tries(10))
def test_the_order_of_beamlines_changes_no_text(order: list[int], leaves: list[int]) -> None:
    """Law: addresses, texts and demand depend on the entries, not on their order."""
    rows = [
        {
            "id": 10 + n,
            "name": f"bl{n}",
            "leaf": f"leaf{leaf:02}",
            "ports": [f"25GE1/0/{10 + 3 * n}-{12 + 3 * n}"],
            "segment": "beamline",
            "detectors": [{"name": "a", "rate": f"{5 + n} Gb/s"}],
            "sends_to": [{"to": "compute"}],
        }
        for n, leaf in enumerate(leaves)
    ]
    data = yaml.safe_load(HEPS)
    networks = [
        derive_document(
            document_of(
                yaml.safe_dump({**data, "beamlines": chosen}), str(INVENTORY / "heps/fabric.yaml")
            )
        ).network
        for chosen in (rows, [rows[n] for n in order])
    ]
    assert networks[0] == networks[1]
    assert render_all(networks[0]) == render_all(networks[1])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("leaf: leaf05", "leaf: leaf50", "beamlines[0].leaf: no leaf 'leaf50'; did you mean"),
        (
            "segment: beamline\n    nic",
            "segment: beamlines\n    nic",
            "beamlines[0].segment: no segment 'beamlines' with a VLAN; did you mean 'beamline'?",
        ),
        (
            "sends_to: [{to: storage}]",
            "sends_to: [{to: management}]",
            "beamlines[1].sends_to[0].to: no segment 'management' with a VLAN; known here: beamline, compute",
        ),
        (
            "name: bl08",
            "name: bl07",
            "beamlines[1].name: beamline name bl07 is given twice; write another one: the first "
            "is on line",
        ),
        ("id: 8", "id: 7", "beamlines[1].id: beamline id 7 is given twice; write another one"),
        (
            "rate: 20 Gb/s",
            "rate: 0.25 Tb/s",
            "beamlines[1].ports: bl08 sends 250 Gb/s at peak, and its 1 port carry 100 Gb/s; add "
            "2 ports of 100 Gb/s, or write lower rates",
        ),
        (
            "25GE1/0/20",
            "25GE1/0/1",
            "beamlines[0].ports: leaf05 25GE1/0/1 is used twice, by readout01 and bl07-3; give "
            "each server a port of its own",
        ),
        (
            "25GE1/0/20",
            "100GE1/0/1",
            "beamlines[0].ports: leaf05 100GE1/0/1 is reserved for spines; fabric ports of",
        ),
        (
            "burst_ms: 200",
            "burst_ms: 0",
            "beamlines[0].detectors[0].burst_ms: 0 is out of range; write a length of a burst, ms,",
        ),
        (
            ", burst_ms: 200",
            "",
            "beamlines[0].detectors[0]: duty without burst_ms; give both for a detector",
        ),
        (
            "rate: 40 Gb/s",
            "rate: 40",
            "beamlines[0].detectors[0].rate: 40 has no unit; write 3200 Gb/s or 3.2 Tb/s",
        ),
        (
            "duty: 0.25",
            "duty: 2",
            "beamlines[0].detectors[0].duty: 2 is out of range; write a share of time above 0",
        ),
        (
            "nic: connectx-dscp34\n    detectors",
            "nic: connectx\n    detectors",
            "beamlines[0].nic: 'connectx' is no NIC profile, but one of kind adapter; known here:",
        ),
    ],
)
def test_bad_beamlines(edit_heps: EditHeps, old: str, new: str, message: str) -> None:
    assert BEAMLINES.count(old) == 1
    with pytest.raises(BadInput) as raised:
        derive(edit_heps(with_text(BEAMLINES.replace(old, new))))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "      - {id: 2, action: deny, source: [beamline], destination: [storage]}\n",
            "beamlines[0].sends_to[1].to: bl07 sends to storage, and entry 2 of security.policy "
            "denies it; allow it with a lower id, or name another segment",
        ),
    ],
)
def test_a_policy_that_denies_a_data_path(edit_heps: EditHeps, entry: str, message: str) -> None:
    with pytest.raises(BadInput) as raised:
        derive(edit_heps(with_text(f"\nbeamlines:{IMAGING}"), own_policy(f"{POLICY}{entry}")))
    assert message in str(raised.value.problems[0])
