"""Ports: what a port sends next, and pauses of its peer."""

from __future__ import annotations

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.buffers import dequeue, may_resume, must_pause, release
from rocefort.tune.simulator.kernel.compile import jit
from rocefort.tune.simulator.kernel.congestion_control import (
    count_bytes,
    set_timer,
    wait_for_burst,
)
from rocefort.tune.simulator.kernel.lossy import (
    LOSSLESS_QUEUE,
    LOSSY_QUEUE,
    dequeue_lossy,
    next_queue,
)
from rocefort.tune.simulator.kernel.memory import (
    Floats,
    Ints,
    append,
    discard,
    new_packet,
    set_time,
    take,
)
from rocefort.tune.simulator.kernel.tcp import may_send_segment, segment_of


@jit
def serve(m: Ints, x: Floats, port: int, now: int) -> None:
    """Send the next packet of a port, if it is idle."""
    if m[port + c.BUSY] > now:
        serve_when_idle(m, port)
        return
    packet = next_frame(m, x, port, now)
    server, paused = m[port + c.SWITCH] < 0, m[port + c.PAUSED] == 1
    if packet < 0 and not (server and paused and queued_control(x)):
        packet = take(m, port, c.CONTROL)
    if packet < 0 and x[c.MIXED] == 1:
        packet = launch_mixed(m, x, port, now) if server else leave_mixed(m, x, port, now)
    elif packet < 0 and not paused:
        packet = launch(m, x, port, now) if server else leave(m, x, port, now)
    elif packet < 0:
        set_time(m, m[port + c.SLOT], c.NEVER)
    if packet >= 0:
        transmit(m, x, port, packet, now)


@jit
def queued_control(x: Floats) -> bool:
    """Whether CNPs and ACKs are in the queue of the data."""
    return x[c.CONTROL_QUEUED] == 1


@jit
def transmit(m: Ints, x: Floats, port: int, packet: int, now: int) -> None:
    """Put a packet on the cable."""
    size = m[packet + c.BYTES]
    m[port + c.BUSY] = now + size * m[port + c.PS_PER_BYTE]
    m[port + c.CARRIED] += size
    set_time(m, m[port + c.SLOT], next_service(m, x, port))
    arrival = m[port + c.BUSY] + m[port + c.DELAY]
    m[packet + c.AT] = arrival
    if m[port + c.FLIGHT] < 0:
        set_time(m, m[port + c.SLOT] + 1, arrival)
    append(m, port, c.FLIGHT, packet)


@jit
def next_service(m: Ints, x: Floats, port: int) -> int:
    """Return when a port that transmits has to be served again; NEVER: when something comes.

    Otherwise many events would find nothing to send: those of a paced flow, and after a CNP.
    """
    busy = m[port + c.BUSY]
    if m[port + c.FRAMES] >= 0 or m[port + c.CONTROL] >= 0 or x[c.MIXED] == 1:
        return busy
    if m[port + c.SWITCH] >= 0:
        return busy if m[port + c.DATA] >= 0 else c.NEVER
    if m[port + c.FLOW_COUNT] == 0:
        return c.NEVER
    if m[port + c.FLOW_COUNT] == 1:
        return max(busy, m[m[port + c.FIRST_FLOW] + c.AVAILABLE])
    return busy


@jit
def serve_when_idle(m: Ints, port: int) -> None:
    """Have a port that transmits served at its end, as it may have something to send."""
    slot, busy = m[port + c.SLOT], m[port + c.BUSY]
    if m[m[c.CALENDAR] + slot] > busy:
        set_time(m, slot, busy)


