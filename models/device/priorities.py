"""Priorities on a CloudEngine and a NIC: PHB, queue, DSCP, 802.1p.

Source: V300R023C00 command reference, QoS, priority mapping (default domain); the NIC's default
dscp2prio is DSCP >> 3 (ConnectX).
"""

from __future__ import annotations

from typing import Literal

Phb = Literal["be", "af1", "af2", "af3", "af4", "ef", "cs6", "cs7"]
Colour = Literal["green", "yellow", "red"]
PHB_QUEUE: dict[Phb, int] = {
    "be": 0,
    "af1": 1,
    "af2": 2,
    "af3": 3,
    "af4": 4,
    "ef": 5,
    "cs6": 6,
    "cs7": 7,
}
QUEUE_PHB: dict[int, Phb] = {queue: phb for phb, queue in PHB_QUEUE.items()}
DSCPS = range(64)
QUEUES = range(8)


def default_queue(dscp: int) -> int:
    """Return the queue of a DSCP (0..63) in the default diffserv domain."""
    return dscp >> 3


def host_priority(dscp: int) -> int:
    """Return the priority of a DSCP on a NIC with the default dscp2prio; pauses use it."""
    return dscp >> 3
