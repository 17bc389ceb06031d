"""The diff of an emulated switch equals the planned change, and no other change."""

from __future__ import annotations

import pytest
from canonical import canonical
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from random_switches import switches
from random_values import TEMPLATES

from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.dialects.changes import change_of
from rocefort.dialects.secrets import filled_line, with_known_secrets
from rocefort.dialects.vrp.device_diff import same_change
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.dialects.vrp.text.secret_forms import as_saved
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.change.plan import Change
from rocefort.models.device.device import Device, without_defaults
from rocefort.models.device.lossless_queue import PfcProfile
from rocefort.models.hardware.hardware import SyntaxFamily

FAMILIES = load_catalogue().families


class Answers(dict[str, str]):
    """Any secret that a patch contains."""

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, reference: str) -> str:
        return f"word-of-{len(reference)}"


def with_references(device: Device) -> Device:
    """Return the Device with a reference for every secret."""
    text = device.model_dump_json().replace('"encrypted"', '"env:Q"')
    return Device.model_validate_json(text)


def saved(device: Device, name: SyntaxFamily) -> str:
    """Text of a Device as a switch saves it; the view of the built-in PFC profile is there."""
    if all(profile.name != "default" for profile in device.pfc.profiles):
        pfc = device.pfc.model_copy(update={"profiles": (PfcProfile(), *device.pfc.profiles)})
        device = device.model_copy(update={"pfc": pfc})
    text = as_saved(render(device, name, TEMPLATES[name]))
    return tree_text(canonical(parse_tree(text), name))


def of_the_same_as(running: Device, intended: Device) -> Device:
    """The same switch, whose AS no plan changes."""
    bgp = intended.bgp
    if bgp and running.bgp:
        bgp = bgp.model_copy(update={"asn": running.bgp.asn})
    return intended.model_copy(update={"name": running.name, "bgp": bgp})


def planned(running: Device, intended: Device, name: SyntaxFamily) -> Change:
    texts = [render(device, name, TEMPLATES[name]) for device in (running, intended)]
    return change_of(texts[0], running, texts[1], intended, FAMILIES[name], ())


def diff_of_switch(running: str, change: Change, family: SyntaxFamily) -> str:
    """Return `display configuration candidate changes` after the patch was typed."""
    switch = EmulatedSwitch(change.device, running, family)
    session = CliSession(switch, "netops")
    session.handle("system-view")
    for line in change.patch:
        text = session.handle(filled_line(line.strip(), Answers())).text
        if session.question:
            text = session.handle("y").text
        assert "Error:" not in text, (line, text)
    while len(session.view) > 0:
        session.handle("quit")
    return session.handle("display configuration candidate changes").text


def shifted(diff: str) -> str:
    """Return the reference's form: removed lines of a kept view are one blank further left."""
    rows, first, stays = [], True, False
    for row in diff.splitlines():
        if row == "  #":
            first = True
        elif first:
            first, stays = False, row.startswith(" ")
        rows.append(f"-{row[2:]}" if stays and row.startswith("-  ") else row)
    return "\n".join(rows)


@pytest.mark.soak
@settings(max_examples=tries(15))
@given(data=st.data(), name=st.sampled_from(SyntaxFamily))
def test_what_a_switch_says_it_would_change_is_the_planned_change(
    data: st.DataObject, name: SyntaxFamily
) -> None:
    family = FAMILIES[name]
    text = saved(data.draw(switches(name)), name)
    running = without_defaults(parse(text, "running").device, family)
    drawn = of_the_same_as(running, with_references(data.draw(switches(name))))
    intended = without_defaults(parse(saved(drawn, name), "intended").device, family)
    intended = with_known_secrets(intended, drawn, ())
    running = with_known_secrets(running, intended, data.draw(st.sampled_from([(), ("env:P",)])))
    change = planned(running, intended, name)
    diff = diff_of_switch(text, change, name)
    assert same_change(change, diff, text, family) == ()
    assert same_change(change, shifted(diff), text, family) == ()
    visible = [edit for edit in change.edits if not edit.path.endswith("password")]
    if not visible:
        return
    other = data.draw(st.sampled_from(visible))
    rest = tuple(edit for edit in change.edits if edit != other)
    fewer = change.model_copy(update={"edits": rest})
    sentences = same_change(fewer, diff, text, family)
    assert len(sentences) == 1
    assert sentences[0].startswith(f"not planned: {other.path}: ")
