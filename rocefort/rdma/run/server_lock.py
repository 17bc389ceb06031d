"""Lock servers for one run at a time, and end all processes of Rocefort on them.

A process on the server has a file lock. The lock ends with that process, and the process ends with
the SSH channel. So a run that died does not keep a server locked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.base.errors import RocefortError
from rocefort.fleet import ssh_exec
from rocefort.fleet.nornir_session import on_hosts
from rocefort.fleet.server_scripts import BUSY, HELD, HOLD, STOP
from rocefort.fleet.ssh_exec import RemoteCommand
from rocefort.rdma.results import EndedProcesses

LONGEST_S = 86_400.0
HOLD_S = 10.0  # longest time to get a lock
POLL_S = 0.02
STOP_S = 20.0


@dataclass
class ServerHold:
    """Servers locked for a run. refused: servers that could not be locked, with the reason."""

    refused: dict[str, str] = field(default_factory=dict)
    keepers: dict[str, RemoteCommand] = field(default_factory=dict)

    def lost(self) -> frozenset[str]:
        """Servers that are no longer locked: `rdma stop` was run, or their session is lost."""
        return frozenset(name for name, keeper in self.keepers.items() if not keeper.running())


@contextmanager
def hold_servers(nornir: Nornir, servers: Sequence[str], run: str) -> Iterator[ServerHold]:
    """Lock servers for a run until the block ends."""
    locked = ServerHold()
    with ExitStack() as opened:

        def hold(task: Task) -> str:
            keeper, why = _hold(task, run)
            if keeper is not None:
                opened.callback(keeper.kill)
                locked.keepers[task.host.name] = keeper
            return why

        for name, why in on_hosts(nornir, servers, hold).items():
            if why:
                locked.refused[name] = f"{name}: {why}"
        yield locked


def _hold(task: Task, run: str) -> tuple[RemoteCommand | None, str]:
    try:
        keeper = ssh_exec.session(task.host, task.nornir.config).start(HOLD, LONGEST_S, run)
    except RocefortError as error:
        return None, str(error).removeprefix(f"{task.host.name}: ")
    deadline = time.monotonic() + HOLD_S
    while HELD not in keeper.output:
        if not keeper.running():
            done = keeper.wait(1.0)
            if done.exit_code == BUSY:
                return None, "another RDMA run uses it; wait for it, or end it with `rdma stop`"
            return None, f"it cannot be locked for a run: {done.complaint}"
        if time.monotonic() > deadline:
            keeper.kill()
            return None, f"it could not be locked within {HOLD_S:g} s"
        time.sleep(POLL_S)
    return keeper, ""


def stop_all(nornir: Nornir, servers: Sequence[str]) -> tuple[EndedProcesses, ...]:
    """End all processes that any run has started on these servers, by any user."""

    def stop(task: Task) -> EndedProcesses:
        name = task.host.name
        try:
            done = ssh_exec.session(task.host, task.nornir.config).run(STOP, STOP_S)
        except RocefortError as error:
            return EndedProcesses(server=name, why=str(error))
        ended = tuple(line.strip() for line in done.stdout.splitlines())
        why = f"{name}: not all ended: {done.complaint}" if done.exit_code else ""
        return EndedProcesses(server=name, ended=ended, why=why)

    return tuple(on_hosts(nornir, servers, stop).values())
