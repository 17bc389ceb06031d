"""Law 4, and the properties of every line of a patch, between random switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from lossless_patches import breaches
from random_switches import switches
from random_values import TEMPLATES

from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.secret_forms import as_saved
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import SyntaxFamily

MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], frozenset[tuple[str, ...]]]


def random_texts(data: st.DataObject, family: SyntaxFamily) -> tuple[str, str]:
    running, intended = (data.draw(switches(family)) for _ in range(2))
    return render(running, family, TEMPLATES[family]), render(intended, family, TEMPLATES[family])


@pytest.mark.soak
@settings(max_examples=tries(60))
@given(data=st.data(), family=st.sampled_from(SyntaxFamily))
def test_law_4_patch_and_way_back_between_random_switches(
    meaning: MeaningOf,
    data: st.DataObject,
    family: SyntaxFamily,
) -> None:
    running, intended = random_texts(data, family)
    patch = make_patch(running, intended, family)
    before, after = (meaning(text, (), family) for text in (running, intended))
    assert meaning(running, patch.commands, family) == after
    assert meaning(intended, patch.reverse, family) == before


def sound(device: Device) -> Device:
    """Return the switch without missing PFC profiles and domains that a port names.

    `trust upstream` takes "the name of an existing DiffServ domain", by the reference of the
    vendor's S series; that of CloudEngine does not state it.
    """
    ports = (
        port.model_copy(
            update={
                "pfc": port.pfc if device.profile_of(port) else None,
                "domain": port.domain if device.domain_of(port) else None,
            }
        )
        for port in device.interfaces
    )
    return device.model_copy(update={"interfaces": tuple(ports)})


@pytest.mark.soak
@settings(max_examples=tries(40))
@given(data=st.data(), family=st.sampled_from(SyntaxFamily))
def test_no_line_between_random_switches_leaves_roce_unpaused(
    data: st.DataObject, family: SyntaxFamily
) -> None:
    """Except traffic that no order of the lines pauses (`crossing`), and that the patch reports."""
    running, intended = (
        as_saved(render(sound(data.draw(switches(family))), family, TEMPLATES[family]))
        for _ in range(2)
    )
    assert breaches(running, intended, family) == {}
