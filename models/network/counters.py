"""Counters of NICs and switches, read before and after an RDMA test."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.network.observed import PfcCountersSeen, QueueSeen


class NicCounters(Frozen):
    """Counters of one RDMA link or interface of a server, named as by its driver."""

    server: str
    link: str  # mlx5_0/1, or eth0
    values: dict[str, int]


class MarkedSeen(Frozen):
    """Packets that a switch port marked with ECN since its counters were cleared."""

    interface: str
    marked_packets: int


class SwitchCounters(Frozen):
    """Counters of one switch at one time. None: not read."""

    device: str
    pfc: tuple[PfcCountersSeen, ...] | None = None
    queues: tuple[QueueSeen, ...] | None = None
    marked: tuple[MarkedSeen, ...] | None = None
