"""What is left of two texts has the patch, the lines and the change of the whole texts."""

from __future__ import annotations

import re

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from patch_cases import of_whole_texts
from random_switches import switches
from random_values import TEMPLATES

from rocefort.design.derive import Derived
from rocefort.dialects.vrp import said
from rocefort.dialects.vrp.narrowed import Narrowed, narrowed
from rocefort.dialects.vrp.parse import parse
from rocefort.dialects.vrp.patch import make_patch
from rocefort.dialects.vrp.provenance import changed_lines
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.said import says_change
from rocefort.dialects.vrp.texts import render_node
from rocefort.errors import BadInput
from rocefort.models.device import Device
from rocefort.models.hardware import SyntaxFamily


def with_parts_of(data: st.DataObject, old: Device, other: Device) -> Device:
    """A switch of which some fields, some ports and some peers are another's."""
    names = st.sampled_from([name for name in Device.model_fields if name != "interfaces"])
    fields = data.draw(st.sets(names, max_size=2))
    ports = {port.name: port for port in old.interfaces}
    theirs = {port.name: port for port in other.interfaces}
    for name in data.draw(st.sets(st.sampled_from(sorted({**ports, **theirs, "": None})))) - {""}:
        ports.pop(name, None)
        ports.update({name: theirs[name]} if name in theirs else {})
    parts: dict[str, object] = {name: getattr(other, name) for name in fields}
    if old.bgp and other.bgp and data.draw(st.booleans()):
        parts["bgp"] = old.bgp.model_copy(update={"peers": other.bgp.peers})
    parts["interfaces"] = tuple(ports.values())
    new = Device.model_validate(dict(old) | parts)
    return new if new.ntp_servers else new.model_copy(update={"ntp_vrf": None})  # it has no line


def judge(before: str, after: str, family: SyntaxFamily) -> None:
    """The patch, the way back and the lines are those of the whole texts."""
    short = make_patch(before, after, family), changed_lines(before, after)
    with of_whole_texts():
        assert (make_patch(before, after, family), changed_lines(before, after)) == short


@pytest.mark.soak
@settings(max_examples=tries(10))
@given(data=st.data(), family=st.sampled_from(SyntaxFamily))
def test_a_change_of_a_random_switch_is_the_same_told_short(
    data: st.DataObject,
    family: SyntaxFamily,
) -> None:
    """A switch becomes another in all, and in some of its parts; to draw the two costs the most."""
    old, other = (data.draw(switches(family)) for _ in range(2))
    before = render(old, family, TEMPLATES[family])
    for new in (other, with_parts_of(data, old, other)):
        after = render(new, family, TEMPLATES[family])
        judge(before, after, family)
        assert says_change(before, old, after, new)
        assert says_change(after, new, before, old)
        assert_another_change_is_found(data, (before, old), (after, new))


def says(text: str, device: Device) -> bool:
    try:
        parsed = parse(text, "a line less")
    except BadInput:
        return False
    return not parsed.unmodelled and parsed.device == device


def assert_another_change_is_found(
    data: st.DataObject, old: tuple[str, Device], new: tuple[str, Device]
) -> None:
    """As if the renderer had left out a line, or the other switch had been derived."""
    lines = new[0].splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.startswith(" ")]
    place = data.draw(st.sampled_from(places))
    short = "".join(lines[:place] + lines[place + 1 :])
    assert says_change(*old, short, new[1]) is says(short, new[1])
    if old[1] != new[1]:
        assert not says_change(*old, new[0], old[1])


def test_of_one_port_that_changes_its_changed_lines_are_left(heps: Derived) -> None:
    text = render_node(heps.network.by_name["leaf01"])
    port = next(iter(re.findall(r"^interface (\d+GE\S+)$", text, re.MULTILINE)))
    head = f"interface {port}\n"
    after = text.replace(head, f"{head} shutdown\n")
    left = narrowed(text, after)
    assert left.before == f"#\nsysname unchanged\n#\ninterface {port}\n#\nreturn\n"
    assert left.after == left.before.replace(head, f"{head} shutdown\n")


def test_of_one_peer_that_comes_its_lines_are_left(heps: Derived) -> None:
    node = heps.network.by_name["leaf01"]
    device = node.device
    assert device.bgp
    fewer = device.bgp.model_copy(update={"peers": device.bgp.peers[1:]})
    gone = node.model_copy(update={"device": device.model_copy(update={"bgp": fewer})})
    before, after = render_node(gone), render_node(node)
    who = device.bgp.peers[0].address
    lines = [line for line in narrowed(before, after).after.splitlines() if " peer " in line]
    assert lines
    assert all(line.split()[1] == str(who) for line in lines)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#\nlldp enable\n", "#\nlldp enable\n#\ndcb pfc extra\n priority 5\n"),
        ("#\nlldp enable\n", "#\nlldp enable\n#\ninterface Eth-Trunk7\n mode lacp-static\n"),
    ],
)
def test_ports_stay_where_a_patch_looks_at_all_of_them(heps: Derived, old: str, new: str) -> None:
    text = render_node(heps.network.by_name["leaf01"])
    after = text.replace(old, new, 1)
    assert after != text
    assert narrowed(text, after).after.count("\ninterface ") == after.count("\ninterface ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#\nlldp enable\n", "#\ndcb pfc global disable\n"),  # no port pauses, whatever it says
        ("#\nlldp enable\n", "#\nheader login information %\ninterface x\n%\n"),
        (" mtu ", "  mtu "),
        ("#\ninterface ", "interface "),
    ],
)
def test_texts_of_another_form_stay_whole(heps: Derived, old: str, new: str) -> None:
    text = render_node(heps.network.by_name["leaf01"])
    after = text.replace(old, new)
    assert after != text
    assert narrowed(text, after) == Narrowed(text, after)
    assert narrowed(after, text) == Narrowed(after, text)


def test_equal_changes_of_many_switches_are_read_once(heps: Derived) -> None:
    leaves = [n for n in heps.network.nodes if n.name.startswith("leaf")]
    before = said.said.cache_info().misses
    for node in leaves:
        text = render_node(node)
        after = text.replace("undo portswitch\n", "undo portswitch\n shutdown\n")
        changed_lines(text, after)
    models = {node.hardware.model for node in leaves if node.hardware}
    assert len(leaves) > 2 * len(models)
    assert said.said.cache_info().misses <= before + len(models)
