"""The controller killed while it works, over SSH, again and again: the switches' own log judges.

By default each behaviour of a trial gets a few kills; `make kills` (ROCEFORT_KILLS=40) does all.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from rocefort.lab.deeds import Deed, Deeds
from rocefort.steps.judging import subject_of
from rocefort.steps.rehearsal import rehearse

Record = Callable[[str, object], None]
KILLS = int(os.environ.get("ROCEFORT_KILLS", "16"))
SEED = int(os.environ.get("ROCEFORT_SEED", "1"))
AT_ONCE = 3  # one of them mostly waits
MOST_ROLLOUTS = 6  # some come to their end before they are killed often enough
# session-only first: there the next controller has to wait for the trial's own timer.
BEHAVIOURS = [
    ("session-only", "--no-persist"),
    ("session-only", "--persist"),
    ("dies-with-session", "--no-persist"),
    ("dies-with-session", "--persist"),
    ("survives", "--no-persist"),
    ("survives", "--persist"),
]


def share(index: int) -> int:
    """Kills of one behaviour: the first, which waits a minute after most of them, gets fewest."""
    first = max(1, KILLS // 10)
    rest, more = divmod(KILLS - first, len(BEHAVIOURS) - 1)
    return first if index == 0 else rest + (index <= more)


@pytest.fixture(scope="module")
def fabrics(killing: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    old, new = killing.small_fabric(tmp_path_factory.mktemp("kills") / "fabric")
    return old, new


@pytest.fixture(scope="module")
def intended(
    fabrics: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What the switches of a lab say that was never anything else than the new fabric."""
    directory = tmp_path_factory.mktemp("intended")
    subject = subject_of(fabrics[1], None)
    lab_alone = rehearse(subject.network, subject.texts, directory / "lab")
    with lab_alone as lab, Deeds(directory / "deeds") as deeds:
        return {name: deeds.digest(switch.running) for name, switch in lab.switches.items()}


@pytest.fixture(scope="module")
def sealed(
    killing: ModuleType, fabrics: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """One plan for all labs: they begin alike."""
    directory = tmp_path_factory.mktemp("plan")
    with killing.lab_process(fabrics[0], directory / "lab"):
        access = directory / "lab" / "connections.yaml"
        killing.rocefort(
            "plan", fabrics[1], "--connections", access, "--out", directory / "plan.json"
        )
    return directory / "plan.json"


def test_killed_at_any_instant_it_is_resumed_until_all_is_as_planned(
    killing: ModuleType,
    fabrics: tuple[Path, Path],
    sealed: Path,
    intended: dict[str, str],
    tmp_path: Path,
    record_property: Record,
) -> None:
    """P1, P2, P3, P5: what the switches were told and did keeps them all."""

    def carry_out(index: int) -> list[str]:
        trial, persist = BEHAVIOURS[index]
        found: list[str] = []
        for attempt in range(MOST_ROLLOUTS):
            if len(found) >= share(index):
                return found
            state = tmp_path / f"{trial}{persist}{attempt}"
            chance = random.Random(f"{SEED} {trial} {persist} {attempt}")
            with killing.lab_process(fabrics[0], state, "--trial", trial, persist):
                site = killing.Site(state, sealed)
                site.carry_out(chance, share(index) - len(found))
                killing.judge(site.deeds(), site.waves(), site.rows())
                killing.judge_end(site.deeds(), intended)
                found += site.kills
        raise AssertionError(f"only {len(found)} controllers of {share(index)} could be killed")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        kills = [each for found in pool.map(carry_out, range(len(BEHAVIOURS))) for each in found]
    assert len(kills) == KILLS
    record_property("kills", len(kills))
    record_property("survived", len(kills))
    record_property("killed", f"over SSH: {killing.counted(kills)}")


# --- the judge ------------------------------------------------------------------------------------

NAMES = ["leaf1", "leaf2", "leaf3", "spine1"]
WAVES = [["leaf1"], ["leaf2", "leaf3"], ["spine1"]]
MEANT = [
    (f"2026-01-01T00:00:{second:02}", device, act, "intent")
    for device in NAMES
    for second, act in ((1, "load"), (3, "trial"), (5, "confirm"), (7, "save"))
]


def told(switch: str, second: int, **state: object) -> Deed:
    """A row of the switches' log: by default of one that runs what it always ran."""
    state = {"line": "x", "running": "old", "saved": "old", **state}
    at = f"2026-01-01T00:00:{second:02}.5"
    return Deed(at=at, switch=switch, session=1, user="u", **state)  # type: ignore[arg-type]


def carried(switch: str) -> list[Deed]:
    """A whole change, step by step."""
    return [
        told(switch, 1, candidate=True),
        told(switch, 3, running="new", left_s=60, before="old"),
        told(switch, 5, running="new"),
        told(switch, 7, running="new", saved="new"),
    ]


BEGIN = [told(name, 0, line="") for name in NAMES]
TRIAL = {"running": "new", "left_s": 60, "before": "old"}
WRONG = {
    "half a change": [told("leaf1", 3, running="half", left_s=60, before="new")],
    "committed without a trial": [told("leaf1", 5, running="new")],
    "a trial that brings something else back": [told("leaf1", 3, **TRIAL | {"before": "x"})],
    "a trial that is over": [told("leaf1", 3, **TRIAL | {"left_s": -1})],
    "saved what is no plan's": [*carried("leaf1")[:3], told("leaf1", 7, running="new", saved="x")],
    "the next wave before the canary was saved": [*carried("leaf1")[:3], *carried("leaf2")],
    "the next wave first": carried("leaf2"),
    "no intent": [told("leaf1", 0, candidate=True)],
    "another intent": [told("leaf1", 1, **TRIAL)],
}


def test_the_judge_passes_what_is_right(killing: ModuleType) -> None:
    deeds = [*BEGIN, *(deed for name in NAMES for deed in carried(name))]
    killing.judge(deeds, WAVES, MEANT)
    killing.judge_end(deeds, dict.fromkeys(NAMES, "new"))
    with pytest.raises(AssertionError):
        killing.judge_end(deeds[:-1], dict.fromkeys(NAMES, "new"))


@pytest.mark.parametrize("wrong", WRONG)
def test_the_judge_sees_what_is_wrong(killing: ModuleType, wrong: str) -> None:
    with pytest.raises(AssertionError):
        killing.judge([*BEGIN, *WRONG[wrong]], WAVES, MEANT)


@pytest.mark.parametrize("names", [["leaf1", "leaf2", "leaf3"], ["spine1", "leaf2"]])
def test_the_judge_sees_too_many_at_once(killing: ModuleType, names: list[str]) -> None:
    one_wave = [NAMES]
    deeds = [*BEGIN, *(deed for name in names for deed in carried(name)[:2])]
    with pytest.raises(AssertionError):
        killing.judge(deeds, one_wave, MEANT)
    killing.judge(deeds[:-2], one_wave, MEANT)
