"""Read NIC counters with `rdma statistic show` and `ethtool -S`, on all servers in parallel."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nornir.core import Nornir
from nornir.core.task import Task

from rocefort.base.errors import RocefortError
from rocefort.fleet import ssh_exec
from rocefort.fleet.nornir_session import on_hosts
from rocefort.fleet.server_scripts import COUNTERS
from rocefort.models.network.observed import NicCounters
from rocefort.models.wording import line_notes
from rocefort.rdma.parse.outcome import Outcome
from rocefort.rdma.parse.result_row import TableError
from rocefort.rdma.plan.probe import read_sections

DEADLINE_S = 30.0
# A counter may have the number of its queue before it (`[0]: rx_bytes`), or a second word.
COUNTER = re.compile(
    r"\s+(?P<name>(?:\[?\d+\]?: ?)?[^\s:]+(?: [A-Za-z][^\s:]*)*):\s*(?P<value>-?\d+)\s*"
)
TITLE = "NIC statistics:"
# Lines that only a damaged table has outside its rows; a note has no such form.
PART_OF_ETHTOOL = re.compile(r"\s.*|(?:(?=[^\s:_]*_)[^\s:]++)?:\s*-?\d.*")
PART_OF_STATISTIC = re.compile(r"(?:.*\s)?[A-Za-z]\w*_\w*\s+\d+(?:\s.*)?")
STATISTIC_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)

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
    """Read `rdma statistic show`; raises TableError for a damaged row, none, or a link twice.

    Lines that begin with `link` are rows. A line without this word that has a counter and its value
    is a damaged row; any other line is a note.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [line for line in lines if line.split()[0] == "link"]
    beside = [line for line in lines if line.split()[0] != "link"]
    if damaged := next(filter(PART_OF_STATISTIC.fullmatch, beside), None):
        raise TableError(Outcome.DAMAGED_ROW, damaged)
    if not rows:
        raise TableError(Outcome.NO_TABLE, "rdma statistic: no link")
    links = tuple(_link(line, server) for line in rows)
    if len({link.link for link in links}) != len(links):
        raise TableError(Outcome.TWO_TABLES, rows[-1])
    return links, line_notes(beside)


def _link(line: str, server: str) -> NicCounters:
    """Parse `link rxe0/1 sent_pkts 0 rcvd_pkts 0 ..`: names and values alternate."""
    words = line.split()
    names, values = words[2::2], words[3::2]
    if len(words) < 2 or len(names) != len(values):
        raise TableError(Outcome.DAMAGED_ROW, line)
    if not all(map(STATISTIC_NAME.fullmatch, names)) or len(set(names)) != len(names):
        raise TableError(Outcome.DAMAGED_ROW, line)
    if not all(value.isdecimal() for value in values):
        raise TableError(Outcome.DAMAGED_ROW, line)
    pairs = zip(names, map(int, values), strict=True)
    return NicCounters(server=server, link=words[1], values=dict(pairs))


def read_ethtool(text: str, server: str, interface: str) -> tuple[NicCounters, Notes]:
    """Read `ethtool -S INTERFACE`; raises TableError.

    The table is the title and all lines below it, up to the last counter. Other lines are notes,
    unless they are indented or have the form of a counter: then the table is damaged.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    titles = [n for n, line in enumerate(lines) if line.strip() == TITLE]
    if not titles:
        raise TableError(Outcome.NO_TABLE, lines[0] if lines else "ethtool -S: nothing")
    if len(titles) > 1:
        raise TableError(Outcome.TWO_TABLES, lines[titles[1]])
    above, below = lines[: titles[0]], lines[titles[0] + 1 :]
    end = max((n for n, line in enumerate(below, 1) if COUNTER.fullmatch(line)), default=0)
    beside = (*above, *below[end:])
    if damaged := next(filter(PART_OF_ETHTOOL.fullmatch, beside), None):
        raise TableError(Outcome.DAMAGED_ROW, damaged)
    if not end:
        raise TableError(Outcome.MISSING_ROW, TITLE)
    values: dict[str, int] = {}
    for line in below[:end]:
        match = COUNTER.fullmatch(line)
        if match is None or match["name"] in values:
            raise TableError(Outcome.DAMAGED_ROW, line)
        values[match["name"]] = int(match["value"])
    return NicCounters(server=server, link=interface, values=values), line_notes(beside)
