"""Executors: each gives the same results, and a worker that is killed loses none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from simulators import scenario_of

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.tune.model import SimulationRun
from rocefort.tune.search import executors
from rocefort.tune.search.executors import DaskExecutor, Workers, opener_of
from rocefort.tune.search.jobs import (
    Base,
    Batch,
    Job,
    ResultFolder,
    base_digest,
    batches_of,
    job_key,
    run_batch,
)
from rocefort.tune.simulator.layout import ground_of

COUNT = 24


def batches(results: Path | None = None, size: int = 2) -> list[Batch]:
    """Batches of short simulations, each of another seed."""
    scenario = scenario_of(flows={"count": 2, "bytes": 500_000})
    base = Base(scenario, None, ground_of(scenario))
    digest = base_digest(base)
    jobs = [Job(job_key(digest, scenario, s), 0, scenario, s) for s in range(COUNT)]
    return list(batches_of((base,), jobs, size, results))


def direct() -> dict[str, SimulationRun]:
    return {key: run for batch in batches() for key, run in run_batch(batch)}


def test_a_result_is_whole_or_absent(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path / "results")
    folder.prepare()
    batch = batches(folder.folder)[0]
    ((key, run), _) = run_batch(batch)
    assert folder.read(key) == run
    (path,) = folder.folder.glob(f"*/{key}.json")
    path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    assert folder.read(key) is None
    assert dict(run_batch(batch))[key] == run, "it is simulated again"
    assert folder.read(key) == run


def test_the_digest_has_all_that_a_run_depends_on() -> None:
    scenario = scenario_of(flows={"count": 2})
    base = Base(scenario, None, ground_of(scenario))
    key = job_key(base_digest(base), scenario, 1)
    renamed = scenario.like(scenario="other", seeds=(4, 5))
    assert job_key(base_digest(Base(renamed, None, base.ground)), renamed, 1) == key
    far = scenario.like(link_delay_us=2.0)
    others = [
        job_key(base_digest(base), scenario, 2),
        job_key(base_digest(base), far, 1),
        job_key(base_digest(Base(scenario, None, ground_of(far))), scenario, 1),
    ]
    assert len({key, *others}) == 4


def test_a_killed_process_loses_no_result(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path)
    with Workers(opener_of("processes", 2, tmp_path)) as workers:
        results = workers.results(batches(tmp_path))
        got = dict(next(results))
        first: Any = workers._executor
        victim = next(iter(first._processes))
        os.kill(victim, signal.SIGKILL)
        for done in results:
            got.update(done)
        assert workers._executor is not first, "a new pool took over"
    assert got == direct()
    assert all(folder.read(key) == run for key, run in got.items())


def test_a_killed_search_continues_with_what_it_has(tmp_path: Path) -> None:
    scenario, results = tmp_path / "scenario.yaml", tmp_path / "results"
    scenario.write_text(
        "scenario: killed\nflows: {count: 2, bytes: 2000000}\nseeds: [1]\n"
        "search: {kmin_kbytes: [1, 2, 3, 4, 5, 6, 7, 8, 9], pmax_percent: [1, 5, 9, 20, 50]}\n",
        encoding="utf-8",
    )
    command = [
        *(sys.executable, "-m", "rocefort", "tune", "search", "--scenario", str(scenario)),
        *("--results", str(results), "--workers", "2", "--format", "json"),
    ]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    limit = time.monotonic() + 120
    while len(list(results.glob("*/*.json"))) < 5 and time.monotonic() < limit:
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    kept = len(list(results.glob("*/*.json")))
    assert kept >= 5
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f'"reused": {kept}' in done.stdout


def test_workers_that_always_end_are_one_clear_error(tmp_path: Path) -> None:
    with (
        Workers(lambda: ProcessPoolExecutor(1, initializer=os._exit, initargs=(9,))) as w,
        pytest.raises(ServiceFailed, match="workers ended without a result, 3 times in a row"),
    ):
        list(w.results(batches()))


def test_a_missing_executor_names_its_install_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "find_spec", lambda _name: None)
    with pytest.raises(BadInput, match=r"dask needs distributed, .* 'rocefort\[dask\] @ URL'"):
        opener_of("dask", 2, tmp_path)
    with pytest.raises(BadInput, match=r"submitit needs submitit, .* 'rocefort\[slurm\] @ URL'"):
        opener_of("submitit", 2, tmp_path)


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of others have no warnings as errors, and import Rocefort from here."""
    monkeypatch.setenv("PYTHONWARNINGS", "default")


@pytest.mark.thorough
@pytest.mark.filterwarnings("default")
@pytest.mark.usefixtures("spawned")
@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
def test_a_killed_worker_of_dask_loses_no_result(tmp_path: Path) -> None:
    with Workers(opener_of("dask", 2, tmp_path)) as workers:
        results = workers.results(batches(tmp_path))
        got = dict(next(results))
        executor = workers._executor
        assert isinstance(executor, DaskExecutor)
        pids = executor._client.run(os.getpid)
        assert len(pids) == 2
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        for done in results:
            got.update(done)
    assert got == direct()


@pytest.mark.thorough
@pytest.mark.filterwarnings("default")
@pytest.mark.usefixtures("spawned")
@pytest.mark.skipif(find_spec("submitit") is None, reason="submitit is not installed")
def test_submitit_gives_the_same_results(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Workers(opener_of("submitit", 2, tmp_path)) as workers:
        got = dict(pair for done in workers.results(batches(tmp_path, 6)) for pair in done)
    assert got == direct()
    assert capfd.readouterr().out == "", "standard output is the result's"
