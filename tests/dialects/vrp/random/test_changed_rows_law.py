"""A patch made of the rows that differ is the patch made of all rows, between random switches."""

from __future__ import annotations

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from patch_cases import of_whole_texts
from random_switches import switches
from random_values import TEMPLATES

from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.render import render
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import SyntaxFamily


def with_parts_of(data: st.DataObject, old: Device, other: Device) -> Device:
    """Return a switch with some fields, ports and peers of another one."""
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
    """The patch and the way back are those of all rows."""
    short = make_patch(before, after, family)
    with of_whole_texts():
        assert make_patch(before, after, family) == short


@pytest.mark.soak
@settings(max_examples=tries(10))
@given(data=st.data(), family=st.sampled_from(SyntaxFamily))
def test_a_change_of_a_random_switch_is_the_same_told_short(
    data: st.DataObject,
    family: SyntaxFamily,
) -> None:
    """A switch becomes another in all, and in some of its parts; drawing the two costs the most."""
    old, other = (data.draw(switches(family)) for _ in range(2))
    before = render(old, family, TEMPLATES[family])
    for new in (other, with_parts_of(data, old, other)):
        after = render(new, family, TEMPLATES[family])
        judge(before, after, family)