@jit
def leave(m: Ints, x: Floats, port: int, now: int) -> int:
    """Return the next data packet of a switch port, marked and with telemetry; -1: none."""
    packet = dequeue(m, x, port, now)
    if packet < 0:
        set_time(m, m[port + c.SLOT], c.NEVER)
        return packet
    came = m[packet + c.INPORT]
    release(m, came, m[packet + c.BYTES])
    if may_resume(m, x, came):
        send_frame(m, x, came, c.RESUME, now)
    if x[c.CONTROL_KIND] == c.HPCC and m[packet + c.KIND] == c.DATA_PACKET:
        report = packet + c.PACKET_COLUMNS + c.TELEMETRY * (m[packet + c.HOP] - 1)
        m[report + c.HOP_SENT] = m[port + c.SENT_BYTES]
        m[report + c.HOP_QUEUE] = m[port + c.QUEUED]
        m[report + c.HOP_AT] = now
    m[port + c.SENT_BYTES] += m[packet + c.BYTES]
    return packet


@jit
def launch(m: Ints, x: Floats, port: int, now: int) -> int:
    """Return a new data packet of the next flow of a server that may send; -1: none."""
    first, count = m[port + c.FIRST_FLOW], m[port + c.FLOW_COUNT]
    wake = c.NEVER
    for turn in range(1, count + 1):
        flow = first + (m[port + c.TURN] + turn) % count * c.FLOW_COLUMNS
        if m[flow + c.NEXT] >= m[flow + c.SIZE] or held_by_window(m, x, flow):
            continue
        if m[flow + c.AVAILABLE] > now:
            wake = min(wake, m[flow + c.AVAILABLE])
            continue
        m[port + c.TURN] = (flow - first) // c.FLOW_COLUMNS
        return packet_of(m, x, flow, now)
    set_time(m, m[port + c.SLOT], wake)
    return -1


@jit
def leave_mixed(m: Ints, x: Floats, port: int, now: int) -> int:
    """Return the next packet of a switch port with a lossy queue; -1: none that may leave."""
    queue = next_queue(m, x, port)
    if queue == LOSSLESS_QUEUE:
        return leave(m, x, port, now)
    if queue == LOSSY_QUEUE:
        return dequeue_lossy(m, port)
    set_time(m, m[port + c.SLOT], c.NEVER)
    return -1


@jit
def launch_mixed(m: Ints, x: Floats, port: int, now: int) -> int:
    """Return an ACK of TCP, or what the next flow of a server may send; -1: none.

    A pause holds back the flows of RoCE only.
    """
    packet = take(m, port, c.LOSSY)
    if packet >= 0:
        return packet
    first, count = m[port + c.FIRST_FLOW], m[port + c.FLOW_COUNT]
    paused, wake = m[port + c.PAUSED] == 1, c.NEVER
    for turn in range(1, count + 1):
        flow = first + (m[port + c.TURN] + turn) % count * c.FLOW_COLUMNS
        tcp = m[flow + c.TCP] == 1
        if tcp and not may_send_segment(m, x, flow):
            continue
        if not tcp and (
            paused or m[flow + c.NEXT] >= m[flow + c.SIZE] or held_by_window(m, x, flow)
        ):
            continue
        if m[flow + c.AVAILABLE] > now:
            wake = min(wake, m[flow + c.AVAILABLE])
            continue
        m[port + c.TURN] = (flow - first) // c.FLOW_COLUMNS
        return segment_of(m, x, flow, now) if tcp else packet_of(m, x, flow, now)
    set_time(m, m[port + c.SLOT], wake)
    return -1


@jit
def held_by_window(m: Ints, x: Floats, flow: int) -> bool:
    """Whether a flow has a window, and as many bytes of it under way as its rate allows."""
    f = m[flow + c.FLOATS]
    if m[flow + c.WINDOW] == 0:
        return False
    window = int(m[flow + c.WINDOW] * (x[f + c.RATE] / x[f + c.MAX_RATE]))
    return m[flow + c.NEXT] - m[flow + c.ACKED] >= max(1, window)


