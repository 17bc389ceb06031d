"""Event loop: packets that arrive at switches and servers, and timers of flows."""

from __future__ import annotations

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.buffers import admit, enqueue
from rocefort.tune.simulator.kernel.compile import jit
from rocefort.tune.simulator.kernel.congestion_control import (
    cut,
    dctcp,
    hpcc,
    notified,
    raise_by_time,
    set_timer,
    timely,
)
from rocefort.tune.simulator.kernel.lossy import enqueue_lossy
from rocefort.tune.simulator.kernel.memory import (
    Floats,
    Ints,
    append,
    discard,
    draw,
    new_packet,
    set_time,
    take,
)
from rocefort.tune.simulator.kernel.ports import (
    check_pause,
    frame_arrives,
    frame_takes_effect,
    queued_control,
    serve,
)
from rocefort.tune.simulator.kernel.tcp import acknowledged, receive_segment, timer_ended


@jit
def run(m: Ints, x: Floats) -> None:
    """Run a simulation to its end; `totals` has how it ended."""
    calendar, root = m[c.CALENDAR], m[c.WINNERS] + 1
    ports, flows = m[c.PORTS_AT], m[c.FLOWS_AT]
    port_slots = m[c.PORT_SLOTS]
    end = int(x[c.END_AT])
    finite = int(x[c.FINITE])
    while m[c.STATUS] != c.NO_PACKETS:
        slot = m[root]
        now = m[calendar + slot]
        if now > end:
            m[c.STATUS] = c.REACHED_END
            m[c.NOW] = end
            return
        m[c.NOW] = now
        m[c.EVENTS] += 1
        port, kind = ports + slot // 3 * c.PORT_COLUMNS, slot % 3
        if slot >= port_slots:
            timer(m, x, flows + (slot - port_slots) * c.FLOW_COLUMNS, now)
        elif kind == 0:
            serve(m, x, port, now)
        elif kind == 1:
            arrival(m, x, port, now)
        else:
            frame_takes_effect(m, x, port, now)
        if finite > 0 and m[c.DONE] == finite:
            m[c.STATUS] = c.FINISHED_ALL
            return


