"""Start of xdist's workers, and distribution of tests to them.

They are forked from one process that has imported the tested modules.

A test that waits for a BGP timer or for a guest's boot leaves its core idle. Such tests start on the
last worker. The longest come first, so that they do not end after all others. A worker without tests
takes some from another.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from execnet import XSpec
from forking import fork_server
from lanes import FORK_CLIENT
from xdist.scheduler import WorkStealingScheduling

ALONE = ("tests/twin/test_gate_on_guests.py", "tests/twin/test_guests.py")
WAITING = (  # beginnings of node ids
    "tests/twin/",
    "tests/rollout/crashes/test_kills.py",
    "tests/rollout/crashes/test_chaos.py",  # where a clock jumps, live checks ask until they must be settled
    "tests/napalm_cloudengine/test_ce_faults.py",
    "tests/napalm_cloudengine/test_ce_public_clients.py",  # with clients that wait before they read
    "tests/napalm_cloudengine/test_ce_stock_netmiko.py",
    "tests/napalm_cloudengine/test_ce_trials.py",
    "tests/rdma/test_rdma_killed.py",
    "tests/rdma/test_rdma_sshd.py",
    "tests/fleet/test_fleet_sessions.py",
)
LONG = (  # half a minute and more, with other tests of the same file
    "tests/test_mutate.py::test_the_tests_of_the_rules",
    "tests/dialects/vrp/commands/test_samples.py::test_every_change",
    "tests/commands/demo/test_rollout_demo.py",
    "tests/test_install.py",
    "tests/commands/test_readme.py",
    "tests/commands/line/test_help.py::test_examples_run",
    "tests/rollout/crashes/test_kills.py",
    "tests/rollout/test_heps.py::test_a_threshold_change_is_confirmed",
    "tests/rollout/controller/test_resume.py::test_a_spine_is_drained",
)


class LaneScheduling(WorkStealingScheduling):  # type: ignore[misc]  # xdist has no types
    """xdist's `worksteal` with another first distribution."""

    pending: list[int]

    def check_schedule(self) -> None:
        """Send the tests that wait to the last worker, and equal parts of the rest to the others."""
        everything = self.collection or []
        if everything and len(self.pending) == len(everything) and len(self.nodes) > 1:
            self.pending.sort(key=lambda i: not everything[i].startswith(LONG))
            waits = [i for i in self.pending if everything[i].startswith(WAITING)]
            waits.sort(key=lambda i: not everything[i].startswith(ALONE))
            works = [i for i in self.pending if not everything[i].startswith(WAITING)]
            *workers, waiter = self.nodes
            longest = [i for i in works if everything[i].startswith(LONG)]
            self.pending = waits
            self._send_tests(waiter, len(waits))
            self.pending = works[len(longest) :]
            for position, worker in enumerate(workers):
                first = longest[position :: len(workers)]
                part = len(self.pending) // (len(workers) - position)
                # A short test before the long ones: tests with guests wait for those that run.
                self.pending[1:1] = first
                self._send_tests(worker, len(first) + part)
        super().check_schedule()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LaneScheduling | None:
    """Replace `worksteal`."""
    return LaneScheduling(config, log) if config.getvalue("dist") == "worksteal" else None


def pytest_xdist_setupnodes(config: pytest.Config, specs: list[XSpec]) -> None:
    """Start the workers as forks."""
    stack = ExitStack()
    config.add_cleanup(stack.close)
    # not in TMPDIR: the name of a socket has at most 107 characters
    directory = stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp"))
    client = stack.enter_context(fork_server(Path(directory, "server")))
    os.environ[FORK_CLIENT] = client
    specs[:] = [XSpec(f"popen//python={client} python") for _ in specs]
