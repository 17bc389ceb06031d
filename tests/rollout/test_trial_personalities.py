"""Whose a trial is, under every behaviour that a switch may have: the real driver and steps.

Each personality of the covering set is applied to the end, and killed at points that leave a
trial behind; the next controller finishes. The switches judge (crashing.py).
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from crash_plans import Case
from crashing import Trials, memory_directory, new_trials
from hypothesis import settings

from rocefort.design.derive import Derived
from rocefort.lab.personality import SILENT, Personality, covering_set
from rocefort.models.hardware import Family
from rocefort.models.rollout import Whose
from rocefort.rollout.label import Label, persist_id
from rocefort.rollout.trial_owner import Began, Owner, owner_of

of_each = pytest.mark.parametrize("personality", covering_set(), ids=str)
UNTIL_OVER_S = 700
DEATHS = settings().max_examples // 5


@pytest.fixture(scope="session")
def family(heps: Derived) -> Family:
    families = [node.family for node in heps.network.nodes]
    return next(family for family in families if family and family.name == "v300-g1")


def trials_of(personality: Personality, family: Family, directory: Path, **case: Any) -> Trials:
    """A small site whose switches have this personality."""
    return new_trials(Case((1, 2), personality, **case), family, directory)


@of_each
@pytest.mark.parametrize("fails", ["", "wave 2"])
def test_a_plan_is_applied_to_its_end_whatever_is_shown_of_trials(
    personality: Personality, family: Family, tmp_path: Path, fails: str
) -> None:
    trials = trials_of(personality, family, tmp_path / "whole", fails=fails)
    applied, _ = trials.life()
    assert (bool(applied.failure), applied.unknown) == (bool(fails), ())
    trials.judge_end()


@of_each
def test_a_spine_is_drained_and_changed_whatever_is_shown_of_trials(
    personality: Personality, family: Family, tmp_path: Path
) -> None:
    trials = trials_of(personality, family, tmp_path / "whole", drains="wave 1")
    applied, _ = trials.life()
    assert (applied.failure, applied.unknown) == ("", ())
    trials.judge_end()


@of_each
@pytest.mark.parametrize("away_s", [5, UNTIL_OVER_S])
def test_who_goes_on_ends_what_a_dead_controller_left_on_trial(
    personality: Personality, family: Family, tmp_path: Path, away_s: int
) -> None:
    """Killed wherever a trial is pending; nothing is confirmed that was not measured."""
    with memory_directory(tmp_path) as directory:
        points = trials_of(personality, family, directory / "whole").life()[1].points
        chance = random.Random(f"{personality} {away_s}")
        for dies_at in chance.sample(range(5, points), DEATHS):
            trials = trials_of(personality, family, directory / str(dies_at))
            assert trials.killed(dies_at) is None
            trials.judge_dead()
            trials.site.now += away_s
            applied, _ = trials.life()
            assert applied.failure == "", (dies_at, applied)
            trials.judge_end()


@of_each
def test_a_trial_of_somebody_else_is_refused_at_once_and_left_alone(
    personality: Personality, family: Family, tmp_path: Path
) -> None:
    trials = trials_of(personality, family, tmp_path / "it")
    trials.killed(40)
    trials.site.now += UNTIL_OVER_S
    trials.judge_dead()
    trials.intrude("leaf03")
    began = trials.site.now
    applied, _ = trials.life()
    assert (applied.exit_code, trials.site.now) == (4, began)
    assert "leaf03: a trial is pending that this rollout did not start; wait" in applied.failure
    assert not trials.site.not_meant
    assert trials.site.switches["leaf03"].trial is not None


def test_what_is_not_shown_to_be_ours_is_waited_for_and_not_aborted(
    family: Family, tmp_path: Path
) -> None:
    """The same change on trial by somebody else, where the switch shows nothing of its owner."""
    trials = trials_of(SILENT, family, tmp_path / "it")
    trials.life(cut_at_trial=1)
    trials.site.now += UNTIL_OVER_S
    trials.site.cut = False
    trials.judge_dead()
    trials.intrude_with("leaf01", "1a2b3c4d5e6f")
    began = trials.site.now
    trials.life()
    assert ("leaf01", "abort trial") not in trials.site.lines[len(trials.site.log) :]
    assert trials.site.now - began >= 600
    assert not [line for line in trials.site.not_meant if line[1].startswith("abort")]


PLAN, RUN, OTHER = "a" * 64, "b" * 32, "c" * 32
LABEL = Label(PLAN, RUN, frozenset({"d" * 32}))
SHOWN = persist_id(PLAN, RUN)
SESSION = Began(object(), "before", 600, 601)


class Status:
    """What a switch shows of its trial."""

    def __init__(self, persist: str = "", state: str = "ACTIVE") -> None:
        self.state, self.seconds_left, self.persist_id = state, None, persist


def commit(run: str, plan: str = PLAN) -> str:
    return f"1) CommitId: 7\n    Description: {Label(plan, run).description()}\n"


@pytest.mark.parametrize(
    ("trial", "newest", "began", "fits", "owner"),
    [
        (Status(state="INACTIVE"), commit(RUN), SESSION, True, Owner(Whose.NOBODY)),
        (Status(), "before", SESSION, True, Owner(Whose.OURS, RUN)),  # the list is silent
        (Status(), commit(RUN), SESSION, True, Owner(Whose.OURS, RUN[:8])),
        (Status(), "another", SESSION, True, Owner(Whose.FOREIGN)),  # committed since
        (Status(), commit(OTHER), SESSION, True, Owner(Whose.FOREIGN, OTHER[:8])),
        (Status(persist_id(PLAN, OTHER)), "before", SESSION, True, Owner(Whose.FOREIGN, OTHER[:8])),
        (Status("theirs"), commit(RUN), SESSION, True, Owner(Whose.FOREIGN)),
        (Status(SHOWN), None, None, False, Owner(Whose.OURS, RUN[:8])),
        (Status(persist_id(PLAN, "d" * 32)), None, None, True, Owner(Whose.OURS, "d" * 8)),
        (Status(), commit(RUN), None, True, Owner(Whose.OURS, RUN[:8])),
        (Status(), commit(OTHER), None, True, Owner(Whose.FOREIGN, OTHER[:8])),
        (Status(), commit(RUN), None, False, Owner(Whose.FOREIGN)),  # it did not lead to this
        (Status(), commit(RUN, "e" * 64), None, True, Owner(Whose.UNKNOWN)),
        (Status(), None, None, True, Owner(Whose.UNKNOWN)),
        (Status(), None, None, False, Owner(Whose.FOREIGN)),
    ],
)
def test_session_then_persist_id_then_description_decide_and_silence_is_unknown(
    trial: Status, newest: str | None, began: Began | None, fits: bool, owner: Owner
) -> None:
    found = owner_of(LABEL, trial, newest, began, led_to=lambda _: fits, may_be_ours=lambda: fits)
    assert found == owner


def test_a_run_is_known_whole_and_as_a_switch_shows_it() -> None:
    assert LABEL.owns(RUN) and LABEL.owns(RUN[:8]) and LABEL.owns("d" * 32)
    assert not LABEL.owns(OTHER) and not LABEL.owns("")