@jit
def timer(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Carry out what a flow's timer is set for."""
    if m[flow + c.FINISHED] >= 0:
        m[flow + c.CUT_AT] = m[flow + c.RAISE_AT] = m[flow + c.RETRY] = c.NEVER
    if m[flow + c.RETRY] <= now:
        m[flow + c.RETRY] = c.NEVER
        if m[flow + c.TCP] == 1:
            timer_ended(m, x, flow)
        elif m[flow + c.FINISHED] < 0 and m[flow + c.EXPECTED] < m[flow + c.NEXT]:
            go_back(m, flow, m[flow + c.EXPECTED])
    if m[flow + c.CUT_AT] <= now:
        cut(m, x, flow, now)
    if m[flow + c.RAISE_AT] <= now:
        raise_by_time(m, x, flow, now)
    set_timer(m, flow)
    serve(m, x, m[flow + c.SOURCE_PORT], now)


@jit
def go_back(m: Ints, flow: int, sequence: int) -> None:
    """Send again from a sequence number: RoCE's go-back-N."""
    m[flow + c.RESENT] += max(0, m[flow + c.NEXT] - sequence)
    m[flow + c.NEXT] = m[flow + c.ACKED] = sequence
    if m[flow + c.PERIOD] > 0:
        m[flow + c.AVAILABLE] = m[c.NOW]  # what is sent again waits for no burst


@jit
def arrival(m: Ints, x: Floats, port: int, now: int) -> None:
    """Take the packet that arrives at the end of a port's cable."""
    packet = take(m, port, c.FLIGHT)
    following = m[port + c.FLIGHT]
    set_time(m, m[port + c.SLOT] + 1, m[following + c.AT] if following >= 0 else c.NEVER)
    kind = m[packet + c.KIND]
    if kind >= c.PAUSE:
        frame_arrives(m, port, packet, now)
    elif m[port + c.PEER] >= 0:
        if kind >= c.SEGMENT:
            lossy_at_switch(m, x, packet, now)
        else:
            at_switch(m, x, port, packet, now)
    elif kind == c.DATA_PACKET:
        at_receiver(m, x, packet, now)
    elif kind == c.SEGMENT:
        receive_segment(m, x, packet, now)
        back = m[m[m[packet + c.FLOW] + c.WAY_BACK]]
        append(m, back, c.LOSSY, packet)
        serve(m, x, back, now)
    elif kind == c.SEGMENT_ACK:
        acknowledged(m, x, packet, now)
        source = m[m[packet + c.FLOW] + c.SOURCE_PORT]
        discard(m, packet)
        serve(m, x, source, now)
    else:
        at_sender(m, x, packet, now)


@jit
def at_switch(m: Ints, x: Floats, port: int, packet: int, now: int) -> None:
    """Queue a packet at its next port, or drop it."""
    flow, data = m[packet + c.FLOW], m[packet + c.KIND] == c.DATA_PACKET
    m[packet + c.HOP] += 1
    ahead = m[m[flow + (c.PATH if data else c.WAY_BACK)] + m[packet + c.HOP]]
    if not data and not queued_control(x):
        append(m, ahead, c.CONTROL, packet)
        serve(m, x, ahead, now)
        return
    if data:
        m[port + c.RECEIVED_BYTES] += m[packet + c.BYTES]
    if not admit(m, x, port, m[packet + c.BYTES]):
        if data:
            m[port + c.DROPS] += 1
            m[port + c.DROPPED_BYTES] += m[packet + c.BYTES]
        discard(m, packet)
        check_pause(m, x, port, now)
        return
    m[packet + c.INPORT] = port
    enqueue(m, x, ahead, packet, now)
    check_pause(m, x, port, now)
    serve(m, x, ahead, now)


@jit
def lossy_at_switch(m: Ints, x: Floats, packet: int, now: int) -> None:
    """Queue a packet of TCP at its next port, or drop it."""
    way = c.PATH if m[packet + c.KIND] == c.SEGMENT else c.WAY_BACK
    m[packet + c.HOP] += 1
    ahead = m[m[m[packet + c.FLOW] + way] + m[packet + c.HOP]]
    if enqueue_lossy(m, x, ahead, packet):
        serve(m, x, ahead, now)
    else:
        discard(m, packet)


@jit
def at_receiver(m: Ints, x: Floats, packet: int, now: int) -> None:
    """Take a data packet at its server, and answer it."""
    flow = m[packet + c.FLOW]
    m[flow + c.ARRIVED] += 1
    m[flow + c.ARRIVED_BYTES] += m[packet + c.BYTES]
    if x[c.CORRUPT] > 0 and draw(m) < x[c.CORRUPT]:
        m[c.CORRUPTED] += 1 if now >= x[c.MEASURE_FROM] else 0
        discard(m, packet)
        return
    marked = m[packet + c.MARK]
    m[flow + c.MARKED] += marked
    if m[packet + c.SEQ] == m[flow + c.EXPECTED]:
        m[flow + c.EXPECTED] += m[packet + c.PAYLOAD]
        if now > x[c.MEASURE_FROM]:
            m[flow + c.MEASURED] += m[packet + c.PAYLOAD]
        if m[flow + c.EXPECTED] >= m[flow + c.SIZE] and m[flow + c.FINISHED] < 0:
            m[flow + c.FINISHED] = now + m[flow + c.RETURN_PS]
            m[c.DONE] += 1
    elif m[packet + c.SEQ] > m[flow + c.EXPECTED]:
        refuse(m, x, flow, now)
    if marked == 1 and x[c.CONTROL_KIND] == c.DCQCN:
        notify(m, x, flow, now)
    if m[flow + c.ACKS] == 0:
        discard(m, packet)
        return
    m[packet + c.KIND] = c.ACK
    m[packet + c.BYTES] = int(x[c.CONTROL_BYTES])
    m[packet + c.SEQ] = m[flow + c.EXPECTED]
    answer(m, x, packet, now)


@jit
def refuse(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Ask for a lost packet again, once for each loss and interval."""
    if m[flow + c.NACKED] == m[flow + c.EXPECTED] and now < m[flow + c.NACK_AFTER]:
        return
    m[flow + c.NACKED] = m[flow + c.EXPECTED]
    m[flow + c.NACK_AFTER] = now + int(x[c.NACK_PS])
    packet = new_packet(m, c.NACK, flow, int(x[c.CONTROL_BYTES]))
    if packet >= 0:
        m[packet + c.SEQ] = m[flow + c.EXPECTED]
        answer(m, x, packet, now)


@jit
def notify(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Send a CNP, unless the last one is more recent than the shortest gap."""
    if now - m[flow + c.LAST_CNP] < x[c.CNP_GAP]:
        return
    m[flow + c.LAST_CNP] = now
    packet = new_packet(m, c.CNP, flow, int(x[c.CONTROL_BYTES]))
    if packet >= 0:
        answer(m, x, packet, now)


@jit
def answer(m: Ints, x: Floats, packet: int, now: int) -> None:
    """Send a control packet from the receiver of a flow to its sender."""
    m[packet + c.HOP] = 0
    port = m[m[m[packet + c.FLOW] + c.WAY_BACK]]
    append(m, port, c.CONTROL, packet)
    serve(m, x, port, now)


@jit
def at_sender(m: Ints, x: Floats, packet: int, now: int) -> None:
    """React to a CNP, an ACK or a NACK."""
    flow, kind = m[packet + c.FLOW], m[packet + c.KIND]
    control = x[c.CONTROL_KIND]
    if kind == c.CNP:
        notified(m, x, flow, now)
    elif kind == c.NACK:
        go_back(m, flow, m[packet + c.SEQ])
    else:
        m[flow + c.ACKED] = max(m[flow + c.ACKED], m[packet + c.SEQ])
        m[flow + c.NEXT] = max(m[flow + c.NEXT], m[flow + c.ACKED])
        if control == c.DCTCP:
            dctcp(m, x, flow, packet)
        elif control == c.HPCC:
            hpcc(m, x, flow, packet)
        elif control == c.TIMELY:
            timely(m, x, flow, packet, now)
    discard(m, packet)
    serve(m, x, m[flow + c.SOURCE_PORT], now)
