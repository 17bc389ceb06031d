"""Buffer of a switch: queues, ECN marks, and admission by reserve, shared pool and headroom.

Accounting is by ingress port, as the HPCC simulator's (switch-mmu.cc) and a CloudEngine's.
"""

from __future__ import annotations

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.compile import jit
from rocefort.tune.simulator.kernel.memory import Floats, Ints, append, draw, take


@jit
def account_queue(m: Ints, x: Floats, port: int, now: int) -> None:
    """Add the time since the last change to the statistics of a port's queue."""
    since = max(m[port + c.SINCE], int(x[c.MEASURE_FROM]))
    if now > since:
        size = m[port + c.QUEUED]
        x[m[port + c.PORT_FLOATS_AT] + c.AREA] += float(size) * (now - since)
        coarse = c.FINE_BINS + (size >> int(x[c.BIN_SHIFT]))
        index = size >> c.FINE_SHIFT if size < c.FINE_BYTES else min(coarse, c.BINS - 1)
        m[m[port + c.HISTOGRAM] + index] += now - since
        m[port + c.LARGEST] = max(m[port + c.LARGEST], size)
    m[port + c.SINCE] = now


@jit
def enqueue(m: Ints, x: Floats, port: int, packet: int, now: int) -> None:
    """Append a packet to a switch port's data queue."""
    account_queue(m, x, port, now)
    m[port + c.QUEUED] += m[packet + c.BYTES]
    append(m, port, c.DATA, packet)


@jit
def dequeue(m: Ints, x: Floats, port: int, now: int) -> int:
    """Remove and return the first packet of a switch port's data queue, marked by ECN; or -1."""
    packet = take(m, port, c.DATA)
    if packet < 0:
        return packet
    account_queue(m, x, port, now)
    m[port + c.QUEUED] -= m[packet + c.BYTES]
    if m[packet + c.KIND] == c.DATA_PACKET and congested(m, x, port):
        m[packet + c.MARK] = 1
        if now >= x[c.MEASURE_FROM]:
            m[port + c.MARKS] += 1
    return packet


@jit
def congested(m: Ints, x: Floats, port: int) -> bool:
    """Whether ECN marks the packet that leaves: by the queue behind it, at dequeue.

    The congestion point of DCQCN (SIGCOMM 2015, 3.1), which is RED on the instantaneous queue.
    """
    queue, low, high = m[port + c.QUEUED], m[port + c.KMIN], m[port + c.KMAX]
    if queue > high:
        return True
    if queue <= low:
        return False
    share = (queue - low) / (high - low)
    return draw(m) < share * x[m[port + c.PORT_FLOATS_AT] + c.PMAX]


@jit
def shared_use(m: Ints, port: int) -> int:
    """Bytes of an ingress port beyond its reserve, without its headroom."""
    return max(0, m[port + c.INGRESS] - m[port + c.RESERVE])


@jit
def threshold(m: Ints, x: Floats, port: int) -> int:
    """Bytes beyond the reserve at which an ingress port pauses its peer.

    Dynamic: alpha (B - Q) of Choudhury and Hahne, IEEE/ACM Trans. Networking 6(2), 1998.
    """
    if m[port + c.XOFF] >= 0:
        return max(0, m[port + c.XOFF] - m[port + c.RESERVE])
    switch = m[port + c.PEER]
    free = m[switch + c.POOL] - m[switch + c.POOL_USED]
    return int(x[m[port + c.PORT_FLOATS_AT] + c.THRESHOLD_ALPHA] * free)


@jit
def admit(m: Ints, x: Floats, port: int, size: int) -> bool:
    """Book a packet that arrives by an ingress port; False: no room, the packet is dropped.

    The packet that crosses the threshold is booked whole as headroom.
    """
    switch, limit = m[port + c.PEER], threshold(m, x, port)
    beyond = m[port + c.INGRESS] + size - m[port + c.RESERVE]
    share = min(size, max(0, beyond))
    full = m[switch + c.POOL_USED] + share > m[switch + c.POOL]
    if beyond > 0 and (beyond > limit or full):
        if m[port + c.OVER_XOFF] + size > m[port + c.HEADROOM]:
            return False
        m[port + c.OVER_XOFF] += size
        m[port + c.LARGEST_OVER] = max(m[port + c.LARGEST_OVER], m[port + c.OVER_XOFF])
        return True
    m[port + c.INGRESS] += size
    m[switch + c.POOL_USED] += share
    return True


@jit
def release(m: Ints, port: int, size: int) -> None:
    """Free the buffer of a packet that has left; its ingress port is given."""
    over = min(size, m[port + c.OVER_XOFF])
    shared = min(size - over, shared_use(m, port))
    m[port + c.OVER_XOFF] -= over
    m[port + c.INGRESS] -= size - over
    m[m[port + c.PEER] + c.POOL_USED] -= shared


@jit
def must_pause(m: Ints, x: Floats, port: int) -> bool:
    """Whether an ingress port that does not pause its peer has to."""
    if m[port + c.PFC] == 0 or m[port + c.PAUSING] == 1:
        return False
    return m[port + c.OVER_XOFF] > 0 or shared_use(m, port) >= threshold(m, x, port)


@jit
def may_resume(m: Ints, x: Floats, port: int) -> bool:
    """Whether an ingress port that pauses its peer may let it send."""
    if m[port + c.PAUSING] == 0 or m[port + c.OVER_XOFF] > 0:
        return False
    if m[port + c.XOFF] >= 0:
        return m[port + c.INGRESS] <= m[port + c.XON]
    use = shared_use(m, port)
    return use == 0 or use + m[port + c.XON_OFFSET] <= threshold(m, x, port)
