"""Lossy queue of a port beside its lossless one: tail drop by a dynamic threshold, and DWRR."""

from __future__ import annotations

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.compile import jit
from rocefort.tune.simulator.kernel.memory import Floats, Ints, append, take

NO_QUEUE, LOSSLESS_QUEUE, LOSSY_QUEUE = range(3)


@jit
def enqueue_lossy(m: Ints, x: Floats, port: int, packet: int) -> bool:
    """Append a packet to the lossy queue of a switch port; False: no room, it is to be dropped.

    The queue may have alpha times the free shared pool, from which its packets are booked
    (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches",
    IEEE/ACM Transactions on Networking 6(2), 1998).
    """
    switch, size = m[port + c.SWITCH], m[packet + c.BYTES]
    free = m[switch + c.POOL] - m[switch + c.POOL_USED]
    if size > free or m[port + c.LOSSY_QUEUED] + size > x[c.LOSSY_ALPHA] * free:
        if m[packet + c.KIND] == c.SEGMENT:
            m[port + c.LOSSY_DROPS] += 1
            m[port + c.LOSSY_DROPPED_BYTES] += size
        return False
    m[switch + c.POOL_USED] += size
    m[port + c.LOSSY_QUEUED] += size
    append(m, port, c.LOSSY, packet)
    return True


@jit
def dequeue_lossy(m: Ints, port: int) -> int:
    """Remove and return the first packet of the lossy queue of a switch port, and free its room."""
    packet = take(m, port, c.LOSSY)
    size = m[packet + c.BYTES]
    m[port + c.LOSSY_QUEUED] -= size
    m[m[port + c.SWITCH] + c.POOL_USED] -= size
    m[port + c.SENT_BYTES] += size
    return packet


@jit
def next_queue(m: Ints, x: Floats, port: int) -> int:
    """Return which queue of a switch port sends: deficit weighted round robin.

    Shreedhar and Varghese, "Efficient Fair Queuing using Deficit Round Robin", SIGCOMM 1995: a
    queue has credit for its quantum each round, keeps what is left while it waits, and loses it
    when it is empty. The smaller quantum is one packet, the other one is in proportion to its
    weight. A paused queue keeps its credit and its peer sends meanwhile.
    """
    if m[port + c.DATA] < 0:
        m[port + c.CREDIT] = 0
    if m[port + c.LOSSY] < 0:
        m[port + c.LOSSY_CREDIT] = 0
    lossless = m[port + c.DATA] >= 0 and m[port + c.PAUSED] == 0
    lossy = m[port + c.LOSSY] >= 0
    if not (lossless and lossy):
        return LOSSLESS_QUEUE if lossless else LOSSY_QUEUE if lossy else NO_QUEUE
    while True:
        if m[port + c.LOSSY_TURN] == 0:
            size = m[m[port + c.DATA] + c.BYTES]
            if size <= m[port + c.CREDIT]:
                m[port + c.CREDIT] -= size
                return LOSSLESS_QUEUE
            m[port + c.LOSSY_TURN] = 1
            m[port + c.LOSSY_CREDIT] += int(x[c.LOSSY_QUANTUM])
        else:
            size = m[m[port + c.LOSSY] + c.BYTES]
            if size <= m[port + c.LOSSY_CREDIT]:
                m[port + c.LOSSY_CREDIT] -= size
                return LOSSY_QUEUE
            m[port + c.LOSSY_TURN] = 0
            m[port + c.CREDIT] += int(x[c.QUANTUM])
