"""A controller that dies at every point of a rollout, and the next one: the switches judge.

A point is everything that lasts: a row of the journal, its head, a line that a switch carried out.
To die before the next one is the same as to die after the last.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from crash_judging import AWAY_S, EACH_SHAPE, Death, Tally, deaths_of, judge_deaths, taken_up
from crash_plans import Case
from crash_snapshots import site_state
from crashing import memory_directory, new_trials
from hypothesis import settings
from personalities import PERSONALITIES, SILENT

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.emulator.switch.personality import DEFAULT, Personality
from rocefort.models.hardware.hardware import Family

Record = Callable[[str, object], None]
SHAPES = [  # sizes of the waves, whether devices are reached backwards, the wave whose gate fails
    ((1, 1), False, ""),
    ((1, 1), False, "wave 2"),
    ((3,), False, ""),
    ((3,), True, "wave 1"),
]
FAILING_LEGS = [("", 0), ("wave 1", 0), ("wave 1", 1), ("wave 1", 2)]  # of a drained switch
SEEDS = settings().max_examples // 10
of_each = pytest.mark.parametrize("personality", PERSONALITIES, ids=str)


def thorough_unless(quick: bool) -> tuple[pytest.MarkDecorator, ...]:
    """Marks of a case; a quick run includes it only if `quick` is set."""
    return () if quick else (pytest.mark.thorough,)


def waves(personality: Personality) -> list[Case]:
    return [
        Case(sizes, personality, backwards=backwards, fails=fails)
        for sizes, backwards, fails in SHAPES
    ]


def drains(personality: Personality) -> list[Case]:
    return [
        Case((1,), personality, drains="wave 1", fails=fails, fails_on=leg)
        for fails, leg in FAILING_LEGS
    ]


@pytest.fixture(scope="session")
def family(heps: DerivedNetwork) -> Family:
    families = [node.family for node in heps.network.nodes]
    return next(family for family in families if family and family.name == "v300-g1")


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--effort") != "quick")


def turn_of(personality: Personality, thorough: bool) -> int | None:
    """Number of a personality: a quick run takes other points under each."""
    return None if thorough else PERSONALITIES.index(personality)


def some(cases: list[Case], turn: int | None) -> list[Case]:
    """Cases of one personality."""
    return cases if turn is None else cases[turn % EACH_SHAPE :: EACH_SHAPE]


@pytest.mark.parametrize("cases", [waves, drains])
def test_a_quick_run_takes_up_every_kind_of_point(
    cases: Callable[[Personality], list[Case]], family: Family, tmp_path: Path
) -> None:
    """A kind without a personality would be in a thorough run alone."""
    tried, deaths = cases(DEFAULT), dict[Case, list[Death]]()
    with memory_directory(tmp_path) as directory:
        for number, case in enumerate(tried):
            trials = new_trials(case, family, directory / str(number))
            deaths[case] = deaths_of(trials, trials.filmed()[1])
    remaining = {death.kind for each in deaths.values() for death in each}
    assert len(remaining) > 30
    for turn in range(len(PERSONALITIES)):
        met = [death for case in some(tried, turn) for death in deaths[case]]
        remaining -= {death.kind for death in taken_up(met, turn)}
    assert not remaining


@of_each
def test_it_may_die_at_every_point_and_the_next_one_brings_it_to_its_end(
    personality: Personality,
    family: Family,
    thorough: bool,
    tmp_path: Path,
    record_property: Record,
) -> None:
    deaths, turn = list[Death](), turn_of(personality, thorough)
    with memory_directory(tmp_path) as directory:
        for number, case in enumerate(some(waves(personality), turn)):
            trials = new_trials(case, family, directory / str(number))
            applied, snapshots = trials.filmed()
            assert bool(applied.failure) == bool(case.fails)
            trials.judge_end()
            assert len(snapshots) > 60
            deaths += deaths_of(trials, snapshots)
        judge_deaths(deaths, turn).record(record_property)


@pytest.mark.parametrize(
    "personality",
    [
        pytest.param(each, id=str(each), marks=thorough_unless(each == SILENT))
        for each in PERSONALITIES
    ],
)
@pytest.mark.parametrize("how", ["there", "one of two", "drained, and back"])
def test_no_life_confirms_what_has_not_soaked_while_it_watched(
    personality: Personality, family: Family, tmp_path: Path, how: str
) -> None:
    """A gate takes 20 s, so that two of them without the soak are not enough.

    A switch without a soak of its own is looked at again behind that of its wave. A drained switch
    soaks on its rollback, too, where no gate is asked.
    """
    fails = "wave 1" if how == "drained, and back" else ""
    case = Case((2,), personality, soak_s=60, soaking=("leaf02",) if how == "one of two" else ())
    if fails:
        case = Case((1,), personality, drains=fails, fails=fails, fails_on=2, soak_s=60)
    with memory_directory(tmp_path) as directory:
        trials = new_trials(case, family, directory / "whole")
        _, fate = trials.life()
        trials.judge_end()
        gates = [line for _, line in trials.site.log].count("gate")
        assert gates == (5 if fails else 2)  # of two legs, and one of the third
        for dies_at in range(1, fate.points + 1, 25 if fails else 5):
            trials = new_trials(case, family, directory / str(dies_at))
            assert trials.killed(dies_at) is None
            trials.judge_dead()
            trials.site.now += AWAY_S[dies_at % 3]
            assert bool(trials.life()[0].failure) == bool(fails)
            trials.judge_end()


@of_each
def test_a_drained_switch_ends_changed_or_as_it_was_wherever_its_controller_dies(
    personality: Personality,
    family: Family,
    thorough: bool,
    tmp_path: Path,
    record_property: Record,
) -> None:
    deaths, turn = list[Death](), turn_of(personality, thorough)
    with memory_directory(tmp_path) as directory:
        for number, case in enumerate(some(drains(personality), turn)):
            trials = new_trials(case, family, directory / str(number))
            applied, snapshots = trials.filmed()
            assert (bool(applied.failure), applied.unknown) == (bool(case.fails), ())
            assert (applied.confirmed, applied.rolled_back) == (
                ((), ("leaf01",)) if case.fails else (("leaf01",), ())
            )
            trials.judge_end()
            deaths += deaths_of(trials, snapshots)
        judge_deaths(deaths, turn).record(record_property)


@pytest.mark.parametrize(
    ("cases", "personality"),
    [
        pytest.param(cases, each, id=f"{what}-{each}", marks=thorough_unless(turn % 2 == which))
        for which, (what, cases) in enumerate({"waves": waves, "drains": drains}.items())
        for turn, each in enumerate(PERSONALITIES)
    ],
)
def test_a_snapshot_of_a_point_is_what_a_death_there_leaves(
    cases: Callable[[Personality], list[Case]],
    personality: Personality,
    family: Family,
    thorough: bool,
    tmp_path: Path,
) -> None:
    tried, chance, turn = (
        cases(personality),
        random.Random(str(personality)),
        turn_of(personality, thorough),
    )
    if turn is not None:
        tried = [tried[turn // 2 % len(tried)]]
    with memory_directory(tmp_path) as directory:
        for number, case in enumerate(tried):
            trials = new_trials(case, family, directory / str(number))
            _, snapshots = trials.filmed()
            for snapshot in chance.sample(snapshots, min(len(snapshots), 10 if thorough else 3)):
                killed = new_trials(case, family, directory / f"{number} {snapshot.number}")
                assert killed.killed(snapshot.number) is None
                dead = trials.after(snapshot)
                snapshot.files.write(dead.site.journal.parent)
                remains = site_state(dead.site)
                assert remains.keys() == site_state(killed.site).keys()
                for attribute, value in site_state(killed.site).items():
                    assert remains[attribute] == value, (case, snapshot.point, attribute)


@of_each
def test_those_that_go_on_may_die_as_well(
    family: Family, tmp_path: Path, personality: Personality, record_property: Record
) -> None:
    kills = survived = 0
    with memory_directory(tmp_path) as directory:
        for seed in range(SEEDS):
            chance = random.Random(f"{personality} {seed}")
            sizes = chance.choice([(1, 1, 1), (1, 2), (3,)])
            case = Case(sizes, personality, backwards=bool(seed % 2))
            trials = new_trials(case, family, directory / str(seed))
            applied = None
            for _ in range(40):
                applied = trials.killed(chance.randrange(1, 100))
                if applied:
                    break
                kills += 1
                trials.judge_dead()
                trials.site.now += chance.choice(AWAY_S)
            applied = applied or trials.life()[0]
            assert applied.failure == "", (seed, applied)
            trials.judge_end()
            survived += 1
    assert survived == SEEDS
    Tally(kills, kills).record(record_property)


@pytest.mark.parametrize(
    "personality",
    [
        pytest.param(each, id=str(each), marks=thorough_unless(turn % 2 == 1))
        for turn, each in enumerate(PERSONALITIES)
    ],
)
def test_a_journal_that_cannot_be_written_ends_all_acts_at_every_row(
    family: Family, thorough: bool, tmp_path: Path, personality: Personality
) -> None:
    """P3: nothing reaches a switch after the first row that is not written."""
    case, step = Case((3,), personality), 3 if thorough else len(PERSONALITIES) // 2
    first = 1 + PERSONALITIES.index(personality) // 2 % step  # together they try every row
    with memory_directory(tmp_path) as directory:
        trials = new_trials(case, family, directory / "whole")
        rows = trials.life()[1].rows
        for full_at in range(first, rows, step):
            trials = new_trials(case, family, directory / str(full_at))
            applied, fate = trials.life(disk_full_at=full_at)
            assert "the journal cannot be written: disk full" in applied.failure
            assert applied.exit_code == 3
            assert fate.points == fate.points_at_full  # no line after it
            trials.judge_dead()
            assert not trials.site.not_meant
            applied, _ = trials.life()  # the disk has room again
            assert applied.failure == "", (full_at, applied)
            trials.judge_end()


@of_each
def test_nobody_touches_a_trial_of_somebody_else(
    family: Family, tmp_path: Path, personality: Personality
) -> None:
    with memory_directory(tmp_path) as directory:
        for seed in range(SEEDS):
            chance = random.Random(f"{personality} {seed}")
            trials = new_trials(Case((1, 2), personality), family, directory / str(seed))
            trials.killed(chance.randrange(1, 100))
            trials.site.now += 700  # what was on trial is over
            trials.judge_dead()
            device = chance.choice(sorted(trials.site.switches))
            trials.intrude(device)
            began = trials.site.now
            applied, _ = trials.life()
            assert (applied.exit_code, trials.site.now) == (4, began)
            assert f"{device}: a trial is pending that this rollout did not start" in (
                applied.failure
            )
            assert not trials.site.not_meant
            assert trials.site.switches[device].trial is not None
            trials.site.foreign.clear()
            trials.site.now += 601
            assert trials.life()[0].failure == ""  # and when it is over, the rollout continues
            trials.judge_end()


@of_each
@pytest.mark.parametrize("died", [True, False])
def test_nor_one_of_the_same_plan_that_another_controller_has_begun(
    family: Family, tmp_path: Path, personality: Personality, died: bool, thorough: bool
) -> None:
    """On another machine, with a journal of its own: the run distinguishes them.

    Where the switch shows no run, a trial that may be this journal's is waited for.
    """
    named = personality.persist == "present" and personality.trial_status != "state-only"
    shown = named or personality.commit_list == "shown"
    turn = turn_of(personality, thorough)
    instants = range(1, 70, 8) if turn is None else range(1 + 8 * (turn % 2), 70, 16)
    with memory_directory(tmp_path) as directory:
        for at in instants if died else (0,):
            trials = new_trials(Case((1, 2), personality), family, directory / str(at))
            if at:
                trials.killed(at)
                trials.site.now += 700  # what was on trial is over
                trials.judge_dead()
            changed = trials.changed()
            device = next(name for name in trials.site.switches if name not in changed)
            trials.intrude_with(device, "1a2b3c4d5e6f")
            began = trials.site.now
            applied, _ = trials.life()
            assert not trials.site.not_meant
            if died and not shown:
                assert trials.site.now - began > 600
                assert applied.failure == "", (at, applied)
                trials.judge_end()
                continue
            left = ", 10 min 0 s left" if personality.trial_status == "whole" else ""
            what = (
                f"another run of this plan, 1a2b3c4d, has a trial pending{left}; one run at a time: "
                "resume that run, or wait for its end"
                if shown
                else f"a trial is pending that this rollout did not start{left}; wait for its timer, "
                "or let the session that began it confirm or abort it"
            )
            assert (applied.failure, applied.exit_code) == (f"{device}: {what}", 4)
            assert trials.site.switches[device].trial is not None


@of_each
def test_what_an_earlier_run_of_the_same_journal_left_pending_is_ended(
    family: Family, tmp_path: Path, personality: Personality
) -> None:
    """It lost its switches on trial and ended; no other can resume it, as we have its journal."""
    with memory_directory(tmp_path) as directory:
        trials = new_trials(Case((1,), personality), family, directory / "it")
        applied, _ = trials.life(cut_at_trial=1)
        assert applied.unknown == ("leaf01",)
        trials.site.cut = False
        pending = trials.site.switches["leaf01"].trial is not None
        ends = personality.trial_mode == "dies-with-session" and personality.persist == "absent"
        assert pending is not ends
        applied, _ = trials.life()
        assert (applied.failure, applied.confirmed) == ("", ("leaf01",))
        trials.judge_end()
