"""TCP: slow start and congestion avoidance (RFC 5681), loss by order of sending (RFC 8985).

Each segment is acknowledged, with a cumulative number and its own, as a first SACK block has it
(RFC 2018). Packets of a flow have one path and stay in order, so a segment is lost as soon as a
later one is acknowledged: RACK without a window for reordering. A loss halves the window once
until all is acknowledged that was under way (RFC 6582, RFC 6675). After two round trips without an
acknowledgment one segment is sent as a probe (RFC 8985, 7); a timeout (RFC 6298) sets the window to
one segment. A random time up to a segment's after an acknowledgment avoids phase effects (Floyd and
Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", Internetworking 3(3), 1992).
"""

from __future__ import annotations

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.compile import jit
from rocefort.tune.simulator.kernel.congestion_control import set_timer, wait_for_burst
from rocefort.tune.simulator.kernel.memory import Floats, Ints, draw, new_packet

LONGEST_RTO = 60e12  # ps, RFC 6298 (2.5)


@jit
def may_send_segment(m: Ints, x: Floats, flow: int) -> bool:
    """Whether the window has room, and there is a lost or new segment to send."""
    if m[flow + c.PROBE] == c.PROBE_DUE:
        return True
    under_way, size = m[flow + c.SENT] - m[flow + c.HEARD], int(x[c.SEGMENT_PAYLOAD])
    window = x[m[flow + c.FLOATS] + c.CWND]
    if (under_way + 1) * size > window or under_way >= c.RING:
        return False
    ring = m[flow + c.RINGS] + c.RING
    while m[flow + c.LOST] < m[flow + c.LOST_END]:
        if m[ring + m[flow + c.LOST] % c.RING] >= m[flow + c.ACKED]:
            return True
        m[flow + c.LOST] += 1  # acknowledged meanwhile
    return has_new_segment(m, x, flow)


@jit
def has_new_segment(m: Ints, x: Floats, flow: int) -> bool:
    """Whether a flow has a new segment that the receiver has room for."""
    room = (c.RING - 1) * int(x[c.SEGMENT_PAYLOAD])
    return m[flow + c.NEXT] < m[flow + c.SIZE] and m[flow + c.NEXT] - m[flow + c.ACKED] < room


@jit
def segment_of(m: Ints, x: Floats, flow: int, now: int) -> int:
    """Return a flow's next segment, a lost one first; set when it may send again, and its timer."""
    lost, probe = m[flow + c.LOST] < m[flow + c.LOST_END], m[flow + c.PROBE] == c.PROBE_DUE
    sequence = m[flow + c.NEXT]
    if lost:
        sequence = m[m[flow + c.RINGS] + c.RING + m[flow + c.LOST] % c.RING]
        m[flow + c.LOST] += 1
    elif probe and not has_new_segment(m, x, flow):  # the last one again
        size = int(x[c.SEGMENT_PAYLOAD])
        sequence = (m[flow + c.NEXT] - 1) // size * size
    payload = min(int(x[c.SEGMENT_PAYLOAD]), m[flow + c.SIZE] - sequence)
    size = payload + int(x[c.SEGMENT_HEADER])
    packet = new_packet(m, c.SEGMENT, flow, size)
    if packet < 0:
        return packet
    if sequence < m[flow + c.NEXT]:
        m[flow + c.RESENT] += payload
    else:
        m[flow + c.NEXT] += payload
    m[packet + c.PAYLOAD], m[packet + c.SEQ] = payload, sequence
    m[packet + c.LAUNCHED], m[packet + c.NUMBER] = now, m[flow + c.SENT]
    m[m[flow + c.RINGS] + m[flow + c.SENT] % c.RING] = sequence
    m[flow + c.SENT] += 1
    f = m[flow + c.FLOATS]
    m[flow + c.AVAILABLE] = now + int(size * 8e12 / x[f + c.RATE])
    if m[flow + c.PERIOD] > 0 and m[flow + c.LOST] == m[flow + c.LOST_END]:
        wait_for_burst(m, flow)
    m[flow + c.INJECTED] += 1
    m[flow + c.INJECTED_BYTES] += size
    if probe:
        m[flow + c.PROBE] = c.PROBE_SENT
    if probe or m[flow + c.RETRY] == c.NEVER:
        start_timer(m, x, flow, now)
    return packet


