"""Batfish's checks beside routes become findings with device, interface and rule."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

import pytest

from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
from rocefort.models.device.packet_filters import (
    Behavior,
    Classifier,
    ClassifierBinding,
    FilterAcl,
    FilterRule,
    Filters,
    TrafficPolicy,
)
from rocefort.models.device.routing import StaticRoute
from rocefort.models.finding import Finding, Report
from rocefort.models.network.network import Network, Node
from rocefort.validators.batfish.snapshot import (
    AclRow,
    Checks,
    EdgeRow,
    LoopRow,
    OwnerRow,
    SessionMatch,
    TextRow,
    snapshot_files,
)
from rocefort.validators.rules.verification.batfish_subject import verify_checks

Clos = Callable[..., Network]


def judged(network: Network, checks: Checks) -> list[str]:
    return said(verify_checks(network, snapshot_files(network), checks))


def said(report: Report) -> list[str]:
    def line(finding: Finding) -> str:
        return f"{finding.rule} {finding.severity} {finding.where}: {finding.message}"

    return [line(finding) for finding in report.findings]


def filtered(device: Device) -> Device:
    """A leaf whose second rule no packet reaches."""
    rules = (
        FilterRule(index=5, action="deny"),
        FilterRule(index=10, protocol="udp", source=IPv4Network("10.1.0.0/16")),
    )
    filters = Filters(
        acls=(FilterAcl(name="3000", rules=rules),),
        classifiers=(Classifier(name="C", acls=("3000",)),),
        behaviors=(Behavior(name="B"),),
        policies=(
            TrafficPolicy(name="P", bindings=(ClassifierBinding(classifier="C", behavior="B"),)),
        ),
    )
    ports = [
        i.model_copy(update={"filter_in": "P"}) if i.name == "Vlanif110" else i
        for i in device.interfaces
    ]
    return device.model_copy(update={"filters": filters, "interfaces": tuple(ports)})


def line_of(network: Network, text: str) -> int:
    lines = snapshot_files(network)["configs/leaf1.cfg"].decode().splitlines()
    return lines.index(text) + 1


def test_a_sound_fabric_has_nothing_to_tell(clos: Clos) -> None:
    assert judged(clos(), Checks()) == []


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("   ip address 10.0.1.1/31", "leaf1 100GE1/0/1"),
        ("   neighbor 10.0.1.0 remote-as 65000", "leaf1"),
        ("   match ip address prefix-list PL-OWN", "leaf1"),
        ("ip routing", "leaf1"),
    ],
)
def test_a_line_of_the_translation_leads_back(clos: Clos, line: str, place: str) -> None:
    network = clos()
    row = TextRow(file="configs/leaf1.cfg", line=line_of(network, line), what="x")
    assert judged(network, Checks(unread=(row,), undefined=(row,))) == [
        f"TXT101 error {place}: Batfish does not understand x",
        f"TXT102 error {place}: x is not defined",
    ]


def test_each_answer_is_a_sentence_with_our_names(clos: Clos, port_edit: Any) -> None:
    network = clos(leaf1=port_edit("100GE1/0/1", mtu=1500), leaf2=filtered)
    here, there = "Ethernet100/1/0/1", "Ethernet100/1/0/1"
    checks = Checks(
        mismatched=(SessionMatch(node="leaf1", peer=IPv4Address("10.0.1.0"), status="HALF_OPEN"),),
        loops=tuple(
            LoopRow(source="server1", destination=IPv4Address(f"10.7.0.{n}"), nodes=circle)
            for n, circle in enumerate(
                [("server1", "leaf1", "spine1", "leaf1"), ("leaf1", "spine1", "leaf1")]
            )
        ),
        duplicates=(
            OwnerRow(address=IPv4Address("10.9.0.1"), node="leaf1", interface="Loopback0"),
            OwnerRow(address=IPv4Address("10.9.0.1"), node="leaf2", interface="Loopback0"),
        ),
        shadowed=(
            AclRow(
                node="leaf2",
                access_list="TP-P",
                line="20 permit udp 10.1.0.0/16 any",
                blocking=("10 deny ip any any",),
                other_action=True,
            ),
            AclRow(
                node="leaf2",
                access_list="TP-P",
                line="30 permit ip any any",
                blocking=("10 deny ip any any",),
                other_action=True,
            ),
        ),
        edges=(
            EdgeRow(node="leaf1", interface=here, far_node="spine1", far_interface=there),
            EdgeRow(node="spine1", interface=there, far_node="leaf1", far_interface=here),
            EdgeRow(node="leaf1", interface="Vlan110", far_node="server1", far_interface="eth0"),
        ),
    )
    assert judged(network, checks) == [
        "TOP101 error leaf1 100GE1/0/1: MTU 1500 here, 9216 at spine1 100GE1/0/1",
        "ADR101 error leaf2 LoopBack0: 10.9.0.1 is on leaf1 LoopBack0 and leaf2 LoopBack0",
        "BGP110 info leaf1: peer 10.0.1.0 of leaf1 is misconfigured: the other end has no "
        "session back to it, or expects another AS",
        "BGP111 error leaf1: packets from server1 to 10.7.0.0 are in a forwarding loop: "
        "leaf1 > spine1 > leaf1",
        "SEC102 error leaf2: no packet reaches rule 10 of ACL 3000: rule 5 takes them and does the "
        "opposite",
    ]


def faulty(device: Device) -> Device:
    """A static route that comes back, and the loopback of another leaf."""
    routes = (StaticRoute(prefix=IPv4Network("10.7.0.0/16"), next_hop=IPv4Address("10.0.1.0")),)
    loopback = Interface(name="LoopBack0", addresses=(IPv4Interface("10.9.0.2/32"),))
    ports = [loopback if i.name == "LoopBack0" else i for i in device.interfaces]
    return device.model_copy(update={"static_routes": routes, "interfaces": tuple(ports)})


def back(device: Device) -> Device:
    routes = (StaticRoute(prefix=IPv4Network("10.7.0.0/16"), next_hop=IPv4Address("10.0.1.1")),)
    return device.model_copy(update={"static_routes": routes})


@pytest.mark.batfish
def test_a_live_service_finds_each_fault(live_service: Any, clos: Clos, port_edit: Any) -> None:
    from rocefort.validators.verification.batfish_session import ask_all  # noqa: PLC0415 - after the skip

    network = clos(leaf1=faulty, spine1=back, leaf2=filtered)
    ports = {i.name: i for i in network.by_name["spine2"].device.interfaces}
    thin = port_edit("100GE1/0/1", mtu=1500)(network.by_name["spine2"].device)
    assert ports["100GE1/0/1"].mtu == 9216
    nodes = [Node(device=thin) if n.name == "spine2" else n for n in network.nodes]
    network = network.model_copy(update={"nodes": tuple(nodes)})
    asked = ask_all(network, live_service)
    rules = {
        line.partition(":")[0] for line in said(verify_checks(network, asked.files, asked.checks))
    }
    assert rules == {
        "ADR101 error leaf2 LoopBack0",
        "BGP111 error leaf1",
        "SEC102 error leaf2",
        "TOP101 error leaf1 100GE1/0/2",
    }
    assert {timing.question for timing in asked.timings} >= {"detectLoops", "routes"}
