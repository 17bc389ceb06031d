"""Read NIC counters with `rdma statistic show` and `ethtool -S`, on all servers in parallel."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.errors import RocefortError
from rocefort.fleet import ssh_exec
from rocefort.fleet.nornir_session import on_hosts
from rocefort.models.results.rdma_counters import NicCounters
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import TableError, load_report
from rocefort.rdma.plan.probe import read_sections
from rocefort.rdma.plan.scripts import COUNTERS

DEADLINE_S = 30.0
COUNTER = re.compile(r"\s+(?P<name>[^:]+?)\s*:\s*(?P<value>-?\d+)\s*")

# Counters, and a sentence for each part that was not read.
Reading = tuple[tuple[NicCounters, ...], tuple[str, ...]]


def read_nics(nornir: Nornir, servers: Sequence[str]) -> Reading:
    """Read the counters of all NICs that RDMA uses, with a sentence for each unread part."""

    def read(task: Task) -> Reading:
        name = task.host.name
        try:
            done = ssh_exec.session(task.host, task.nornir.config).run(COUNTERS, DEADLINE_S)
            return read_counters(done.stdout, name)
        except RocefortError as error:
            cause = str(error).removeprefix(f"{name}: ")
        except TableError as flaw:
            cause = flaw.line
        return (), (f"{name}: its counters were not read: {cause}",)

    answers = on_hosts(nornir, servers, read).values()
    counters = tuple(one for server_counters, _ in answers for one in server_counters)
    return counters, tuple(sentence for _, unread in answers for sentence in unread)


def read_counters(text: str, server: str) -> Reading:
    """Parse the output of one server; raises TableError for an incomplete answer."""
    counters: list[NicCounters] = []
    lacking: list[str] = []
    for section in read_sections(text):
        try:
            if section.name == "statistic":
                counters += read_rdma_statistic(section.text, server)
            else:
                counters.append(read_ethtool(section.text, server, section.what))
        except TableError as flaw:
            what = "rdma statistic" if section.name == "statistic" else f"ethtool -S {section.what}"
            lacking.append(f"{server}: {what} was not read: {flaw.line or flaw.outcome}")
    return tuple(counters), tuple(lacking)


def read_rdma_statistic(text: str, server: str) -> tuple[NicCounters, ...]:
    """Read `rdma statistic show`, text or `-j`; raises TableError for other text."""
    if not text.strip():
        raise TableError(Outcome.NO_TABLE, "rdma statistic: no link")
    if text.lstrip().startswith("["):
        return _json(text, server)
    return tuple(_link(line, server) for line in text.splitlines() if line.strip())


def _json(text: str, server: str) -> tuple[NicCounters, ...]:
    links = load_report(text)
    counters = []
    for link in links if isinstance(links, list) else ():
        if not isinstance(link, dict) or "ifname" not in link or "port" not in link:
            raise TableError(Outcome.UNKNOWN_LINE, str(link)[:60])
        values = {k: v for k, v in link.items() if k not in ("ifname", "port", "ifindex")}
        if not all(isinstance(v, int) for v in values.values()):
            raise TableError(Outcome.UNKNOWN_LINE, str(link)[:60])
        name = f"{link['ifname']}/{link['port']}"
        counters.append(NicCounters(server=server, link=name, values=values))
    return tuple(counters)


def _link(line: str, server: str) -> NicCounters:
    """Parse `link rxe0/1 sent_pkts 0 rcvd_pkts 0 ..`: names and values alternate."""
    words = line.split()
    names, values = words[2::2], words[3::2]
    if words[0] != "link" or len(words) < 2 or len(names) != len(values):
        raise TableError(Outcome.UNKNOWN_LINE, line)
    if not all(value.isdecimal() for value in values) or len(set(names)) != len(names):
        raise TableError(Outcome.UNKNOWN_LINE, line)
    pairs = zip(names, map(int, values), strict=True)
    return NicCounters(server=server, link=words[1], values=dict(pairs))


def read_ethtool(text: str, server: str, interface: str) -> NicCounters:
    """Read `ethtool -S INTERFACE`; raises TableError."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or lines[0].strip() != "NIC statistics:":
        raise TableError(Outcome.NO_TABLE, lines[0] if lines else "ethtool -S: nothing")
    values: dict[str, int] = {}
    for line in lines[1:]:
        match = COUNTER.fullmatch(line)
        if match is None:
            raise TableError(Outcome.UNKNOWN_LINE, line)
        values[match["name"]] = int(match["value"])
    return NicCounters(server=server, link=interface, values=values)
