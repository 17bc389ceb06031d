"""Verdict of a search: the best candidate against today's values, by seeds that chose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from math import exp
from statistics import fmean
from typing import Literal

from rocefort.models.wording import listing
from rocefort.tune.model import (
    BorderHit,
    ChangedKey,
    ConfidenceInterval,
    Independence,
    MeasureEffect,
    Option,
    RaceRound,
    ReferenceComparison,
    SearchVerdict,
    Settings,
    SwitchValue,
)
from rocefort.tune.search.evaluate import Evaluation, Evaluator
from rocefort.tune.search.objectives import DROPS, GOALS, RATES, shortfall
from rocefort.tune.search.paired import (
    Logs,
    OwnValue,
    interval_of,
    logs_by_seed,
    mean_logs,
    scores_by_seed,
)
from rocefort.tune.search.points import Point, Space
from rocefort.tune.search.race import fault_of
from rocefort.tune.verdict_sentence import Stated, change_sentence, keep_sentence

LOOKS = (20, 60)  # fresh seeds; the second number only if the first do not decide
CONFIDENCE = 1 - 0.05 / len(
    LOOKS
)  # of each look, so that all together are wrong in 5 % (Bonferroni)
LEAST_GAIN_PERCENT = 1.0  # a smaller one is no reason to change a switch
ATTEMPTS = 3  # candidates that are tried if the one before drops, or a reference is better
FRESH = 1000  # distance of fresh seeds from those that chose
HIGHEST_SEED = 2**63
UNMOVED = 0.001  # logarithm of a ratio: a measure that moves by less does not depend
TIE = 1e-9


def further_seeds(used: Sequence[int], number: int, distance: int = 1) -> tuple[int, ...]:
    """Return so many seeds beyond those used; they contain none of those."""
    begin = max(used) + distance
    fresh = (seed % HIGHEST_SEED for seed in count(begin))
    return tuple(islice((seed for seed in fresh if seed not in used), number))


@dataclass
class CandidateTrial:
    """Comparison of one candidate with today's values and the references, over fresh seeds."""

    candidate: Option
    seeds: tuple[int, ...]
    today: Evaluation
    own: Evaluation
    score: ConfidenceInterval
    references: tuple[ReferenceComparison, ...]
    fault: str  # why it is never recommended


@dataclass
class Judge:
    """Judge of the candidates of a race. today: the first of the references."""

    evaluator: Evaluator
    objective: str
    references: Sequence[Option]
    values: Callable[[Settings], Sequence[SwitchValue]]  # of switches, complete
    used: Sequence[int]  # seeds that chose
    value: OwnValue | None = None  # of the objective
    trials: list[CandidateTrial] = field(default_factory=list)

    def judge(self, candidates: Sequence[Option]) -> CandidateTrial:
        """Return the trial that the verdict is about: the first without a fault, or the first."""
        for candidate in candidates[:ATTEMPTS]:
            self.trials.append(self._trial(candidate))
            if not self.trials[-1].fault:
                return self.trials[-1]
        return self.trials[0]

    def _trial(self, candidate: Option) -> CandidateTrial:
        """Compare with the first look's seeds, and with those of the second if they decide."""
        used = [*self.used, *(seed for trial in self.trials for seed in trial.seeds)]
        seeds = further_seeds(used, LOOKS[-1], FRESH)
        settings = [o.settings for o in (*self.references, candidate)]
        title = "compare with fresh seeds"
        today, *others, own = self.evaluator.evaluate(settings, seeds[: LOOKS[0]], title)
        compared = tuple(
            self._reference(option, result, own, today)
            for option, result in zip(self.references[1:], others, strict=True)
        )
        better = next((each.reference for each in compared if each.dominates), "")
        fault = self._fault(own, today)
        if not fault and better:
            fault = f"is beaten on every measure by the shipped reference {better}"
        looked = seeds[: LOOKS[0]]
        score = interval_of(self._scores(own, today), CONFIDENCE)
        for number in LOOKS[1:]:
            if fault or decided(gain_percent(score)):
                break
            looked = seeds[:number]
            today, own = self.evaluator.evaluate([settings[0], settings[-1]], looked, title)
            score = interval_of(self._scores(own, today), CONFIDENCE)
            fault = self._fault(own, today)
        return CandidateTrial(candidate, looked, today, own, score, compared, fault)

    def _fault(self, own: Evaluation, today: Evaluation) -> str:
        """Return why a candidate is never recommended."""
        if fault := fault_of(own, today):
            return fault
        logs = mean_logs(logs_by_seed(own, today))
        if shortfall(logs, self.objective):
            name = max((name for name in RATES if name in logs), key=lambda name: logs[name])
            return f"has {100 * exp(-logs[name]):.0f} % of today's {name}"
        return ""

    def _scores(self, own: Evaluation, other: Evaluation) -> list[float]:
        return scores_by_seed(logs_by_seed(own, other, self.value), self.objective)

    def _reference(
        self, option: Option, its: Evaluation, own: Evaluation, today: Evaluation
    ) -> ReferenceComparison:
        by_seed = logs_by_seed(own, its, self.value)
        score = interval_of(scores_by_seed(by_seed, self.objective), CONFIDENCE)
        return ReferenceComparison(
            reference=option.name,
            source=option.source,
            refused=option.refused,
            drops=sum(each.drops for each in its),
            fault=self._fault(its, today),
            gain_percent=gain_percent(score),
            dominates=not fault_of(its, today) and dominated(mean_logs(by_seed)),
        )


