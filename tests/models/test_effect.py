"""Every field of a Device has an Effect: the objects that a change affects, and traffic."""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.dialects.vrp.dialect import DISRUPTS
from rocefort.models.base import Frozen, Keyed
from rocefort.models.change.compare import classify, effect_of, reason_of
from rocefort.models.change.edits import Edit
from rocefort.models.device.device import EFFECTS, Device
from rocefort.models.effect import KEY, PORT, SAME, EditCondition, effects_of

# Fields whose change never affects traffic or a session.
HARMLESS = {
    "name",
    "telnet_off[]",
    "lldp",
    "pfc",
    "interfaces[].description",
    "interfaces[].edge",
    "interfaces[].bond",
    "interfaces[].bond.lacp_timeout",
    "bgp.groups[].description",
    "bgp.peers[].description",
    "bgp.private_4_byte_as",
    "ntp_servers[]",
    "ntp_vrf",
    "ntp_source",
    "ssh",
    "filters",
    "filters.acls[]",  # its rules affect traffic, and so does an interface that applies it
    "filters.classifiers[]",
    "filters.behaviors[]",
    "filters.policies[]",
    "syslog",
    "syslog.hosts[]",
    "syslog.vrf",
    "syslog.source_interface",
}


class Silent(Frozen):
    speed: Annotated[int, PORT] = 0
    colour: str = "green"


class Row(Frozen):
    name: Annotated[str, KEY]
    rows: Annotated[Keyed[int], SAME] = ()


class Holder(Frozen):
    rows: Annotated[Keyed[Row], PORT.affecting("{} goes", EditCondition.GONE)] = ()
    silent: Annotated[Silent, PORT] = Silent()


def test_a_field_without_an_effect_does_not_load() -> None:
    with pytest.raises(TypeError, match=r"Silent\.colour has no Effect; see .*effect\.py"):
        effects_of(Holder)


def test_a_field_that_states_nothing_does_as_the_one_that_encloses_it() -> None:
    effects = effects_of(Row)
    assert list(effects) == ["rows[]"]
    assert EFFECTS["pfc.profiles[].timers[].detect_time"].reason == (
        "PFC deadlock timers change under traffic"
    )


def test_what_nobody_feels_is_listed_field_by_field() -> None:
    assert {
        field for field, effect in EFFECTS.items() if effect.when is EditCondition.NEVER
    } == HARMLESS


def test_every_field_of_a_device_has_its_effect() -> None:
    assert set(Device.model_fields) == {
        field.partition(".")[0].removesuffix("[]") for field in EFFECTS
    }


VALUES = st.none() | st.integers(1, 9) | st.just({"action": "deny"})


@given(st.lists(st.tuples(st.sampled_from(sorted(EFFECTS)), VALUES, VALUES), max_size=6))
def test_a_dialect_adds_effects_and_removes_none(
    drawn: list[tuple[str, object, object]],
) -> None:
    edits = [
        Edit(path=field.replace("[]", "[0.0.0.0/0 7]"), before=before, after=after)
        for field, before, after in drawn
    ]
    assert DISRUPTS.keys() <= EFFECTS.keys()
    kind, reasons = classify(edits, (), {})
    added_kind, added = classify(edits, (), DISRUPTS)
    assert added_kind is kind
    assert all(any(more.startswith(reason) for more in added) for reason in reasons)
    for edit in edits:
        assert reason_of(edit, {"lldp": "LLDP starts again"}).startswith(reason_of(edit, {}))


def test_a_dialect_may_disrupt_by_a_change_that_the_model_calls_harmless() -> None:
    edit = Edit(path="lldp", after=True)
    assert reason_of(edit, {}) == ""
    assert reason_of(edit, {"lldp": "LLDP starts again"}) == "LLDP starts again"


@pytest.mark.parametrize(
    ("path", "field", "keys"),
    [
        (
            "telemetry.sensor_groups[g].paths[ifm:interface[name='x']/statistics]",
            "telemetry.sensor_groups[].paths[]",
            ["g", "ifm:interface[name='x']/statistics"],
        ),
        ("prefix_lists[a]b].entries[10].action", "prefix_lists[].entries[].action", ["a]b", "10"]),
        ("interfaces[100GE1/0/1].mtu", "interfaces[].mtu", ["100GE1/0/1"]),
        ("bgp", "bgp", []),
    ],
)
def test_a_key_may_hold_brackets(path: str, field: str, keys: list[str]) -> None:
    edit = Edit(path=path)
    assert (edit.field, edit.keys) == (field, keys)


def test_an_unknown_path_has_the_effect_of_the_enclosing_field() -> None:
    edit = Edit(path="prefix_lists[a].x[b].entries[10]", after={"index": 10})
    assert edit.field not in EFFECTS
    assert reason_of(edit, {}) == "a filters routes differently"


def test_a_path_of_no_device_is_refused() -> None:
    with pytest.raises(LookupError, match="colour is no path of a Device"):
        effect_of(Edit(path="colour"))
