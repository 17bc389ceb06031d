"""SEC rules on isolation: exact messages on faulty filters, and none on near misses."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Interface, IPv4Network
from typing import Any

import pytest

from rocefort.models.device.interface import Interface
from rocefort.models.device.management import Acl, AclRule, Vty
from rocefort.models.device.packet_filters import (
    Behavior,
    Classifier,
    ClassifierBinding,
    FilterAcl,
    FilterRule,
    Filters,
    PortRange,
    TrafficPolicy,
)
from rocefort.models.fabric.policy import PolicyEntry, SegmentPolicy
from rocefort.models.network.network import Segment, TextLine

Change = Callable[[Any], Any]
ROCE = PortRange(low=4791, high=4791)
COMPUTE, STORAGE = IPv4Network("10.10.0.0/16"), IPv4Network("10.20.0.0/16")


def _rule(index: int, action: Any = "permit", **fields: Any) -> FilterRule:
    return FilterRule(index=index, action=action, **fields)


RDMA = _rule(10020, protocol="udp", source=COMPUTE, destination=STORAGE, destination_ports=ROCE)
DENY = _rule(100000020, "deny", source=COMPUTE, destination=STORAGE)
RDMA_BACK = RDMA.model_copy(update={"source": STORAGE, "destination": COMPUTE})
DENY_BACK = DENY.model_copy(update={"source": STORAGE, "destination": COMPUTE})


def _filters(**acls: tuple[FilterRule, ...]) -> Filters:
    return Filters(
        acls=tuple(FilterAcl(name=name, rules=rules) for name, rules in acls.items()),
        classifiers=tuple(Classifier(name=name, acls=(name,)) for name in acls),
        behaviors=(Behavior(name="PERMIT"),),
        policies=tuple(
            TrafficPolicy(
                name=name,
                bindings=(ClassifierBinding(classifier=name, behavior="PERMIT", precedence=5),),
            )
            for name in acls
        ),
    )


def _two_segments(small: Any, policy: SegmentPolicy | None) -> Any:
    """Compute on leaf01 and leaf02, storage on leaf02, and filters that allow RDMA alone."""
    storage = Interface(
        name="Vlanif20", addresses=(IPv4Interface("10.20.2.1/24"),), filter_in="VLAN20"
    )
    segment = Segment(name="storage", leaf="leaf02", vlan=20, gateway=IPv4Interface("10.20.2.1/24"))
    spoiled = small.change(segments=(*small.network.segments, segment), policy=policy)
    for leaf in ("leaf01", "leaf02"):
        spoiled = spoiled.port(leaf, "Vlanif10", filter_in="VLAN10").device(
            leaf, filters=_filters(VLAN10=(RDMA, DENY), VLAN20=(RDMA_BACK, DENY_BACK))
        )
    interfaces = (*spoiled.network.by_name["leaf02"].device.interfaces, storage)
    return spoiled.device("leaf02", interfaces=interfaces)


ALLOW = PolicyEntry(
    id=1, action="allow", source=("compute",), destination=("storage",), protocol="rdma"
)
NFS = PolicyEntry(
    id=2,
    action="allow",
    source=("compute",),
    destination=("storage",),
    protocol="tcp",
    ports=(2049,),
)


def _policy(*entries: PolicyEntry) -> SegmentPolicy:
    return SegmentPolicy(default="deny", entries=entries)


def _acl(small: Any, *rules: FilterRule) -> Any:
    """leaf01 with other rules on its gateway of compute."""
    return _two_segments(small, _policy(ALLOW)).device("leaf01", filters=_filters(VLAN10=rules))


def _outbound(small: Any, *rules: FilterRule) -> Any:
    """The filter of compute at the gateway of storage, outbound, in place of its inbound one."""
    ordered = tuple(sorted(rules, key=lambda rule: rule.index))
    changed = _two_segments(small, _policy(ALLOW)).port("leaf01", "Vlanif10", filter_in=None)
    changed = changed.port("leaf02", "Vlanif10", filter_in=None)
    changed = changed.device(
        "leaf02", filters=_filters(VLAN10=ordered, VLAN20=(RDMA_BACK, DENY_BACK))
    )
    return changed.port("leaf02", "Vlanif20", filter_out="VLAN10")


def _with_line(small: Any, path: tuple[str, ...], text: str) -> Any:
    """leaf01 without a deny of its own and with a line that no model has."""
    filters = _filters(VLAN10=(RDMA,), VLAN20=(RDMA_BACK,))
    changed = _two_segments(small, _policy(ALLOW)).device("leaf01", filters=filters)
    if "VLAN20" in str(path):
        changed = changed.port("leaf01", "Vlanif10", filter_in=None)
    return changed.node("leaf01", unmodelled=(TextLine(path, text, 9),))


def _with_port(small: Any, name: str, address: str) -> Any:
    """leaf01 with one more address than the segments have."""
    changed = _two_segments(small, _policy(ALLOW))
    interfaces = changed.network.by_name["leaf01"].device.interfaces
    port = Interface(name=name, routed=True, addresses=(IPv4Interface(address),))
    return changed.device("leaf01", interfaces=(*interfaces, port))


SECOND_ADDRESS = "ip address 10.99.0.1 255.255.255.0 sub"
TO_STORAGE, TO_COMPUTE = "10.10.{}.2:49152 > 10.20.2.2", "10.20.2.2:49152 > 10.10.1.2"
DENIED = "and the policy denies it"
ALLOWED = "and the policy allows it"


def _passes(leaf: int, decision: str, packet: str = f"udp {TO_STORAGE}:4791") -> str:
    return (
        f"error leaf{leaf:02}: {packet.format(leaf)} passes {decision}, {DENIED} "
        "(compute to storage)"
    )


STORAGE_PASSES = (
    f"error leaf02: udp {TO_COMPUTE}:4791 passes rule 10020 of ACL VLAN20 inbound on Vlanif20, "
    f"{DENIED} (storage to compute)"
)
RULE = "rule 10020 of ACL VLAN10 inbound on Vlanif10"

SEC010: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),  # no policy has no requirements
    (lambda s: _two_segments(s, _policy(ALLOW)), []),
    (  # a denial within a segment, which the default leaves whole
        lambda s: _acl(s, RDMA, DENY, _rule(5, "deny", protocol="icmp")),
        [
            "error leaf01: icmp 10.10.1.2 > 10.10.2.2 is dropped by rule 5 of ACL VLAN10 inbound "
            f"on Vlanif10, {ALLOWED} (compute to compute)"
        ],
    ),
    (
        lambda s: _two_segments(s, _policy()),
        [_passes(1, RULE), _passes(2, RULE), STORAGE_PASSES],
    ),
    (
        lambda s: _acl(s, _rule(5, "deny", protocol="udp"), RDMA, DENY),
        [
            "error leaf01: udp 10.10.1.2:49152 > 10.10.2.2:4791 is dropped by rule 5 of ACL VLAN10 "
            f"inbound on Vlanif10, {ALLOWED} (compute to compute and compute to storage)"
        ],
    ),
    (
        lambda s: _two_segments(s, _policy(ALLOW, NFS)),
        [
            *(
                f"error leaf{leaf:02}: tcp {TO_STORAGE.format(leaf)}:2049 is dropped by rule "
                f"100000020 of ACL VLAN10 inbound on Vlanif10, {ALLOWED} (compute to storage)"
                for leaf in (1, 2)
            ),
            "error leaf02: tcp 10.20.2.2:2049 > 10.10.1.2:22 is dropped by rule 100000020 of ACL "
            f"VLAN20 inbound on Vlanif20, {ALLOWED} (storage to compute)",
        ],
    ),
    (
        lambda s: _two_segments(s, _policy()).port("leaf01", "Vlanif10", filter_in=None),
        [
            "error leaf01: udp 10.10.1.2:49152 > 10.20.2.2:4791 passes Vlanif10, which applies no "
            "traffic policy inbound, and the policy denies it (compute to storage)",
            _passes(2, RULE),
            STORAGE_PASSES,
        ],
    ),
    (  # all but one rule is right: SSH passes, where only RDMA was an example
        lambda s: _acl(s, RDMA, DENY.model_copy(update={"protocol": "udp"})),
        [
            _passes(
                1,
                "ACL VLAN10 inbound on Vlanif10, where no rule matches it",
                f"tcp {TO_STORAGE}:22",
            )
        ],
    ),
    (  # outbound at the storage's gateway is enough in place of inbound at the others'
        lambda s: _outbound(s, RDMA, DENY),
        [],
    ),
    (
        lambda s: _outbound(s, RDMA, DENY, _rule(5, "deny", protocol="udp")),
        [
            *(
                f"error leaf02: udp {TO_STORAGE.format(1)}:4791 is dropped by rule 5 of ACL VLAN10 "
                f"outbound on Vlanif20, {ALLOWED} (compute to storage)",
            ),
        ],
    ),
    (
        lambda s: _acl(s, RDMA.model_copy(update={"dscp": 34}), DENY),
        [
            "not judged leaf01: rule 10020 of ACL VLAN10 matches by DSCP, which is not evaluated",
        ],
    ),
    (
        lambda s: _with_line(s, ("acl name VLAN10 advance",), "rule 7 deny tcp established"),
        [
            "not judged leaf01: `rule 7 deny tcp established` may change the packets that are filtered"
        ],
    ),
    (
        lambda s: _with_line(s, (), "traffic-policy P global inbound"),
        [
            "not judged leaf01: `traffic-policy P global inbound` may change the packets that are filtered"
        ],
    ),
    (  # not of this gateway
        lambda s: _with_line(s, ("acl name VLAN20 advance",), "rule 7 deny tcp established"),
        [_passes(1, "Vlanif10, which applies no traffic policy inbound", f"udp {TO_STORAGE}:22")],
    ),
    (
        lambda s: _with_line(s, (), "undo acl name VLAN10"),
        ["not judged leaf01: `undo acl name VLAN10` may change the packets that are filtered"],
    ),
    # addresses of no segment; the other packets are judged
    (
        lambda s: _two_segments(s, _policy(ALLOW)).node(
            "leaf01", unmodelled=(TextLine(("interface Vlanif10",), SECOND_ADDRESS, 9),)
        ),
        [f"not judged leaf01: `{SECOND_ADDRESS}` may change the connected subnets"],
    ),
    (
        lambda s: _with_port(s, "Vlanif777", "10.10.200.1/24"),
        [
            "not judged leaf01: Vlanif777 has 10.10.200.1/24, which is the gateway of no segment",
        ],
    ),
    (
        lambda s: _with_port(s, "100GE1/0/30", "10.10.200.1/24"),
        [
            "not judged leaf01: 100GE1/0/30 has 10.10.200.1/24, which is the gateway of no segment",
        ],
    ),
    (
        lambda s: s.change(origin="text"),
        ["not judged fabric: the policy between segments is not known"],
    ),
]

SEC011: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: _acl(s, RDMA, DENY), []),
    (lambda s: _acl(s, _rule(5, protocol="tcp"), RDMA, _rule(200000000, "deny")), []),
    (
        lambda s: _acl(s, _rule(5, "deny"), RDMA),
        [
            "warning leaf01: rule 10020 of ACL VLAN10 never matches: rule 5, which denies them, "
            "takes all its packets"
        ],
    ),
    (
        lambda s: _acl(s, _rule(5, protocol="udp", destination=STORAGE), RDMA),
        [
            "warning leaf01: rule 10020 of ACL VLAN10 never matches: rule 5, which does the same, "
            "takes all its packets"
        ],
    ),
    (
        lambda s: _acl(s, RDMA, DENY.model_copy(update={"index": 100000021, "action": "permit"})),
        [],
    ),
    (
        lambda s: _acl(s, _rule(5, source=COMPUTE), DENY),
        [
            "warning leaf01: rule 100000020 of ACL VLAN10 never matches: rule 5, which permits "
            "them, takes all its packets"
        ],
    ),
    # rules that take only a part leave the rest
    (lambda s: _acl(s, _rule(5, "deny", dscp=34), RDMA), []),
    (
        lambda s: _acl(
            s,
            _rule(5, "deny", protocol="udp", destination_ports=PortRange(low=0, high=4790)),
            RDMA,
        ),
        [],
    ),
    (lambda s: _acl(s, _rule(5, "deny", source=IPv4Network("10.10.0.0/17")), RDMA), []),
]


def _with(small: Any, **update: Any) -> Any:
    filters = _filters(VLAN10=(RDMA, DENY)).model_copy(update=update)
    return small.port("leaf01", "Vlanif10", filter_in="VLAN10").device("leaf01", filters=filters)


SEC012: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (_with, []),
    (
        lambda s: _with(s, policies=()),
        ["error leaf01: Vlanif10 applies traffic policy VLAN10, which does not exist"],
    ),
    (
        lambda s: _with(s, classifiers=()),
        [
            "error leaf01: traffic policy VLAN10 names traffic classifier VLAN10, which does not "
            "exist"
        ],
    ),
    (
        lambda s: _with(s, behaviors=()),
        ["error leaf01: traffic policy VLAN10 names traffic behavior PERMIT, which does not exist"],
    ),
    (
        lambda s: _with(s, acls=()),
        ["error leaf01: traffic classifier VLAN10 names ACL VLAN10, which does not exist"],
    ),
    (
        lambda s: _with(s, classifiers=(Classifier(name="VLAN10"),)),
        ["error leaf01: traffic classifier VLAN10 has no ACL, so it matches nothing"],
    ),
    (
        lambda s: _with(s, classifiers=(Classifier(name="VLAN10"),)).node(
            "leaf01",
            unmodelled=(TextLine(("traffic classifier VLAN10 type or",), "if-match dscp 34", 9),),
        ),
        [],
    ),
    (lambda s: _with(s, classifiers=(Classifier(name="VLAN10", acls=("2000",)),)), []),
    (
        lambda s: _with(s, classifiers=(Classifier(name="VLAN10", acls=("2001",)),)),
        ["error leaf01: traffic classifier VLAN10 names ACL 2001, which does not exist"],
    ),
]

HERE, ANYWHERE = IPv4Network("10.255.0.0/24"), IPv4Network("0.0.0.0/0")


def _access(small: Any, *rules: AclRule) -> Any:
    return small.device("leaf01", acls=(Acl(number=2000, rules=rules),))


SEC013: list[tuple[Change, list[str]]] = [
    (lambda s: s, []),
    (lambda s: s.device("leaf01", vty=()), []),
    (
        lambda s: s.device("leaf01", vty=(Vty(first=0, last=4),)),
        ["warning leaf01: vty 0 to 4: no ACL limits the source of a session"],
    ),
    (
        lambda s: s.device("leaf01", acls=()),
        ["error leaf01: vty 0 to 4: ACL 2000 does not exist"],
    ),
    (
        lambda s: _access(s, AclRule(index=5)),
        ["warning leaf01: vty 0 to 4: rule 5 of ACL 2000 permits every source"],
    ),
    (
        lambda s: _access(s, AclRule(index=5, source=HERE), AclRule(index=9, source=ANYWHERE)),
        ["warning leaf01: vty 0 to 4: rule 9 of ACL 2000 permits every source"],
    ),
    (lambda s: _access(s, AclRule(index=5, action="deny"), AclRule(index=9)), []),
    (lambda s: _access(s, AclRule(index=5, source=HERE)), []),
]


@pytest.mark.parametrize(("change", "says"), SEC010)
def test_sec010_isolated_segments(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("SEC010") == says


@pytest.mark.parametrize(("change", "says"), SEC011)
def test_sec011_unreachable_rules(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("SEC011") == says


@pytest.mark.parametrize(("change", "says"), SEC012)
def test_sec012_whole_filters(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("SEC012") == says


@pytest.mark.parametrize(("change", "says"), SEC013)
def test_sec013_terminal_acl(small: Any, change: Change, says: list[str]) -> None:
    assert change(small).says("SEC013") == says
