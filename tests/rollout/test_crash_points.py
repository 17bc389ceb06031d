"""A controller that dies at every point of a rollout, and the one that goes on: the switches judge.

A point is everything that lasts: a row of the journal, its head, a line that a switch carried out.
To die before the next one is the same as to die after the last.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from rocefort.design.derive import Derived
from rocefort.models.hardware import Family

Record = Callable[[str, object], None]
MODES = [
    ("survives", "present"),
    ("survives", "absent"),
    ("dies-with-session", "present"),
    ("dies-with-session", "absent"),
    ("session-only", "present"),
    ("session-only", "absent"),
]
SHAPES = [
    ((1, 1), False, ""),
    ((1, 1), False, "wave 2"),
    ((3,), False, ""),
    ((3,), True, "wave 1"),
]
CASES = [(sizes, *mode, back, fails) for mode in MODES for sizes, back, fails in SHAPES]
# Of every so many points one, from which on: those of `session-only` are those of the others.
SOME_POINTS = {("session-only", "absent"): (1, 4), ("session-only", "present"): (3, 8)}
AWAY_S = (5, 400, 700)  # taken up, too late to be taken up, over


@pytest.fixture(scope="session")
def family(heps: Derived) -> Family:
    families = [node.family for node in heps.network.nodes]
    return next(family for family in families if family and family.name == "v300-g1")


def name_of(case: tuple[tuple[int, ...], str, str, bool, str]) -> str:
    sizes, mode, persist, _, fails = case
    gate = ", gate fails" if fails else ""
    return f"{max(sizes)} at once, {mode}, persist {persist}{gate}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_it_may_die_at_every_point_and_the_next_one_brings_it_to_its_end(
    crashing: ModuleType,
    case: tuple[tuple[int, ...], str, str, bool, str],
    family: Family,
    tmp_path: Path,
    record_property: Record,
) -> None:
    fails = case[-1]
    with crashing.memory_directory(tmp_path) as directory:
        trials = crashing.new_trials(crashing.Case(*case), family, directory / "whole")
        applied, fate = trials.life()
        assert bool(applied.failure) == bool(fails)
        trials.judge_end()
        assert fate.points > 60
        survived = 0
        first, step = SOME_POINTS.get(case[1:3], (1, 1))
        for dies_at in range(first, fate.points + 1, step):
            trials = crashing.new_trials(crashing.Case(*case), family, directory / str(dies_at))
            assert trials.life(dies_at)[0] is None
            trials.judge_dead()
            trials.site.now += AWAY_S[dies_at % 3]
            trials.judge_dead()
            applied, _ = trials.life()
            assert bool(applied.failure) == bool(fails), (dies_at, applied)
            trials.judge_end()
            survived += 1
    record_property("kills", survived)
    record_property("survived", survived)


DRAINS = [
    (*mode, fails, fails_on)
    for mode in MODES
    for fails, fails_on in (("", 0), ("wave 1", 0), ("wave 1", 1), ("wave 1", 2))
]
ALL_POINTS = (("survives", "present", ""),)  # of the others every eighth, each another eighth


@pytest.mark.parametrize(("mode", "persist", "fails", "fails_on"), DRAINS)
def test_a_drained_switch_ends_changed_or_as_it_was_wherever_its_controller_dies(
    crashing: ModuleType,
    mode: str,
    persist: str,
    fails: str,
    fails_on: int,
    family: Family,
    tmp_path: Path,
    record_property: Record,
) -> None:
    case = crashing.Case((1,), mode, persist, fails=fails, drains="wave 1", fails_on=fails_on)
    with crashing.memory_directory(tmp_path) as directory:
        trials = crashing.new_trials(case, family, directory / "whole")
        applied, fate = trials.life()
        assert (bool(applied.failure), applied.unknown) == (bool(fails), ())
        assert (applied.confirmed, applied.rolled_back) == (
            ((), ("leaf01",)) if fails else (("leaf01",), ())
        )
        trials.judge_end()
        step = 1 if (mode, persist, fails) in ALL_POINTS else 8
        first = 1 + (len(mode) + fails_on) % step
        kills = range(first, fate.points + 1, step)
        for dies_at in kills:
            trials = crashing.new_trials(case, family, directory / str(dies_at))
            assert trials.life(dies_at)[0] is None
            trials.judge_dead()
            trials.site.now += AWAY_S[dies_at % 3]
            trials.judge_dead()
            applied, _ = trials.life()
            assert bool(applied.failure) == bool(fails), (dies_at, applied)
            trials.judge_end()
    record_property("kills", len(kills))
    record_property("survived", len(kills))


@pytest.mark.parametrize(("mode", "persist"), MODES)
def test_those_that_go_on_may_die_as_well(
    crashing: ModuleType,
    family: Family,
    tmp_path: Path,
    mode: str,
    persist: str,
    record_property: Record,
) -> None:
    kills = survived = 0
    with crashing.memory_directory(tmp_path) as directory:
        for seed in range(12):
            chance = random.Random(f"{mode} {persist} {seed}")
            sizes = chance.choice([(1, 1, 1), (1, 2), (3,)])
            case = crashing.Case(sizes, mode, persist, backwards=bool(seed % 2))
            trials = crashing.new_trials(case, family, directory / str(seed))
            applied = None
            for _ in range(40):
                applied, _ = trials.life(chance.randrange(1, 100))
                if applied:
                    break
                kills += 1
                trials.judge_dead()
                trials.site.now += chance.choice(AWAY_S)
            applied = applied or trials.life()[0]
            assert applied.failure == "", (seed, applied)
            trials.judge_end()
            survived += 1
    assert survived == 12
    record_property("kills", kills)
    record_property("survived", kills)


@pytest.mark.parametrize(("mode", "persist"), MODES)
def test_a_journal_that_cannot_be_written_ends_all_acts_at_every_row(
    crashing: ModuleType, family: Family, tmp_path: Path, mode: str, persist: str
) -> None:
    """P3: nothing reaches a switch after the first row that is not written."""
    case = crashing.Case((3,), mode, persist)
    with crashing.memory_directory(tmp_path) as directory:
        trials = crashing.new_trials(case, family, directory / "whole")
        rows = trials.life()[1].rows
        for full_at in range(1, rows):
            trials = crashing.new_trials(case, family, directory / str(full_at))
            applied, _ = trials.life(disk_full_at=full_at)
            lines = len(trials.site.log)
            assert "the journal cannot be written: disk full" in applied.failure
            assert applied.exit_code == 3
            trials.judge_dead()
            assert not trials.site.not_meant
            applied, _ = trials.life()  # the disk has room again
            assert len(trials.site.log) >= lines
            assert applied.failure == "", (full_at, applied)
            trials.judge_end()


@pytest.mark.parametrize(("mode", "persist"), MODES)
def test_nobody_touches_a_trial_of_somebody_else(
    crashing: ModuleType, family: Family, tmp_path: Path, mode: str, persist: str
) -> None:
    with crashing.memory_directory(tmp_path) as directory:
        for seed in range(15):
            chance = random.Random(f"{mode} {persist} {seed}")
            trials = crashing.new_trials(
                crashing.Case((1, 2), mode, persist), family, directory / str(seed)
            )
            trials.life(chance.randrange(1, 100))
            trials.site.now += 700  # what was on trial is over
            trials.judge_dead()
            device = chance.choice(sorted(trials.site.switches))
            trials.intrude(device)
            applied, _ = trials.life()
            assert applied.exit_code == 4
            assert f"{device}: a trial is pending that this rollout did not start" in (
                applied.failure
            )
            assert not trials.site.not_meant
            assert trials.site.switches[device].trial is not None
            trials.site.foreign.clear()
            trials.site.now += 601
            assert trials.life()[0].failure == ""  # and when it is over, the rollout goes on
            trials.judge_end()


@pytest.mark.parametrize(("mode", "persist"), MODES)
@pytest.mark.parametrize("died", [True, False])
def test_nor_one_of_the_same_plan_that_another_controller_has_begun(
    crashing: ModuleType, family: Family, tmp_path: Path, mode: str, persist: str, died: bool
) -> None:
    """On another machine, with a journal of its own: what tells them apart is the run."""
    with crashing.memory_directory(tmp_path) as directory:
        for at in range(1, 70, 8) if died else (None,):
            trials = crashing.new_trials(
                crashing.Case((1, 2), mode, persist), family, directory / str(at)
            )
            if died:
                trials.life(at)
                trials.site.now += 700  # what was on trial is over
                trials.judge_dead()
            changed = trials.changed()
            device = next(name for name in trials.site.switches if name not in changed)
            trials.intrude_with(device, "1a2b3c4d5e6f")
            applied, _ = trials.life()
            assert (applied.failure, applied.exit_code) == (
                f"{device}: another run of this plan, 1a2b3c4d, has a trial pending; one run at a "
                "time: go on with that one, or wait for its end",
                4,
            )
            assert not trials.site.not_meant
            assert trials.site.switches[device].trial is not None


@pytest.mark.parametrize(("mode", "persist"), MODES)
def test_what_an_earlier_run_of_the_same_journal_left_pending_is_ended(
    crashing: ModuleType, family: Family, tmp_path: Path, mode: str, persist: str
) -> None:
    """It lost its switches on trial and ended; nobody else can carry it, for we have its journal."""
    trials = crashing.new_trials(crashing.Case((1,), mode, persist), family, tmp_path / "it")
    applied, _ = trials.life(cut_at_trial=1)
    assert applied.unknown == ("leaf01",)
    trials.site.cut = False
    pending = trials.site.switches["leaf01"].trial is not None
    assert pending is (mode != "dies-with-session" or persist == "present")
    applied, _ = trials.life()
    assert (applied.failure, applied.confirmed) == ("", ("leaf01",))
    trials.judge_end()
