"""Run of a command on a lab under load, with the lost packets and reset sessions."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from rocefort.errors import BadInput, Refused
from rocefort.lab.twin.traffic.flows import running
from rocefort.lab.twin.twin import Twin
from rocefort.models.results.lab_experiments import UnderLoad
from rocefort.steps.lab.failover import FailoverOptions, check_wish, flows_of, longest_ms, speaks
from rocefort.steps.lab.queue_gate import UNDER_LOAD

T = TypeVar("T")


@dataclass(frozen=True)
class SessionCounts:
    """Counters of a session in its bgpd: times established and lost, and its uptime."""

    established: int
    dropped: int
    up_ms: int

    def goes_on(self, later: SessionCounts | None) -> bool:
        """Whether it is still the same session later."""
        return (
            later is not None
            and (self.established, self.dropped) == (later.established, later.dropped)
            and later.up_ms >= self.up_ms
        )


def under_load(twin: Twin, wish: FailoverOptions, work: Callable[[], T]) -> tuple[UnderLoad, T]:
    """Run a function while flows run between all servers, each to a server of another leaf.

    Raises Refused if no two servers are on different leaves, BadInput for too many packets.
    """
    check_wish(wish)
    flows = flows_of(twin, pairs_of(twin), wish.flows)
    before, begin = lives_of(twin), monotonic()
    with running(twin.record.id, flows, wish.rate) as load:
        done = work()
    after = lives_of(Twin.find(twin.record.name, twin.registry))
    reset = [session for session, life in before.items() if not life.goes_on(after.get(session))]
    found = UnderLoad(
        lab=twin.record.name,
        flows=wish.flows,
        rate=wish.rate,
        seconds=monotonic() - begin,
        sent=sum(heard.sent for heard in load.heard),
        lost=load.lost,
        longest_ms=longest_ms(gap for _, gap in load.gaps),
        sessions=len(before),
        gained=len(after.keys() - before.keys()),
        reset=tuple(reset),
    )
    return found, done


def pairs_of(twin: Twin) -> list[tuple[str, str]]:
    """Return each server with the next one on another leaf. Raises Refused without any."""
    hosts = [host for host in twin.topology.hosts if speaks(host)]
    found = []
    for number, host in enumerate(hosts):
        others = (*hosts[number + 1 :], *hosts[:number])
        far = next((other.name for other in others if other.switch != host.switch), None)
        if far is not None:
            found.append((host.name, far))
    if not found:
        raise Refused("no two servers are on different leaves", where=twin.record.name)
    return found


def lives_of(twin: Twin) -> dict[str, SessionCounts]:
    """Return every session that is up: `leaf01 to 10.1.0.0`."""
    found = {}
    for switch in twin.topology.by_switch:
        if "bgpd" not in twin.topology.by_switch[switch].texts:
            continue
        with twin.daemons(switch).vty("bgpd") as vty:
            for peer, told in vty.read("show bgp neighbors json").items():
                if told["bgpState"] == "Established":
                    counts = told["connectionsEstablished"], told["connectionsDropped"]
                    found[f"{switch} to {peer}"] = SessionCounts(*counts, told["bgpTimerUpMsec"])
    return found


def run_command(words: Sequence[str], lab: str) -> int:
    """Run a command of this machine; returns its exit code. Raises BadInput if there is none.

    lab: its name, passed to the command and its children: a gate that counts packets of ports must
    not count the load as its own.
    """
    known = {**os.environ, UNDER_LOAD: lab}
    try:
        return subprocess.call(list(words), env=known)  # noqa: S603 - the user's command
    except OSError as error:
        raise BadInput(f"{words[0]!r} cannot be run: {error.strerror}") from None
