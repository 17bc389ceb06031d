"""Distribution of the tests over xdist's workers.

A test that waits for a BGP timer or for a guest's boot leaves its core idle. Such tests start on a
worker of their own, the last one. A worker that has no tests left takes some from another.
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import WorkStealingScheduling

WAITING = (  # beginnings of node ids
    "tests/twin/",
    "tests/rollout/test_kills.py",
    "tests/rollout/test_chaos.py",  # where a clock jumps, live checks ask until they must be settled
    "tests/napalm_cloudengine/test_ce_faults.py",
    "tests/napalm_cloudengine/test_ce_public_clients.py",  # of clients that wait before they read
    "tests/napalm_cloudengine/test_ce_stock_netmiko.py",
    "tests/napalm_cloudengine/test_ce_trials.py",
    "tests/rdma/test_rdma_killed.py",
    "tests/rdma/test_rdma_sshd.py",
    "tests/fleet/test_fleet_sessions.py",
)


class LaneScheduling(WorkStealingScheduling):  # type: ignore[misc]  # xdist has no types
    """xdist's `worksteal`, but for the first distribution."""

    pending: list[int]

    def check_schedule(self) -> None:
        """Send the last worker the tests that wait, and the others equal parts of the rest."""
        everything = self.collection or []
        if everything and len(self.pending) == len(everything) and len(self.nodes) > 1:
            waits = [i for i in self.pending if everything[i].startswith(WAITING)]
            works = [i for i in self.pending if not everything[i].startswith(WAITING)]
            *workers, waiter = self.nodes
            self.pending = works
            for position, worker in enumerate(workers):
                self._send_tests(worker, len(self.pending) // (len(workers) - position))
            self.pending = waits
            self._send_tests(waiter, len(waits))
        super().check_schedule()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LaneScheduling | None:
    """Take the place of `worksteal`."""
    return LaneScheduling(config, log) if config.getvalue("dist") == "worksteal" else None
