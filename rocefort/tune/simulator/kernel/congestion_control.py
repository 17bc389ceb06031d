"""Reaction points: DCQCN as a ConnectX has it, and DCTCP, HPCC and TIMELY to compare with.

DCQCN: Zhu et al., SIGCOMM 2015, equations 1 to 4. DCTCP: Alizadeh et al., SIGCOMM 2010. HPCC: Li et
al., SIGCOMM 2019, algorithm 1. TIMELY: Mittal et al., SIGCOMM 2015, algorithm 1. What these leave
open is as in the HPCC simulator's rdma-hw.cc (alibaba-edu/High-Precision-Congestion-Control).
"""

from __future__ import annotations

from rocefort.tune.simulator.kernel import columns as c
from rocefort.tune.simulator.kernel.compile import jit
from rocefort.tune.simulator.kernel.memory import Floats, Ints, set_time


@jit
def change_rate(m: Ints, x: Floats, flow: int, rate: float) -> None:
    """Set a flow's rate, and move the packet that is already paced: as rdma-hw.cc does for HPCC.

    Its DCQCN, DCTCP and TIMELY set the rate alone: the next packet leaves when its gap ends.
    """
    f = m[flow + c.FLOATS]
    bits = m[flow + c.LAST_SIZE] * 8e12
    m[flow + c.AVAILABLE] += int(bits / rate) - int(bits / x[f + c.RATE])
    x[f + c.RATE] = rate


@jit
def wait_for_burst(m: Ints, flow: int) -> None:
    """Have a flow of bursts send no byte before its burst begins; a late burst is made up."""
    begin = m[flow + c.START] + m[flow + c.NEXT] // m[flow + c.BURST] * m[flow + c.PERIOD]
    m[flow + c.AVAILABLE] = max(m[flow + c.AVAILABLE], begin)


@jit
def set_timer(m: Ints, flow: int) -> None:
    """Set a flow's timer to its next cut, increase or repetition."""
    time = min(m[flow + c.CUT_AT], m[flow + c.RAISE_AT], m[flow + c.RETRY])
    set_time(m, m[flow + c.SLOT], time)


