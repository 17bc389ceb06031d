"""Edits of a change for a person: their text, their kind, and affected traffic."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

import pytest
from patch_cases import BY_NAME

from rocefort.dialects.changes import change_of
from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.dialect import DISRUPTS
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.change.compare import classify, compare
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import ChangeKind, digest_of
from rocefort.models.device.device import Device
from rocefort.models.device.interface import DrrQueue, Interface, InterfacePfc, PfcThreshold
from rocefort.models.device.lossless_queue import (
    AiEcn,
    AiEcnQueue,
    DiffservDomain,
    DscpMap,
    Pfc,
    PfcProfile,
    PfcTimer,
)
from rocefort.models.device.management import (
    Acl,
    AclRule,
    LocalUser,
    Netconf,
    Snmp,
    Ssh,
    SshUser,
    Syslog,
    Vty,
)
from rocefort.models.device.routing import (
    Bgp,
    BgpGroup,
    BgpPeer,
    PolicyNode,
    PrefixEntry,
    PrefixList,
    RoutePolicy,
)
from rocefort.models.hardware.hardware import SyntaxFamily

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
    groups=(BgpGroup(name="SPINE"),),
    networks=(IPv4Network("10.65.1.0/24"),),
    maximum_paths=2,
)
LOCAL, OTHER = IPv4Network("10.65.0.0/16"), IPv4Network("10.66.0.0/16")
ENTRY = PrefixEntry(index=10, prefix=LOCAL)
ACCESS = (AclRule(index=5, source=IPv4Network("10.255.0.0/24")),)
LEAF = Device(
    name="leaf01",
    vlans=(10,),
    domains=(DiffservDomain(name="roce", dscp=(DscpMap(value=34, phb="af4"),)),),
    pfc=Pfc(profiles=(PfcProfile(queues=(4,)),), detect_ms=10),
    ai_ecn=AiEcn(enabled=True, queues=(AiEcnQueue(queue=4, model="ai_ecn_hpc"),)),
    interfaces=(UPLINK, Interface(name="100GE1/0/2")),
    bgp=BGP,
    prefix_lists=(PrefixList(name="LOCAL", entries=(ENTRY,)),),
    route_policies=(RoutePolicy(name="EXPORT", nodes=(PolicyNode(node=10),)),),
    users=(LocalUser(name="netops", service_types=("ssh",), level=3),),
    ssh=Ssh(users=(SshUser(name="netops"),)),
    vty=(Vty(first=0, last=4, authentication="aaa"),),
    acls=(Acl(number=2000, rules=ACCESS),),
    netconf=Netconf(server=True),
    snmp=Snmp(enabled=True),
)


def but(**changes: Any) -> Device:
    return LEAF.model_copy(update=changes)


def port(**changes: Any) -> Device:
    changed = UPLINK.model_copy(update=changes)
    return but(interfaces=(changed, LEAF.interfaces[1]))


def bgp(**changes: Any) -> Device:
    return but(bgp=BGP.model_copy(update=changes))


def prefixes(*entries: PrefixEntry) -> Device:
    return but(prefix_lists=(PrefixList(name="LOCAL", entries=entries),))


# the changes, the edits, the kind, the text for a person
TABLE: list[tuple[str, Device, list[tuple[str, str | None, str | None]], ChangeKind, list[str]]] = [
    ("nothing", LEAF, [], ChangeKind.ADDITIVE, []),
    (
        "thresholds",
        port(thresholds=(PfcThreshold(queue=4, xoff_kbytes=700, xon_kbytes=550),)),
        [(f"{PORT}.thresholds[4].xoff_kbytes", "600", "700")],
        ChangeKind.MODIFYING,
        [
            "PFC thresholds of 100GE1/0/1 change under traffic; "
            "the port may refuse them while congested"
        ],
    ),
    (
        "weights",
        port(drr=(DrrQueue(queue=4, weight=65),)),
        [(f"{PORT}.drr[4]", None, "queue=4, weight=65")],
        ChangeKind.ADDITIVE,
        ["100GE1/0/1 shares its bandwidth among the queues in another way"],
    ),
    (
        "a network less may log in",
        but(acls=(Acl(number=2000),)),
        [("acls[2000].rules[5]", "index=5, source=10.255.0.0/24", None)],
        ChangeKind.REMOVING,
        ["ACL 2000 admits other addresses: management sessions may be cut off"],
    ),
    (
        "a network more may log in",
        but(acls=(Acl(number=2000, rules=(*ACCESS, AclRule(index=10))),)),
        [("acls[2000].rules[10]", None, "index=10")],
        ChangeKind.ADDITIVE,
        ["ACL 2000 admits other addresses: management sessions may be cut off"],
    ),
    (
        "NETCONF off",
        but(netconf=Netconf()),
        [("netconf.server", "yes", None)],
        ChangeKind.REMOVING,
        ["NETCONF sessions may be cut off"],
    ),
    (
        "another log host",
        but(syslog=Syslog(hosts=(IPv4Address("10.255.0.7"),))),
        [("syslog.hosts[10.255.0.7]", None, "10.255.0.7")],
        ChangeKind.ADDITIVE,
        [],
    ),
    (
        "SNMP off",
        but(snmp=Snmp()),
        [("snmp.enabled", "yes", None)],
        ChangeKind.REMOVING,
        ["monitoring by SNMP may lose the switch"],
    ),
    (
        "flow control",
        port(flow_control=True),
        [(f"{PORT}.flow_control", None, "yes")],
        ChangeKind.ADDITIVE,
        ["100GE1/0/1 begins or ceases to answer pauses of the whole link (802.3x)"],
    ),
    (
        "mtu",
        port(mtu=9216),
        [(f"{PORT}.mtu", "9000", "9216")],
        ChangeKind.MODIFYING,
        ["the MTU of 100GE1/0/1 changes: larger frames are dropped"],
    ),
    (
        "shut down",
        port(enabled=False),
        [(f"{PORT}.enabled", "yes", "no")],
        ChangeKind.MODIFYING,
        ["100GE1/0/1 is shut down or brought up"],
    ),
    (
        "description",
        port(description="to spine01"),
        [(f"{PORT}.description", None, "to spine01")],
        ChangeKind.ADDITIVE,
        [],
    ),
    (
        "domain off the port",
        port(domain=None),
        [(f"{PORT}.domain", "roce", None)],
        ChangeKind.REMOVING,
        ["100GE1/0/1 classifies traffic differently: RoCE may enter another queue"],
    ),
    (
        "PFC off the port",
        port(pfc=None),
        [(f"{PORT}.pfc", "as by default", None)],
        ChangeKind.REMOVING,
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
        ChangeKind.ADDITIVE,
        [],
    ),
    ("VLAN added", but(vlans=(10, 20)), [("vlans[20]", None, "20")], ChangeKind.ADDITIVE, []),
    (
        "AS number",
        bgp(asn=65102),
        [("bgp.asn", "65101", "65102")],
        ChangeKind.MODIFYING,
        ["the AS number changes: BGP is deleted and built again, with a commit in between"],
    ),
    (
        "peer removed",
        bgp(peers=BGP.peers[:1]),
        [("bgp.peers[10.1.0.2]", "asn=65001, active=yes, address=10.1.0.2", None)],
        ChangeKind.REMOVING,
        ["BGP peer 10.1.0.2 is removed: its session goes down"],
    ),
    (
        "peer added",
        bgp(peers=(*BGP.peers, BgpPeer(address=IPv4Address("10.1.0.4"), asn=65001))),
        [("bgp.peers[10.1.0.4]", None, "asn=65001, address=10.1.0.4")],
        ChangeKind.ADDITIVE,
        [],
    ),
    (
        "ECMP width",
        bgp(maximum_paths=1),
        [("bgp.maximum_paths", "2", None)],
        ChangeKind.REMOVING,
        ["traffic spreads over other paths (ECMP width)"],
    ),
    (
        "no BGP",
        but(bgp=None),
        [
            (
                "bgp",
                "asn=65101, groups=(name=SPINE), peers=(asn=65001, active=yes, address=10.1.0.0) "
                "(asn=65001, active=yes, address=10.1.0.2), networks=10.65.1.0/24, "
                "maximum_paths=2",
                None,
            )
        ],
        ChangeKind.REMOVING,
        ["BGP is removed: every session goes down"],
    ),
    (
        "PFC queue",
        but(pfc=Pfc(profiles=(PfcProfile(queues=(3,)),), detect_ms=10)),
        [
            ("pfc.profiles[default].queues[4]", "4", None),
            ("pfc.profiles[default].queues[3]", None, "3"),
        ],
        ChangeKind.REMOVING,
        ["PFC profile default pauses other queues on every port that applies it"],
    ),
    (
        "deadlock timer",
        but(pfc=LEAF.pfc.model_copy(update={"detect_ms": 20})),
        [("pfc.detect_ms", "10", "20")],
        ChangeKind.MODIFYING,
        ["PFC deadlock timers change under traffic"],
    ),
    (
        "AI-ECN model",
        but(ai_ecn=AiEcn(enabled=True, queues=(AiEcnQueue(queue=4),))),
        [("ai_ecn.queues[4].model", "ai_ecn_hpc", "none")],
        ChangeKind.MODIFYING,
        ["ECN marks RoCE traffic by another model or not at all"],
    ),
    (
        "priority map",
        but(domains=(DiffservDomain(name="roce", dscp=(DscpMap(value=34, phb="af3"),)),)),
        [("domains[roce].dscp[34].phb", "af4", "af3")],
        ChangeKind.MODIFYING,
        ["diffserv domain roce maps traffic to other queues on every port that uses it"],
    ),
    (
        "priority map's colour",
        but(
            domains=(
                DiffservDomain(name="roce", dscp=(DscpMap(value=34, phb="af4", colour="red"),)),
            )
        ),
        [("domains[roce].dscp[34].colour", "green", "red")],
        ChangeKind.MODIFYING,
        ["diffserv domain roce maps traffic to other queues on every port that uses it"],
    ),
    (
        "PFC by another profile",
        port(pfc=InterfacePfc(profile="nof", mode="auto")),
        [(f"{PORT}.pfc.profile", "default", "nof"), (f"{PORT}.pfc.mode", "manual", "auto")],
        ChangeKind.MODIFYING,
        ["PFC on 100GE1/0/1 changes under traffic"],
    ),
    (
        "deadlock timer beside the default",
        but(pfc=LEAF.pfc.model_copy(update={"recovery_ms": 20})),
        [("pfc.recovery_ms", None, "20")],
        ChangeKind.ADDITIVE,
        ["PFC deadlock timers change under traffic"],
    ),
    (
        "a second address, which becomes the primary one",
        port(addresses=(IPv4Interface("10.1.0.5/31"), *UPLINK.addresses)),
        [
            (f"{PORT}.addresses[10.1.0.5/31]", None, "10.1.0.5/31"),
            (f"{PORT}.addresses.order", "10.1.0.1/31", "10.1.0.5/31 10.1.0.1/31"),
        ],
        ChangeKind.MODIFYING,
        ["the primary address of 100GE1/0/1 changes: what uses it is interrupted"],
    ),
    (
        "a second address",
        port(addresses=(*UPLINK.addresses, IPv4Interface("10.1.0.5/31"))),
        [(f"{PORT}.addresses[10.1.0.5/31]", None, "10.1.0.5/31")],
        ChangeKind.ADDITIVE,
        [],
    ),
    (
        "a prefix of a list is denied",
        prefixes(PrefixEntry(index=10, prefix=LOCAL, action="deny")),
        [("prefix_lists[LOCAL].entries[10].action", "permit", "deny")],
        ChangeKind.MODIFYING,
        ["LOCAL filters routes differently"],
    ),
    (
        "a prefix of a list takes longer ones",
        prefixes(PrefixEntry(index=10, prefix=LOCAL, less_equal=32)),
        [("prefix_lists[LOCAL].entries[10].less_equal", "none", "32")],
        ChangeKind.MODIFYING,
        ["LOCAL filters routes differently"],
    ),
    (
        "a prefix more",
        prefixes(ENTRY, PrefixEntry(index=20, prefix=OTHER)),
        [("prefix_lists[LOCAL].entries[20]", None, "index=20, prefix=10.66.0.0/16")],
        ChangeKind.ADDITIVE,
        [],
    ),
    (
        "a prefix more, denied",
        prefixes(ENTRY, PrefixEntry(index=5, prefix=OTHER, action="deny")),
        [("prefix_lists[LOCAL].entries[5]", None, "index=5, action=deny, prefix=10.66.0.0/16")],
        ChangeKind.ADDITIVE,
        ["LOCAL filters routes differently"],
    ),
    (
        "a policy takes fewer routes",
        but(
            route_policies=(
                RoutePolicy(name="EXPORT", nodes=(PolicyNode(node=10, match_prefix_list="LOCAL"),)),
            )
        ),
        [("route_policies[EXPORT].nodes[10].match_prefix_list", None, "LOCAL")],
        ChangeKind.ADDITIVE,
        ["EXPORT filters routes differently"],
    ),
    (
        "an internal group",
        bgp(groups=(BgpGroup(name="SPINE", external=False),)),
        [("bgp.groups[SPINE].external", "yes", "no")],
        ChangeKind.MODIFYING,
        ["the sessions of BGP group SPINE reset"],
    ),
    (
        "a user without SSH",
        but(users=(LocalUser(name="netops", level=3),), ssh=Ssh()),
        [
            ("users[netops].service_types[ssh]", "ssh", None),
            ("ssh.users[netops]", "name=netops", None),
        ],
        ChangeKind.REMOVING,
        [
            "user netops may log in by other means than before",
            "user netops can no longer log in",
        ],
    ),
    (
        "terminal lines",
        but(vty=(Vty(first=0, last=4, authentication="password"),)),
        [("vty[0].authentication", "aaa", "password")],
        ChangeKind.MODIFYING,
        ["management sessions may be cut off"],
    ),
    (
        "terminal lines that had no setting get an ACL that is there already",
        but(vty=(*LEAF.vty, Vty(first=16, last=20, acl=2000))),
        [("vty[16]", None, "first=16, last=20, acl=2000")],
        ChangeKind.ADDITIVE,
        ["management sessions may be cut off"],
    ),
]


def test_a_first_source_interface_of_ssh_may_cut_off_sessions_elsewhere() -> None:
    everywhere = but(ssh=Ssh(stelnet=True))
    one = but(ssh=Ssh(stelnet=True, source_interface="MEth0/0/0"))
    kind, reasons = classify(compare(everywhere, one), (), DISRUPTS)
    assert (kind, reasons) == (ChangeKind.ADDITIVE, ("management sessions may be cut off",))


@pytest.mark.parametrize(
    ("intended", "edits", "kind", "reasons"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_a_change_is_told_in_the_words_of_the_fabric(
    intended: Device,
    edits: list[tuple[str, str | None, str | None]],
    kind: ChangeKind,
    reasons: list[str],
) -> None:
    comparison = compare(LEAF, intended)
    assert [(edit.path, edit.before_text, edit.after_text) for edit in comparison] == edits
    assert classify(comparison, (), DISRUPTS) == (kind, tuple(reasons))


@pytest.mark.parametrize("intended", [row[1] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_way_back_swaps_before_and_after(intended: Device) -> None:
    there = {(edit.path, edit.before_text, edit.after_text) for edit in compare(LEAF, intended)}
    back = {(edit.path, edit.after_text, edit.before_text) for edit in compare(intended, LEAF)}
    assert there == back


def test_an_address_that_becomes_the_primary_one_is_an_edit() -> None:
    a, b = IPv4Interface("10.1.0.1/31"), IPv4Interface("10.2.0.1/31")
    edits = compare(port(addresses=(a, b)), port(addresses=(b, a)))
    path = f"{PORT}.addresses.order"
    assert edits == (Edit(path=path, before=f"{a} {b}", after=f"{b} {a}"),)


def test_a_timer_that_goes_is_no_profile_that_goes() -> None:
    timed = PfcProfile(queues=(4,), timers=(PfcTimer(queue=4, detect_time=5),))
    edits = compare(but(pfc=Pfc(profiles=(timed,), detect_ms=10)), LEAF)
    assert [edit.path for edit in edits] == ["pfc.profiles[default].timers[4]"]
    reason = "PFC deadlock timers change under traffic"
    assert classify(edits, (), DISRUPTS) == (ChangeKind.REMOVING, (reason,))


def test_a_built_in_profile_that_gets_its_first_line_pauses_other_queues() -> None:
    edits = compare(but(pfc=Pfc(detect_ms=10)), LEAF)
    assert [(edit.path, edit.before) for edit in edits] == [("pfc.profiles[default]", None)]
    reason = "PFC profile default pauses other queues on every port that applies it"
    assert classify(edits, (), DISRUPTS) == (ChangeKind.ADDITIVE, (reason,))


def test_a_queue_that_gets_another_model_is_modified() -> None:
    edits = compare(but(ai_ecn=AiEcn(enabled=True, queues=(AiEcnQueue(queue=4),))), LEAF)
    reason = "ECN marks RoCE traffic by another model or not at all"
    assert classify(edits, (), DISRUPTS) == (ChangeKind.MODIFYING, (reason,))


def test_a_port_brought_up_is_modified_and_felt() -> None:
    edits = compare(port(enabled=False), LEAF)
    assert edits == (Edit(path=f"{PORT}.enabled", before=False, after=True),)
    reason = "100GE1/0/1 is shut down or brought up"
    assert classify(edits, (), DISRUPTS) == (ChangeKind.MODIFYING, (reason,))


def test_commands_without_an_edit_are_no_addition() -> None:
    assert classify((), ("undo x",), DISRUPTS) == (ChangeKind.MODIFYING, ())


def test_a_change_carries_both_digests_and_both_ways() -> None:
    running, intended = (f"sysname leaf01\nntp unicast-server 10.0.0.{n}\n" for n in (1, 2))
    change = change_of(
        running,
        parse(running, "a").device,
        intended,
        parse(intended, "b").device,
        load_families()[SyntaxFamily.V300_G1],
        [("snmp-agent",)],
    )
    assert change.patch == ("ntp unicast-server 10.0.0.2", "undo ntp unicast-server 10.0.0.1")
    assert change.reverse == ("ntp unicast-server 10.0.0.1", "undo ntp unicast-server 10.0.0.2")
    assert (change.device, change.kind, change.kept) == (
        "leaf01",
        ChangeKind.REMOVING,
        ("snmp-agent",),
    )
    assert change.running_digest == digest_of(running)
    assert change.intended_digest == digest_of(intended)
    assert not change.empty


def test_a_change_names_the_port_whose_traffic_no_order_of_the_lines_pauses() -> None:
    case = BY_NAME["a port and its traffic cross from queue 4 to queue 3"]
    texts = [f"sysname leaf01\n{text}" for text in (case.before, case.after)]
    old, new = (parse(text, "case").device for text in texts)
    change = change_of(texts[0], old, texts[1], new, load_families()[case.family], ())
    assert change.service_affecting == (
        "diffserv domain roce maps traffic to other queues on every port that uses it",
        "PFC on 100GE1/0/1 changes under traffic",
        "traffic of 100GE1/0/1 is not paused in queue 4 while its PFC profile changes (queue 3 if "
        "the lines are reversed): stop RoCE on this port or drain the switch first",
    )
