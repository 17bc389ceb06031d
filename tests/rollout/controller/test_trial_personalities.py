"""Owner of a trial under every behaviour of a switch, with the real driver and steps.

Each personality of the covering set is applied to the end; the switches judge (crashing.py).
Controllers that die and trials of others: tests/rollout/crashes/test_crash_points.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from crash_plans import Case
from crash_site import Wire
from crashing import Trials, new_trials
from personalities import PERSONALITIES

from napalm_cloudengine.displays.commits import CommitEntry
from napalm_cloudengine.displays.commits import commit as read_commit
from napalm_cloudengine.framing import SwitchReply
from napalm_cloudengine.parse import PromptAnswer
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.emulator.switch.personality import Personality
from rocefort.models.hardware.hardware import Family
from rocefort.rollout.journal.events import TrialOwner
from rocefort.rollout.journal.pending_trials import (
    OwnTrial,
    TrialClaim,
    TrialLabel,
    owner_of,
    persist_id,
)

of_each = pytest.mark.parametrize("personality", PERSONALITIES, ids=str)


@pytest.fixture(scope="session")
def family(heps: DerivedNetwork) -> Family:
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
def test_a_trial_that_somebody_else_begins_before_ours_is_left_alone(
    personality: Personality, family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial begins between observation and commit, so the switch refuses the commit."""
    trials = trials_of(personality, family, tmp_path / "it")
    exchange = Wire.exchange

    def intruded(
        wire: Wire, command: str, answers: tuple[PromptAnswer, ...], timeout_s: float
    ) -> SwitchReply:
        if command.startswith("commit trial") and not trials.site.foreign:
            trials.intrude(wire.device)
        return exchange(wire, command, answers, timeout_s)

    monkeypatch.setattr(Wire, "exchange", intruded)
    applied, _ = trials.life()
    assert (applied.exit_code, applied.unknown) == (3, ("leaf01",))
    assert "leaf01: a trial is pending that this rollout did not start" in applied.failure
    assert trials.site.switches["leaf01"].trial is not None
    assert not [line for _, line in trials.site.log if line.startswith("abort")]


PLAN, RUN, OTHER = "a" * 64, "b" * 32, "c" * 32
LABEL = TrialLabel(PLAN, RUN, frozenset({"d" * 32}))
SHOWN = persist_id(PLAN, RUN)
BEFORE, ANOTHER = CommitEntry("1) CommitId: 6", ""), CommitEntry("1) CommitId: 8", "")
SESSION = OwnTrial(object(), BEFORE, 600, 601)


class Status:
    """Output of a switch about its trial."""

    def __init__(self, persist: str = "", state: str = "ACTIVE") -> None:
        self.state, self.seconds_left, self.persist_id = state, None, persist


def commit(run: str, plan: str = PLAN) -> CommitEntry:
    return read_commit(f"1) CommitId: 7\n    Description: {TrialLabel(plan, run).description()}\n")


@pytest.mark.parametrize(
    ("trial", "newest", "began", "fits", "owner"),
    [
        (Status(state="INACTIVE"), commit(RUN), SESSION, True, TrialClaim(TrialOwner.NONE)),
        (
            Status(),
            BEFORE,
            SESSION,
            True,
            TrialClaim(TrialOwner.THIS_RUN, RUN),
        ),  # the list is silent
        (Status(), commit(RUN), SESSION, True, TrialClaim(TrialOwner.THIS_RUN, RUN[:8])),
        (Status(), ANOTHER, SESSION, True, TrialClaim(TrialOwner.OTHER)),  # committed since
        (Status(), commit(OTHER), SESSION, True, TrialClaim(TrialOwner.OTHER, OTHER[:8])),
        (
            Status(persist_id(PLAN, OTHER)),
            BEFORE,
            SESSION,
            True,
            TrialClaim(TrialOwner.OTHER, OTHER[:8]),
        ),
        (Status("theirs"), commit(RUN), SESSION, True, TrialClaim(TrialOwner.OTHER)),
        (Status(SHOWN), None, None, False, TrialClaim(TrialOwner.THIS_RUN, RUN[:8])),
        (
            Status(persist_id(PLAN, "d" * 32)),
            None,
            None,
            True,
            TrialClaim(TrialOwner.THIS_RUN, "d" * 8),
        ),
        (Status(), commit(RUN), None, True, TrialClaim(TrialOwner.THIS_RUN, RUN[:8])),
        (Status(), commit(OTHER), None, True, TrialClaim(TrialOwner.OTHER, OTHER[:8])),
        (
            Status(),
            commit(RUN),
            None,
            False,
            TrialClaim(TrialOwner.OTHER),
        ),  # it did not lead to this
        (Status(), commit(RUN, "e" * 64), None, True, TrialClaim(TrialOwner.UNKNOWN)),
        (Status(), None, None, True, TrialClaim(TrialOwner.UNKNOWN)),
        (Status(), None, None, False, TrialClaim(TrialOwner.OTHER)),
    ],
)
def test_session_then_persist_id_then_description_decide_and_silence_is_unknown(
    trial: Status, newest: CommitEntry | None, began: OwnTrial | None, fits: bool, owner: TrialClaim
) -> None:
    claim = owner_of(LABEL, trial, newest, began, led_to=lambda _: fits, may_be_ours=lambda: fits)
    assert claim == owner


def test_a_run_is_known_whole_and_as_a_switch_shows_it() -> None:
    assert LABEL.owns(RUN) and LABEL.owns(RUN[:8]) and LABEL.owns("d" * 32)
    assert not LABEL.owns(OTHER) and not LABEL.owns("")
