"""A search from its scenarios to its result: screen, race, compare the front, and judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from math import exp
from pathlib import Path
from statistics import fmean

from rocefort.models.wording import count_of
from rocefort.tune.model import (
    Independence,
    Option,
    OtherObjective,
    SearchResult,
    Settings,
    SwitchValue,
)
from rocefort.tune.search import methods
from rocefort.tune.search.byte_tuning import (
    BYTE_TUNING,
    DEFAULT_WEIGHTS,
    Extremes,
    Weights,
)
from rocefort.tune.search.comparison import (
    TriedCandidate,
    noise_percent,
    ratios_to,
)
from rocefort.tune.search.evaluate import Evaluation, Evaluator
from rocefort.tune.search.jobs import base_digest
from rocefort.tune.search.objectives import (
    WORST,
    distance,
    is_lossy,
    ratios,
    score,
    short_front,
)
from rocefort.tune.search.paired import OwnValue
from rocefort.tune.search.points import Point, Space, neighbors
from rocefort.tune.search.race import ROUNDS, Race, RaceResult, scenario_logs
from rocefort.tune.search.study import figures, heat_maps, parameters, queue_series
from rocefort.tune.search.verdict import (
    Judge,
    SearchFacts,
    border,
    further_seeds,
    independence,
    verdict_of,
)
from rocefort.tune.simulator.simulate import NOT_MODELLED
from rocefort.tune.switch_values import completed, switch_values

OBJECTIVES = ("latency", "throughput", "both")
METHODS = ("auto", "grid", "nsga2", "tpe", "annealing")
LARGEST_GRID = 3300  # points that `auto` evaluates all
LARGEST_FRONT = 24
BETAS = tuple(tenths / 10 for tenths in range(1, 10))  # of ByteTuning, compared
FINALISTS = 3  # best candidates of the race that a verdict may be about
TOGETHER: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = (  # parameters and their settings
    (frozenset({"kmin_kbytes", "width_kbytes", "pmax_percent"}), ("ecn",)),
    (frozenset({"xoff_kbytes", "xon_gap_kbytes"}), ("xoff_kbytes", "xon_kbytes")),
    (frozenset({"alpha"}), ("alpha",)),
    (frozenset({"headroom_kbytes"}), ("headroom_kbytes",)),
)
EQUAL = 1e-9  # scores and distances that differ by less are equal


@dataclass(frozen=True)
class ReferenceSettings:
    """Settings to compare with; refused: why the rules refuse them."""

    name: str
    source: str
    settings: Settings
    refused: str = ""


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search.

    budget: most candidates of a method that is no grid. weights: of ByteTuning's objectives.
    """

    objective: str = "both"
    method: str = "auto"
    budget: int = 400
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    weights: Weights = DEFAULT_WEIGHTS
    journal: Path | None = None


