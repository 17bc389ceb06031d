"""Counters as servers print them: `rdma statistic show` in text and JSON, `ethtool -S`."""

from __future__ import annotations

import json
import re

from rocefort.models.rdma_counters import NicCounters
from rocefort.rdma.outcome import Outcome
from rocefort.rdma.rows import FlawError

COUNTER = re.compile(r"\s+(?P<name>[^:]+?)\s*:\s*(?P<value>-?\d+)\s*")


def read_rdma_statistic(text: str, server: str) -> tuple[NicCounters, ...]:
    """Read `rdma statistic show`, text or `-j`; raises FlawError where it is neither."""
    if not text.strip():
        raise FlawError(Outcome.NO_TABLE, "rdma statistic: no link")
    if text.lstrip().startswith("["):
        return _json(text, server)
    return tuple(_link(line, server) for line in text.splitlines() if line.strip())


def _json(text: str, server: str) -> tuple[NicCounters, ...]:
    try:
        links = json.loads(text)
    except ValueError as error:
        raise FlawError(Outcome.NOT_JSON, str(error)) from None
    found = []
    for link in links:
        if not isinstance(link, dict) or "ifname" not in link or "port" not in link:
            raise FlawError(Outcome.UNKNOWN_LINE, str(link)[:60])
        values = {k: v for k, v in link.items() if k not in ("ifname", "port", "ifindex")}
        if not all(isinstance(v, int) for v in values.values()):
            raise FlawError(Outcome.UNKNOWN_LINE, str(link)[:60])
        name = f"{link['ifname']}/{link['port']}"
        found.append(NicCounters(server=server, link=name, values=values))
    return tuple(found)


def _link(line: str, server: str) -> NicCounters:
    """`link rxe0/1 sent_pkts 0 rcvd_pkts 0 ..`: names and values by turns."""
    words = line.split()
    names, values = words[2::2], words[3::2]
    if words[0] != "link" or len(words) < 2 or len(names) != len(values):
        raise FlawError(Outcome.UNKNOWN_LINE, line)
    if not all(value.isdecimal() for value in values) or len(set(names)) != len(names):
        raise FlawError(Outcome.UNKNOWN_LINE, line)
    pairs = zip(names, map(int, values), strict=True)
    return NicCounters(server=server, link=words[1], values=dict(pairs))


def read_ethtool(text: str, server: str, interface: str) -> NicCounters:
    """Read `ethtool -S INTERFACE`; raises FlawError."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or lines[0].strip() != "NIC statistics:":
        raise FlawError(Outcome.NO_TABLE, lines[0] if lines else "ethtool -S: nothing")
    values: dict[str, int] = {}
    for line in lines[1:]:
        found = COUNTER.fullmatch(line)
        if found is None:
            raise FlawError(Outcome.UNKNOWN_LINE, line)
        values[found["name"]] = int(found["value"])
    return NicCounters(server=server, link=interface, values=values)
