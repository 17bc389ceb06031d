"""Read NIC counters with `rdma statistic show` and `ethtool -S`, on all servers in parallel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.errors import RocefortError
from rocefort.fleet import ssh_exec
from rocefort.fleet.nornir_session import on_hosts
from rocefort.models.results.rdma_counters import NicCounters
from rocefort.models.wording import line_notes
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import TableError, load_report
from rocefort.rdma.plan.probe import read_sections
from rocefort.rdma.plan.scripts import COUNTERS

DEADLINE_S = 30.0
COUNTER = re.compile(r"\s+(?P<name>\S.*):\s*(?P<value>-?\d+)\s*")
TITLE = "NIC statistics:"

# Counters, and a sentence for each part that was not read, or that is no part of a table.
Reading = tuple[tuple[NicCounters, ...], tuple[str, ...]]
Notes = tuple[str, ...]  # lines beside a table


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
    sentences: list[str] = []
    for section in read_sections(text):
        statistic = section.name == "statistic"
        command = "rdma statistic" if statistic else f"ethtool -S {section.what}"
        try:
            if statistic:
                links, beside = read_rdma_statistic(section.text, server)
            else:
                link, beside = read_ethtool(section.text, server, section.what)
                links = (link,)
        except TableError as flaw:
            sentences.append(f"{server}: {command} was not read: {flaw.line or flaw.outcome}")
        else:
            counters += links
            sentences += [f"{server}: {command} also printed: {line}" for line in beside]
    return tuple(counters), tuple(sentences)


def read_rdma_statistic(text: str, server: str) -> tuple[tuple[NicCounters, ...], Notes]:
    """Read `rdma statistic show`, text or `-j`; raises TableError for a damaged row, or none.

    Only lines that begin with `link` are rows.
    """
    if text.lstrip().startswith("["):
        return _json(text, server), ()
    lines = text.splitlines()
    rows = [line for line in lines if line.split()[:1] == ["link"]]
    if not rows:
        raise TableError(Outcome.NO_TABLE, "rdma statistic: no link")
    beside = line_notes(line for line in lines if line.strip() and line not in rows)
    return tuple(_link(line, server) for line in rows), beside


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
    if len(words) < 2 or len(names) != len(values):
        raise TableError(Outcome.DAMAGED_ROW, line)
    if not all(value.isdecimal() for value in values) or len(set(names)) != len(names):
        raise TableError(Outcome.DAMAGED_ROW, line)
    pairs = zip(names, map(int, values), strict=True)
    return NicCounters(server=server, link=words[1], values=dict(pairs))


def read_ethtool(text: str, server: str, interface: str) -> tuple[NicCounters, Notes]:
    """Read `ethtool -S INTERFACE`; raises TableError.

    The table is the title and the indented lines below it; it ends at the first other line.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    start = next((n for n, line in enumerate(lines) if line.strip() == TITLE), None)
    if start is None:
        raise TableError(Outcome.NO_TABLE, lines[0] if lines else "ethtool -S: nothing")
    rows = [*takewhile(lambda line: line[0].isspace(), lines[start + 1 :])]
    values: dict[str, int] = {}
    for line in rows:
        match = COUNTER.fullmatch(line)
        if match is None or match["name"] in values:
            raise TableError(Outcome.DAMAGED_ROW, line)
        values[match["name"]] = int(match["value"])
    beside = line_notes((*lines[:start], *lines[start + 1 + len(rows) :]))
    return NicCounters(server=server, link=interface, values=values), beside