@dataclass
class Search:
    """Search over a space; start: what there is today, the first of the references."""

    name: str
    space: Space
    references: Sequence[ReferenceSettings]
    evaluator: Evaluator
    options: SearchOptions
    table: dict[Point, Evaluation] = field(default_factory=dict)
    extremes: Extremes = field(default_factory=Extremes)
    tried: dict[Point, TriedCandidate] = field(default_factory=dict)
    _start: Evaluation = ()

    def run(self) -> SearchResult:
        """Return the result."""
        o, first = self.options, self.options.seeds[:1]
        references = [reference.settings for reference in self.references]
        self._start = self.evaluator.evaluate(references[:1], first, "simulate the start point")[0]
        self.extremes.add(self._start)
        method = self._method()
        self._screen(method)
        scored = {point: ratios(own, self._start) for point, own in self.table.items()}
        self.tried = self._tried(references[0])
        members, resolution = short_front(scored, LARGEST_FRONT)
        leaders = [self._best(scored, name) for name in OBJECTIVES]
        race = self._race()
        best = race.order[:FINALISTS] or (self._best_rated(),)
        still = self._independence(method, race, best[0])
        finalists = list(dict.fromkeys([*members, *leaders, *best]))
        settings = [self.space.at(point) for point in finalists]
        lean = [self._lean(point, still) for point in best]
        all_of = self.evaluator.evaluate(
            [*references, *settings, *(each for each, _ in lean)], o.seeds, "compare the front"
        )
        start = all_of[0]
        known = all_of[len(references) : -len(lean)]
        final = {p: ratios(own, start) for p, own in zip(finalists, known, strict=True)}
        options = {
            point: self._option(
                f"candidate {n}", self.space.at(point), self.space.values(point), own, start
            )
            for n, (point, own) in enumerate(zip(finalists, known, strict=True), 1)
        }
        contenders = [
            self._contender(options[point], changed, values, own, start)
            for point, (changed, values), own in zip(best, lean, all_of[-len(lean) :], strict=True)
        ]
        compared = [
            self._reference(reference, own, start)
            for reference, own in zip(self.references, all_of, strict=False)
        ]
        on_front, _ = short_front(final, LARGEST_FRONT)
        judge = self._judge(compared, race)
        trial = judge.judge(contenders)
        winner = best[contenders.index(trial.candidate)]
        edges = tuple(border(self.space, winner, still, len(self.evaluator.bases)))
        facts = SearchFacts(len(self.table), self.space.size, race.rounds, still, edges)
        noise = noise_percent(trial.today, self.evaluator.bases)
        leading = {name: options[self._best(final, name)] for name in OBJECTIVES}
        return SearchResult(
            verdict=verdict_of(judge, trial, facts),
            search=self.name,
            objective=o.objective,
            method=method,
            seeds=o.seeds,
            combinations=self.space.combinations,
            refused=self.space.refused,
            evaluated=len(self.table),
            notes=tuple(self._early_end(method)),
            start=compared[0],
            chosen=trial.candidate,
            best=leading | {o.objective: trial.candidate},
            noise_percent=noise,
            resolution_percent=100 * resolution,
            front=tuple(options[point] for point in on_front),
            references=tuple(compared),
            byte_tuning=tuple(self._byte_tuning()),
            parameters=parameters(self.space, scored, self.tried, noise),
            heat_maps=heat_maps(self.space, self.tried),
            queues=queue_series(self.evaluator, [compared[0], trial.candidate], o.seeds[0]),
            not_modelled=NOT_MODELLED,
            simulated=self.evaluator.simulated,
            reused=self.evaluator.reused,
        )

    def _tried(self, start: Settings) -> dict[Point, TriedCandidate]:
        """Return all evaluated points beside the start point with their seeds."""
        out, starts = {}, dict[tuple[int, ...], Evaluation]()
        for point, own in self.table.items():
            seeds = own[0].seeds
            if seeds not in starts:
                title = "simulate the start point"
                starts[seeds] = self.evaluator.evaluate([start], seeds, title)[0]
            begin = starts[seeds]
            out[point] = TriedCandidate(
                self.space.values(point), ratios_to(own, begin), is_lossy(own, begin), own
            )
        return out

    def _race(self) -> RaceResult:
        """Race what was screened, with further seeds than the first."""
        o, today = self.options, self.references[0].settings
        base = self.evaluator.bases[0].scenario
        seeds = (*o.seeds, *further_seeds(o.seeds, ROUNDS[-1]))[: ROUNDS[-1]]
        race = Race(
            self.evaluator,
            self.space.at,
            today,
            o.objective,
            seeds,
            lambda point: distance(self.space.at(point), today, base),
            self._own_value(),
        )
        return race.run(self._start, self.table)

    def _independence(self, method: str, race: RaceResult, best: Point) -> tuple[Independence, ...]:
        """Return on which parameters the scenarios do not depend, with the screening seeds.

        A grid has all pairs of candidates that differ in one parameter; other methods evaluate
        those of the best candidate, all with the same seeds.
        """
        logs = race.logs
        if method != "grid":
            around = list(dict.fromkeys([best, *neighbors(self.space, best)]))
            settings = [self.references[0].settings, *map(self.space.at, around)]
            title = "vary one parameter at a time"
            start, *done = self.evaluator.evaluate(settings, race.screening, title)
            logs = {p: scenario_logs(own, start) for p, own in zip(around, done, strict=True)}
        names = [base.scenario.scenario for base in self.evaluator.bases]
        return tuple(independence(self.space, names, logs))

    def _lean(
        self, point: Point, still: Sequence[Independence]
    ) -> tuple[Settings, dict[str, float]]:
        """Return a point's settings with today's values where no scenario depends on them.

        A change that does nothing is not recommended. The values are those that remain.
        """
        own, today = self.space.at(point), self.references[0].settings
        counts = Counter(name for each in still for name in each.parameters)
        free = {name for name, count in counts.items() if count == len(self.evaluator.bases)}
        searched = {axis.name for axis in self.space.axes if len(axis.values) > 1}
        update: dict[str, object] = {}
        kept: set[str] = set()
        for names, fields in TOGETHER:
            if searched & names and searched & names <= free:
                update |= {name: getattr(today, name) for name in fields}
                kept |= names
        nic = {key: v for key, v in own.nic.items() if f"nic.{key}" not in free}
        lean = own.like(**update, nic=nic)
        if self.space.refusal(lean):
            return own, self.space.values(point)
        values = self.space.values(point)
        return lean, {name: v for name, v in values.items() if name not in kept | free}

    def _method(self) -> str:
        if self.options.method != "auto":
            return self.options.method
        return "grid" if self.space.size <= LARGEST_GRID else "nsga2"

    def _screen(self, method: str) -> None:
        """Evaluate candidates with the first seed, by the method."""
        o, space, count = self.options, self.space, self.evaluator.count
        if method == "grid":
            methods.grid(space, self.ask)
        elif method == "annealing":
            methods.annealing(space, self.ask, o.budget, o.seeds[0], o.objective)
        else:
            batch = methods.POPULATION if method == "nsga2" else count
            journal = self._journal(method)
            chosen = methods.OptunaOptions(
                method, o.objective, o.budget, o.seeds[0], batch, journal
            )
            methods.optuna_search(space, self.ask, chosen)

    def _best(self, scored: Mapping[Point, Mapping[str, float]], objective: str) -> Point:
        """Return the best point; of equal ones, the first that changes today's values least."""
        scores = {point: score(ratio, objective) for point, ratio in scored.items()}
        least = min(scores.values())
        equal = [point for point, value in scores.items() if value <= least + EQUAL]
        today, base = self.references[0].settings, self.evaluator.bases[0].scenario
        distances = {point: distance(self.space.at(point), today, base) for point in equal}
        nearest = min(distances.values())
        return next(point for point in equal if distances[point] <= nearest + EQUAL)

    def _best_rated(self) -> Point:
        """Return the best point for the objective, of all that were screened."""
        rated = {point: self.ratios(own, self._start) for point, own in self.table.items()}
        return self._best(rated, self.options.objective)

    def _early_end(self, method: str) -> Iterator[str]:
        """Yield why fewer candidates are evaluated than the options allow."""
        most, done = min(self.options.budget, self.space.size), len(self.table)
        if method != "grid" and done < most:
            yield (
                f"{method} ended early, at {done} of {count_of(most, 'candidate')}: its other "
                "tries were refused or repeated"
            )

    def ask(self, points: Sequence[Point]) -> list[dict[str, float]]:
        """Evaluate points with the first seed; return their ratios to the start point."""
        new = [point for point in dict.fromkeys(points) if point not in self.table]
        settings = [self.space.at(point) for point in new]
        done = self.evaluator.evaluate(settings, self.options.seeds[:1], "simulate candidates")
        self.table.update(zip(new, done, strict=True))
        for evaluation in done:
            self.extremes.add(evaluation)
        return [self.ratios(self.table[point], self._start) for point in points]

    def ratios(self, own: Evaluation, start: Evaluation) -> dict[str, float]:
        """Return the ratios to a start point; with that of an objective of ByteTuning, if chosen.

        Its maximum and smallest are those of the candidates so far.
        """
        out, value = ratios(own, start), self._own_value()
        if value is not None:
            logs = [
                value.log_ratio(n, a, b) for n, (a, b) in enumerate(zip(own, start, strict=True))
            ]
            out[value.name] = WORST if WORST in out.values() else exp(fmean(logs))
        return out

    def _own_value(self) -> OwnValue | None:
        """Return an objective of ByteTuning, if it is the search's; its extremes are final."""
        o = self.options
        if o.objective not in BYTE_TUNING:
            return None
        read = partial(self.extremes.of_scenario, o.objective, weights=o.weights)
        return OwnValue(o.objective, read)

    def _journal(self, method: str) -> Path | None:
        """File of Optuna's study: its name has the digest of all that it depends on."""
        if self.options.journal is None:
            return None
        bases = self.evaluator.bases
        parts = (
            method,
            self.options.objective,
            str(self.options.weights),
            str(self.options.seeds),
            self.space.digest,
            self.references[0].settings.model_dump_json(),  # ratios are to them
            *map(base_digest, bases),
            *(base.scenario.model_dump_json() for base in bases),
        )
        digest = sha256("\n".join(parts).encode()).hexdigest()
        return self.options.journal / f"study-{digest[:16]}.log"

    def _option(
        self,
        name: str,
        settings: Settings,
        values: dict[str, float],
        own: Evaluation,
        start: Evaluation,
    ) -> Option:
        return Option(
            name=name,
            settings=settings,
            values=values,
            switch_values=self._switch_values(settings),
            ratios=ratios_to(own, start),
            scenarios=figures(own),
        )

    def _switch_values(self, settings: Settings) -> tuple[SwitchValue, ...]:
        bases = self.evaluator.bases
        speeds = {cable.gbps for base in bases for cable in base.ground.cables}
        return switch_values(settings, bases[0].scenario.port_gbps, speeds)

    def _all_values(self, settings: Settings) -> tuple[SwitchValue, ...]:
        """Return the values of settings, and those that they leave to the scenario."""
        base = self.evaluator.bases[0]
        return self._switch_values(completed(base.scenario, base.profile, settings))

    def _contender(
        self,
        whole: Option,
        settings: Settings,
        values: dict[str, float],
        own: Evaluation,
        start: Evaluation,
    ) -> Option:
        """Return a candidate with today's values where they do nothing; its name differs then."""
        name = whole.name if settings == whole.settings else f"{whole.name}, reduced"
        return self._option(name, settings, values, own, start)

    def _judge(self, references: Sequence[Option], race: RaceResult) -> Judge:
        seeds = (*self.options.seeds, *race.seeds)
        values, own = self._all_values, self._own_value()
        return Judge(self.evaluator, self.options.objective, references, values, seeds, own)

    def _reference(
        self, reference: ReferenceSettings, own: Evaluation, start: Evaluation
    ) -> Option:
        option = self._option(reference.name, reference.settings, {}, own, start)
        return option.like(source=reference.source, refused=reference.refused)

    def _byte_tuning(self) -> Iterator[OtherObjective]:
        """Yield the best candidates by ByteTuning's objectives, with the weights that do so."""
        gamma = self.options.weights.gamma
        kept = {point: own.scenarios for point, own in self.tried.items() if not own.lossy}
        for name in BYTE_TUNING if kept else ():
            chosen: dict[Point, list[float]] = {}
            for beta in sorted({*BETAS, self.options.weights.beta}):
                best = self.extremes.best(name, kept, Weights(beta, gamma))
                chosen.setdefault(best, []).append(beta)
            for point, betas in chosen.items():
                weights = Weights(betas[0], gamma)
                yield OtherObjective(
                    objective=name,
                    betas=tuple(betas),
                    gamma=gamma,
                    values=self.space.values(point),
                    value=self.extremes.value(name, kept[point], weights),
                    start=self.extremes.value(name, self._start, weights),
                    ratios=self.tried[point].ratios,
                )
