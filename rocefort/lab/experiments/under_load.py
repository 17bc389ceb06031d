"""Run of a command on a lab under load, with the lost packets and reset sessions."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from rocefort.base.errors import BadInput, Refused
from rocefort.lab.experiments.fault_injection import (
    FailoverOptions,
    can_send,
    check_options,
    flows_of,
    longest_ms,
)
from rocefort.lab.lab_report import UnderLoad
from rocefort.lab.twin.flows import running
from rocefort.lab.twin.twin import Twin
from rocefort.rdma.queue_gate import UNDER_LOAD

T = TypeVar("T")


@dataclass(frozen=True)
class SessionCounts:
    """Counters of a session in its bgpd: times established and lost, and its uptime."""

    established: int
    dropped: int
    up_ms: int

    def is_same_session(self, later: SessionCounts | None) -> bool:
        """Whether it is still the same session later."""
        return (
            later is not None
            and (self.established, self.dropped) == (later.established, later.dropped)
            and later.up_ms >= self.up_ms
        )


def under_load(twin: Twin, options: FailoverOptions, work: Callable[[], T]) -> tuple[UnderLoad, T]:
    """Run a function while flows run between all servers, each to a server of another leaf.

    Raises Refused if no two servers are on different leaves, BadInput for too many packets.
    """
    check_options(options)
    flows = flows_of(twin, pairs_of(twin), options.flows)
    before, begin = session_counts(twin), monotonic()
    with running(twin.record.id, flows, options.rate) as load:
        done = work()
    after = session_counts(Twin.find(twin.record.name, twin.registry))
    reset = [
        session for session, life in before.items() if not life.is_same_session(after.get(session))
    ]
    result = UnderLoad(
        lab=twin.record.name,
        flows=options.flows,
        rate=options.rate,
        seconds=monotonic() - begin,
        sent=sum(result.sent for result in load.results),
        lost=load.lost,
        longest_ms=longest_ms(gap for _, gap in load.gaps),
        sessions=len(before),
        gained=len(after.keys() - before.keys()),
        reset=tuple(reset),
    )
    return result, done


def pairs_of(twin: Twin) -> list[tuple[str, str]]:
    """Return each server with the next one on another leaf. Raises Refused without any."""
    hosts = [host for host in twin.topology.hosts if can_send(host)]
    pairs = []
    for number, host in enumerate(hosts):
        others = (*hosts[number + 1 :], *hosts[:number])
        far = next((other.name for other in others if other.switch != host.switch), None)
        if far is not None:
            pairs.append((host.name, far))
    if not pairs:
        raise Refused("no two servers are on different leaves", where=twin.record.name)
    return pairs


def session_counts(twin: Twin) -> dict[str, SessionCounts]:
    """Return every session that is up: `leaf01 to 10.1.0.0`."""
    sessions = {}
    for switch in twin.topology.by_switch:
        if "bgpd" not in twin.topology.by_switch[switch].texts:
            continue
        with twin.daemons(switch).vty("bgpd") as vty:
            for peer, neighbour in vty.read("show bgp neighbors json").items():
                if neighbour["bgpState"] == "Established":
                    counts = neighbour["connectionsEstablished"], neighbour["connectionsDropped"]
                    sessions[f"{switch} to {peer}"] = SessionCounts(
                        *counts, neighbour["bgpTimerUpMsec"]
                    )
    return sessions


def run_command(words: Sequence[str], lab: str) -> int:
    """Run a command of this machine; returns its exit code. Raises BadInput if there is none.

    lab: its name, passed to the command and its children: a gate that counts packets of ports must
    not count the load as its own.
    """
    environment = {**os.environ, UNDER_LOAD: lab}
    try:
        return subprocess.call(list(words), env=environment)  # noqa: S603 - the user's command
    except OSError as error:
        raise BadInput(f"{words[0]!r} cannot be run: {error.strerror}") from None
