"""Eth-Trunks: parsing of their lines, and refusals of the emulated switch."""

from __future__ import annotations

import pytest
from canonical import canonical

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.models.change.compare import compare
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Bond, Interface
from rocefort.models.hardware.hardware import SyntaxFamily

G1 = SyntaxFamily.V300_G1
TYPED = """\
sysname leaf01
interface eth-trunk 10
 mode manual load-balance
 lacp timeout slow
 least active-linknumber 1
interface 100ge 1/0/1
 eth-trunk 10
"""
BUNDLE = "interface Eth-Trunk10\n mode lacp-static\ninterface 100GE1/0/1\n eth-trunk 10\n"


def test_operator_forms_and_defaults_are_read_and_not_written() -> None:
    parsed = parse(TYPED, "a")
    assert parsed.unmodelled == ()
    assert parsed.device.by_interface["Eth-Trunk10"] == Interface(name="Eth-Trunk10")
    assert parsed.device.members == {10: (Interface(name="100GE1/0/1", eth_trunk=10),)}
    section = "\n#\ninterface Eth-Trunk10\n#\ninterface 100GE1/0/1\n eth-trunk 10\n#\n"
    assert section in render(parsed.device, G1, "ce8851")


@pytest.mark.parametrize(
    ("view", "line"),
    [
        ("Eth-Trunk10", "lacp timeout fast user-defined 30"),
        ("Eth-Trunk10", "dfs-group 1 m-lag 10"),
        ("Eth-Trunk10", "trunkport 100GE1/0/1"),
        ("Vlanif10", "eth-trunk 10"),
        ("100GE1/0/1", "mode lacp-static"),
    ],
)
def test_what_no_bond_can_say_is_kept(view: str, line: str) -> None:
    parsed = parse(f"sysname a\ninterface {view}\n {line}\n", "a")
    assert [line_text.text for line_text in parsed.unmodelled] == [line]


@pytest.mark.parametrize(
    ("interface", "message"),
    [
        (
            Interface(name="Eth-Trunk1", bond=Bond(lacp_timeout="fast")),
            "interfaces[Eth-Trunk1].bond.lacp_timeout on v300-g1: no LACP in manual mode; "
            "use mode lacp-static",
        ),
        (
            Interface(name="100GE1/0/1", bond=Bond(minimum_links=2)),
            "interfaces[100GE1/0/1].bond on v300-g1: only an Eth-Trunk bundles ports; set it on "
            "the Eth-Trunk",
        ),
        (
            Interface(name="Eth-Trunk1", eth_trunk=2),
            "interfaces[Eth-Trunk1].eth_trunk on v300-g1: only a physical port can be a member; "
            "leave it out",
        ),
    ],
)
def test_what_no_switch_can_be_told_is_refused(interface: Interface, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        render(Device(name="a", interfaces=(interface,)), G1, "ce8851")
    assert str(refused.value) == f"a: {message}"


@pytest.mark.parametrize(
    ("before", "typed", "message"),
    [
        ("", "interface 100GE1/0/1;eth-trunk 10", "Error: interface Eth-Trunk10 does not exist."),
        (
            f"{BUNDLE}interface Eth-Trunk11\n",
            "interface 100GE1/0/1;eth-trunk 11",
            "Error: 100GE1/0/1 is a member of Eth-Trunk10.",
        ),
        (
            "interface Eth-Trunk10\ninterface 100GE1/0/1\n port default vlan 10\n",
            "interface 100GE1/0/1;eth-trunk 10",
            "Error: 100GE1/0/1 still has 'port default vlan 10'.",
        ),
        (
            BUNDLE,
            "interface 100GE1/0/1;trust upstream roce",
            "Error: 100GE1/0/1 still has 'trust upstream roce'.",
        ),
        (
            BUNDLE,
            "interface 100GE1/0/1;undo portswitch",
            "Error: 100GE1/0/1 still has 'undo portswitch'.",
        ),
        (
            BUNDLE,
            "interface Eth-Trunk10;mode lacp-dynamic",
            "Error: Eth-Trunk10 still has member 100GE1/0/1.",
        ),
        (BUNDLE, "interface Eth-Trunk10;undo mode", "Error: Eth-Trunk10 still has member"),
        (
            "interface Eth-Trunk10\n",
            "interface Eth-Trunk10;lacp timeout fast",
            "Error: Eth-Trunk10 has an LACP timeout, but no LACP.",
        ),
        (BUNDLE, "undo interface Eth-Trunk10", "Error: Eth-Trunk10 still has member 100GE1/0/1."),
    ],
)
def test_the_switch_refuses(before: str, typed: str, message: str) -> None:
    config = canonical(parse_tree(before), G1)
    with pytest.raises(VrpRefusal) as refused:
        apply_lines(config, typed.split(";"), G1)
    assert refused.value.message.startswith(message)


@pytest.mark.parametrize(
    "typed",
    [
        "interface 100GE1/0/1;description x;shutdown;dcb pfc enable mode manual;qos drr 0",
        "interface 100GE1/0/1;undo eth-trunk;quit;undo interface Eth-Trunk10",
        "interface Eth-Trunk10;mode lacp-static;lacp timeout fast;port default vlan 10",
    ],
)
def test_the_switch_takes(typed: str) -> None:
    before = canonical(parse_tree(BUNDLE), G1)
    assert tree_text(apply_lines(before, typed.split(";"), G1)) != tree_text(before)


def test_a_changed_mode_is_no_mere_addition() -> None:
    old, new = (
        Device(name="a", interfaces=(Interface(name="Eth-Trunk1", bond=bond),))
        for bond in (Bond(), Bond(mode="lacp-static"))
    )
    (edit,) = compare(old, new)
    assert (edit.path, edit.before_text, edit.after_text) == (
        "interfaces[Eth-Trunk1].bond.mode",
        "manual load-balance",
        "lacp-static",
    )
