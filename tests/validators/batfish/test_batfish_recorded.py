"""Recorded answers of a real Batfish on a fabric and three faults, and when they are valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import BadInput
from rocefort.models.network.network import Network
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import RoutingState
from rocefort.validators.rules.verification.engine_difference import disagreements
from rocefort.validators.verification.batfish_recording import load, replay

Recorded = Callable[[str], tuple[Network, Path]]


def widths(state: RoutingState, device: str) -> Counter[int]:
    return Counter(route.width for route in state.routes if route.device == device)


def sessions_down(state: RoutingState) -> list[tuple[str, str, str]]:
    return [(s.device, str(s.peer), s.status) for s in state.sessions if s.status != "established"]


def pairs_lost(state: RoutingState) -> list[tuple[str, str]]:
    return sorted(state.reachability.lost_pairs())


def test_the_whole_fabric_is_up_with_two_paths_everywhere(recorded: Recorded) -> None:
    state = replay(*recorded("clos-2x3"))
    assert state.engine == "batfish"
    assert len(state.sessions) == 12
    assert sessions_down(state) == []
    # Two prefixes of each of the two other leaves.
    assert widths(state, "leaf1") == {2: 4}
    assert widths(state, "spine1") == {1: 6}
    assert state.reachability.pairs == 6
    assert pairs_lost(state) == []


def test_a_wrong_as_takes_both_ends_of_every_session_of_the_leaf(recorded: Recorded) -> None:
    state = replay(*recorded("clos-2x3-wrong-as"))
    assert sessions_down(state) == [
        ("leaf1", "10.0.1.0", "not-compatible"),
        ("leaf1", "10.0.1.2", "not-compatible"),
        ("spine1", "10.0.1.1", "not-compatible"),
        ("spine2", "10.0.1.3", "not-compatible"),
    ]
    assert widths(state, "leaf1") == {}
    assert pairs_lost(state) == [
        ("server1", "server2"),
        ("server1", "server3"),
        ("server2", "server1"),
        ("server3", "server1"),
    ]


def test_without_load_balancing_one_path_is_left_and_everything_delivers(
    recorded: Recorded,
) -> None:
    state = replay(*recorded("clos-2x3-no-ecmp"))
    assert sessions_down(state) == []
    assert widths(state, "leaf1") == {1: 4}
    assert widths(state, "leaf2") == {2: 4}
    assert pairs_lost(state) == []


def test_an_as_of_its_own_for_each_spine_keeps_two_paths_where_relaxed(recorded: Recorded) -> None:
    state = replay(*recorded("clos-2x3-as-per-spine"))
    assert (sessions_down(state), pairs_lost(state)) == ([], [])
    assert [widths(state, f"leaf{n}") for n in (1, 2, 3)] == [{2: 4}] * 3
    unrelaxed = replay(*recorded("clos-2x3-as-per-spine-unrelaxed"))
    assert (sessions_down(unrelaxed), pairs_lost(unrelaxed)) == ([], [])
    assert [widths(unrelaxed, f"leaf{n}") for n in (1, 2, 3)] == [{1: 4}] * 3


def test_a_missing_peer_shows_at_the_end_that_still_has_it(recorded: Recorded) -> None:
    state = replay(*recorded("clos-2x3-missing-session"))
    assert sessions_down(state) == [("spine2", "10.0.1.3", "not-compatible")]
    assert widths(state, "leaf1") == {1: 4}
    assert widths(state, "leaf2") == {1: 2, 2: 2}
    assert pairs_lost(state) == []


def test_the_embedded_engine_agrees_with_every_recording(
    recorded: Recorded, recording: str
) -> None:
    network, path = recorded(recording)
    assert disagreements(analyse(network), replay(network, path)) == ()


def test_every_recording_tells_version_and_date(recorded: Recorded, recording: str) -> None:
    kept = load(recorded(recording)[1])
    assert kept.network == recording
    assert kept.answers.version
    assert kept.recorded.count("-") == 2


def test_a_recording_is_refused_once_the_text_has_changed(
    recorded: Recorded, clos: Callable[..., Network], bgp_edit: Callable[..., Any]
) -> None:
    _, path = recorded("clos-2x2")
    with pytest.raises(BadInput) as caught:
        replay(clos(leaf2=bgp_edit(maximum_paths=3)), path)
    said = str(caught.value)
    assert said.startswith(f"{path}: recorded for snapshot ")
    assert "its text or the translation has changed" in said
    assert said.endswith(
        "record it again with a running service: "
        "ROCEFORT_BATFISH=HOST:PORT ROCEFORT_RECORD=1 pytest -m batfish -k clos-2x2"
    )


def test_what_no_engine_reads_does_not_spoil_a_recording(
    recorded: Recorded, clos: Callable[..., Network], port_edit: Callable[..., Any]
) -> None:
    network, path = recorded("clos-2x2")
    described = clos(leaf1=port_edit("100GE1/0/1", description="to spine1", trust_dscp=True))
    assert replay(described, path) == replay(network, path)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "no recording: No such file or directory; record it with a running service"),
        ("{", "not a recording: Invalid JSON"),
        ('{"network": "x"}', "not a recording: snapshot_sha256 Field required"),
    ],
)
def test_a_missing_or_broken_recording_says_how_to_make_one(
    tmp_path: Path, clos: Callable[..., Network], content: str | None, what: str
) -> None:
    path = tmp_path / "answers.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        replay(clos(), path)
    assert f"{path}: {what}" in str(caught.value)
