"""Counters of NICs and switches around a test: read before and after, judged by what they grew."""

from __future__ import annotations

from rocefort.models.base import Frozen
from rocefort.models.network.observed import PfcCountersSeen, QueueSeen


class NicCounters(Frozen):
    """One RDMA link or interface of a server and its counters, names as the driver has them."""

    server: str
    link: str  # mlx5_0/1, or eth0
    values: dict[str, int]


class MarkedSeen(Frozen):
    """Packets that a switch port has marked ECN since its counters were cleared."""

    interface: str
    marked_packets: int


class SwitchCounters(Frozen):
    """What one switch had counted at one time. None: not read."""

    device: str
    pfc: tuple[PfcCountersSeen, ...] | None = None
    queues: tuple[QueueSeen, ...] | None = None
    marked: tuple[MarkedSeen, ...] | None = None
