"""The emulated switches accept HEPS's rendered configurations line by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from canonical import canonical

from rocefort.design.derive.derive import derive
from rocefort.dialects.vrp.render import render, template_of
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.network.network import Network


@pytest.fixture(scope="module")
def heps() -> Network:
    return derive(Path(__file__).parents[2] / "inventory" / "heps").network


def test_every_switch_of_heps_starts_and_shows_what_was_rendered(heps: Network) -> None:
    assert len(heps.nodes) == 10
    for node in heps.nodes:
        assert node.family is not None
        assert node.hardware is not None
        family = node.family.syntax
        text = render(node.device, family, template_of(node.hardware))
        switch = EmulatedSwitch(node.device.name, text, family)
        assert [str(refusal) for refusal in switch.startup_refusals] == []
        assert switch.hostname == node.device.name
        assert canonical(switch.running, family) == canonical(parse_tree(text), family)
