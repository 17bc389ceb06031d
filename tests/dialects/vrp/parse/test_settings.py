"""Ports that are set alike share their lines; no port has a line of another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError, meta
from random_switches import switches
from random_values import TEMPLATES

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp import render as rendering
from rocefort.dialects.vrp.render import environment, render
from rocefort.models.device.device import Device
from rocefort.models.device.interface import Interface, PfcThreshold
from rocefort.models.hardware.hardware import SyntaxFamily

G1 = SyntaxFamily.V300_G1
PORT = Interface(
    name="100GE1/0/1",
    description="to spine01",
    domain="roce",
    edge=True,
    thresholds=(PfcThreshold(queue=4, xoff_kbytes=600, xon_kbytes=550),),
)
OTHER = PORT.model_copy(update={"name": "100GE1/0/2", "description": "to spine02", "edge": False})


def text(device: Device, family: SyntaxFamily) -> str:
    try:
        return render(device, family, TEMPLATES[family])
    except BadInput as refused:  # what one family can say, another cannot
        return str(refused)


def test_a_line_is_on_the_ports_that_have_it_alone() -> None:
    sections = text(Device(name="leaf01", interfaces=(PORT, OTHER)), G1).split("#\n")
    first, second = (part for part in sections if part.startswith("interface"))
    assert " stp edged-port enable\n" in first
    assert second == first.replace("100GE1/0/1", "100GE1/0/2").replace(
        "spine01", "spine02"
    ).replace(" stp edged-port enable\n", "")


def test_the_lines_that_ports_share_are_written_once() -> None:
    rendering._shared_lines.cache_clear()
    alike = OTHER.model_copy(update={"edge": True})
    render(Device(name="leaf01", interfaces=(PORT, alike)), G1, TEMPLATES[G1])
    assert rendering._shared_lines.cache_info().currsize == 1


def test_what_a_template_of_settings_reads_is_the_port_and_the_family() -> None:
    names = ["common/settings.j2", "common/bond.j2", "common/markings.j2"]
    names += [f"family/{family.value}-threshold.j2" for family in SyntaxFamily]
    loader = environment().loader
    assert loader is not None
    for name in names:
        source, _, _ = loader.get_source(environment(), name)
        read = meta.find_undeclared_variables(environment().parse(source))
        assert read <= {"port", "family", "threshold"}, name


@pytest.mark.parametrize(
    "body",
    [
        " description {{ interface.name }}",
        " description {{ device.vlans }}",
        " description {{ port.name }}",
        "{% if port.routed and not port.logical %} undo portswitch{% endif %}",
        "{% if port.kind != 'eth-trunk' %} undo portswitch{% endif %}",
        "{% if not port.addresses %} shutdown{% endif %}",
        "{% if port.description is not none %} description {{ port.description }}{% endif %}",
        "{% for address in port.addresses %} ip address {{ address.ip }} 31{% endfor %}",
    ],
)
def test_a_line_that_reads_more_is_refused_and_not_shared(
    monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    template = environment().from_string(f"{body}\n")
    rendering._shared_lines.cache_clear()
    monkeypatch.setattr(environment(()), "get_template", lambda _name: template)
    with pytest.raises((UndefinedError, ValueError)):
        rendering._settings((), PORT.model_copy(update={"routed": True}), G1.value)


@given(data=st.data(), family=st.sampled_from(SyntaxFamily))
def test_switches_written_after_each_other_read_as_if_each_were_the_first(
    data: st.DataObject, family: SyntaxFamily
) -> None:
    one, other = (data.draw(switches(family)) for _ in range(2))
    crossed = one.model_copy(update={"interfaces": other.interfaces})
    tasks = [(device, name) for device in (one, other, crossed) for name in SyntaxFamily]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "_shared_lines", rendering._shared_lines.__wrapped__)
        expected = [text(*task) for task in tasks]
    for number in data.draw(st.permutations(range(len(tasks)))):
        assert text(*tasks[number]) == expected[number]