@jit
def update_alpha(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Bring alpha up to date: it grows after a period with a CNP, and decays after others.

    DCQCN, equation 1 (alpha) and equation 2, for all periods that have ended.
    """
    period = int(x[c.ALPHA_PS])
    periods = (now - m[flow + c.ALPHA_AT]) // period
    if periods <= 0:
        return
    kept = x[c.ALPHA_KEPT]
    alpha = x[m[flow + c.FLOATS] + c.ALPHA] * kept**periods
    if m[flow + c.ALPHA_MARK] == 1:  # it was in the first of these periods
        alpha += (1 - kept) * kept ** (periods - 1)
        m[flow + c.ALPHA_MARK] = 0
    x[m[flow + c.FLOATS] + c.ALPHA] = alpha
    m[flow + c.ALPHA_AT] += periods * period


@jit
def notified(m: Ints, x: Floats, flow: int, now: int) -> None:
    """React to a CNP."""
    f = m[flow + c.FLOATS]
    if m[flow + c.BEGUN] == 0:
        m[flow + c.BEGUN] = 1
        x[f + c.ALPHA] = x[c.ALPHA_FIRST]
        m[flow + c.ALPHA_AT] = now
        m[flow + c.CUT_MARK] = 1
        m[flow + c.CUT_AT] = now + int(x[c.CUT_PS])
        m[flow + c.GRID] = m[flow + c.CUT_AT]
        if x[c.FIRST_RATE] > 0:
            x[f + c.TARGET] = x[c.FIRST_RATE]
            x[f + c.RATE] = x[c.FIRST_RATE]
    else:
        update_alpha(m, x, flow, now)
        m[flow + c.ALPHA_MARK] = 1
        if m[flow + c.CUT_MARK] == 0:
            m[flow + c.CUT_MARK] = 1
            period = int(x[c.CUT_PS])
            origin = m[flow + c.GRID]
            m[flow + c.CUT_AT] = origin + ((now - origin) // period + 1) * period
    set_timer(m, flow)


@jit
def cut(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Reduce a flow's rate by its alpha, and begin its recovery again: DCQCN, equation 1."""
    f = m[flow + c.FLOATS]
    update_alpha(m, x, flow, now)
    by_timer = x[c.CLAMP_TIMER] == 1 and m[flow + c.TIME_STAGE] > 0
    if x[c.CLAMP] == 1 or by_timer or m[flow + c.BYTE_STAGE] > 0:
        x[f + c.TARGET] = x[f + c.RATE]
    kept = max(1 - x[f + c.ALPHA] * x[c.CUT_SHARE], x[c.LEAST_KEPT])
    x[f + c.RATE] = min(x[f + c.RATE], max(x[c.MIN_RATE], x[f + c.RATE] * kept))
    m[flow + c.TIME_STAGE] = m[flow + c.BYTE_STAGE] = m[flow + c.CUT_MARK] = 0
    m[flow + c.CUT_AT] = c.NEVER
    m[flow + c.RAISE_AT] = now + int(x[c.RAISE_PS])
    m[flow + c.BYTES_LEFT] = int(x[c.BYTE_COUNTER])


@jit
def increase(m: Ints, x: Floats, flow: int, low: int, high: int) -> None:
    """Increase a flow's rate; low, high: the lower and the higher of its stages.

    DCQCN: fast recovery (equation 3), then additive (4) and hyper increase of the target.
    """
    f = m[flow + c.FLOATS]
    if high >= x[c.STAGES]:
        step = x[c.STEP] if low <= x[c.STAGES] else x[c.HYPER_STEP]
        x[f + c.TARGET] = min(x[f + c.MAX_RATE], x[f + c.TARGET] + step)
    x[f + c.RATE] = (x[f + c.RATE] + x[f + c.TARGET]) / 2


@jit
def raise_by_time(m: Ints, x: Floats, flow: int, now: int) -> None:
    """Increase a flow's rate because its timer ended."""
    stage, other = m[flow + c.TIME_STAGE], m[flow + c.BYTE_STAGE]
    if x[c.BYTE_COUNTER] == 0:
        other = stage
    increase(m, x, flow, min(stage, other), max(stage, other))
    m[flow + c.TIME_STAGE] += 1
    m[flow + c.RAISE_AT] = now + int(x[c.RAISE_PS])


@jit
def count_bytes(m: Ints, x: Floats, flow: int, size: int) -> None:
    """Count sent bytes; increase a flow's rate each time that its counter ends."""
    if x[c.BYTE_COUNTER] == 0 or m[flow + c.BEGUN] == 0:
        return
    m[flow + c.BYTES_LEFT] -= size
    if m[flow + c.BYTES_LEFT] <= 0:
        stage, other = m[flow + c.TIME_STAGE], m[flow + c.BYTE_STAGE]
        increase(m, x, flow, min(stage, other), max(stage, other))
        m[flow + c.BYTE_STAGE] += 1
        m[flow + c.BYTES_LEFT] = int(x[c.BYTE_COUNTER])


@jit
def dctcp(m: Ints, x: Floats, flow: int, packet: int) -> None:
    """React to an ACK: one cut by the share of marks a round trip, else one step.

    DCTCP, equation 1 (alpha) and equation 2 (cut), for a rate instead of a window.
    """
    f = m[flow + c.FLOATS]
    acked, mark = m[packet + c.SEQ], m[packet + c.MARK]
    m[flow + c.MARKED_ACKS] += mark
    new_round = acked > m[flow + c.UPDATE_SEQ]
    if new_round:
        if m[flow + c.UPDATE_SEQ] == 0:
            m[flow + c.BATCH] = m[flow + c.NEXT] // int(x[c.PAYLOAD_BYTES]) + 1
        else:
            share = min(1.0, m[flow + c.MARKED_ACKS] / m[flow + c.BATCH])
            x[f + c.ALPHA] = x[c.ALPHA_KEPT] * x[f + c.ALPHA] + (1 - x[c.ALPHA_KEPT]) * share
            m[flow + c.MARKED_ACKS] = 0
            m[flow + c.BATCH] = (m[flow + c.NEXT] - acked) // int(x[c.PAYLOAD_BYTES]) + 1
        m[flow + c.UPDATE_SEQ] = m[flow + c.NEXT]
    if m[flow + c.REDUCED] == 1 and acked > m[flow + c.HIGH_SEQ]:
        m[flow + c.REDUCED] = 0
    if mark == 1 and m[flow + c.REDUCED] == 0:
        x[f + c.RATE] = max(x[c.MIN_RATE], x[f + c.RATE] * (1 - x[f + c.ALPHA] / 2))
        m[flow + c.REDUCED] = 1
        m[flow + c.HIGH_SEQ] = m[flow + c.NEXT]
    if m[flow + c.REDUCED] == 0 and new_round:
        x[f + c.RATE] = min(x[f + c.MAX_RATE], x[f + c.RATE] + x[c.STEP])


@jit
def hop_load(m: Ints, x: Floats, flow: int, packet: int, hop: int) -> tuple[float, int]:
    """Return the load of a hop since the last report, and the time between both, ps.

    HPCC, algorithm 1, MeasureInflight: the smaller queue of both reports, and the rate sent.
    """
    new = packet + c.PACKET_COLUMNS + c.TELEMETRY * hop
    old = m[flow + c.REPORTS] + c.TELEMETRY * hop
    time = m[new + c.HOP_AT] - m[old + c.HOP_AT]
    if time <= 0:
        return 0.0, 0
    port = m[m[flow + c.PATH] + hop + 1]
    line = 8e12 / m[port + c.PS_PER_BYTE]
    rate = (m[new + c.HOP_SENT] - m[old + c.HOP_SENT]) * 8e12 / time
    queue = min(m[new + c.HOP_QUEUE], m[old + c.HOP_QUEUE])
    waiting = queue * x[m[flow + c.FLOATS] + c.MAX_RATE] / line / m[flow + c.WINDOW]
    return rate / line + waiting, time


@jit
def keep_reports(m: Ints, flow: int, packet: int, hops: int) -> None:
    """Keep the telemetry of a packet for the next one of its flow."""
    start, kept = packet + c.PACKET_COLUMNS, m[flow + c.REPORTS]
    for column in range(hops * c.TELEMETRY):
        m[kept + column] = m[start + column]


@jit
def hpcc(m: Ints, x: Floats, flow: int, packet: int) -> None:
    """React to an ACK: the rate that would load the fullest hop to the target.

    HPCC, algorithm 1: MeasureInflight, and ComputeWind for a rate instead of a window.
    """
    f = m[flow + c.FLOATS]
    full = m[packet + c.SEQ] > m[flow + c.UPDATE_SEQ]
    hops = m[flow + c.HOPS] - 1
    if m[flow + c.UPDATE_SEQ] == 0:
        m[flow + c.UPDATE_SEQ] = m[flow + c.NEXT]
        keep_reports(m, flow, packet, hops)
        return
    highest, span = 0.0, 0
    for hop in range(hops):
        load, time = hop_load(m, x, flow, packet, hop)
        if load > highest:
            highest, span = load, time
    keep_reports(m, flow, packet, hops)
    trip = m[flow + c.BASE_RTT]
    span = min(span, trip)
    x[f + c.LOAD] = (x[f + c.LOAD] * (trip - span) + highest * span) / trip
    excess = x[f + c.LOAD] / x[c.UTILISATION]
    stage = 0
    if excess >= 1 or m[flow + c.STAGE] >= x[c.MOST_STAGES]:
        rate = x[f + c.BASE_RATE] / max(excess, 1e-9) + x[c.STEP]
    else:
        rate = x[f + c.BASE_RATE] + x[c.STEP]
        stage = m[flow + c.STAGE] + 1
    rate = min(x[f + c.MAX_RATE], max(x[c.MIN_RATE], rate))
    change_rate(m, x, flow, rate)
    if full:
        x[f + c.BASE_RATE] = rate
        m[flow + c.STAGE] = stage
        m[flow + c.UPDATE_SEQ] = max(m[flow + c.UPDATE_SEQ], m[flow + c.NEXT])


@jit
def timely_factor(x: Floats, trip: float, gradient: float) -> float:
    """Return the factor of TIMELY's decrease; -1: the rate increases. TIMELY, algorithm 1."""
    if trip < x[c.RTT_LOW]:
        return -1.0
    if trip > x[c.RTT_HIGH]:
        return float(1 - x[c.RTT_BETA] * (1 - x[c.RTT_HIGH] / trip))
    if gradient <= 0:
        return -1.0
    return float(max(0.0, 1 - x[c.RTT_BETA] * gradient))


@jit
def timely(m: Ints, x: Floats, flow: int, packet: int, now: int) -> None:
    """React to the first ACK of a round trip: by the time that it took, and its slope."""
    f = m[flow + c.FLOATS]
    if m[packet + c.SEQ] <= m[flow + c.UPDATE_SEQ]:
        return
    trip = float(now - m[packet + c.LAUNCHED])
    if m[flow + c.UPDATE_SEQ] != 0:
        weight = x[c.RTT_WEIGHT]
        slope = (1 - weight) * x[f + c.RTT_SLOPE] + weight * (trip - x[f + c.LAST_RTT])
        factor = timely_factor(x, trip, slope / x[c.RTT_LEAST])
        if factor < 0:
            step = x[c.STEP] if m[flow + c.STAGE] < 5 else x[c.HYPER_STEP]
            x[f + c.RATE] = min(x[f + c.MAX_RATE], x[f + c.RATE] + step)
            m[flow + c.STAGE] += 1
        else:
            x[f + c.RATE] = max(x[c.MIN_RATE], x[f + c.RATE] * factor)
            m[flow + c.STAGE] = 0
        x[f + c.RTT_SLOPE] = slope
    if m[flow + c.NEXT] > m[flow + c.UPDATE_SEQ]:
        m[flow + c.UPDATE_SEQ] = m[flow + c.NEXT]
        x[f + c.LAST_RTT] = trip
