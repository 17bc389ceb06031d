"""Simulator of the tests: compiled once, by one worker while others wait."""

from __future__ import annotations

import fcntl

import pytest
from simulators import run_scenario

from rocefort.tune.simulator.kernel.compile import cache_directory


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """Compile the simulator, or load it from its cache."""
    directory = cache_directory()
    assert directory is not None
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run_scenario(flows={"count": 1}, duration_ms=0.01, seeds=[1])
