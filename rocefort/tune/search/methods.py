"""Searches: the full grid, Optuna's NSGA-II and TPE, and annealing as ByteTuning's paper has it.

A search evaluates points and keeps all that it has evaluated; what is best is chosen from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from rocefort.tune.search.objectives import score
from rocefort.tune.search.points import Point, Space

if TYPE_CHECKING:
    import optuna

Ratios = Mapping[str, float]
Ask = Callable[[Sequence[Point]], list[dict[str, float]]]  # ratios of points, by goal
POPULATION = 40  # of NSGA-II
COOLING, FIRST_TEMPERATURE, COLD = 0.95, 0.3, 0.002
TRIES = 50  # of Optuna for each point of a budget, refused and repeated ones included


def grid(space: Space, ask: Ask) -> None:
    """Evaluate all points."""
    ask(list(space.points()))


def annealing(space: Space, ask: Ask, budget: int, seed: int, objective: str) -> None:
    """Simulated annealing with restarts: a step changes one parameter to a neighboring value."""
    random = Random(seed)  # noqa: S311 - a search
    seen: set[Point] = set()

    def energy(point: Point) -> float:
        seen.add(point)
        return score(ask([point])[0], objective)

    steps = 0
    while len(seen) < min(budget, space.size) and steps < 100 * budget:
        here = draw(space, random)
        now, temperature = energy(here), FIRST_TEMPERATURE
        while temperature > COLD and len(seen) < min(budget, space.size):
            steps += 1
            there = neighbor(space, here, random)
            then = energy(there)
            if then <= now or random.random() < exp((now - then) / temperature):
                here, now = there, then
            temperature *= COOLING


def draw(space: Space, random: Random) -> Point:
    """Return a random allowed point."""
    while True:
        point = tuple(random.randrange(len(axis.values)) for axis in space.axes)
        if space.allowed(point):
            return point


def neighbor(space: Space, point: Point, random: Random) -> Point:
    """Return an allowed point that differs by one step of one axis; the same if it is drawn so."""
    for _ in range(100):
        axis = random.randrange(len(point))
        index = point[axis] + random.choice((-1, 1))
        if 0 <= index < len(space.axes[axis].values):
            other = (*point[:axis], index, *point[axis + 1 :])
            if space.allowed(other):
                return other
    return point


@dataclass(frozen=True, slots=True)
class OptunaOptions:
    """Options of a search by Optuna. batch: points that are evaluated at once; journal: a file."""

    kind: str  # nsga2 or tpe
    objective: str
    budget: int
    seed: int
    batch: int = 1
    journal: Path | None = None


def optuna_search(space: Space, ask: Ask, o: OptunaOptions) -> None:
    """Search by Optuna: NSGA-II for all goals, TPE for one objective.

    A refused point costs no evaluation. A study with a journal continues where it ended. The budget
    counts all points, those of the journal and the first one, which only names the goals.
    """
    import optuna  # noqa: PLC0415 - optional

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    complete = (optuna.trial.TrialState.COMPLETE,)
    multiple = o.kind == "nsga2"
    limit = min(o.budget, space.size)
    first = draw(space, Random(o.seed))  # noqa: S311 - a search
    names = sorted(ask([first])[0])
    study = optuna.create_study(
        storage=_journal(o.journal) if o.journal else None,
        study_name=o.kind,
        load_if_exists=True,
        sampler=_sampler(o.kind, o.seed, o.batch),
        directions=["minimize"] * (len(names) if multiple else 1),
    )
    past = [tuple(t.params[a.name] for a in space.axes) for t in study.get_trials(states=complete)]
    kept = list(dict.fromkeys((first, *filter(space.allowed, past))))[:limit]
    ask(kept)
    seen, tries = set(kept), 0
    while len(seen) < limit and tries < TRIES * o.budget:
        trials: list[tuple[optuna.Trial, Point]] = []
        for _ in range(o.batch):
            if len(seen) == limit:
                break
            tries += 1
            trial = study.ask()
            point = _suggest(trial, space)
            if space.allowed(point):
                trials.append((trial, point))
                seen.add(point)
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
        for (trial, _), ratio in zip(trials, ask([p for _, p in trials]), strict=True):
            values = [ratio[n] for n in names] if multiple else [score(ratio, o.objective)]
            study.tell(trial, values)


def _suggest(trial: optuna.Trial, space: Space) -> Point:
    return tuple(trial.suggest_int(a.name, 0, len(a.values) - 1) for a in space.axes)


def _sampler(kind: str, seed: int, batch: int) -> Any:  # noqa: ANN401 - of Optuna
    import optuna  # noqa: PLC0415 - optional

    if kind == "nsga2":
        return optuna.samplers.NSGAIISampler(population_size=POPULATION, seed=seed)
    return optuna.samplers.TPESampler(seed=seed, constant_liar=batch > 1)


def _journal(path: Path) -> Any:  # noqa: ANN401 - of Optuna
    from optuna.storages import JournalStorage  # noqa: PLC0415 - optional
    from optuna.storages.journal import JournalFileBackend  # noqa: PLC0415 - the same

    return JournalStorage(JournalFileBackend(str(path)))
