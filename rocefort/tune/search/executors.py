"""Executors of a search: processes, Dask, or a batch system, behind `concurrent.futures`."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rocefort.base.errors import BadInput, RocefortError, ServiceFailed, install_command
from rocefort.tune.model import SimulationRun
from rocefort.tune.search.jobs import Batch, run_batch

FRUITLESS = 3  # rounds without any result, after which a search ends
KINDS = ("processes", "dask", "slurm", "submitit")
MODULES = {"dask": ("distributed", "dask"), "slurm": ("submitit", "slurm")}
HOUR_MIN = 60  # time limit of a job of a batch system, minutes
Opener = Callable[[], Executor]


def opener_of(word: str, workers: int, folder: Path) -> Opener:
    """Return what opens the executor `KIND` or `KIND=WHERE`; raises BadInput.

    WHERE: a scheduler of Dask, HOST:PORT; a partition of Slurm. folder: of a batch system's files.
    """
    kind, equals, where = word.partition("=")
    if kind not in KINDS:
        what = f"no executor {kind!r}"
        raise BadInput(what, where="--executor", how=f"write one of {', '.join(KINDS)}")
    if kind in ("processes", "submitit") and where:
        how = f"write --executor {kind}"
        raise BadInput(f"{kind} has no place {where!r}", where="--executor", how=how)
    if equals and not where:
        how = f"write --executor {kind}" + ("" if kind not in MODULES else f", or {kind}=PLACE")
        raise BadInput(f"{word} names no place", where="--executor", how=how)
    module, extra = MODULES.get("slurm" if kind == "submitit" else kind, ("", ""))
    if module and find_spec(module) is None:
        what = f"the executor {kind} needs {module}, which is not installed"
        raise BadInput(what, where="--executor", how=install_command(extra))
    if kind == "processes":
        return lambda: _processes(workers)
    if kind == "dask":
        return lambda: DaskExecutor(where, workers)
    return lambda: BatchSystem(kind, where, workers, folder)


def _processes(workers: int) -> Executor:
    """Return processes that begin with the simulator loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["rocefort.tune.simulator.kernel.engine", "rocefort.tune.search.jobs"]
    )
    return ProcessPoolExecutor(workers, mp_context=context)


def _local_cluster(workers: int) -> Any:  # noqa: ANN401 - of Dask
    import distributed  # noqa: PLC0415 - optional

    cluster: Any = distributed.LocalCluster
    return cluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=logging.ERROR,
    )


class DaskExecutor(Executor):
    """Workers of a Dask cluster: that of a scheduler, or one on the loopback of this machine."""

    def __init__(self, scheduler: str, workers: int) -> None:
        import distributed  # noqa: PLC0415 - optional

        client: Any = distributed.Client

        try:
            cluster = f"tcp://{scheduler}" if scheduler else _local_cluster(workers)
            self._client = client(cluster)
        except (OSError, ValueError) as error:
            place = scheduler or "127.0.0.1"
            raise ServiceFailed(
                f"no cluster of Dask: {error}", where=place, how="check its scheduler"
            ) from None
        self._executor: Executor = self._client.get_executor(pure=False)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - as Executor's
        """Submit a call."""
        return self._executor.submit(function, *args, **kwargs)

    def shutdown(  # as Executor's
        self,
        wait: bool = True,
        *,
        cancel_futures: bool = False,  # noqa: ARG002
    ) -> None:
        """Leave the cluster; one on this machine ends."""
        self._executor.shutdown(wait=wait)
        cluster = self._client.cluster
        self._client.close()
        if cluster is not None:
            cluster.close()


class BatchSystem(Executor):
    """Jobs of a site's batch system, through submitit; kind submitit: processes of this machine."""

    def __init__(self, kind: str, partition: str, workers: int, folder: Path) -> None:
        import submitit  # noqa: PLC0415 - optional

        log = logging.getLogger("submitit")  # it writes to standard output, where the result goes
        for handler in tuple(log.handlers):
            log.removeHandler(handler)
        cluster = "slurm" if kind == "slurm" else "local"
        try:
            self._jobs = submitit.AutoExecutor(folder=folder, cluster=cluster)
        except RuntimeError as error:
            how = "load Slurm's commands, or choose another executor"
            raise BadInput(f"no batch system: {error}", where="--executor", how=how) from None
        self._jobs.update_parameters(timeout_min=HOUR_MIN, cpus_per_task=1)
        if partition:
            self._jobs.update_parameters(slurm_partition=partition)
        self._threads = ThreadPoolExecutor(workers)  # so many jobs at once

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - as Executor's
        """Submit a call as a job, when one of those under way has ended."""
        return self._threads.submit(self._result, function, *args, **kwargs)

    def _result(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return self._jobs.submit(function, *args, **kwargs).result()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the jobs under way."""
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)


class Workers:
    """Executor that is opened when it is needed, and again after it broke."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._executor: Executor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def results(self, batches: Iterable[Batch]) -> Iterator[list[tuple[str, SimulationRun]]]:
        """Yield the results of batches as they end; a batch whose worker died runs again.

        Raises ServiceFailed if workers end again and again without a result.
        """
        left = dict(enumerate(batches))
        fruitless = 0
        while left:
            before, broken = len(left), None
            executor = self._executor = self._executor or self._opener()
            futures = {}
            try:
                futures = {executor.submit(run_batch, batch): n for n, batch in left.items()}
                for future in as_completed(futures):
                    done, broken = self._done(future, broken)
                    if done is not None:
                        del left[futures[future]]
                        yield done
            except RuntimeError as error:  # the pool broke while jobs were submitted
                broken = error
            finally:
                for future in futures:
                    future.cancel()
            if not left:
                return
            self._close()
            fruitless = fruitless + 1 if len(left) == before else 0
            if fruitless == FRUITLESS:
                what = f"workers ended without a result, {FRUITLESS} times in a row: {broken}"
                how = "check their memory and their logs, and start again: results are kept"
                raise ServiceFailed(what, how=how) from broken

    @staticmethod
    def _done(
        future: Future[list[tuple[str, SimulationRun]]], broken: Exception | None
    ) -> tuple[list[tuple[str, SimulationRun]] | None, Exception | None]:
        """Return the result of a future, or why there is none; errors for the user are raised."""
        try:
            return future.result(), broken
        except RocefortError:
            raise
        except Exception as error:  # noqa: BLE001 - each executor has its own for a dead worker
            return None, error

    def _close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
        self._executor = None


@contextmanager
def workers_of(word: str, count: int, folder: Path) -> Iterator[Workers]:
    """Yield the workers of an executor by its word; they end with the block."""
    with Workers(opener_of(word, count, folder)) as workers:
        yield workers
