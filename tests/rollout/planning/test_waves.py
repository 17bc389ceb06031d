"""Waves: rack by rack, at most `max_unavailable` switches, and no whole group."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.models.change.plan import Gate
from rocefort.models.network.exits import Exit
from rocefort.models.network.network import End, Network, SwitchRole
from rocefort.rollout.planning.waves import RedundancyGroup, groups_of, make_waves

GATE = Gate(
    pairs=(),
    traffic_class=138,
    line_rate_fraction=0.9,
    latency_us=4,
    latency_tolerance=0.2,
    speed_judged=False,
)


def waves(network: Network, most: int, *changed: str) -> list[tuple[str, ...]]:
    names = changed or [node.name for node in network.nodes]
    plan_waves = make_waves(network, names, "leaf08", most, lambda *_: GATE)
    return [wave.devices for wave in plan_waves]


def with_racks(network: Network, *racks: str | None) -> Network:
    rack_of = {f"leaf{i:02}": rack for i, rack in enumerate(racks, 1)}
    nodes = (
        node.model_copy(update={"rack": rack_of.get(node.name)})
        if node.role is SwitchRole.LEAF
        else node
        for node in network.nodes
    )
    return network.model_copy(update={"nodes": tuple(nodes), "segments": ()})


def test_heps_in_waves_of_two_keeps_half_of_every_segment(heps: DerivedNetwork) -> None:
    assert waves(heps.network, 1)[:3] == [("leaf08",), ("leaf01",), ("leaf02",)]
    plan_waves = waves(heps.network, 3)
    assert plan_waves[-2:] == [("spine01",), ("spine02",)]
    for group in groups_of(heps.network):
        assert all(group.allows(devices) for devices in plan_waves)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (("leaf03",), ["leaf08", "leaf01", "leaf02", "spine01", "spine02", "leaf03"]),
        (("leaf08", "leaf02"), ["leaf01", "leaf03", "spine01", "spine02", "leaf08", "leaf02"]),
        (
            ("leaf01", "leaf02", "leaf03", "leaf08"),
            ["spine01", "spine02", "leaf08", "leaf01", "leaf02", "leaf03"],
        ),
    ],
)
def test_new_leaves_are_last_and_no_gate_before_them_has_their_servers(
    heps: DerivedNetwork, new: tuple[str, ...], expected: list[str]
) -> None:
    asked = []

    def gate_for(devices: Sequence[str], unrouted: Collection[str]) -> Gate:
        asked.append((devices[0], sorted(unrouted)))
        return GATE

    changed = [f"leaf0{number}" for number in (1, 2, 3, 8)] + ["spine01", "spine02"]
    plan_waves = make_waves(heps.network, changed, "leaf08", 1, gate_for, new)
    assert [wave.devices[0] for wave in plan_waves] == expected
    names = [f"new leaves {i} of {len(new)}" for i in range(1, len(new) + 1)]
    assert [wave.name for wave in plan_waves][-len(new) :] == names
    assert asked[0][1] == sorted(new)
    assert asked[-1] == (expected[-1], [])
    assert all(device not in unrouted for device, unrouted in asked)


@pytest.mark.parametrize(
    ("racks", "most", "expected"),
    [
        (["a", "a", "b", "b", "c", "c", "d"], 2, [[1, 2], [3, 4], [5, 6], [7]]),
        (["a", "a", "b", "b", "c", "c", "d"], 3, [[1, 2], [3, 4], [5, 6, 7]]),
        (["a", "a", "a", "b", "b", "c", "d"], 2, [[1, 2], [3], [4, 5], [6, 7]]),
        (["a", "b", "a", "b", "a", "b", "a"], 4, [[1, 3, 5, 7], [2, 4, 6]]),
        ([None] * 7, 4, [[1, 2, 3, 4], [5, 6, 7]]),
    ],
)
def test_a_wave_takes_whole_racks_as_far_as_the_limit_allows(
    heps: DerivedNetwork, racks: Sequence[str | None], most: int, expected: list[list[int]]
) -> None:
    plan_waves = waves(with_racks(heps.network, *racks), most)[1:-2]
    assert plan_waves == [tuple(f"leaf{i:02}" for i in wave) for wave in expected]


def test_the_leaves_of_a_server_and_the_border_leaves_are_never_together(
    heps: DerivedNetwork,
) -> None:
    network = with_racks(heps.network, *["a"] * 8)
    first = (network.servers or ())[0]
    both = (
        End(device="leaf01", interface="100GE1/0/1"),
        End(device="leaf02", interface="100GE1/0/1"),
    )
    exit_ = Exit(
        name="wan-a", leaf="leaf03", port="100GE1/0/30", address="192.0.2.1/31", peer="192.0.2.0",
        asn=64512, default="accept",
    )  # fmt: skip
    other = exit_.model_copy(update={"name": "wan-b", "leaf": "leaf04"})
    network = network.model_copy(
        update={"servers": (first.model_copy(update={"members": both}),), "exits": (exit_, other)}
    )
    assert groups_of(network) == (
        RedundancyGroup(f"server {first.name}", frozenset({"leaf01", "leaf02"})),
        RedundancyGroup("the exits", frozenset({"leaf03", "leaf04"})),
    )
    plan_waves = waves(network, 7)
    assert plan_waves[1:-2] == [
        ("leaf01",),
        ("leaf02", "leaf03"),
        ("leaf04", "leaf05", "leaf06", "leaf07"),
    ]


@given(
    most=st.integers(1, 8),
    racks=st.lists(st.sampled_from(["a", "b", "c", None]), min_size=8, max_size=8),
    picked=st.sets(st.integers(0, 9)),
)
def test_every_switch_is_in_one_wave_and_no_wave_is_more_than_may_be_away(
    heps: DerivedNetwork, most: int, racks: list[str | None], picked: set[int]
) -> None:
    network = with_racks(heps.network, *racks).model_copy(
        update={"segments": heps.network.segments}
    )
    changed = [network.nodes[i].name for i in sorted(picked)]
    plan_waves = make_waves(network, changed, "leaf08", most, lambda *_: GATE)
    assert sorted(d for wave in plan_waves for d in wave.devices) == sorted(changed)
    spines = {node.name for node in network.role(SwitchRole.SPINE)}
    for wave in plan_waves:
        assert len(wave.devices) <= most
        assert all(group.allows(wave.devices) for group in groups_of(network))
        assert len(wave.devices) == 1 or not spines & set(wave.devices)
    assert all(len(wave.devices) == 1 for wave in plan_waves[:1])
