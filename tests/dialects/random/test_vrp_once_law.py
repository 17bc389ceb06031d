"""A switch has the text that a process writes for it which has written no other."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from efforts import tries
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jinja2 import Environment
from random_switches import switches
from random_values import TEMPLATES

from rocefort.dialects.vrp.once import Each, Once
from rocefort.dialects.vrp.render import environment, render
from rocefort.errors import BadInput
from rocefort.models.device import Device
from rocefort.models.hardware import SyntaxFamily


class Forgetful(dict[Hashable, Any]):
    """Keeps nothing."""

    def __setitem__(self, key: Hashable, value: object) -> None:
        pass


@cache
def forgetting() -> Environment:
    """Templates that write every text anew."""
    made = environment.__wrapped__()
    for extension in made.extensions.values():
        assert isinstance(extension, (Once, Each))
        extension.kept = Forgetful()
    return made


def text(device: Device, family: SyntaxFamily) -> str:
    try:
        return render(device, family, TEMPLATES[family])
    except BadInput as refused:  # what one family can say, another cannot
        return str(refused)


@pytest.mark.soak
@settings(max_examples=tries(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), family=st.sampled_from(SyntaxFamily))
def test_switches_written_after_each_other_read_as_if_each_were_the_first(
    monkeypatch: pytest.MonkeyPatch,
    data: st.DataObject,
    family: SyntaxFamily,
) -> None:
    one, other = (data.draw(switches(family)) for _ in range(2))
    # the ports of one with everything else of the other, and the peers
    crossed = one.model_copy(update={"interfaces": other.interfaces})
    peers = {"bgp": one.bgp and other.bgp and one.bgp.model_copy(update={"asn": other.bgp.asn + 9})}
    devices = [one, other, crossed, other.model_copy(update=peers)]
    tasks = [(device, name) for device in devices for name in SyntaxFamily]
    with monkeypatch.context() as context:
        context.setattr(import_module(render.__module__), "environment", forgetting)
        expected = [text(device, name) for device, name in tasks]
    order = data.draw(st.permutations(range(len(tasks))))
    for number in (*order, *order):
        assert text(*tasks[number]) == expected[number]
