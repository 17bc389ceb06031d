"""Counters of the NICs under test, read on all servers at once, before and after."""

from __future__ import annotations

from collections.abc import Sequence

from nornir.core import Nornir
from nornir.core.task import Result, Task

from rocefort.errors import RocefortError
from rocefort.fleet import ssh_exec
from rocefort.models.rdma_counters import NicCounters
from rocefort.rdma.counter_text import read_ethtool, read_rdma_statistic
from rocefort.rdma.probe import read_sections
from rocefort.rdma.rows import FlawError
from rocefort.rdma.scripts import COUNTERS

DEADLINE_S = 30.0

Reading = tuple[tuple[NicCounters, ...], tuple[str, ...]]  # counters, and what was not read


def read_nics(nornir: Nornir, servers: Sequence[str]) -> Reading:
    """Counters of all NICs that RDMA uses, and a sentence on what could not be read."""

    def read(task: Task) -> Result:
        name = task.host.name
        try:
            done = ssh_exec.session(task.host, task.nornir.config).run(COUNTERS, DEADLINE_S)
            return Result(task.host, result=read_counters(done.stdout, name))
        except RocefortError as error:
            said = str(error).removeprefix(f"{name}: ")
        except FlawError as flaw:
            said = flaw.line
        return Result(task.host, result=((), (f"{name}: its counters were not read: {said}",)))

    chosen = nornir.filter(filter_func=lambda host: host.name in set(servers))
    answers = chosen.run(task=read, on_failed=True)
    answers.raise_on_error()
    found: list[NicCounters] = []
    lacking: list[str] = []
    for name in servers:
        if name in answers:
            counters, unread = answers[name][0].result
            found += counters
            lacking += unread
    return tuple(found), tuple(lacking)


def read_counters(text: str, server: str) -> Reading:
    """What one server printed; raises FlawError for an answer that breaks off."""
    found: list[NicCounters] = []
    lacking: list[str] = []
    for section in read_sections(text):
        try:
            if section.name == "statistic":
                found += read_rdma_statistic(section.text, server)
            else:
                found.append(read_ethtool(section.text, server, section.what))
        except FlawError as flaw:
            what = "rdma statistic" if section.name == "statistic" else f"ethtool -S {section.what}"
            lacking.append(f"{server}: {what} was not read: {flaw.line or flaw.outcome}")
    return tuple(found), tuple(lacking)
