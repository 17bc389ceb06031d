"""Selection of controller deaths for a next controller, and the verdict on its result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from crash_snapshots import Snapshot
from crashing import Trials
from personalities import PERSONALITIES

EACH_SHAPE, EACH_KIND = 2, 4  # a quick run tries one of so many under each personality
AWAY_S = (5, 400, 700)  # taken up, too late to be taken up, over


@dataclass(frozen=True)
class Death:
    """Controller that is dead for some time, and its remaining state."""

    trials: Trials
    snapshot: Snapshot

    @property
    def kind(self) -> tuple[object, ...]:
        """Last point of a controller, and the position of its switch in the wave, if any."""
        point, waves = self.snapshot.point, self.trials.plan.waves
        later = any(point.device in wave.devices[1:] for wave in waves)
        return point._replace(device="later" if later else "first" if point.device else "")

    @cached_property  # before a next controller changes it
    def state(self) -> tuple[str, str]:
        """State that determines the next controller, with journal and head byte for byte."""
        return self.trials.state(), self.snapshot.files.digest


@dataclass(frozen=True)
class Tally:
    """Numbers of points: all, those with a next controller, and those without.

    equal: another point has the same state. A thorough run covers the rest.
    """

    points: int
    judged: int
    equal: int = 0

    def record(self, record_property: Callable[[str, object], None]) -> None:
        """Numbers for the summary of the tests."""
        for name, number in (
            ("met", self.points),
            ("judged", self.judged),
            ("equal to one judged before", self.equal),
            ("left to --effort thorough", self.points - self.judged - self.equal),
        ):
            record_property("count", (f"crash points {name}", number))


def deaths_of(trials: Trials, snapshots: Iterable[Snapshot]) -> list[Death]:
    """Deaths at each point of a controller; all switches are valid at once and later."""
    deaths = [Death(trials.after(snapshot), snapshot) for snapshot in snapshots]
    for death in deaths:
        death.trials.judge_dead()
        death.trials.site.now += AWAY_S[death.snapshot.number % len(AWAY_S)]
        death.trials.judge_dead()
    return deaths


def judge_deaths(deaths: Sequence[Death], turn: int | None) -> Tally:
    """Let a next controller begin after deaths, each time with the remaining state.

    turn: None: after all. The number of a personality: after those that are taken up under it, and
    after no two that have left the same.
    """
    if turn is None:
        for death in deaths:
            judge_next(death)
        return Tally(len(deaths), len(deaths))
    judged: set[tuple[str, str]] = set()
    for death in taken_up(deaths, turn):
        if death.state not in judged:
            judged.add(death.state)
            judge_next(death)
    equal = sum(death.state in judged for death in deaths) - len(judged)
    return Tally(len(deaths), len(judged), equal)


def taken_up(deaths: Iterable[Death], turn: int) -> list[Death]:
    """One death of every fourth kind; other kinds for the next that has these shapes of a rollout.

    Of the deaths of one kind the first one for the first personality, later ones for others.
    """
    kinds: dict[object, list[Death]] = defaultdict(list)
    for death in deaths:
        kinds[death.kind].append(death)
    chosen = [same[turn * len(same) // len(PERSONALITIES)] for same in kinds.values()]
    return chosen[turn // EACH_SHAPE % EACH_KIND :: EACH_KIND]


def judge_next(death: Death) -> None:
    """Check that the next controller ends the rollout as its gates allow."""
    trials = death.trials
    death.snapshot.files.write(trials.site.journal.parent)
    applied, _ = trials.life()
    assert bool(applied.failure) == bool(trials.case.fails), (death.snapshot.number, applied)
    trials.judge_end()
