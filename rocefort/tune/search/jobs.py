"""Simulations as pure jobs, and a folder with their results by the digest of all that they take.

A worker writes each result as soon as it has it. So a killed worker loses only the simulation that
it runs, and a search that starts again simulates only what is missing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rocefort.base.errors import BadInput
from rocefort.models.fabric.congestion_control import DcqcnParameters
from rocefort.tune import scenario as scenarios
from rocefort.tune import traffic
from rocefort.tune.model import SimulationRun
from rocefort.tune.scenario import Scenario
from rocefort.tune.simulator import layout
from rocefort.tune.simulator.layout import Ground
from rocefort.tune.simulator.simulate import measured, simulated, with_profile
from rocefort.validators.facts import headroom

OUTSIDE = {"scenario", "seeds", "search", "topology"}  # keys that no run depends on


@dataclass(frozen=True)
class Base:
    """Scenario of a search with its ground, and the NIC's profile for keys that it leaves out."""

    scenario: Scenario
    profile: DcqcnParameters | None
    ground: Ground


@dataclass(frozen=True, slots=True)
class Job:
    """One run: a scenario with one seed, on the ground of a base."""

    key: str
    base: int
    scenario: Scenario
    seed: int


@dataclass(frozen=True)
class Batch:
    """Jobs that a worker runs one after the other. results: folder, empty for none."""

    bases: tuple[Base, ...]
    jobs: tuple[Job, ...]
    results: str = ""


@cache
def code_digest() -> str:
    """Return the digest of the simulator's sources: another simulator has other results."""
    simulator = Path(layout.__file__).parent
    sources = [simulator / f"{name}.py" for name in ("layout", "tables", "simulate")]
    sources += sorted((simulator / "kernel").glob("*.py"))
    sources += [Path(str(each.__file__)) for each in (headroom, scenarios, traffic)]
    return sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def base_digest(base: Base) -> str:
    """Return the digest of what a run takes besides its scenario and its seed."""
    profile = "" if base.profile is None else base.profile.model_dump_json()
    ground = TypeAdapter(dict[str, object]).dump_json(asdict(base.ground)).decode()
    kind = base.scenario.topology.kind
    return sha256("\n".join((code_digest(), profile, ground, kind)).encode()).hexdigest()


def job_key(digest: str, scenario: Scenario, seed: int) -> str:
    """Return the digest of a run; digest: of its base."""
    text = scenario.model_dump_json(exclude=OUTSIDE)
    return sha256(f"{digest}\n{seed}\n{text}".encode()).hexdigest()


def run_batch(batch: Batch) -> list[tuple[str, SimulationRun]]:
    """Return the results of all jobs; those that the folder has already are read."""
    store = ResultFolder(Path(batch.results)) if batch.results else None
    out = []
    for job in batch.jobs:
        result = store.read(job.key) if store else None
        if result is None:
            result = _run(batch.bases[job.base], job)
            if store:
                store.write(job.key, result)
        out.append((job.key, result))
    return out


def _run(base: Base, job: Job) -> SimulationRun:
    nic = with_profile(job.scenario, base.profile)
    return measured(simulated(job.scenario, nic, job.seed, base.ground), job.seed)


def batches_of(
    bases: tuple[Base, ...], jobs: Sequence[Job], size: int, results: Path | None
) -> Iterable[Batch]:
    """Yield jobs in batches of at most `size`."""
    folder = "" if results is None else str(results)
    for first in range(0, len(jobs), size):
        yield Batch(bases, tuple(jobs[first : first + size]), folder)


class ResultFolder:
    """Folder with a file for each result, named by its digest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self) -> None:
        """Make the folder; raises BadInput if nothing can be written into it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            what = f"no results can be written here: {error.strerror}"
            raise BadInput(what, file=str(self.folder), how="name another folder") from None

    def read(self, key: str) -> SimulationRun | None:
        """Return a result; None if there is none, or its file is not whole."""
        try:
            return SimulationRun.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, key: str, result: SimulationRun) -> None:
        """Write a result; a reader sees the whole file or none."""
        path = self._path(key)
        path.parent.mkdir(exist_ok=True)
        descriptor, part = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(result.model_dump_json())
        Path(part).replace(path)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"
