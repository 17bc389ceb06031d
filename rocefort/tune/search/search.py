"""A search from its scenarios to its result: screen, compare the front, choose, and doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from rocefort.models.wording import count_of
from rocefort.tune.model import (
    Option,
    OtherObjective,
    SearchResult,
    Settings,
    Simulation,
    SwitchValue,
)
from rocefort.tune.search import methods
from rocefort.tune.search.evaluate import Evaluator
from rocefort.tune.search.jobs import base_digest
from rocefort.tune.search.objectives import (
    Extremes,
    distance,
    paper_objective,
    program_objective,
    ratios,
    repaired_objective,
    score,
    short_front,
)
from rocefort.tune.search.points import Point, Space
from rocefort.tune.search.study import certainty, figures, heat_maps, parameters, queue_series
from rocefort.tune.simulator.simulate import NOT_MODELLED
from rocefort.tune.switch_values import switch_values

OBJECTIVES = ("latency", "throughput", "both")
METHODS = ("auto", "grid", "nsga2", "tpe", "annealing")
LARGEST_GRID = 3300  # points that `auto` evaluates all
LARGEST_FRONT = 24
BETAS = (0.1, 0.5, 0.9)
FRESH = 1000  # added to a seed
EQUAL = 1e-9  # scores and distances that differ by less are equal
Evaluation = tuple[Simulation, ...]


@dataclass(frozen=True)
class ReferenceSettings:
    """Settings to compare with; refused: why the rules refuse them."""

    name: str
    source: str
    settings: Settings
    refused: str = ""


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search. budget: most candidates of a method that is no grid."""

    objective: str = "both"
    method: str = "auto"
    budget: int = 400
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
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
    _start: Evaluation = ()

    def run(self) -> SearchResult:
        """Return the result."""
        o, first = self.options, self.options.seeds[:1]
        references = [reference.settings for reference in self.references]
        self._start = self.evaluator.evaluate(references[:1], first, "simulate the start point")[0]
        method = self._method()
        self._screen(method)
        scored = {point: ratios(own, self._start) for point, own in self.table.items()}
        members, resolution = short_front(scored, LARGEST_FRONT)
        leaders = [self._best(scored, name) for name in OBJECTIVES]
        finalists = list(dict.fromkeys([*members, *leaders]))
        settings = [self.space.at(point) for point in finalists]
        all_of = self.evaluator.evaluate([*references, *settings], o.seeds, "compare the front")
        start, known = all_of[0], all_of[len(references) :]
        final = {p: ratios(own, start) for p, own in zip(finalists, known, strict=True)}
        chosen = {name: self._best(final, name) for name in OBJECTIVES}
        options = {
            point: self._option(f"candidate {n}", point, own, start)
            for n, (point, own) in enumerate(zip(finalists, known, strict=True), 1)
        }
        compared = [
            self._reference(reference, own, start)
            for reference, own in zip(self.references, all_of, strict=False)
        ]
        on_front, _ = short_front(final, LARGEST_FRONT)
        winner = options[chosen[o.objective]]
        fresh = tuple(seed + FRESH for seed in o.seeds)
        rivals = self._rivals(finalists, final, chosen[o.objective], options)
        return SearchResult(
            search=self.name,
            objective=o.objective,
            method=method,
            seeds=o.seeds,
            fresh_seeds=fresh,
            combinations=self.space.combinations,
            refused=self.space.refused,
            evaluated=len(self.table),
            notes=tuple(self._early_end(method)),
            start=compared[0],
            chosen=winner,
            best={name: options[point] for name, point in chosen.items()},
            resolution_percent=100 * resolution,
            front=tuple(options[point] for point in on_front),
            references=tuple(compared),
            byte_tuning=tuple(self._byte_tuning(scored)),
            parameters=parameters(self.space, scored),
            certainty=certainty(self.evaluator, o.objective, winner, [compared[0], *rivals], fresh),
            heat_maps=heat_maps(self.space, scored),
            queues=queue_series(self.evaluator, [compared[0], winner], o.seeds[0]),
            not_modelled=NOT_MODELLED,
            simulated=self.evaluator.simulated,
            reused=self.evaluator.reused,
        )

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
        return [ratios(self.table[point], self._start) for point in points]

    def _journal(self, method: str) -> Path | None:
        """File of Optuna's study: its name has the digest of all that it depends on."""
        if self.options.journal is None:
            return None
        bases = self.evaluator.bases
        parts = (
            method,
            self.options.objective,
            str(self.options.seeds),
            self.space.digest,
            self.references[0].settings.model_dump_json(),  # ratios are to them
            *map(base_digest, bases),
            *(base.scenario.model_dump_json() for base in bases),
        )
        digest = sha256("\n".join(parts).encode()).hexdigest()
        return self.options.journal / f"study-{digest[:16]}.log"

    def _option(self, name: str, point: Point, own: Evaluation, start: Evaluation) -> Option:
        return Option(
            name=name,
            settings=self.space.at(point),
            values=self.space.values(point),
            switch_values=self._switch_values(self.space.at(point)),
            ratios=ratios(own, start),
            scenarios=figures(own),
        )

    def _switch_values(self, settings: Settings) -> tuple[SwitchValue, ...]:
        bases = self.evaluator.bases
        speeds = {cable.gbps for base in bases for cable in base.ground.cables}
        return switch_values(settings, bases[0].scenario.port_gbps, speeds)

    def _reference(
        self, reference: ReferenceSettings, own: Evaluation, start: Evaluation
    ) -> Option:
        return Option(
            name=reference.name,
            source=reference.source,
            refused=reference.refused,
            settings=reference.settings,
            values={},
            switch_values=self._switch_values(reference.settings),
            ratios=ratios(own, start),
            scenarios=figures(own),
        )

    def _rivals(
        self,
        finalists: Sequence[Point],
        final: dict[Point, dict[str, float]],
        winner: Point,
        options: dict[Point, Option],
    ) -> list[Option]:
        """Return the second-best candidate."""
        others = [point for point in finalists if point != winner]
        if not others:
            return []
        second = min(others, key=lambda p: score(final[p], self.options.objective))
        return [options[second]]

    def _byte_tuning(self, scored: dict[Point, dict[str, float]]) -> list[OtherObjective]:
        """Return the best candidates by ByteTuning's objectives, of the first scenario."""
        measured = {point: own[0] for point, own in self.table.items()}
        most = Extremes.of(measured.values())
        by = {"program: T/(Q+1)": program_objective}
        for beta in BETAS:
            by[f"paper, beta {beta}"] = lambda m, b=beta: paper_objective(m, most, b)  # type: ignore[misc]
            by[f"repaired, beta {beta}"] = lambda m, b=beta: repaired_objective(m, most, b)  # type: ignore[misc]
        out = []
        for name, value in by.items():
            best = max(measured, key=lambda p: value(measured[p]))
            out.append(
                OtherObjective(objective=name, values=self.space.values(best), ratios=scored[best])
            )
        return out