@jit
def start_timer(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Set the time of the next probe, or of the timeout: RFC 8985 (7.2), RFC 6298 (5)."""
    f = m[flow + c.FLOATS]
    wait = x[f + c.RTO]
    recovers = m[flow + c.ACKED] < m[flow + c.RECOVER]
    if x[f + c.SRTT] > 0 and m[flow + c.PROBE] == c.NO_PROBE and not recovers:
        wait = min(wait, 2 * x[f + c.SRTT])
    m[flow + c.RETRY] = now + int(wait)
    if m[m[c.CALENDAR] + m[flow + c.SLOT]] > m[flow + c.RETRY]:
        set_timer(m, flow)


@jit
def timer_ended(m: Ints, x: Floats, flow: int) -> None:
    """Have a probe sent, or take a timeout."""
    recovers = m[flow + c.ACKED] < m[flow + c.RECOVER]
    if x[m[flow + c.FLOATS] + c.SRTT] > 0 and m[flow + c.PROBE] == c.NO_PROBE and not recovers:
        m[flow + c.PROBE] = c.PROBE_DUE
    else:
        timed_out(m, x, flow)


@jit
def receive_segment(m: Ints, x: Floats, packet: int, now: int) -> None:
    """Take a segment at its receiver, and make its packet the acknowledgment."""
    flow, size = m[packet + c.FLOW], int(x[c.SEGMENT_PAYLOAD])
    m[flow + c.ARRIVED] += 1
    m[flow + c.ARRIVED_BYTES] += m[packet + c.BYTES]
    received = m[flow + c.RINGS] + 2 * c.RING
    own = received + m[packet + c.SEQ] // size % c.RING
    if m[packet + c.SEQ] >= m[flow + c.EXPECTED] and m[own] == 0:
        m[own] = 1
        if now > x[c.MEASURE_FROM]:
            m[flow + c.MEASURED] += m[packet + c.PAYLOAD]
    place = received + m[flow + c.EXPECTED] // size % c.RING
    while m[flow + c.EXPECTED] < m[flow + c.SIZE] and m[place] == 1:
        m[place] = 0
        m[flow + c.EXPECTED] += min(size, m[flow + c.SIZE] - m[flow + c.EXPECTED])
        place = received + m[flow + c.EXPECTED] // size % c.RING
    if m[flow + c.EXPECTED] >= m[flow + c.SIZE] and m[flow + c.FINISHED] < 0:
        m[flow + c.FINISHED] = now + m[flow + c.RETURN_PS]
        m[c.DONE] += 1
    m[packet + c.KIND] = c.SEGMENT_ACK
    m[packet + c.BYTES] = int(x[c.CONTROL_BYTES])
    m[packet + c.SEQ] = m[flow + c.EXPECTED]
    m[packet + c.HOP] = 0


@jit
def acknowledged(m: Ints, x: Floats, packet: int, now: int) -> None:
    """React to an acknowledgment: find lost segments, and open or halve the window."""
    flow, number = m[packet + c.FLOW], m[packet + c.NUMBER]
    under_way = m[flow + c.SENT] - m[flow + c.HEARD]
    fresh = m[packet + c.SEQ] - m[flow + c.ACKED]
    if fresh > 0:
        m[flow + c.ACKED] = m[packet + c.SEQ]
        m[flow + c.NEXT] = max(m[flow + c.NEXT], m[flow + c.ACKED])
        measure_trip(m, x, flow, float(now - m[packet + c.LAUNCHED]))
    if number >= m[flow + c.HEARD]:
        lose(m, x, flow, number)
        m[flow + c.HEARD] = number + 1
    if fresh > 0:
        if m[flow + c.ACKED] >= m[flow + c.RECOVER]:
            grow(x, m[flow + c.FLOATS], min(fresh, int(x[c.SEGMENT_PAYLOAD])), under_way)
        m[flow + c.PROBE] = c.NO_PROBE
        if m[flow + c.ACKED] < m[flow + c.NEXT]:
            start_timer(m, x, flow, now)
        else:
            m[flow + c.RETRY] = c.NEVER
    if m[flow + c.AVAILABLE] <= now:
        line = x[m[flow + c.FLOATS] + c.RATE]
        m[flow + c.AVAILABLE] = now + int(draw(m) * x[c.SEGMENT_PAYLOAD] * 8e12 / line)


@jit
def lose(m: Ints, x: Floats, flow: int, number: int) -> None:
    """Queue the segments that were sent before an acknowledged one and had no acknowledgment."""
    sent = m[flow + c.RINGS]
    before = m[flow + c.LOST_END]
    for other in range(m[flow + c.HEARD], number):
        sequence = m[sent + other % c.RING]
        if sequence >= m[flow + c.ACKED]:
            m[sent + c.RING + m[flow + c.LOST_END] % c.RING] = sequence
            m[flow + c.LOST_END] += 1
    if m[flow + c.LOST_END] > before and m[flow + c.PERIOD] > 0:
        m[flow + c.AVAILABLE] = m[c.NOW]  # what is sent again waits for no burst
    if m[flow + c.LOST_END] > before and m[flow + c.ACKED] >= m[flow + c.RECOVER]:
        m[flow + c.RECOVER] = m[flow + c.NEXT]
        halve(m, x, flow)
        x[m[flow + c.FLOATS] + c.CWND] = x[m[flow + c.FLOATS] + c.SSTHRESH]


@jit
def halve(m: Ints, x: Floats, flow: int) -> None:
    """Set the threshold of slow start to half of what is under way: RFC 5681 (4)."""
    f = m[flow + c.FLOATS]
    flight = min(float(m[flow + c.NEXT] - m[flow + c.ACKED]), x[f + c.CWND])
    x[f + c.SSTHRESH] = max(flight / 2, 2 * x[c.SEGMENT_PAYLOAD])


@jit
def grow(x: Floats, f: int, fresh: int, under_way: int) -> None:
    """Open the window by fresh bytes in slow start, RFC 5681 (2), else by about a segment a trip,
    (3). A window that is less than half in use stays.
    """
    size = x[c.SEGMENT_PAYLOAD]
    if 2 * under_way * size < x[f + c.CWND]:
        return
    if x[f + c.CWND] < x[f + c.SSTHRESH]:
        x[f + c.CWND] += fresh
    else:
        x[f + c.CWND] += size * size / x[f + c.CWND]


@jit
def measure_trip(m: Ints, x: Floats, flow: int, trip: float) -> None:
    """Set the retransmission timeout by a round trip, ps: RFC 6298 (2.2) to (2.4)."""
    f = m[flow + c.FLOATS]
    if x[f + c.SRTT] == 0:
        x[f + c.SRTT], x[f + c.RTTVAR] = trip, trip / 2
    else:
        x[f + c.RTTVAR] = 0.75 * x[f + c.RTTVAR] + 0.25 * abs(x[f + c.SRTT] - trip)
        x[f + c.SRTT] = 0.875 * x[f + c.SRTT] + 0.125 * trip
    x[f + c.RTO] = max(x[c.RTO_LEAST], x[f + c.SRTT] + 4 * x[f + c.RTTVAR])


@jit
def timed_out(m: Ints, x: Floats, flow: int) -> None:
    """Begin again with one segment after a timeout: RFC 5681 (4), RFC 6298 (5.4) to (5.7)."""
    f = m[flow + c.FLOATS]
    halve(m, x, flow)
    x[f + c.CWND] = x[c.SEGMENT_PAYLOAD]
    x[f + c.RTO] = min(2 * x[f + c.RTO], LONGEST_RTO)
    m[flow + c.RESENT] += m[flow + c.NEXT] - m[flow + c.ACKED]
    m[flow + c.NEXT] = m[flow + c.RECOVER] = m[flow + c.ACKED]
    if m[flow + c.PERIOD] > 0:
        m[flow + c.AVAILABLE] = m[c.NOW]
    m[flow + c.PROBE] = c.NO_PROBE
    m[flow + c.HEARD], m[flow + c.LOST] = m[flow + c.SENT], m[flow + c.LOST_END]
