"""Tables of one simulation, and the lists and the calendar that they hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.compile import jit

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


@jit
def set_time(m: Ints, slot: int, time: int) -> None:
    """Set the time of the next event of a slot: at most log2(slots) steps up a tree of winners."""
    calendar, winners = m[c.CALENDAR], m[c.WINNERS]
    m[calendar + slot] = time
    node = (slot + m[c.SLOTS]) >> 1
    while node >= 1:
        left, right = m[winners + 2 * node], m[winners + 2 * node + 1]
        winner = left if m[calendar + left] <= m[calendar + right] else right
        if winner == m[winners + node] and winner != slot:
            return
        m[winners + node] = winner
        node >>= 1


@jit
def append(m: Ints, port: int, head: int, packet: int) -> None:
    """Append a packet to a list of a port."""
    m[packet + c.LINK] = -1
    last = m[port + head + 1]
    if m[port + head] < 0:
        m[port + head] = packet
    else:
        m[last + c.LINK] = packet
    m[port + head + 1] = packet


@jit
def take(m: Ints, port: int, head: int) -> int:
    """Remove and return the first packet of a list of a port; -1 if it is empty."""
    packet = m[port + head]
    if packet >= 0:
        m[port + head] = m[packet + c.LINK]
    return packet


@jit
def new_packet(m: Ints, kind: int, flow: int, size: int) -> int:
    """Return an unused packet; -1 if there is none, which ends the simulation."""
    packet = m[c.FREE]
    if packet < 0:
        m[c.STATUS] = c.NO_PACKETS
        return -1
    m[c.FREE] = m[packet + c.LINK]
    m[packet + c.KIND] = kind
    m[packet + c.FLOW] = flow
    m[packet + c.BYTES] = size
    m[packet + c.PAYLOAD] = 0
    m[packet + c.HOP] = 0
    m[packet + c.MARK] = 0
    m[packet + c.INPORT] = -1
    return packet


@jit
def discard(m: Ints, packet: int) -> None:
    """Return a packet to the unused ones."""
    m[packet + c.LINK] = m[c.FREE]
    m[c.FREE] = packet


@jit
def draw(m: Ints) -> float:
    """Return a number in [0, 1), by SplitMix64 (Steele et al., OOPSLA 2014)."""
    z = np.uint64(m[c.RANDOM]) + np.uint64(0x9E3779B97F4A7C15)
    m[c.RANDOM] = np.int64(z)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0
