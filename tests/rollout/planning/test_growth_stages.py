"""Stages of a growth, and the report of a stage that loses traffic."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocefort.change.expand import (
    Expansion,
    GrowthOptions,
    GrowthStep,
    expand,
    staged,
    stages_of,
    wanted_of,
)
from rocefort.change.growth import StagedGrowth
from rocefort.models.network.network import Network


@pytest.fixture(scope="module")
def expansion() -> Expansion:
    return expand(Path("heps"), wanted_of(GrowthOptions(1, 1, 1, [], [], like=["leaf08"])))


@pytest.fixture(scope="module")
def found(expansion: Expansion) -> StagedGrowth:
    return stages_of(expansion)


def test_a_spine_comes_in_four_states_and_then_the_leaves(found: StagedGrowth) -> None:
    rows = [(s.title, s.sessions, s.in_service, s.widths, s.pairs) for s in found.stages]
    assert rows == [
        ("as it is", (32, 32), (2, 8), (2, 2), (124, 124)),
        ("spine03 isolated", (32, 40), (2, 8), (2, 2), (124, 124)),
        ("spine03 cabled", (32, 40), (2, 8), (2, 2), (124, 124)),
        ("spine03 sessions up", (48, 48), (2, 8), (2, 2), (124, 124)),
        ("spine03 taking traffic", (48, 48), (3, 8), (3, 3), (124, 124)),
        ("leaf09 isolated", (48, 51), (3, 8), (3, 3), (124, 146)),
        ("leaf09 cabled", (48, 51), (3, 8), (3, 3), (124, 146)),
        ("leaf09 sessions up", (54, 54), (3, 8), (3, 3), (135, 146)),
        ("leaf09 taking traffic", (54, 54), (3, 9), (3, 3), (146, 146)),
    ]
    assert not found.wrong
    assert found.drain[0] == "route-policy EXPORT deny node 1"
    assert found.lift == ("undo route-policy EXPORT node 1",)


def without_peers(network: Network, leaf: str, keep: int) -> Network:
    """A leaf that has lost all sessions but some."""
    node = network.by_name[leaf]
    assert node.device.bgp
    bgp = node.device.bgp.model_copy(update={"peers": node.device.bgp.peers[:keep]})
    cut = node.model_copy(update={"device": node.device.model_copy(update={"bgp": bgp})})
    nodes = tuple(cut if one is node else one for one in network.nodes)
    return network.model_copy(update={"nodes": nodes})


def test_a_state_that_loses_paths_or_pairs_is_told(expansion: Expansion) -> None:
    before, after = expansion.versions.file.start.network, expansion.versions.end.network
    new = ("spine03", "leaf09")
    narrow = staged([GrowthStep(before, without_peers(after, "leaf01", 2), new, "both")])
    assert narrow.wrong
    assert [stage.wrong for stage in narrow.stages] == [
        (),
        (),
        (),
        (),
        ("ECMP width 2 instead of 3",),
    ]
    lost = staged([GrowthStep(before, without_peers(after, "leaf01", 0), new, "both")])
    assert [stage.wrong for stage in lost.stages[-2:]] == [
        ("32 server pairs lost", "ECMP width 0 instead of 2"),
        ("32 server pairs lost", "ECMP width 0 instead of 3"),
    ]
