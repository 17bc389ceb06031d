"""Filters of data packets: read in any form, saved in one, patched in an order that never opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Network
from typing import Any

import pytest
from canonical import canonical
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.dialects.vrp.dialect import DISRUPTS
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.models.change.compare import classify, compare
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface
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
from rocefort.models.hardware.hardware import SyntaxFamily

G1 = SyntaxFamily.V300_G1
MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], frozenset[tuple[str, ...]]]


def net(text: str) -> IPv4Network:
    return IPv4Network(text)


def rule_of(text: str) -> FilterRule | None:
    parsed = parse(f"sysname a\nacl number 3000\n {text}\n", "a.cfg")
    rules = parsed.device.filters.acls[0].rules
    assert bool(rules) != bool(parsed.unmodelled)
    return rules[0] if rules else None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("rule 5 permit ip", FilterRule(index=5)),
        ("rule 5 deny ip source any destination any", FilterRule(index=5, action="deny")),
        (
            "rule 0 permit 17 destination-port eq 4791 source 10.1.2.3 0.0.0.255",
            FilterRule(
                index=0,
                protocol="udp",
                source=net("10.1.2.0/24"),
                destination_ports=PortRange(low=4791, high=4791),
            ),
        ),
        (
            "rule 5 permit tcp source 10.1.2.3 0 source-port gt 1023 destination-port eq www",
            FilterRule(
                index=5,
                protocol="tcp",
                source=net("10.1.2.3/32"),
                source_ports=PortRange(low=1024, high=65535),
                destination_ports=PortRange(low=80, high=80),
            ),
        ),
        (
            "rule 5 permit udp destination 10.1.0.0 16 source-port lt ntp dscp af41",
            FilterRule(
                index=5,
                protocol="udp",
                destination=net("10.1.0.0/16"),
                source_ports=PortRange(low=0, high=122),
                dscp=34,
            ),
        ),
        ("rule 5 permit icmp source 1.2.3.4 255.255.255.255", FilterRule(index=5, protocol="icmp")),
        # a line that no Device can represent is kept, never reduced
        ("rule 5 permit tcp time-range night", None),
        ("rule 5 permit icmp icmp-type echo", None),
        ("rule 5 permit gre", None),
        ("rule 5 permit ip destination-port eq 80", None),
        ("rule 5 permit ip source 10.0.0.0 0.255.0.255", None),
        ("rule 5 permit ip source 10.0.0.0", None),
        ("rule 5 permit tcp destination-port range 90 80", None),
        ("rule 5 permit tcp source any source any", None),
    ],
)
def test_a_rule_in_the_forms_that_one_types(text: str, rule: FilterRule | None) -> None:
    assert rule_of(text) == rule


def test_a_rule_is_saved_in_one_form() -> None:
    typed = (
        "acl 3000;rule 5 permit 6 destination-port eq www source 10.1.2.3 0.0.0.255 dscp ef;quit;"
        "traffic classifier C;if-match acl 3000"
    )
    config = canonical(apply_lines((), typed.split(";"), G1), G1)
    assert [(top.text, [line.text for line in top.children]) for top in config] == [
        (
            "acl number 3000",
            ["rule 5 permit tcp source 10.1.2.0 0.0.0.255 destination-port eq 80 dscp 46"],
        ),
        ("traffic classifier C type or", ["if-match acl 3000"]),
    ]


WHOLE = """#
sysname a
#
acl name VLAN10 advance
 rule 10 permit udp source 10.1.2.0 0.0.0.255 destination-port eq 4791
 rule 20 deny ip
#
traffic classifier C type or
 if-match acl VLAN10
#
traffic behavior B
#
traffic policy P
 classifier C behavior B precedence 5
#
interface Vlanif10
 ip address 10.0.0.1 255.255.255.0
 traffic-policy P inbound
