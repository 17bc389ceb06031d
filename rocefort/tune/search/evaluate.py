"""Evaluation of settings: all scenarios with some seeds; results that exist are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rocefort.base.progress import Step
from rocefort.tune.model import Settings, Simulation, SimulationRun
from rocefort.tune.scenario import Scenario
from rocefort.tune.search.executors import Workers
from rocefort.tune.search.jobs import Base, Job, ResultFolder, base_digest, batches_of, job_key
from rocefort.tune.simulator.simulate import simulation_of

Evaluation = tuple[Simulation, ...]  # of one candidate: a simulation for each scenario
LARGEST_BATCH = 32  # simulations that a worker runs before it reports


@dataclass
class Evaluator:
    """Evaluates settings on the scenarios of a search; results: folder of results, or none."""

    bases: tuple[Base, ...]
    workers: Workers
    count: int  # of workers
    results: Path | None
    simulated: int = 0
    reused: int = 0
    _known: dict[str, SimulationRun] = field(default_factory=dict)
    _digests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._digests = [base_digest(base) for base in self.bases]
        if self.results is not None:
            ResultFolder(self.results).prepare()

    def evaluate(
        self,
        candidates: Sequence[Settings],
        seeds: Sequence[int],
        title: str,
        scenarios: Sequence[int] | None = None,
    ) -> list[Evaluation]:
        """Return the results of each candidate: a simulation for each scenario, over the seeds.

        scenarios: numbers of those to simulate; None: all.
        """
        numbers = range(len(self.bases)) if scenarios is None else scenarios
        jobs = [
            [[self._job(number, settings, seed) for seed in seeds] for number in numbers]
            for settings in candidates
        ]
        required = {job.key: job for own in jobs for runs in own for job in runs}
        self._simulate([job for key, job in required.items() if key not in self._known], title)
        return [
            tuple(
                simulation_of(runs[0].scenario, tuple(self._known[job.key] for job in runs))
                for runs in own
            )
            for own in jobs
        ]

    def windows(
        self, number: int, scenarios: Sequence[Scenario], candidates: Sequence[Settings], seed: int
    ) -> list[list[SimulationRun]]:
        """Return the runs of variants of one scenario, for each candidate."""
        jobs = [[self._job(number, s, seed, each) for each in scenarios] for s in candidates]
        required = {job.key: job for own in jobs for job in own}
        self._simulate(
            [job for key, job in required.items() if key not in self._known], "simulate windows"
        )
        return [[self._known[job.key] for job in own] for own in jobs]

    def _job(
        self, number: int, settings: Settings, seed: int, scenario: Scenario | None = None
    ) -> Job:
        scenario = settings.applied(scenario or self.bases[number].scenario)
        key = job_key(self._digests[number], scenario, seed)
        return Job(key, number, scenario, seed)

    def _simulate(self, jobs: Sequence[Job], title: str) -> None:
        """Simulate what neither this search nor the folder has."""
        if not jobs:
            return
        with Step(title, len(jobs), even=True) as step:
            missing = []
            for job in jobs:
                result = ResultFolder(self.results).read(job.key) if self.results else None
                if result is None:
                    missing.append(job)
                    continue
                self._known[job.key] = result
                self.reused += 1
                step.advance()
            size = max(1, min(LARGEST_BATCH, len(missing) // (4 * self.count)))
            batches = batches_of(self.bases, missing, size, self.results)
            for done in self.workers.results(batches):
                self._known.update(done)
                self.simulated += len(done)
                step.advance(len(done))
