"""The proof of a growth: exact messages, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

import pytest

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.models.device.interface import Interface
from rocefort.models.device.routing import BgpPeer
from rocefort.models.network.network import Network
from rocefort.validators.rules.verification.growth_subject import prove

Change = Callable[[Network], Network]


def leaf01(**fields: Any) -> Change:
    """Other fields of leaf01's node."""

    def change(network: Network) -> Network:
        nodes = (
            node.model_copy(update=fields) if node.name == "leaf01" else node
            for node in network.nodes
        )
        return network.model_copy(update={"nodes": tuple(nodes)})

    return change


def device(**fields: Callable[[Any], Any]) -> Change:
    """leaf01's Device with some fields made of what they were."""

    def change(network: Network) -> Network:
        old = network.by_name["leaf01"].device
        update = {name: make(getattr(old, name)) for name, make in fields.items()}
        return leaf01(device=old.model_copy(update=update))(network)

    return change


def bgp(**fields: Callable[[Any], Any]) -> Change:
    def make(old: Any) -> Any:
        return old.model_copy(update={name: f(getattr(old, name)) for name, f in fields.items()})

    return device(bgp=make)


PEER = BgpPeer(address=IPv4Address("10.9.9.9"), asn=65000, group="SPINE", active=True)
PORT = Interface(
    name="100GE1/0/64", routed=True, addresses=(IPv4Interface("10.9.9.8/31"),), mtu=9000
)

CASES: list[tuple[Change, list[str]]] = [
    (lambda network: network, []),
    (bgp(peers=lambda peers: (*peers, PEER)), []),
    (device(interfaces=lambda ports: (*ports, PORT)), []),
    (
        bgp(peers=lambda peers: peers[1:]),
        [
            "CHG201 leaf01: its line `bgp 65101 / peer 10.1.0.0 as-number 65000` is removed, or "
            "moves",
            "CHG202 leaf01: bgp.peers[10.1.0.0] changes from asn=65000, "
            "description=spine01, active=yes, address=10.1.0.0, group=SPINE to nothing, which is "
            "no growth",
        ],
    ),
    (
        bgp(as_path_relax=lambda _: True),
        [
            "CHG202 leaf01: bgp.as_path_relax changes from nothing to yes, which is no growth: "
            "paths over spines of different AS numbers take it"
        ],
    ),
    (
        bgp(maximum_paths=lambda _: 16),
        [
            "CHG201 leaf01: its line `bgp 65101 / ipv4-family unicast / maximum load-balancing 32` "
            "is removed, or moves",
            "CHG202 leaf01: bgp.maximum_paths changes from 32 to 16, which is no growth",
        ],
    ),
    (
        device(vlans=lambda vlans: (*vlans, 999)),
        ["CHG202 leaf01: vlans[999] changes from nothing to 999, which is no growth"],
    ),
    (
        leaf01(management=IPv4Interface("10.255.0.99/24")),
        ["CHG203 leaf01: its management changes from 10.255.0.9/24 to 10.255.0.99/24"],
    ),
    (leaf01(rack="row9"), ["CHG203 leaf01: its rack changes from row1 to row9"]),
    (
        lambda network: network.model_copy(update={"nodes": network.nodes[1:]}),
        ["CHG203 spine01: the switch is removed"],
    ),
    (
        lambda network: network.model_copy(update={"servers": (network.servers or ())[1:]}),
        ["CHG203 : 1 server changed or removed, the first: transfer01"],
    ),
    (
        lambda network: network.model_copy(update={"links": (network.links or ())[:-2]}),
        [
            "CHG203 : 2 cables changed or removed, the first: spine01 100GE1/1/8 - leaf08 "
            "100GE1/0/1",
        ],
    ),
]


@pytest.mark.parametrize(("change", "says"), CASES)
def test_what_is_no_growth_is_found(heps: DerivedNetwork, change: Change, says: list[str]) -> None:
    before, after = heps.network, change(heps.network)
    proof, findings = prove(before, after, render_all(before), render_all(after))
    assert [f"{f.rule} {f.where.device or ''}: {f.message}" for f in findings] == says
    assert (proof.switches, proof.kept[1].number) == (10, 10)


def test_the_proof_counts_what_comes(heps: DerivedNetwork) -> None:
    before = heps.network
    after = bgp(peers=lambda peers: (*peers, PEER))(
        device(interfaces=lambda ports: (*ports, PORT))(before)
    )
    proof, findings = prove(before, after, render_all(before), render_all(after))
    assert not findings
    assert [(a.what, a.number) for a in proof.additions] == [("interface", 1), ("BGP peer", 1)]
    assert 0 < proof.lines_added < 12
    assert {a.what: a.number for a in proof.kept} == {
        "address": 62,
        "AS number": 10,
        "port": 44,
        "BGP session end": 32,
        "cable": 16,
        "server": 12,
    }
