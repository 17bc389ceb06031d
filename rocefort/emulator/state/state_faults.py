"""Faults in the emulated state, by name, and the counters that they raise.

read_state_fault("input-errors", "100GE1/0/1=5/s")     CRC errors rise by 5 a second
    read_state_fault("queue-drops", "100GE1/0/1 queue 4=1000")

Counters are zero otherwise. Faults of the dialogue are in `lab/switch/faults.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.text.names import interface_name
from rocefort.emulator.switch.state_source import (
    AiEcnState,
    InterfaceState,
    PfcState,
    PortCounts,
    QueueState,
)
from rocefort.models.device.device import Device

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


PACKET_BYTES = 1024
QUEUES = 8
DEFAULT_MODEL = "ai_ecn_distributedstorage"  # without `model`, V300R023C00 `assign queue`
# Names of models in `display ai-ecn calculated state`, V300R023C00. A model that computes has no
# fixed thresholds: the vendor's sample values are shown for all of them.
MODEL_NAMES = {
    "ai_ecn_distributedstorage": "AI_ECN_DistributedStorage",
    "ai_ecn_distributedfilestorage": "AI_ECN_DistributedFileStorage",
    "ai_ecn_centralizedstorage": "AI_ECN_CentralizedStorage",
    "ai_ecn_hpc": "AI_ECN_HPC",
}
SAMPLE_LOW, SAMPLE_HIGH, SAMPLE_PERCENT = 204800, 614400, 5


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """A fault and when it was injected, on the switch's clock."""

    fault: StateFault
    at: float

    def on(self, interface: str) -> bool:
        """Whether the fault is on this interface."""
        return self.fault.interface == interface

    def total(self, now: float) -> int:
        """Return the count until now."""
        return self.fault.count + int(self.fault.rate * max(0.0, now - self.at))


def _sum(faults: Sequence[InjectedFault], name: str, now: float) -> int:
    return sum(injected.total(now) for injected in faults if injected.fault.name == name)


def _rate(faults: Sequence[InjectedFault], name: str) -> int:
    return sum(injected.fault.rate for injected in faults if injected.fault.name == name)


def with_counters(
    state: InterfaceState, faults: Sequence[InjectedFault], now: float
) -> InterfaceState:
    """Return an interface with its counters, and with the MTU of an injected fault."""
    if not faults:
        return state
    mtus = [injected.fault.count for injected in faults if injected.fault.name == "wrong-mtu"]
    passed = _sum(faults, "traffic", now)
    counts = PortCounts(
        out_packets=passed,
        out_bytes=passed * PACKET_BYTES,
        crc=_sum(faults, "input-errors", now),
        in_discards=_sum(faults, "input-discards", now),
        out_discards=_sum(faults, "output-discards", now) + _sum(faults, "queue-drops", now),
        in_pauses=_sum(faults, "pfc-received", now),
        out_pauses=_sum(faults, "pfc-sent", now),
    )
    return replace(state, counts=counts, mtu=mtus[-1] if mtus else state.mtu)


def pfc(device: Device, faults: Sequence[InjectedFault], now: float) -> list[PfcState]:
    """Return one row for each lossless queue of each port with PFC on."""
    return [
        _pfc(name, queue, list(_of_queue(device, faults, name, queue)), now)
        for name, queue in lossless_queues(device)
    ]


def lossless_queues(device: Device) -> Iterator[tuple[str, int]]:
    """Yield port and queue, for every queue that the PFC profile of a port pauses."""
    for interface in device.interfaces:
        profile = device.profile_of(interface)
        for queue in profile.queues if profile else ():
            yield interface.name, queue


def _of_queue(
    device: Device, faults: Sequence[InjectedFault], interface: str, queue: int
) -> Iterator[InjectedFault]:
    # A fault without a queue applies to the lossless one; on a port without one, to queue 0.
    usual = next((number for name, number in lossless_queues(device) if name == interface), 0)
    for injected in faults:
        target = usual if injected.fault.queue is None else injected.fault.queue
        if injected.on(interface) and queue == target:
            yield injected


def _pfc(interface: str, queue: int, faults: Sequence[InjectedFault], now: float) -> PfcState:
    deadlocks = _sum(faults, "deadlocks", now)
    return PfcState(
        interface,
        queue,
        rx_frames=_sum(faults, "pfc-received", now),
        rx_rate=_rate(faults, "pfc-received"),
        tx_frames=_sum(faults, "pfc-sent", now),
        tx_rate=_rate(faults, "pfc-sent"),
        deadlocks=deadlocks,
        recoveries=deadlocks,
    )


def queues(
    device: Device, state: InterfaceState, faults: Sequence[InjectedFault], now: float
) -> list[QueueState]:
    """Return the eight queues of a port; without shaping each may use the whole speed."""
    rows = []
    for number in range(QUEUES):
        own = list(_of_queue(device, faults, state.name, number))
        passed, dropped = _sum(own, "traffic", now), _sum(own, "queue-drops", now)
        rows.append(
            QueueState(
                state.name,
                number,
                peak_kbps=(state.speed_mbps or 0) * 1000,
                passed_packets=passed,
                passed_bytes=passed * PACKET_BYTES,
                passed_pps=_rate(own, "traffic"),
                dropped_packets=dropped,
                dropped_bytes=dropped * PACKET_BYTES,
                dropped_pps=_rate(own, "queue-drops"),
            )
        )
    return rows


def ai_ecn(
    device: Device, up: Collection[str], faults: Sequence[InjectedFault]
) -> list[AiEcnState]:
    """Return queues that AI-ECN is assigned to, on ports that are up and pause them."""
    models = {row.queue: row.model or DEFAULT_MODEL for row in device.ai_ecn.queues}
    if not device.ai_ecn.enabled:
        return []
    return [
        _ai_ecn(name, queue, models[queue], faults)
        for name, queue in lossless_queues(device)
        if queue in models and name in up
    ]


def _ai_ecn(interface: str, queue: int, model: str, faults: Sequence[InjectedFault]) -> AiEcnState:
    abnormal = any(
        injected.fault.name == "ai-ecn-abnormal" and injected.on(interface) for injected in faults
    )
    return AiEcnState(
        interface,
        queue,
        "-" if abnormal else "BBR",
        MODEL_NAMES.get(model, model),
        0 if abnormal else SAMPLE_LOW,
        0 if abnormal else SAMPLE_HIGH,
        0 if abnormal else SAMPLE_PERCENT,
    )
