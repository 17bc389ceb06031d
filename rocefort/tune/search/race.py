"""Race of candidates: more seeds only for those that may still be the best.

Each round has twice the seeds of the one before. A candidate leaves that is worse than the leader
by a paired t test, and only the best quarter stays, so a round costs no more than the screening. Of
candidates that are equal with the first seed, the one nearest to today's values runs.

Sources: racing by paired t tests, Lopez-Ibanez et al., Operations Research Perspectives 3 (2016),
doi 10.1016/j.orp.2016.09.002; fewer candidates with more samples, Karnin et al., Almost Optimal
Exploration in Multi-Armed Bandits, ICML 2013 (sequential halving).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean, stdev

from rocefort.tune.model import RaceRound, Settings
from rocefort.tune.search.evaluate import Evaluation, Evaluator
from rocefort.tune.search.objectives import shortfall
from rocefort.tune.search.paired import (
    Logs,
    OwnValue,
    logs_of,
    mean_logs,
    scores_by_seed,
    t_quantile,
)
from rocefort.tune.search.points import Point

ROUNDS = (2, 4, 8, 16, 32)  # seeds
KEPT = 4  # one of so many stays in a round
LEAST_KEPT = 12  # candidates that a rank alone does not end
TEST_SEEDS = 4  # fewer say nothing about a spread
WORSE = 0.99  # confidence that an ended candidate is worse than the leader
PROBES, PROBE_SEEDS = 8, 6  # candidates and seeds that show what the first seed hides
SAME = 1e-9


@dataclass(frozen=True)
class RaceResult:
    """Candidates of a race, the best first; those of earlier rounds come after those of later."""

    order: tuple[Point, ...]
    rounds: tuple[RaceRound, ...]
    seeds: tuple[int, ...]  # all that took part in the choice
    screening: tuple[int, ...]  # those that every candidate has where the scenario needs them
    logs: Mapping[Point, Sequence[Logs]]  # of each scenario, with the screening seeds


@dataclass
class Race:
    """Race of evaluated points against today's values; seeds: the first has screened."""

    evaluator: Evaluator
    settings: Callable[[Point], Settings]
    today: Settings
    objective: str
    seeds: Sequence[int]
    change: Callable[[Point], float]  # how far a point is from today's values
    value: OwnValue | None = None  # of the objective
    _logs: dict[Point, list[Logs]] = field(default_factory=dict)  # by seed, over the scenarios

    def run(self, start: Evaluation, screened: Mapping[Point, Evaluation]) -> RaceResult:
        """Return the order; start and screened: results with the first seed."""
        sound = {p: own for p, own in screened.items() if not fault_of(own, start)}
        first = {p: scenario_logs(own, start, self.value) for p, own in sound.items()}
        screening = 1
        if blind := self._blind(first):
            screening = 2
            self._screen_again(first, blind)
        decisive = deciding(list(first.values()))
        self._logs = {point: [mean_logs(scenarios)] for point, scenarios in first.items()}
        ranked = sorted(self._distinct(first), key=self._score)
        rounds = [RaceRound(candidates=len(screened), seeds=screening)]
        ended: list[Point] = []
        for count in ROUNDS:
            if len(ranked) < 2 or not decisive:
                break
            keep = max(LEAST_KEPT, len(ranked) // KEPT)
            ended = [*ranked[keep:], *ended]
            ranked = ranked[:keep]
            rounds.append(RaceRound(candidates=len(ranked), seeds=count))
            ranked = self._extended(ranked, first, decisive, self.seeds[:count])
            ranked.sort(key=self._score)
            clear = [p for p in ranked[1:] if self._clearly_worse(p, ranked[0], count)]
            ended = [*clear, *ended]
            ranked = [p for p in ranked if p not in clear]
        used = max(rounds[-1].seeds, PROBE_SEEDS)
        return RaceResult(
            order=(*ranked, *ended),
            rounds=tuple(rounds),
            seeds=tuple(self.seeds[:used]),
            screening=tuple(self.seeds[:screening]),
            logs=first,
        )

    def _blind(self, first: Mapping[Point, Sequence[Logs]]) -> tuple[int, ...]:
        """Return scenarios in which candidates differ only with another seed than the first.

        Flows that share an uplink by the seed's draw are an example. Some candidates, evenly spread
        over the points, are tried with more seeds; the first that differs becomes the second seed.
        """
        seen = deciding(list(first.values()))
        equal = [n for n in range(len(self.evaluator.bases)) if n not in seen]
        points = list(first)
        probes = points[:: max(1, len(points) // PROBES)]
        if len(points) < 2 or not equal:
            return ()
        settings = [self.today, *map(self.settings, probes)]
        seeds = self.seeds[:PROBE_SEEDS]
        _, *probed = self.evaluator.evaluate(settings, seeds, "try further seeds", equal)
        for number in range(1, len(seeds)):
            runs = [
                [logs_of(own[n].runs[number], probed[0][n].runs[number]) for n in range(len(equal))]
                for own in probed
            ]
            if blind := deciding(runs):
                rest = [seed for n, seed in enumerate(self.seeds) if n not in (0, number)]
                self.seeds = (self.seeds[0], self.seeds[number], *rest)
                return tuple(equal[n] for n in blind)
        return ()

    def _screen_again(self, first: dict[Point, list[Logs]], blind: Sequence[int]) -> None:
        """Add the second seed to the scenarios in which the first shows no difference."""
        settings = [self.today, *map(self.settings, first)]
        start, *every = self.evaluator.evaluate(settings, self.seeds[:2], "screen again", blind)
        for point, own in zip(tuple(first), every, strict=True):
            if fault_of(own, start):
                del first[point]
                continue
            for scenario, mine, its in zip(blind, own, start, strict=True):
                pairs = zip(mine.runs, its.runs, strict=True)
                both = [logs_of(a, b, scenario, self.value) for a, b in pairs]
                first[point][scenario] = mean_logs(both)

    def _extended(
        self,
        points: Sequence[Point],
        first: Mapping[Point, Sequence[Logs]],
        decisive: Sequence[int],
        seeds: Sequence[int],
    ) -> list[Point]:
        """Simulate further seeds of the scenarios that decide; return the points without faults."""
        settings = [self.today, *map(self.settings, points)]
        start, *rest = self.evaluator.evaluate(settings, seeds, "race candidates", decisive)
        sound = []
        for point, own in zip(points, rest, strict=True):
            if fault_of(own, start):
                continue
            sound.append(point)
            self._logs[point] = [
                mean_logs(
                    [
                        self._logs_of(own, start, decisive.index(s), n, s)
                        if s in decisive
                        else logs
                        for s, logs in enumerate(first[point])
                    ]
                )
                for n in range(len(seeds))
            ]
        return sound

    def _logs_of(
        self, own: Evaluation, start: Evaluation, place: int, run: int, number: int
    ) -> Logs:
        """Return the logarithms of one run; place: of the scenario with this number."""
        return logs_of(own[place].runs[run], start[place].runs[run], number, self.value)

    def _distinct(self, first: Mapping[Point, Sequence[Logs]]) -> list[Point]:
        """Return one point of all that are equal in every scenario."""
        groups: dict[tuple[float, ...], list[Point]] = {}
        for point, scenarios in first.items():
            key = tuple(round(value, 9) for logs in scenarios for value in logs.values())
            groups.setdefault(key, []).append(point)
        return [g[0] if len(g) == 1 else min(g, key=self.change) for g in groups.values()]

    def _score(self, point: Point) -> float:
        return fmean(self._scores(point))

    def _scores(self, point: Point) -> list[float]:
        """Return a score for each seed; too little goodput costs by its mean over the seeds."""
        by_seed = self._logs[point]
        extra = shortfall(mean_logs(by_seed), self.objective)
        return [score + extra for score in scores_by_seed(by_seed, self.objective)]

    def _clearly_worse(self, point: Point, leader: Point, count: int) -> bool:
        """Whether a paired t test finds a point worse than the leader."""
        if count < TEST_SEEDS:
            return False
        own, its = (self._scores(p) for p in (point, leader))
        differences = [a - b for a, b in zip(own, its, strict=True)]
        error = stdev(differences) / sqrt(len(differences))
        return fmean(differences) > max(SAME, t_quantile(WORSE, count - 1) * error)


def scenario_logs(own: Evaluation, start: Evaluation, value: OwnValue | None = None) -> list[Logs]:
    """Return the logarithms of ratios of each scenario, over its seeds."""
    return [
        mean_logs([logs_of(a, b, number, value) for a, b in zip(mine.runs, its.runs, strict=True)])
        for number, (mine, its) in enumerate(zip(own, start, strict=True))
    ]


def deciding(candidates: Sequence[Sequence[Logs]]) -> tuple[int, ...]:
    """Return the scenarios in which candidates differ."""
    return tuple(
        number
        for number, whole in enumerate(candidates[0] if candidates else ())
        if any(
            abs(logs.get(goal, 0.0) - value) > SAME
            for each in candidates
            for logs in (each[number],)
            for goal, value in whole.items()
        )
    )


def fault_of(own: Evaluation, start: Evaluation) -> str:
    """Return why a candidate is never recommended: it drops, or its flows do not end."""
    for mine, its in zip(own, start, strict=True):
        if any(run.drops for run in mine.runs):
            return f"drops packets in {mine.scenario}"
        if any(a.unfinished > b.unfinished for a, b in zip(mine.runs, its.runs, strict=True)):
            return f"leaves flows unfinished in {mine.scenario}"
    return ""
