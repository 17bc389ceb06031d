"""Law 1: what is rendered reads back as the same Device; saved text renders to itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from efforts import tries
from hypothesis import given, settings
from random_switches import switches
from random_values import TEMPLATES

from rocefort.dialects.data import sources_of
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import Sources

GOLDEN = Path(__file__).parents[2] / "golden" / "vrp"


@pytest.mark.parametrize("family", SyntaxFamily)
def test_what_is_rendered_reads_back(family: SyntaxFamily) -> None:
    """parse(render(d)) == d, everything understood, every path of a line inside the text."""

    @settings(max_examples=tries(60))
    @given(switches(family, wide=True))
    def law(device: Device) -> None:
        text = render(device, family, TEMPLATES[family])
        parsed = parse(text, "a.cfg")
        assert parsed.device == device
        assert parsed.unmodelled == ()
        assert render(parsed.device, family, TEMPLATES[family]) == text
        assert set(parsed.lines.values()) <= set(range(1, text.count("\n") + 1))

    law()


@pytest.mark.parametrize("family", SyntaxFamily)
@pytest.mark.parametrize("way", [str, lambda text: text.replace("\n", "\r\n")])
def test_saved_text_renders_to_itself(family: SyntaxFamily, way: Callable[[str], str]) -> None:
    text = (GOLDEN / f"{family.value}.cfg").read_text()
    parsed = parse(way(text), "a.cfg")
    assert parsed.unmodelled == ()
    assert render(parsed.device, family, TEMPLATES[family]) == text


@pytest.mark.parametrize("family", SyntaxFamily)
def test_every_value_of_a_saved_text_has_its_line(family: SyntaxFamily) -> None:
    """The line found for a path holds the value's own words."""
    text = (GOLDEN / f"{family.value}.cfg").read_text()
    parsed = parse(text, "a.cfg")
    sources, lines = Sources(sources_of(parsed, "a.cfg")), text.splitlines()
    for interface in parsed.device.interfaces:
        for name, words_of in (("mtu", "mtu"), ("description", "description"), ("", "interface")):
            value = getattr(interface, name) if name else interface.name
            if value is None:
                continue
            path = f"interfaces[{interface.name}]" + (f".{name}" if name else "")
            position = sources.find(parsed.device.name, path)
            assert position is not None
            assert lines[position.line - 1].strip() == f"{words_of} {value}"
