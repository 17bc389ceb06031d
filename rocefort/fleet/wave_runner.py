"""Nornir runner for the waves of a plan: each wave is a barrier, and a failure stops the rest.

Usable in any Nornir program, by name as a plugin or by `nornir.with_runner(WaveRunner(..))`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from nornir.core.inventory import Host
from nornir.core.task import AggregatedResult, MultiResult, Task

from rocefort.fleet.inventory import WAVE, WAVE_NUMBER

TaskFunction = Callable[..., Any]


class WavesResult(AggregatedResult):
    """Results by host; `not_started`: hosts that did not run because of an earlier failure."""

    def __init__(self, name: str, not_started: Sequence[str] = ()) -> None:
        super().__init__(name)
        self.not_started = tuple(not_started)


class WaveRunner:
    """Runner that executes a task wave by wave.

    A wave begins when all hosts of the wave before have succeeded. Within a wave at most
    `max_unavailable` hosts run at once. After a failure no other host begins; running hosts finish,
    then `cleanup` runs on each failed host, and its results follow those of the task. Hosts without
    a wave run last, together.
    """

    def __init__(self, max_unavailable: int = 1, cleanup: TaskFunction | None = None) -> None:
        if max_unavailable < 1:
            raise ValueError("max_unavailable is at least 1")
        self.max_unavailable = max_unavailable
        self.cleanup = cleanup

    def run(self, task: Task, hosts: list[Host]) -> AggregatedResult:
        """Run the task on every host, or up to the wave with a failure."""
        result = WavesResult(task.name)
        for wave in waves_of(hosts):
            self._wave(task, wave, result)
            if result.failed:
                break
        result.not_started = tuple(host.name for host in hosts if host.name not in result)
        return result

    def _wave(self, task: Task, wave: Sequence[Host], result: WavesResult) -> None:
        stop = Event()

        def run_host(host: Host) -> MultiResult | None:
            if stop.is_set():
                return None
            try:
                done = task.copy().start(host)
            except BaseException:  # of a processor, for example if the journal cannot be written
                stop.set()
                raise
            if done.failed:
                stop.set()
            return done

        with ThreadPoolExecutor(self.max_unavailable) as pool:
            results = list(pool.map(run_host, wave))
        for host, done in zip(wave, results, strict=True):
            if done is not None:
                result[host.name] = done
                if done.failed:
                    self._clean(task, host, done)

    def _clean(self, task: Task, host: Host, done: MultiResult) -> None:
        if self.cleanup is None:
            return
        cleanup = Task(self.cleanup, task.nornir, task.global_dry_run, task.processors)
        done.extend(cleanup.start(host))


def waves_of(hosts: Iterable[Host]) -> list[list[Host]]:
    """Hosts by wave, in the order of the waves; hosts without a wave last."""
    waves: dict[tuple[bool, int, str], list[Host]] = defaultdict(list)
    for host in hosts:
        number, name = host.get(WAVE_NUMBER), host.get(WAVE, "")
        waves[number is None, int(number or 0), str(name)].append(host)
    return [waves[key] for key in sorted(waves)]
