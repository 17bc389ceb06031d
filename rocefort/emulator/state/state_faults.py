"""Faults in the emulated state, by name: counters that rise, ports, cables, MTU.

    read_state_fault("input-errors", "100GE1/0/1=5/s")     CRC errors rise by 5 a second
    read_state_fault("queue-drops", "100GE1/0/1 queue 4=1000")

Counters are zero otherwise. Faults of the dialogue are in `lab/switch/faults.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.text.names import interface_name

Port = tuple[str, str]  # switch or server, interface

# Effect of each fault; its value follows `=`.
STATE_FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "link-down": "the cable of a port carries nothing: both of its ends are down",
        "wrong-cable": "a port is cabled to another: =SWITCH:PORT",
        "wrong-mtu": "a port has another MTU than its configuration: =BYTES",
        "input-errors": "CRC errors of a port: =COUNT, or =RATE/s rising",
        "input-discards": "packets that a port dropped at input",
        "output-discards": "packets that a port dropped at output",
        "traffic": "packets of 1024 bytes that a queue of a port lets through",
        "queue-drops": "packets that a queue of a port drops",
        "pfc-received": "PFC frames that a queue of a port receives",
        "pfc-sent": "PFC frames that a queue of a port sends",
        "deadlocks": "PFC deadlocks of a queue of a port, each followed by a recovery",
        "ai-ecn-abnormal": "AI-ECN computes nothing for a port: mode -",
    }
)
PLAIN = ("link-down", "ai-ecn-abnormal")  # no value
COUNTED = frozenset(STATE_FAULTS) - {*PLAIN, "wrong-cable", "wrong-mtu"}
QUEUED = ("traffic", "queue-drops", "pfc-received", "pfc-sent", "deadlocks")
WHAT = re.compile(
    r"(?P<port>[^=]+?)(?: queue (?P<queue>[0-7]))?(?:=(?P<value>.+))?", re.ASCII | re.DOTALL
)
COUNT = re.compile(r"(?P<number>\d{1,12})(?P<rising>/s)?", re.ASCII)
FAR = re.compile(r"(?P<host>[^:\s]+):(?P<port>\S+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class StateFault:
    """One fault of a port. count: at once; rate: per second from the time it is injected.

    queue None: the lossless queue of the port. far: where a wrong cable leads.
    """

    name: str
    interface: str
    queue: int | None = None
    count: int = 0
    rate: int = 0
    far: Port | None = None


def read_state_fault(name: str, what: str) -> StateFault:
    """Parse the text after `@`: `PORT`, `PORT=VALUE`, `PORT queue N=VALUE`. Raises BadInput."""
    match = WHAT.fullmatch(what.strip())
    port = interface_name(match["port"].strip()) if match else None
    if match is None or port is None:
        raise BadInput(f"{what!r} names no port", how=f"write {name}@100GE1/0/1")
    queue, value = match["queue"], match["value"]
    if queue is not None and name not in QUEUED:
        raise BadInput(f"{name} is of a port, not of a queue", how="leave the queue out")
    if (value is not None) == (name in PLAIN):
        how = f"write {name}@{port}" if name in PLAIN else f"write {name}@{port}=VALUE"
        raise BadInput(f"{name} takes {'no' if name in PLAIN else 'a'} value", how=how)
    if name == "wrong-cable":
        return StateFault(name, port, far=_far(value or ""))
    count, rate = _count_and_rate(name, value) if value else (0, 0)
    return StateFault(name, port, int(queue) if queue else None, count, rate)


def _far(value: str) -> Port:
    match = FAR.fullmatch(value)
    port = interface_name(match["port"]) if match else None
    if match is None or port is None:
        raise BadInput(f"{value!r} is no port of a switch", how="write SWITCH:100GE1/0/1")
    return match["host"], port


def _count_and_rate(name: str, value: str) -> tuple[int, int]:
    match = COUNT.fullmatch(value)
    if match is None or (match["rising"] and name not in COUNTED):
        form = "a number, or N/s" if name in COUNTED else "a number"
        raise BadInput(f"{name} takes {form}, not {value!r}", how=f"as {name}@100GE1/0/1=5")
    number = int(match["number"])
    return (0, number) if match["rising"] else (number, 0)
