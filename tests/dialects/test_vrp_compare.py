"""What a change means to a person: edits, their kind, and who feels it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

import pytest

from rocefort.dialects.vrp.compare import change_of, classify, compare
from rocefort.dialects.vrp.parse import parse
from rocefort.models.change import Edit, Kind, digest_of
from rocefort.models.device import (
    AiEcn,
    AiEcnQueue,
    Bgp,
    BgpPeer,
    Device,
    DiffservDomain,
    DscpMap,
    Interface,
    InterfacePfc,
    Pfc,
    PfcProfile,
    PfcThreshold,
)
from rocefort.models.hardware import SyntaxFamily

PORT = "interfaces[100GE1/0/1]"
UPLINK = Interface(
    name="100GE1/0/1",
    routed=True,
    mtu=9000,
    addresses=(IPv4Interface("10.1.0.1/31"),),
    domain="roce",
    pfc=InterfacePfc(),
    thresholds=(PfcThreshold(queue=4, xoff_kbytes=600, xon_kbytes=550),),
)
BGP = Bgp(
    asn=65101,
    peers=(
        BgpPeer(address=IPv4Address("10.1.0.0"), asn=65001, active=True),
        BgpPeer(address=IPv4Address("10.1.0.2"), asn=65001, active=True),
    ),
    networks=(IPv4Network("10.65.1.0/24"),),
    maximum_paths=2,
)
LEAF = Device(
    name="leaf01",
    vlans=(10,),
    domains=(DiffservDomain(name="roce", dscp=(DscpMap(value=34, phb="af4"),)),),
    pfc=Pfc(profiles=(PfcProfile(queues=(4,)),), detect_ms=10),
    ai_ecn=AiEcn(enabled=True, queues=(AiEcnQueue(queue=4, model="ai_ecn_hpc"),)),
    interfaces=(UPLINK, Interface(name="100GE1/0/2")),
    bgp=BGP,
)


def but(**changes: Any) -> Device:
    return LEAF.model_copy(update=changes)


def port(**changes: Any) -> Device:
    changed = UPLINK.model_copy(update=changes)
    return but(interfaces=(changed, LEAF.interfaces[1]))


def bgp(**changes: Any) -> Device:
    return but(bgp=BGP.model_copy(update=changes))


# what changes, the edits, the kind, what a person is told
TABLE: list[tuple[str, Device, list[tuple[str, str | None, str | None]], Kind, list[str]]] = [
    ("nothing", LEAF, [], Kind.ADDITIVE, []),
    (
        "thresholds",
        port(thresholds=(PfcThreshold(queue=4, xoff_kbytes=700, xon_kbytes=550),)),
        [(f"{PORT}.thresholds[4].xoff_kbytes", "600", "700")],
        Kind.MODIFYING,
        [
            "PFC thresholds of 100GE1/0/1 change under traffic; "
            "the port may refuse them while congested"
        ],
    ),
    (
        "mtu",
        port(mtu=9216),
        [(f"{PORT}.mtu", "9000", "9216")],
        Kind.MODIFYING,
        ["the MTU of 100GE1/0/1 changes: larger frames are dropped"],
    ),
    (
        "shut down",
        port(enabled=False),
        [(f"{PORT}.enabled", None, "no")],
        Kind.ADDITIVE,
        ["100GE1/0/1 is shut down or brought up"],
    ),
    (
        "description",
        port(description="to spine01"),
        [(f"{PORT}.description", None, "to spine01")],
        Kind.ADDITIVE,
        [],
    ),
    (
        "domain off the port",
        port(domain=None),
        [(f"{PORT}.domain", "roce", None)],
        Kind.REMOVING,
        ["100GE1/0/1 classifies traffic differently: RoCE may enter another queue"],
    ),
    (
        "PFC off the port",
        port(pfc=None),
        [(f"{PORT}.pfc", "as by default", None)],
        Kind.REMOVING,
        ["PFC on 100GE1/0/1 changes under traffic"],
    ),
    (
        "an idle port becomes an uplink",
        but(
            interfaces=(
                UPLINK,
                Interface(
                    name="100GE1/0/2",
                    routed=True,
                    mtu=9000,
                    addresses=(IPv4Interface("10.1.0.3/31"),),
                ),
            )
        ),
        [
            ("interfaces[100GE1/0/2].routed", None, "yes"),
            ("interfaces[100GE1/0/2].addresses[10.1.0.3/31]", None, "10.1.0.3/31"),
            ("interfaces[100GE1/0/2].mtu", None, "9000"),
        ],
        Kind.ADDITIVE,
        [],
    ),
    ("VLAN added", but(vlans=(10, 20)), [("vlans[20]", None, "20")], Kind.ADDITIVE, []),
    (
        "AS number",
        bgp(asn=65102),
        [("bgp.asn", "65101", "65102")],
        Kind.MODIFYING,
        ["the AS number changes: BGP is deleted and built again; the switch may want two commits"],
    ),
    (
        "peer removed",
        bgp(peers=BGP.peers[:1]),
        [("bgp.peers[10.1.0.2]", "asn=65001, active=yes, address=10.1.0.2", None)],
        Kind.REMOVING,
        ["BGP peer 10.1.0.2 is removed: its session goes down"],
    ),
    (
        "peer added",
        bgp(peers=(*BGP.peers, BgpPeer(address=IPv4Address("10.1.0.4"), asn=65001))),
        [("bgp.peers[10.1.0.4]", None, "asn=65001, address=10.1.0.4")],
        Kind.ADDITIVE,
        [],
    ),
    (
        "ECMP width",
        bgp(maximum_paths=1),
        [("bgp.maximum_paths", "2", None)],
        Kind.REMOVING,
        ["traffic spreads over other paths (ECMP width)"],
    ),
    (
        "no BGP",
        but(bgp=None),
        [
            (
                "bgp",
                "asn=65101, peers=(asn=65001, active=yes, address=10.1.0.0) "
                "(asn=65001, active=yes, address=10.1.0.2), networks=10.65.1.0/24, "
                "maximum_paths=2",
                None,
            )
        ],
        Kind.REMOVING,
        ["BGP is removed: every session goes down"],
    ),
    (
        "PFC queue",
        but(pfc=Pfc(profiles=(PfcProfile(queues=(3,)),), detect_ms=10)),
        [
            ("pfc.profiles[default].queues[4]", "4", None),
            ("pfc.profiles[default].queues[3]", None, "3"),
        ],
        Kind.REMOVING,
        ["PFC profile default pauses other queues on every port that applies it"],
    ),
    (
        "deadlock timer",
        but(pfc=LEAF.pfc.model_copy(update={"detect_ms": 20})),
        [("pfc.detect_ms", "10", "20")],
        Kind.MODIFYING,
        ["PFC deadlock timers change under traffic"],
    ),
    (
        "AI-ECN model",
        but(ai_ecn=AiEcn(enabled=True, queues=(AiEcnQueue(queue=4),))),
        [("ai_ecn.queues[4].model", "ai_ecn_hpc", None)],
        Kind.REMOVING,
        ["ECN marks RoCE traffic by another model or not at all"],
    ),
    (
        "priority map",
        but(domains=(DiffservDomain(name="roce", dscp=(DscpMap(value=34, phb="af3"),)),)),
        [("domains[roce].dscp[34].phb", "af4", "af3")],
        Kind.MODIFYING,
        ["diffserv domain roce maps traffic to other queues on every port that uses it"],
    ),
]


@pytest.mark.parametrize(
    ("intended", "edits", "kind", "reasons"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_a_change_is_told_in_the_words_of_the_fabric(
    intended: Device,
    edits: list[tuple[str, str | None, str | None]],
    kind: Kind,
    reasons: list[str],
) -> None:
    found = compare(LEAF, intended)
    assert [(edit.path, edit.before, edit.after) for edit in found] == edits
    assert classify(found, ()) == (kind, tuple(reasons))


@pytest.mark.parametrize("intended", [row[1] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_way_back_swaps_before_and_after(intended: Device) -> None:
    there = {(edit.path, edit.before, edit.after) for edit in compare(LEAF, intended)}
    back = {(edit.path, edit.after, edit.before) for edit in compare(intended, LEAF)}
    assert there == back


def test_an_address_that_becomes_the_primary_one_is_an_edit() -> None:
    a, b = IPv4Interface("10.1.0.1/31"), IPv4Interface("10.2.0.1/31")
    edits = compare(port(addresses=(a, b)), port(addresses=(b, a)))
    path = f"{PORT}.addresses.order"
    assert edits == (Edit(path=path, before=f"{a} {b}", after=f"{b} {a}"),)


def test_commands_without_an_edit_are_no_addition() -> None:
    assert classify((), ("undo x",)) == (Kind.MODIFYING, ())


def test_a_change_carries_both_digests_and_both_ways() -> None:
    running, intended = (f"sysname leaf01\nntp unicast-server 10.0.0.{n}\n" for n in (1, 2))
    change = change_of(
        running,
        parse(running, "a").device,
        intended,
        parse(intended, "b").device,
        SyntaxFamily.V300_G1,
        ("snmp-agent",),
    )
    assert change.patch == ("ntp unicast-server 10.0.0.2", "undo ntp unicast-server 10.0.0.1")
    assert change.reverse == ("ntp unicast-server 10.0.0.1", "undo ntp unicast-server 10.0.0.2")
    assert (change.device, change.kind, change.kept) == ("leaf01", Kind.REMOVING, ("snmp-agent",))
    assert change.running_digest == digest_of(running)
    assert change.intended_digest == digest_of(intended)
    assert not change.empty
