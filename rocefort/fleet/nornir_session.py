"""Nornir object for one fabric, without log files, global logging or user settings."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import Thread
from typing import TypeVar

from nornir.core import Nornir
from nornir.core.configuration import Config, LoggingConfig, SSHConfig
from nornir.core.exceptions import ConnectionNotOpen
from nornir.core.inventory import Host
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.core.task import AggregatedResult, Result, Task
from nornir.plugins.runners import ThreadedRunner
from nornir_napalm.plugins.connections import Napalm

from rocefort.base.errors import BadInput, DeviceFailed, Problem, Refused
from rocefort.base.progress import Step
from rocefort.base.secret_references import key_of, resolve
from rocefort.fleet import ssh_exec
from rocefort.fleet.connections import Connections
from rocefort.fleet.inventory import (
    SESSIONS,
    SWITCHES,
    FleetHost,
    NetworkInventory,
    session_errors,
)
from rocefort.fleet.open_files import require_open_files
from rocefort.models.network.network import Network
from rocefort.models.wording import count_of, listing

T = TypeVar("T")

WORKERS = 20
MOST_NAMED = 8  # users of a credential
END_S = 2.0  # the longest wait for a session that hangs while it is closed


def open_fleet(network: Network, connections: Connections, workers: int = WORKERS) -> Nornir:
    """Make a Nornir object of all switches and servers, as a context manager.

    No session is opened yet. Raises BadInput if a device has no access, Refused if this process
    may not open enough files.
    """
    for name in SESSIONS:
        ConnectionPluginRegister.register(name, Napalm)
    ConnectionPluginRegister.register(ssh_exec.CONNECTION, ssh_exec.SshExec)
    # An empty ssh configuration: a user's ~/.ssh/config cannot redirect a session.
    config = Config(logging=LoggingConfig(enabled=False), ssh=SSHConfig(config_file="/dev/null"))
    inventory = NetworkInventory(network, connections).load()
    hosts = inventory.hosts.values()
    # See NEW_SESSION.
    require_open_files(sum(1 + host.has_parent_group(SWITCHES) for host in hosts))
    return Nornir(inventory=inventory, config=config, runner=ThreadedRunner(num_workers=workers))


def require_credentials(nornir: Nornir, names: Iterable[str]) -> None:
    """Read the credentials of hosts before a session opens.

    Raises one error with each missing credential once, and the hosts that use it: BadInput, or
    Refused if the files exist but other users can read them.
    """
    unique_names = set(names)
    hosts = [host for host in nornir.inventory.hosts.values() if host.name in unique_names]
    users: dict[str, list[Host]] = {}
    for host in hosts:
        if isinstance(host, FleetHost):
            users.setdefault(host.credential, []).append(host)
    failed: list[BadInput | Refused] = []
    problems: list[Problem] = []
    for credential, using in users.items():
        try:
            _ = key_of(credential) or resolve(credential)
        except (BadInput, Refused) as error:
            failed.append(error)
            what = f"{error.problem.what}, and {_who_uses(using)}"
            problems.append(Problem(error.problem.where, what, error.problem.how))
    if failed:
        kind = BadInput if any(isinstance(error, BadInput) for error in failed) else Refused
        raise kind(problems=problems)


def _who_uses(hosts: Sequence[Host]) -> str:
    """Sentence on the hosts that use a credential, the first of them by name."""
    if len(hosts) == 1:
        return f"{hosts[0].name} uses it"
    kinds = Counter("switch" if h.has_parent_group(SWITCHES) else "server" for h in hosts)
    names = [host.name for host in hosts[:MOST_NAMED]]
    more = [f"{len(hosts) - MOST_NAMED} more"] if len(hosts) > MOST_NAMED else []
    counts = listing(count_of(number, kind) for kind, number in kinds.items())
    return f"{counts} use it: {listing([*names, *more])}"


def on_hosts(nornir: Nornir, names: Iterable[str], step: Callable[[Task], T]) -> dict[str, T]:
    """Run a step on hosts at once; returns its results by name, in the order of the names.

    A name that is not in the fleet is left out. A host that failed in an earlier step is included.
    Raises NornirExecutionError for what a step raises.
    """
    unique_names = dict.fromkeys(names)

    def task(task: Task) -> Result:
        return Result(task.host, result=step(task))

    answers = run_task(nornir.filter(filter_func=lambda host: host.name in unique_names), task)
    answers.raise_on_error()
    return {name: answers[name][0].result for name in unique_names if name in answers}


def run_task(nornir: Nornir, task: Callable[[Task], Result]) -> AggregatedResult:
    """Run a task on all hosts at once, also on those that failed before; progress counts them."""

    def counted(each: Task) -> Result:
        try:
            return task(each)
        finally:
            progress.advance()

    if not nornir.inventory.hosts:  # nornir logs a warning
        return AggregatedResult(counted.__name__)
    with Step("devices", len(nornir.inventory.hosts)) as progress:
        return nornir.run(task=counted, on_failed=True)


def end_fleet(nornir: Nornir) -> None:
    """Close all sessions of a fleet permanently, also those in use by another thread.

    Its hosts open no session afterwards, so a hanging thread cannot act any more.
    """
    hosts = [host for host in nornir.inventory.hosts.values() if isinstance(host, FleetHost)]
    for host in hosts:
        host.ended = True
    threads = [
        Thread(target=_close, args=(host,), name=f"end of {host.name}", daemon=True)
        for host in hosts
        if host.connections
    ]
    for thread in threads:
        thread.start()
    until = time.monotonic() + END_S
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def refuse_ended(nornir: Nornir) -> None:
    """Raise DeviceFailed if the sessions of a fleet are closed permanently."""
    if any(isinstance(host, FleetHost) and host.ended for host in nornir.inventory.hosts.values()):
        raise DeviceFailed("its sessions were closed after its time limit", where="the live check")


def _close(host: FleetHost) -> None:
    # The session ends in any case; another thread that hung in it may have closed it.
    with suppress(ConnectionNotOpen, *session_errors()):
        host.close_connections()
