"""Both engines on generated fabrics with faults in their texts: the same answers to everything.

Batfish's answers are real ones, recorded; with a service they are requested again.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.validators.batfish.batfish_engine import ask
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing_results import SessionStatus
from rocefort.validators.rules.verification.engine_difference import disagreements
from rocefort.validators.verification.batfish_recording import load, record, replay

SEEDS = range(1, 41)
by_seed = pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"generated-{seed:02}")


@by_seed
def test_both_engines_agree(
    seed: int, generate: Callable[[int], Any], recording: Callable[[str], Path]
) -> None:
    case = generate(seed)
    solution = analyse(case.network, case.sources)
    assert disagreements(solution, replay(case.network, recording(case.name))) == (), case.spoilt


@pytest.mark.batfish
@by_seed
def test_a_live_service_agrees_and_says_what_is_recorded(
    seed: int,
    generate: Callable[[int], Any],
    recording: Callable[[str], Path],
    service: tuple[str, int],
    tmp_path: Path,
) -> None:
    case, anew = generate(seed), tmp_path / "answers.json"
    recorded = recording(case.name)
    if os.environ.get("ROCEFORT_RECORD") == "1":
        state = record(case.network, anew, *service)
        assert disagreements(analyse(case.network, case.sources), state) == (), case.spoilt
        recorded.parent.mkdir(exist_ok=True)
        recorded.write_bytes(anew.read_bytes())  # compared before it is kept
    else:
        assert ask(case.network, *service) == replay(case.network, recorded)


def test_the_fabrics_are_not_all_alike(generate: Callable[[int], Any]) -> None:
    """The set has sessions up and down, pairs delivered and not, and all the options."""
    cases = [generate(seed) for seed in SEEDS]
    statuses: Counter[SessionStatus] = Counter()
    pairs: Counter[bool] = Counter()
    for case in cases:
        state = analyse(case.network, case.sources).state
        statuses.update(session.status for session in state.sessions)
        lost = state.reachability.pairs - state.reachability.delivered
        pairs.update({True: state.reachability.delivered, False: lost})
    assert min(statuses[status] for status in SessionStatus) > 0
    assert min(pairs[True], pairs[False]) > 20
    spoilt = {what.rsplit(": ", 1)[-1] for case in cases for what in case.spoilt}
    assert len(spoilt) > 15
    assert sum("wrong mask" in what for case in cases for what in case.spoilt) > 10
    text = "\n".join(text for case in cases for text in case.texts.values())
    for option in ("vpn-instance", "Eth-Trunk", "port split", "traffic-policy", "as-path-relax"):
        assert option in text
    assert sum(case.network.exits != () for case in cases) > 5


def test_recordings_are_small_and_tell_when_and_whom(recording: Callable[[str], Path]) -> None:
    paths = sorted(recording("generated-01").parent.glob("*.json"))
    assert [path.stem for path in paths] == [f"generated-{seed:02}" for seed in SEEDS]
    assert sum(path.stat().st_size for path in paths) < 1_000_000
    for path in paths:
        kept = load(path)
        assert kept.answers.version
        assert kept.recorded.count("-") == 2
        assert kept.network == path.stem
        assert {"bgpSessionStatus", "routes"} <= set(kept.milliseconds)
        assert "configs" not in json.dumps(kept.model_dump(mode="json"))  # answers only