#
return
"""
BARE = "#\nsysname a\n#\ninterface Vlanif10\n ip address 10.0.0.1 255.255.255.0\n#\nreturn\n"


def test_a_filter_is_whole_before_it_is_applied_and_until_it_no_longer_is() -> None:
    patch = make_patch(BARE, WHOLE, G1)
    assert [line.strip() for line in patch.commands if line.strip() != "quit"] == [
        "acl name VLAN10 advance",
        "rule 10 permit udp source 10.1.2.0 0.0.0.255 destination-port eq 4791",
        "rule 20 deny ip",
        "traffic classifier C type or",
        "if-match acl VLAN10",
        "traffic behavior B",
        "traffic policy P",
        "classifier C behavior B precedence 5",
        "interface Vlanif10",
        "traffic-policy P inbound",
    ]
    assert [line.strip() for line in patch.reverse if line.strip() != "quit"] == [
        "interface Vlanif10",
        "undo traffic-policy P inbound",
        "undo traffic policy P",
        "undo traffic behavior B",
        "undo traffic classifier C",
        "undo acl name VLAN10",
    ]


def test_a_changed_rule_is_made_anew_and_others_go_last() -> None:
    changed = WHOLE.replace("rule 10 permit udp", "rule 10 deny tcp").replace(
        " rule 20 deny ip\n", " rule 15 permit ip\n"
    )
    assert [line.strip() for line in make_patch(WHOLE, changed, G1).commands] == [
        "acl name VLAN10 advance",
        "undo rule 10",
        "rule 10 deny tcp source 10.1.2.0 0.0.0.255 destination-port eq 4791",
        "rule 15 permit ip",
        "undo rule 20",
        "quit",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("undo traffic policy P", "Error: traffic policy P is in use."),
        ("undo traffic classifier C", "Error: traffic classifier C is in use."),
        ("undo traffic behavior B", "Error: traffic behavior B is in use."),
    ],
)
def test_what_is_in_use_cannot_be_deleted(line: str, message: str) -> None:
    with pytest.raises(VrpRefusal) as caught:
        apply_lines(canonical(parse_tree(WHOLE), G1), [line], G1)
    assert caught.value.message == message


def test_a_policy_that_does_not_exist_cannot_be_applied() -> None:
    with pytest.raises(VrpRefusal) as caught:
        apply_lines((), ["interface Vlanif10", "traffic-policy Q inbound"], G1)
    assert caught.value.message == "Error: Q does not exist."


NAMES = st.sampled_from(["A", "B2", "VLAN10", "x.y"])
PREFIXES = st.sampled_from([None, net("10.0.0.0/8"), net("10.1.2.3/32"), net("0.0.0.0/1")])
PORTS = st.sampled_from(
    [None, PortRange(low=0, high=0), PortRange(low=4791, high=4791)]
) | st.builds(
    lambda low, more: PortRange(low=low, high=low + more), st.integers(0, 9), st.integers(0, 65526)
)


@st.composite
def filter_rules(draw: st.DrawFn) -> FilterRule:
    protocol = draw(st.sampled_from(["ip", "tcp", "udp", "icmp"]))
    ported = protocol in ("tcp", "udp")
    return FilterRule(
        index=draw(st.integers(0, 30)),
        action=draw(st.sampled_from(["permit", "deny"])),
        protocol=protocol,
        source=draw(PREFIXES),
        source_ports=draw(PORTS) if ported else None,
        destination=draw(PREFIXES),
        destination_ports=draw(PORTS) if ported else None,
        dscp=draw(st.none() | st.integers(0, 63)),
    )


def rows(strategy: st.SearchStrategy[Any], key: str) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=3, unique_by=lambda row: getattr(row, key)).map(tuple)


@st.composite
def devices(draw: st.DrawFn) -> Device:
    acls = draw(
        rows(
            st.builds(
                FilterAcl,
                name=NAMES | st.sampled_from(["3000", "3999"]),
                rules=rows(filter_rules(), "index"),
            ),
            "name",
        )
    )
    acl_names = [acl.name for acl in acls] or ["3001"]
    classifiers = draw(
        rows(
            st.builds(Classifier, name=NAMES, acls=st.sets(st.sampled_from(acl_names)).map(tuple)),
            "name",
        )
    )
    behaviors = draw(rows(st.builds(Behavior, name=NAMES, deny=st.booleans()), "name"))
    policies: Any = ()
    if classifiers and behaviors:
        binding = st.builds(
            ClassifierBinding,
            classifier=st.sampled_from([c.name for c in classifiers]),
            behavior=st.sampled_from([b.name for b in behaviors]),
            precedence=st.none() | st.integers(0, 65535),
        )
        policies = draw(
            rows(st.builds(TrafficPolicy, name=NAMES, bindings=rows(binding, "classifier")), "name")
        )
    names = st.sampled_from([None, *(policy.name for policy in policies)])
    return Device(
        name="a",
        interfaces=(Interface(name="Vlanif10", filter_in=draw(names), filter_out=draw(names)),),
        filters=Filters(acls=acls, classifiers=classifiers, behaviors=behaviors, policies=policies),
    )


@settings(max_examples=tries(25))
@given(old=devices(), new=devices())
def test_laws_1_and_4_of_any_filters(meaning: MeaningOf, old: Device, new: Device) -> None:
    a, b = (render(device, G1, "ce8851") for device in (old, new))
    assert parse(a, "a.cfg").device == old
    assert parse(a, "a.cfg").unmodelled == ()
    patch = make_patch(a, b, G1)
    assert meaning(a, patch.commands, G1) == meaning(b, (), G1)
    assert meaning(b, patch.reverse, G1) == meaning(a, (), G1)


def test_what_a_change_of_a_filter_means() -> None:
    old = parse(WHOLE, "a.cfg").device
    new = parse(WHOLE.replace("rule 20 deny ip", "rule 20 deny tcp"), "a.cfg").device
    (edit,) = compare(old, new)
    assert (edit.path, edit.before_text, edit.after_text) == (
        "filters.acls[VLAN10].rules[20].protocol",
        "ip",
        "tcp",
    )
    assert classify([edit], ["x"], DISRUPTS)[1] == (
        "ACL VLAN10 allows and denies other traffic on every interface that applies it",
    )
    edits = compare(parse(BARE, "a.cfg").device, old)
    assert (
        "Vlanif10 filters by another traffic policy: other traffic passes, or none"
        in classify(edits, ["x"], DISRUPTS)[1]
    )
