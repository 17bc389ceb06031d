"""Turns of tests on xdist's workers; without xdist a test has every turn.

Tests with guests run alone, for each guest needs a whole core, and perftest has a deadline. The
workers share two locks. A test waits at the door, enters the room, and frees the door. A test with
guests keeps both, also for the next one with guests, so that no other test begins meanwhile.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from pathlib import Path

import pytest

GUESTS = "guest_lab"  # fixture of tests with guests
FORK_CLIENT = "TESTS_FORK_CLIENT"  # environment variable of workers


def fork_client() -> str | None:
    """Return the client's command line in a worker."""
    return os.environ.get(FORK_CLIENT)


class Turns:
    """Locks of a worker; shared: folder of all workers."""

    def __init__(self, shared: Path) -> None:
        self.door, self.room = ((shared / f"{name}.lock").open("w") for name in ("door", "room"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Run a test in its turn."""
        alone = _has_guests(item)
        way = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        fcntl.flock(self.door, way)
        fcntl.flock(self.room, way)
        if not alone:
            fcntl.flock(self.door, fcntl.LOCK_UN)
        try:
            return (yield)
        finally:
            if not alone or not _has_guests(nextitem):
                fcntl.flock(self.room, fcntl.LOCK_UN)
                fcntl.flock(self.door, fcntl.LOCK_UN)


def _has_guests(item: pytest.Item | None) -> bool:
    return GUESTS in getattr(item, "fixturenames", ())


def pytest_configure(config: pytest.Config) -> None:
    """Distribute the tests where xdist runs, and give each of its workers its locks."""
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.import_plugin("lane_scheduling")
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Turns(Path(config.option.basetemp).parent))