def dominated(logs: Logs) -> bool:
    """Whether a candidate is worse than another on one measure or more, and better on none."""
    return all(value >= -TIE for value in logs.values()) and any(
        value > TIE for value in logs.values()
    )


def gain_percent(score: ConfidenceInterval) -> ConfidenceInterval:
    """Return how much better a score is, percent: its ratio is exp(score)."""
    mean, low, high = (100 * (1 - exp(min(x, 20))) for x in (score.mean, score.high, score.low))
    return ConfidenceInterval(mean=mean, low=low, high=high)


def decided(gain: ConfidenceInterval) -> bool:
    """Whether an interval shows that a gain is real, or that it is not worth a change."""
    return worthwhile(gain) or gain.high < LEAST_GAIN_PERCENT


def worthwhile(gain: ConfidenceInterval) -> bool:
    """Whether a gain excludes 0 and is large enough for a change."""
    return gain.low > 0 and gain.mean >= LEAST_GAIN_PERCENT


def effects(today: Evaluation, own: Evaluation) -> Iterator[MeasureEffect]:
    """Yield every measure of every scenario, with the interval of its paired difference."""
    for before, after in zip(today, own, strict=True):
        for goal in (*GOALS, DROPS):
            pairs = [
                (a, b)
                for x, y in zip(before.runs, after.runs, strict=True)
                if (a := goal.read(x)) is not None and (b := goal.read(y)) is not None
            ]
            if not pairs:
                continue
            difference = interval_of([b - a for a, b in pairs], CONFIDENCE)
            yield MeasureEffect(
                scenario=before.scenario,
                measure=goal.name,
                unit=goal.unit,
                today=fmean(a for a, _ in pairs),
                new=fmean(b for _, b in pairs),
                difference=difference,
                higher_is_better=goal.raised,
                judgement=_judgement(difference, raised=goal.raised),
            )


def _judgement(
    difference: ConfidenceInterval, *, raised: bool
) -> Literal["better", "worse", "within noise"]:
    if difference.low <= 0 <= difference.high:
        return "within noise"
    return "better" if (difference.mean > 0) == raised else "worse"


def changes(today: Sequence[SwitchValue], new: Sequence[SwitchValue]) -> Iterator[ChangedKey]:
    """Yield the keys whose values differ, in the order of the new ones."""
    before = {(row.gbps, row.key): row for row in today}
    after = {(row.gbps, row.key): row for row in new}
    for place in dict.fromkeys((*after, *before)):
        old, own = before.get(place), after.get(place)
        if old is None or own is None or abs(old.value - own.value) > 1e-6:
            row = after.get(place) or before[place]
            yield ChangedKey(
                gbps=row.gbps,
                key=row.key,
                unit=row.unit,
                today=old.value if old else None,
                new=own.value if own else None,
            )


def independence(
    space: Space, names: Sequence[str], scored: Mapping[Point, Sequence[Logs]]
) -> Iterator[Independence]:
    """Yield for each scenario the parameters that move none of its measures, if there are any.

    Compared are candidates that differ in one parameter only. names: of the scenarios.
    """
    axes = [n for n, axis in enumerate(space.axes) if len(axis.values) > 1]
    for scenario, name in enumerate(names):
        still = [n for n in axes if _moves(n, scenario, scored) is False]
        if still:
            parameters = tuple(space.axes[n].name for n in still)
            yield Independence(scenario=name, parameters=parameters, every=len(still) == len(axes))