@jit
def packet_of(m: Ints, x: Floats, flow: int, now: int) -> int:
    """Return a flow's next packet, and set when it may send again."""
    payload = min(int(x[c.PAYLOAD_BYTES]), m[flow + c.SIZE] - m[flow + c.NEXT])
    size = payload + int(x[c.HEADER_BYTES])
    packet = new_packet(m, c.DATA_PACKET, flow, size)
    if packet < 0:
        return packet
    m[packet + c.PAYLOAD] = payload
    m[packet + c.SEQ] = m[flow + c.NEXT]
    m[packet + c.LAUNCHED] = now
    m[flow + c.NEXT] += payload
    m[flow + c.LAST_SIZE] = size
    m[flow + c.AVAILABLE] = now + int(size * 8e12 / x[m[flow + c.FLOATS] + c.RATE])
    if m[flow + c.PERIOD] > 0:
        wait_for_burst(m, flow)
    m[flow + c.INJECTED] += 1
    m[flow + c.INJECTED_BYTES] += size
    count_bytes(m, x, flow, size)
    if m[flow + c.NEXT] >= m[flow + c.SIZE] or m[flow + c.WINDOW] > 0:
        m[flow + c.RETRY] = now + int(x[c.RETRY_PS])
        if m[m[c.CALENDAR] + m[flow + c.SLOT]] > m[flow + c.RETRY]:
            set_timer(m, flow)
    return packet


@jit
def send_frame(m: Ints, x: Floats, port: int, kind: int, now: int) -> None:
    """Send a pause or resume frame to the peer of an ingress port.

    A frame that still waits has the opposite kind, and the peer has this state: neither is
    sent. A queue of frames would delay the last one by more than the headroom formula allows.
    """
    pause = kind == c.PAUSE
    m[port + c.PAUSING] = 1 if pause else 0
    if pause:
        m[port + c.PAUSED_SINCE] = now
    else:
        since = max(m[port + c.PAUSED_SINCE], int(x[c.MEASURE_FROM]))
        m[port + c.PAUSED_PS] += max(0, now - since)
    back = m[port + c.REVERSE]
    waiting = take(m, back, c.FRAMES)
    if waiting >= 0:
        discard(m, waiting)
        return
    frame = new_packet(m, kind, -1, c.PFC_FRAME)
    if frame >= 0:
        append(m, back, c.FRAMES, frame)
        serve_later(m, back, now)


@jit
def next_frame(m: Ints, x: Floats, port: int, now: int) -> int:
    """Return the pause or resume frame that waits at a port, and count a pause; -1: none."""
    frame = take(m, port, c.FRAMES)
    if frame >= 0 and m[frame + c.KIND] == c.PAUSE and now >= x[c.MEASURE_FROM]:
        m[m[port + c.REVERSE] + c.PAUSES] += 1
    return frame


@jit
def serve_later(m: Ints, port: int, now: int) -> None:
    """Have a port served as soon as it is idle, as an event of its own."""
    if m[port + c.BUSY] <= now:
        set_time(m, m[port + c.SLOT], now)
    else:
        serve_when_idle(m, port)


@jit
def check_pause(m: Ints, x: Floats, port: int, now: int) -> None:
    """Pause the peer of an ingress port if its buffer demands it."""
    if must_pause(m, x, port):
        send_frame(m, x, port, c.PAUSE, now)


@jit
def frame_arrives(m: Ints, port: int, frame: int, now: int) -> None:
    """Take a pause frame that has arrived by a port; it takes effect after the response time."""
    own = m[port + c.REVERSE]
    effective = now + m[own + c.RESPONSE]
    m[frame + c.AT] = effective
    if m[own + c.EFFECTS] < 0:
        set_time(m, m[own + c.SLOT] + 2, effective)
    append(m, own, c.EFFECTS, frame)


@jit
def frame_takes_effect(m: Ints, x: Floats, port: int, now: int) -> None:
    """Stop a port or let it send, by the frame that is due."""
    frame = take(m, port, c.EFFECTS)
    m[port + c.PAUSED] = 1 if m[frame + c.KIND] == c.PAUSE else 0
    discard(m, frame)
    following = m[port + c.EFFECTS]
    set_time(m, m[port + c.SLOT] + 2, m[following + c.AT] if following >= 0 else c.NEVER)
    serve(m, x, port, now)
