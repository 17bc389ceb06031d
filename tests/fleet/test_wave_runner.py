"""Waves as barriers of any Nornir program: concurrency, stop after a failure, cleanup."""

from __future__ import annotations

import time
from threading import Lock

import pytest
from nornir.core import Nornir
from nornir.core.configuration import Config, LoggingConfig
from nornir.core.inventory import Defaults, Groups, Host, Hosts, Inventory
from nornir.core.state import GlobalState
from nornir.core.task import Result, Task

from rocefort.fleet.wave_runner import WaveRunner, WavesResult

WAVES = {"leaf1": 1, "leaf2": 2, "leaf3": 2, "leaf4": 2, "spine1": 3, "server": None}


class Watcher:
    """Task that records concurrent hosts."""

    def __init__(self, fails: str = "") -> None:
        self.fails, self.lock = fails, Lock()
        self.now: set[str] = set()
        self.ran: list[str] = []
        self.most = 0
        self.mixed: list[set[int | None]] = []

    def __call__(self, task: Task) -> Result:
        name = task.host.name
        with self.lock:
            self.now.add(name)
            self.ran.append(name)
            self.most = max(self.most, len(self.now))
            self.mixed.append({WAVES[each] for each in self.now})
        time.sleep(0.01)
        with self.lock:
            self.now.discard(name)
        if name == self.fails:
            raise ValueError("refused")
        return Result(host=task.host, result="changed")


def nornir(runner: WaveRunner) -> Nornir:
    hosts = Hosts()
    for name, number in reversed(WAVES.items()):  # the order of an inventory is not that of waves
        data = {"wave": f"wave {number}", "wave_number": number} if number else {}
        hosts[name] = Host(name=name, data=data, defaults=Defaults())
    inventory = Inventory(hosts=hosts, groups=Groups(), defaults=Defaults())
    config = Config(logging=LoggingConfig(enabled=False))
    return Nornir(inventory, config=config, runner=runner, data=GlobalState())


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_wave_begins_when_the_one_before_has_ended(limit: int) -> None:
    watch = Watcher()
    result = nornir(WaveRunner(max_unavailable=limit)).run(task=watch, name="change")
    assert not result.failed
    assert isinstance(result, WavesResult) and result.not_started == ()
    assert set(result) == set(WAVES)
    assert watch.most <= min(limit, 3)
    assert all(len(waves) == 1 for waves in watch.mixed)
    numbers = [WAVES[name] for name in watch.ran]
    assert numbers == [1, 2, 2, 2, 3, None]


def test_a_failure_stops_the_rest_and_is_cleaned_up() -> None:
    watch, cleaned = Watcher(fails="leaf4"), []

    def cleanup(task: Task) -> Result:
        cleaned.append(task.host.name)
        return Result(host=task.host, result="as before")

    result = nornir(WaveRunner(1, cleanup)).run(task=watch, name="change")
    assert watch.ran == ["leaf1", "leaf4"]  # leaf4 comes first in this inventory
    assert cleaned == ["leaf4"]
    assert result.failed
    assert [(str(each.name), str(each.result)) for each in result["leaf4"][1:]] == [
        ("cleanup", "as before")
    ]
    assert isinstance(result, WavesResult)
    assert set(result.not_started) == {"leaf2", "leaf3", "spine1", "server"}


def test_what_runs_beside_a_failure_is_brought_to_its_end() -> None:
    watch = Watcher(fails="leaf4")
    result = nornir(WaveRunner(2)).run(task=watch, name="change")
    assert set(watch.ran) >= {"leaf1", "leaf4", "leaf3"}
    assert not result["leaf3"].failed
    assert "spine1" not in result


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_unavailable is at least 1"):
        WaveRunner(0)