def _moves(axis: int, scenario: int, scored: Mapping[Point, Sequence[Logs]]) -> bool | None:
    """Whether a parameter moves a measure of a scenario; None: no two candidates show it."""
    groups: dict[Point, list[Logs]] = {}
    for point, logs in scored.items():
        groups.setdefault((*point[:axis], *point[axis + 1 :]), []).append(logs[scenario])
    alike = [group for group in groups.values() if len(group) > 1]
    if not alike:
        return None
    return any(
        max(values) - min(values) > UNMOVED
        for group in alike
        for goal in group[0]
        if (values := [logs[goal] for logs in group if goal in logs])
    )


def border(
    space: Space, point: Point, still: Sequence[Independence], scenarios: int
) -> Iterator[BorderHit]:
    """Yield the parameters whose best value is the first or last that was tried."""
    counts = [name for each in still for name in each.parameters]
    for axis, index in zip(space.axes, point, strict=True):
        last = len(axis.values) - 1
        if last == 0 or 0 < index < last or counts.count(axis.name) == scenarios:
            continue
        end: Literal["lowest", "highest"] = "highest" if index else "lowest"
        yield BorderHit(parameter=axis.name, value=axis.values[index], end=end)


@dataclass(frozen=True)
class SearchFacts:
    """Facts of a search that its verdict reports."""

    tried: int
    candidates: int
    race: tuple[RaceRound, ...]
    independent: tuple[Independence, ...]
    border: tuple[BorderHit, ...]


def verdict_of(judge: Judge, trial: CandidateTrial, facts: SearchFacts) -> SearchVerdict:
    """Return the verdict on a trial."""
    gain = gain_percent(trial.score)
    scenarios = tuple(each.scenario for each in trial.own)
    loses = _drops(trial.today)
    rescue = bool(loses) and not trial.fault
    change = not trial.fault and (worthwhile(gain) or rescue)
    every = tuple(effects(trial.today, trial.own))
    before, after = (judge.values(o.settings) for o in (judge.references[0], trial.candidate))
    changed = tuple(changes(before, after))
    stated = Stated(judge.objective, gain, len(trial.seeds), scenarios)
    if change:
        reason = f"today's values drop packets in {loses}" if rescue else "the gain is real"
        sentence = change_sentence(changed, every, stated, loses)
    else:
        idle = {each.scenario for each in facts.independent if each.every} >= set(scenarios)
        reason = _why_keep(trial, gain, judge, idle=idle)
        if not trial.fault and (better := best_reference(trial.references)):
            reason += f"; search around the shipped reference {better[0]}, {better[1]:.1f} % better"
        sentence = keep_sentence(reason, facts.tried, stated)
    return SearchVerdict(
        decision="change" if change else "keep",
        sentence=sentence,
        reason=reason,
        fault=trial.fault,
        gain_percent=gain,
        confidence_percent=100 * CONFIDENCE,
        seeds=trial.seeds,
        scenarios=scenarios,
        changes=changed,
        effects=every,
        references=trial.references,
        tried=facts.tried,
        candidates=facts.candidates,
        race=facts.race,
        independent=facts.independent,
        border=facts.border,
    )


def _drops(results: Evaluation) -> str:
    """Return the scenarios in which packets are dropped."""
    return listing(each.scenario for each in results if each.drops)


def best_reference(references: Sequence[ReferenceComparison]) -> tuple[str, float] | None:
    """Return the shipped reference that is surely better than the candidate, by how many percent.

    One that the rules refuse, or that has a fault, is left out. None: there is none.
    """
    better = [
        (own.reference, 100 * (1 - 1 / (1 - own.gain_percent.mean / 100)))
        for own in references
        if own.gain_percent.high < 0 and not own.refused and not own.fault
    ]
    best = max(better, key=lambda each: each[1], default=("", 0.0))
    return best if best[1] >= LEAST_GAIN_PERCENT else None


def _why_keep(trial: CandidateTrial, gain: ConfidenceInterval, judge: Judge, *, idle: bool) -> str:
    """Return why today's values stay: the end of a sentence about the best candidate.

    idle: no scenario depends on a searched parameter.
    """
    if trial.fault:
        others = len(judge.trials) - 1
        more = f", and the next {others} have faults, too" if others else ""
        return f"the best {trial.fault}{more}"
    if all(abs(value) < TIE for value in (gain.mean, gain.low, gain.high)):
        same = "no searched value changes the objective"
        return same if idle else "the best candidate has today's values"
    if gain.mean <= 0:
        return f"the best is worse by {-gain.mean:.1f} %"
    if gain.low > 0:
        return f"less than {LEAST_GAIN_PERCENT:g} % is no reason for a change"
    return "this is within noise"
